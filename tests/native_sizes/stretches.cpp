// SPDX-License-Identifier: Apache-2.0
// stretches IMAGE EXECUTABLE FOLDER...: of each module that the VM of this core image had loaded, and whose .beam file
// lies in one of the folders: bytes of machine code between two lines, and what stands there in the BEAM code:
//   BYTES OP.PART:COUNT ...
// A function counts where the VM notes each line that the file has.
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "formats/beam/module.hpp"
#include "formats/beam/native_size.hpp"
#include "formats/otp/vm/vm.hpp"

namespace {

using namespace beamheap;

template <class T>
T load(const std::byte* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

struct NotedLine {
    std::uint64_t address = 0;
    std::uint32_t line = 0;
};

// The lines of a function with their addresses (beam_code.h, BeamCodeLineTab).
std::vector<NotedLine> lines_of(otp::Decoder& vm, const otp::CodePlace& place) {
    std::vector<NotedLine> lines;
    const auto& at = vm.at;
    const std::uint64_t table = vm.memory.word(place.header + at.code_line_table).value_or(0);
    const std::byte* head = table == 0 ? nullptr : vm.memory.at(table, at.lines_functions + 8);
    if (head == nullptr) return lines;
    const auto first = load<std::uint64_t>(head + at.lines_functions);
    const auto size = load<std::uint32_t>(head + at.lines_location_size);
    const auto locations = load<std::uint64_t>(head + at.lines_locations);
    const std::uint64_t begin = vm.memory.word(table + at.lines_functions + 8ull * place.index).value_or(0);
    const std::uint64_t end = vm.memory.word(table + at.lines_functions + 8ull * place.index + 8).value_or(0);
    for (std::uint64_t each = begin; each < end; each += 8) {
        NotedLine line;
        line.address = vm.memory.word(each).value_or(0);
        const std::byte* location = vm.memory.at(locations + size * ((each - first) / 8), size);
        if (location == nullptr) return {};
        line.line = size == 2 ? load<std::uint16_t>(location) : load<std::uint32_t>(location) & 0xffffff;
        lines.push_back(line);
    }
    return lines;
}

using Lines = std::map<std::pair<std::string, std::uint32_t>, std::vector<NotedLine>>;  // by function and arity

void print(const CodeModule& module, const std::vector<beam::Stretch>& stretches, const Lines& lines) {
    for (std::size_t i = 0, end = 0; i < stretches.size(); i = end) {
        for (end = i + 1; end < stretches.size() && stretches[end].name == 0;) ++end;
        const auto found = lines.find({module.atoms[stretches[i].name], stretches[i].arity});
        bool same = found != lines.end() && found->second.size() == end - i;
        for (std::size_t k = i; same && k < end; ++k) same = stretches[k].place.line == found->second[k - i].line;
        for (std::size_t k = i; same && k + 1 < end; ++k) {
            fmt::print("{}", found->second[k + 1 - i].address - found->second[k - i].address);
            for (const auto& [part, count] : stretches[k].parts)
                fmt::print(" {}.{}:{}", part / beam::size_parts, part % beam::size_parts, count);
            fmt::print("\n");
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        fmt::print(stderr, "usage: stretches IMAGE EXECUTABLE FOLDER...\n");
        return 2;
    }
    const auto image = otp::Image::open(argv[1], argv[2]);
    if (!image) return fmt::print(stderr, "{}\n", image.error().message), 3;
    const auto vm = otp::Vm::open(**image);
    if (!vm) return fmt::print(stderr, "{}\n", vm.error().message), 3;
    Snapshot snapshot;
    otp::Reader reader(**vm, snapshot);
    std::map<std::string, Lines> loaded;
    reader.vm.code.each_function(reader.memory, [&](const otp::Mfa& mfa, std::uint64_t start, std::uint64_t) {
        const auto place = reader.vm.code.find(reader.memory, start + 8);
        if (!place) return;
        const auto text = [&](otp::Word atom) { return std::string(snapshot.text(reader.atom(atom))); };
        loaded[text(mfa.module)][{text(mfa.function), mfa.arity}] = lines_of(reader, *place);
    });
    for (int i = 3; i < argc; ++i)
        for (const auto& file : std::filesystem::recursive_directory_iterator(argv[i])) {
            if (file.path().extension() != ".beam") continue;
            const auto module = loaded.find(file.path().stem().string());
            if (module == loaded.end()) continue;
            std::ifstream stream(file.path(), std::ios::binary);
            const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
            std::vector<beam::Stretch> stretches;
            const auto read = beam::read_module(bytes, &stretches);
            if (!read) continue;
            print(*read, stretches, module->second);
            loaded.erase(module);
        }
}
