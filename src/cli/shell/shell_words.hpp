// SPDX-License-Identifier: Apache-2.0
// The words of a line, as sh takes them apart: what `shell` and `ui` are asked, and the commands that answers print.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/error.hpp"

namespace beamheap::cli {

struct ShellWord {
    std::string text;
    bool plain = true;  ///< nothing of it was quoted: it may be a sign
};

/// Gives one word after the other. Blanks separate them; '...' and "..." hold one together; \ takes the next character
/// as it is, but within '...', and within "..." only before " and \.
class ShellWords {
public:
    /// `line` must outlive it.
    explicit ShellWords(std::string_view line) : line_(line) {}
    /// The next word; none at the end. Errors (usage): a quote that is not closed.
    Result<std::optional<ShellWord>> next();
    /// What stands behind the last word.
    std::string_view rest() const { return line_.substr(at_); }

private:
    std::string_view line_;
    std::size_t at_ = 0;
};

/// All words of a line. Errors: those of ShellWords::next().
Result<std::vector<std::string>> words_of_line(std::string_view line);

/// A line that is a query and nothing else, with `sql` in front of it or without: it begins with SELECT, WITH or
/// VALUES, and needs no quotes around it, since none of its signs are sh's. A semicolon at its end goes. None: it is no
/// query.
std::optional<std::string> query_of_line(std::string_view line);

/// The words of a question. Answers print whole commands: of one that is given back, `beamheap` goes, and the input,
/// which a session knows, wherever it stands behind the verb, and as `./a.dump` too. Of other words nothing goes.
std::vector<std::string> words_of_question(std::vector<std::string> words, std::string_view input);

}  // namespace beamheap::cli
