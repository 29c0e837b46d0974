// SPDX-License-Identifier: Apache-2.0
// One command line, run in a process of its own while a call of the system fails (failing_calls.hpp).
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/failing_calls.hpp"

namespace beamheap::faults {

/// Which call fails with what; `kinds`: none.
struct Fault {
    std::size_t kind = kinds;
    long at = 0;
    bool for_good = false;
    int error = 0;
    std::string text() const;
};

/// What became of a run. Moments that names and texts have (20261128T090034.654Z) are all the same one here, and marks
/// between which an assistant is given data are left out.
struct Outcome {
    int status = 0;  ///< of wait()
    std::string out, err;
    std::map<std::string, std::string> files;  ///< by their names below the folder
    std::array<long, kinds> calls{};
    bool stays = false;  ///< a process that it started
};

inline constexpr std::string_view old_content = "what was there before";

/// A command line. Of its words "OUT" is the file or folder to be written, "OLD" the same where there is a file
/// already, "SELF" a copy of `dump` there; "<FILE" is standard input, "<KEYS" a terminal at which `q` is pressed once
/// something stands on its screen, which is its standard output, too; "PIPE" a named pipe into which `dump` is written
/// as soon as it is there.
struct Tried {
    std::vector<std::string> words;
    std::filesystem::path folder;  ///< empty but for what the program leaves there
    std::filesystem::path dump;
    bool alive = false;  ///< the input is a VM that runs: no answer is that of before

    Outcome run(const Fault& fault) const;
    bool has(std::string_view word) const;

private:
    [[noreturn]] void in_child(const std::array<int, 2>& files, int terminal) const;
    std::filesystem::path pipe() const { return folder / "pipe"; }
};

}  // namespace beamheap::faults
