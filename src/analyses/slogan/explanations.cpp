// SPDX-License-Identifier: Apache-2.0
// The pages of `explain`, read from docs/explain once. A page is Markdown of a simple kind: a title, paragraphs, and
// under "## What to do" a list of steps. Lines are joined; commands on an input stand between backticks on one line.
#include <algorithm>
#include <vector>

#include "analyses/slogan/slogan.hpp"

namespace beamheap::analyses {
namespace {

struct Page {
    std::string_view name;
    Ours text;
};
constexpr Page pages[] = {
#include "explain_pages.inc"
};

Explanation read_page(const Page& page) {
    Explanation made{page.name, "", {}, {}};
    const std::string_view text = page.text.text();
    bool steps = false;
    bool open = false;  // the last paragraph or step goes on
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::size_t from = at;
        const std::string_view line = text.substr(at, end - at);
        at = end + 1;
        std::vector<Sentence>& list = steps ? made.next : made.paragraphs;
        if (line.empty()) {
            open = false;
            continue;
        }
        if (line.starts_with("# ")) {
            made.title = page.text.piece(from + 2, line.size() - 2);
            continue;
        }
        if (line.starts_with("## ")) {
            steps = true;
            continue;
        }
        if (steps && line.starts_with("- ")) {
            open = false;
            from += 2;
        } else if (steps && line.starts_with("  ")) {
            from += 2;
        }
        if (!open) list.emplace_back();
        if (open) list.back().add(Ours(" "));
        list.back().add(page.text.piece(from, end - from));
        open = true;
    }
    return made;
}

}  // namespace

std::span<const Explanation> explanations() {
    static const std::vector<Explanation> all = [] {
        std::vector<Explanation> made;
        for (const Page& page : pages) made.push_back(read_page(page));
        return made;
    }();
    return all;
}

const Explanation* find_explanation(std::string_view name) {
    const auto same = [](char a, char b) { return (a == '-' ? '_' : a) == (b == '-' ? '_' : b); };
    for (const Explanation& page : explanations())
        if (std::ranges::equal(page.name, name, same)) return &page;
    return nullptr;
}

const Explanation* explanation_of(SloganKind kind) {
    return kind == SloganKind::none ? nullptr : find_explanation(name_of(kind).text());
}

}  // namespace beamheap::analyses
