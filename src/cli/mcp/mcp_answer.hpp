// SPDX-License-Identifier: Apache-2.0
// Answers of the server for coding assistants: what a verb said, in parts that a language model reads at a time, marked
// as data where it is some, and in few words for programs.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "beamheap/error.hpp"
#include "present/document.hpp"
#include "present/render.hpp"

namespace beamheap::cli {

inline constexpr std::size_t longest_answer = std::size_t{16} << 20;  ///< bytes that are kept to be read in parts
inline constexpr std::size_t part_bytes = 12'000;                     ///< of a part: about 4,000 tokens
inline constexpr std::size_t screen_bytes = 3'400;                    ///< of an answer of one screen: about 1,100

/// What a verb said, or why it could not.
struct Answer {
    std::string text;
    bool cut = false;  ///< it is longer than what is kept
    std::optional<Error> error;
    std::string structured{};  ///< the same for programs, as JSON (structured())
    bool live = false;         ///< it is about a VM that runs, and another one the next time
};
/// An answer on its way from the child that found it, and back; nothing where it is not whole.
std::string packed(const Answer& answer);
std::optional<Answer> unpacked(std::string_view packed);

/// The result of a call: a text, or what could not be done.
nlohmann::json text_result(std::string text, bool failed = false);
/// One that did not fail, with what its tool's outputSchema asks for.
nlohmann::json text_result(std::string text, nlohmann::json structured);
/// An error as a result, which is bounded. `about`: the input that was read meanwhile, whose names may stand in the
/// sentence, which is marked as data then; empty: none was.
nlohmann::json failure(const Error& error, std::string_view about = {});

/// At most `bytes` of a text and three dots, whole characters.
std::string bounded(std::string text, std::size_t bytes);
/// What a dump holds, between two lines with a number that is new each time; as it is where it is about no input.
std::string fenced(std::string text, std::string_view about);
/// The parts of a text of so many bytes, cut behind a line's end where there is one in the part's second half, never
/// within a character. A Markdown table that goes on in the next part has its head there again.
std::vector<std::string> parts_of(std::string_view text, std::size_t bytes);

/// What an answer has for programs, an object: `summary`, its sentences; `findings`, the worst of them in few words;
/// and where all of it was asked for as JSON and is one part, all of it as `answer`. `text` is what `options` make of
/// it. Texts are without control characters, and redacted as the text is.
std::string structured(const present::Document& document, present::RenderOptions options, const std::string& text);

/// Keeps the beginning of what is written to it.
class BoundedSink : public present::Sink {
public:
    BoundedSink() : Sink(&take, this) {}
    ~BoundedSink() { buffer().clear(); }
    /// What came since it was asked last.
    std::string text() {
        flush();
        return std::exchange(text_, {});
    }
    bool cut() const { return cut_; }

private:
    static bool take(void* context, std::string_view piece);
    std::string text_;
    bool cut_ = false;
};

}  // namespace beamheap::cli
