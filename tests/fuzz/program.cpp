// libFuzzer: any bytes as an input of the whole program; which verb and format reads them follows from the bytes.
#include <cstddef>
#include <cstdint>

#include "fuzz/whole_program.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::size_t sum = size;
    for (std::size_t i = 0; i < size; i += 61) sum = sum * 31 + data[i];
    (void)beamheap::fuzz::run_line(sum % beamheap::fuzz::lines(), {reinterpret_cast<const char*>(data), size});
    return 0;
}
