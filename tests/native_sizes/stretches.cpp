// SPDX-License-Identifier: Apache-2.0
// stretches IMAGE EXECUTABLE FOLDER...: of each module that the VM of this core image had loaded, and whose .beam file
// lies in one of the folders: bytes of machine code between two lines, and what stands there in the BEAM code:
//   BYTES OP.PART:COUNT ...
// A function counts where the VM notes each line that the file has.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "formats/beam/module.hpp"
#include "formats/beam/native_size.hpp"
#include "formats/otp/vm/vm.hpp"

namespace {

using namespace beamheap;

using Lines = std::map<std::pair<std::string, std::uint32_t>,
                       std::vector<std::pair<std::uint64_t, otp::Code::Line>>>;  // by function and arity

void print(const CodeModule& module, const std::vector<beam::Stretch>& stretches, const Lines& lines) {
    for (std::size_t i = 0, end = 0; i < stretches.size(); i = end) {
        for (end = i + 1; end < stretches.size() && stretches[end].name == 0;) ++end;
        const auto found = lines.find({module.atoms[stretches[i].name], stretches[i].arity});
        bool same = found != lines.end() && found->second.size() == end - i;
        for (std::size_t k = i; same && k < end; ++k)
            same = stretches[k].place.line == found->second[k - i].second.line;
        for (std::size_t k = i; same && k + 1 < end; ++k) {
            fmt::print("{}", found->second[k + 1 - i].first - found->second[k - i].first);
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
        loaded[text(mfa.module)][{text(mfa.function), mfa.arity}] = reader.vm.code.lines(reader.memory, *place);
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
