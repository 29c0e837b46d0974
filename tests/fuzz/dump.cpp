// libFuzzer: any bytes as an input of the library. tests/fuzz/run builds and runs it.
#include <cstddef>
#include <cstdint>

#include "fuzz/whole_program.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    beamheap::fuzz::load_and_walk({reinterpret_cast<const char*>(data), size});
    return 0;
}
