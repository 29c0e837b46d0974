// Replays the fuzzers' findings under any compiler: each file of the folders named on the command line goes through
// the library from a buffer of exactly its size, so that a sanitizer sees every read beyond it, and through each verb.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#include <vector>

#include "fuzz/whole_program.hpp"

namespace {

namespace fs = std::filesystem;

constexpr unsigned seconds_each = 60;  // of any one input, on a busy machine under a sanitizer

std::vector<fs::path> inputs(int count, char** folders) {
    std::vector<fs::path> found;
    for (int i = 1; i < count; ++i) {
        if (!fs::is_directory(folders[i])) continue;
        for (const auto& entry : fs::recursive_directory_iterator(folders[i])) {
            if (entry.is_regular_file() && entry.path().extension() != ".md") found.push_back(entry.path());
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace

int main(int count, char** folders) {
    std::size_t replayed = 0;
    for (const fs::path& path : inputs(count, folders)) {
        const std::size_t size = fs::file_size(path);
        const auto exact = std::make_unique<char[]>(size);
        std::ifstream(path, std::ios::binary).read(exact.get(), static_cast<std::streamsize>(size));
        // What is on the screen when it crashes or hangs is the input that did it.
        std::printf("%s\n", path.c_str());
        std::fflush(stdout);
        alarm(seconds_each);
        const std::string_view bytes{exact.get(), size};
        beamheap::fuzz::load_and_walk(bytes);
        for (std::size_t line = 0; line < beamheap::fuzz::lines(); ++line) {
            alarm(seconds_each);
            (void)beamheap::fuzz::run_line(line, bytes);
        }
        ++replayed;
    }
    std::printf("%zu passed, 0 failed, 0 skipped\n", replayed);
    return replayed == 0 ? 77 : 0;
}
