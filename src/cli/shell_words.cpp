// SPDX-License-Identifier: Apache-2.0
#include "cli/shell_words.hpp"

namespace beamheap::cli {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

Result<std::optional<ShellWord>> ShellWords::next() {
    while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
    if (at_ == line_.size()) return std::optional<ShellWord>();
    ShellWord word;
    char quote = 0;
    for (; at_ < line_.size() && (quote != 0 || !is_blank(line_[at_])); ++at_) {
        const char c = line_[at_];
        const char after = at_ + 1 < line_.size() ? line_[at_ + 1] : '\0';
        if (quote != 0 && c == quote) {
            quote = 0;
        } else if (quote == 0 && (c == '\'' || c == '"')) {
            quote = c;
            word.plain = false;
        } else if (c == '\\' && after != '\0' && (quote == 0 || (quote == '"' && (after == '"' || after == '\\')))) {
            word.text += after;
            word.plain = false;
            ++at_;
        } else {
            word.text += c;
        }
    }
    if (quote != 0) return Error{ErrorCode::usage, "a quote is not closed", {}};
    return std::optional<ShellWord>(std::move(word));
}

Result<std::vector<std::string>> words_of_line(std::string_view line) {
    std::vector<std::string> words;
    ShellWords reader(line);
    for (;;) {
        BH_TRY(std::optional<ShellWord> word, reader.next());
        if (!word) return words;
        words.push_back(std::move(word->text));
    }
}

}  // namespace beamheap::cli
