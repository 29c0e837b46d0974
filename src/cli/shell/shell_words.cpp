// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/shell_words.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "model/characters.hpp"

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

std::optional<std::string> query_of_line(std::string_view line) {
    constexpr std::string_view blanks = " \t";
    const std::size_t first = line.find_first_not_of(blanks);
    if (first == std::string_view::npos) return std::nullopt;
    line.remove_prefix(first);
    if (line.starts_with("sql ")) return query_of_line(line.substr(4));
    const std::string_view word = line.substr(0, std::min(line.find_first_of(" \t*(\"'"), line.size()));
    const auto is = [&](std::string_view begin) {
        return std::ranges::equal(word, begin, [](char a, char b) { return to_lower(a) == b; });
    };
    if (word.size() == line.size() || (!is("select") && !is("with") && !is("values"))) return std::nullopt;
    line = line.substr(0, line.find_last_not_of(" \t;") + 1);
    return std::string(line);
}

std::vector<std::string> words_of_question(std::vector<std::string> words, std::string_view input) {
    if (words.size() < 2 || words.front() != "beamheap") return words;
    words.erase(words.begin());
    const auto file = std::filesystem::path(input).lexically_normal();
    const auto is_input = [&](const std::string& word) {
        return word == input || std::filesystem::path(word).lexically_normal() == file;
    };
    if (is_input(words.front())) words.front() = "analyze";
    else if (const auto at = std::ranges::find_if(words, is_input); at != words.end()) words.erase(at);
    return words;
}

}  // namespace beamheap::cli
