#include "present/render.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "present/sanitise.hpp"
#include "present/units.hpp"
#include "present/view.hpp"

namespace beamheap::present {
namespace {

// Damerau-Levenshtein distance (neighbours may be swapped) over lower-cased bytes; words here are short.
std::size_t distance(std::string_view a, std::string_view b) {
    const auto same = [](char x, char y) {
        const auto fold = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c == '-' ? '_' : c; };
        return fold(x) == fold(y);
    };
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1)});
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before = last;
        last.swap(row);
    }
    return last[b.size()];
}

}  // namespace

std::vector<std::string> near_misses(std::string_view word, std::span<const std::string> candidates) {
    constexpr std::size_t longest = 64;
    constexpr std::size_t shown = 3;
    struct Scored {
        std::size_t score;
        const std::string* text;
    };
    std::vector<Scored> found;
    if (word.empty() || word.size() > longest) return {};
    for (const std::string& candidate : candidates) {
        if (candidate.size() > longest) continue;
        // A part of the name ("msgq" of "msgq_len") is as good as one slip.
        const bool part = word.size() >= 3 && candidate.find(word) != candidate.npos;
        const std::size_t slips = distance(word, candidate);
        const std::size_t allowed = word.size() <= 3 ? 1 : word.size() <= 7 ? 2 : 3;
        if (part || slips <= allowed) found.push_back({part ? std::min<std::size_t>(slips, 1) : slips, &candidate});
    }
    std::ranges::stable_sort(found, {}, &Scored::score);
    std::vector<std::string> names;
    for (const Scored& each : found)
        if (names.size() < shown && std::ranges::find(names, *each.text) == names.end()) names.push_back(*each.text);
    return names;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
    const std::vector<std::string> near = near_misses(word, candidates);
    if (near.empty()) return {};
    std::string text = "did you mean " + near[0];
    for (std::size_t i = 1; i < near.size(); ++i) text += (i + 1 == near.size() ? " or " : ", ") + near[i];
    return text + '?';
}

Status render(const Document& document, const RenderOptions& options, Sink& sink) {
    const Presenter* presenter = find_presenter(options.format);
    if (presenter == nullptr) {
        std::vector<std::string> names;
        for (const Presenter& each : presenters()) names.emplace_back(each.name);
        return Error{ErrorCode::usage, fmt::format("there is no format {}", options.format),
                     fmt::format("formats are: {}", fmt::join(names, " "))};
    }
    BH_TRY(const View view, View::make(document, options, *presenter));
    presenter->present(view, sink);
    sink.flush();
    return ok();
}

void render_warnings(const Document& document, const RenderOptions& options, Sink& sink) {
    const Redactor redactor(options.redact);
    for (const Warning& warning : document.warnings) {
        std::string line = options.color && warning.severity != "info" ? "\x1b[33mwarning:\x1b[0m " : "warning: ";
        append_text(redactor.apply(warning.text, Content::message), line);
        line += '\n';
        sink.write(line);
    }
    sink.flush();
}

}  // namespace beamheap::present
