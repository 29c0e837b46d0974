// SPDX-License-Identifier: Apache-2.0
// Which files somebody who only asks questions may have read.
//
// Whoever starts the server names inputs, a folder, or both. A name in a question is one of those inputs as it was
// given, or a path, absolute or from that folder, whose real place (links resolved) lies below the folder's real place;
// nothing else is opened, and no other file's existence is told. Beside them only the program is read that a core image
// itself names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/frame/context.hpp"

namespace beamheap::cli {

/// An input that is loaded, and what it tells to be secret.
struct ServedInput {
    LoadedInput input;
    std::vector<std::string> secrets;
};

/// The file of "logs.tgz!/a/b.dump".
std::string_view file_of(std::string_view path);

class ServedInputs {
public:
    /// Errors (unreadable): an input or the folder does not exist. `root` empty: no folder.
    static Result<ServedInputs> create(const Context& context, std::vector<std::string> given, const std::string& root);

    /// The path of the input that a question names. Errors (usage): it is none that may be read.
    Result<std::string> allowed(std::string_view asked) const;
    /// The only input that was given or asked for so far; empty: there are several, or none.
    const std::string& only_one() const { return only_one_; }
    /// The input of an allowed path is asked about.
    void asked(const std::string& path);
    /// Reads it. Errors: those of Context::open.
    Result<ServedInput> read(const std::string& path) const;
    /// The inputs that were given, then the dumps and cores below the folder, `most` in all.
    std::vector<std::string> names(std::size_t most) const;

private:
    ServedInputs(const Context& context, std::vector<std::string> given, std::string root)
        : context_(context), given_(std::move(given)), root_(std::move(root)) {}
    const Context& context_;
    std::vector<std::string> given_;
    std::string root_;  // its real place
    std::string only_one_;
    std::vector<std::string> asked_;  // where none was given: the first two
};

}  // namespace beamheap::cli
