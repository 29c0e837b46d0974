// SPDX-License-Identifier: Apache-2.0
#include "present/text_layout.hpp"

#include <algorithm>

#include "model/characters.hpp"
#include "present/sanitise.hpp"
#include "present/view.hpp"

namespace beamheap::present {
namespace {

constexpr std::size_t least_name = 18;  // "rabbit_ch\u2026:init/1"
constexpr std::size_t least_term = 16;
constexpr std::size_t least_front = 3;      // a third of a cell
constexpr std::size_t longest_figure = 24;  // what is longer is cut like other text
constexpr std::string_view ellipsis = "\u2026";

Cut cut_of(const Column& column) {
    if (numeric(column.unit)) return Cut::nothing;
    if (column.end_tells) return Cut::middle;
    if (column.holds == Holds::texts) return Cut::end;
    switch (column.content) {
        case Content::name: return Cut::middle;
        case Content::term:
        case Content::message: return Cut::end;
        case Content::plain:
        case Content::fingerprint: break;
    }
    return column.least != 0 ? Cut::middle : Cut::nothing;
}

// What rows need where each cell is cut as far as is well read.
std::size_t best_of(const std::vector<TextColumn>& columns) {
    std::size_t best = 0;
    for (const TextColumn& each : columns)
        if (each.spot == Spot::in_row) best += each.best + (best == 0 ? 0 : column_gap);
    return best;
}

std::size_t total_of(const std::vector<TextColumn>& columns) {
    std::size_t total = 0;
    for (const TextColumn& each : columns)
        if (each.spot == Spot::in_row) total += each.width + (total == 0 ? 0 : column_gap);
    return total;
}

// What is read whole goes below, where it is not all that rows have.
void move_below(std::vector<TextColumn>& columns) {
    const auto stays = [](const TextColumn& each) { return each.spot == Spot::in_row && !each.below; };
    if (std::ranges::none_of(columns, stays)) return;
    for (TextColumn& each : columns)
        if (each.below) each.spot = Spot::lines;
}

// Columns that tell nothing go first, then those of which others tell more, the last of equals first. What there is
// room for in the end comes back.
void leave_out(std::vector<TextColumn>& columns, std::size_t width) {
    const auto rank = [](const TextColumn& each) { return each.lesser + (each.tells ? 0 : 256); };
    std::vector<TextColumn*> left_out;
    while (best_of(columns) > width) {
        TextColumn* next = nullptr;
        for (TextColumn& each : columns)
            if (each.spot == Spot::in_row && each.lesser != 0 && (next == nullptr || rank(each) >= rank(*next)))
                next = &each;
        if (next == nullptr) break;
        next->spot = Spot::left_out;
        left_out.push_back(next);
    }
    for (std::size_t i = left_out.size(); i-- > 0;) {
        left_out[i]->spot = Spot::in_row;
        if (best_of(columns) > width) left_out[i]->spot = Spot::left_out;
    }
}

// Takes from the widest first, until rows fit or all are as wide as `bound` says.
template <class Bound>
void narrow(std::vector<TextColumn>& columns, std::size_t width, Bound bound) {
    for (std::size_t total = total_of(columns); total > width; --total) {
        TextColumn* widest = nullptr;
        for (TextColumn& each : columns)
            if (each.spot == Spot::in_row && each.width > bound(each) &&
                (widest == nullptr || each.width > widest->width))
                widest = &each;
        if (widest == nullptr) return;
        --widest->width;
    }
}

bool is_pid_character(char c) { return is_digit(c) || c == '.' || c == '<' || c == '>'; }

// Whether a cut between these two characters is one within a figure or a pid.
bool within_figure(std::string_view text, std::size_t at) {
    if (at == 0 || at >= text.size()) return false;
    const char before = text[at - 1], after = text[at];
    if (is_digit(before) && is_digit(after)) return true;
    if (before == '>' || after == '<') return false;
    return is_pid_character(before) && is_pid_character(after);
}

// Bytes of the longest start that fits into `width` columns.
std::size_t start_of(std::string_view text, std::size_t width) {
    std::size_t used = 0, at = 0;
    while (at < text.size()) {
        char32_t point = 0;
        const std::size_t length = std::max<std::size_t>(decode_utf8(text.substr(at, 4), point), 1);
        const std::size_t wide = display_width(text.substr(at, length));
        if (used + wide > width) break;
        used += wide;
        at += length;
    }
    const std::size_t fits = at;
    while (at > 0 && fits - at < longest_figure && within_figure(text, at)) --at;
    return within_figure(text, at) ? fits : at;
}

// Where the longest end begins that fits into `width` columns.
std::size_t end_of(std::string_view text, std::size_t width) {
    std::size_t at = 0, wide = display_width(text);
    while (at < text.size() && wide > width) {
        char32_t point = 0;
        const std::size_t length = std::max<std::size_t>(decode_utf8(text.substr(at, 4), point), 1);
        wide -= display_width(text.substr(at, length));
        at += length;
    }
    const std::size_t fits = at;
    while (at < text.size() && at - fits < longest_figure && within_figure(text, at)) ++at;
    return within_figure(text, at) ? fits : at;
}

// Where the part begins that tells most: ":init/1" of m:f/a, ".init/1" of M.f/a, " <0.9.0>" of who has a name,
// "/cart.erl:88" of a path.
std::size_t telling_end(std::string_view text) {
    if (text.ends_with('>'))
        if (const std::size_t pid = text.rfind(" <"); pid != text.npos) return pid;
    if (const std::size_t place = text.rfind(" ("); place != text.npos && text.ends_with(')')) return place;
    // A colon in front is an atom's in Elixir's syntax: the function of ":gen_server.loop/7" begins at the point.
    if (const std::size_t module = text.rfind(':'); module != text.npos && module != 0 && module + 1 < text.size()) {
        const bool line = is_digit(text[module + 1]);
        const std::size_t folder = text.rfind('/', module);
        return line && folder != text.npos ? folder : module;
    }
    const std::size_t slash = text.rfind('/');
    if (slash == text.npos || slash + 1 == text.size()) return text.npos;
    if (!is_digit(text[slash + 1])) return slash;
    const std::size_t module = text.rfind('.', slash);  // Shop.Cart.init/1
    return module == text.npos || module == 0 ? text.npos : module;
}

// "State (gen_ser…loop/7 y3)": a short word keeps its letters, what stands in brackets behind it is cut.
std::string cut_in_brackets(std::string_view text, std::size_t bracket, std::size_t room) {
    const std::size_t inner = bracket + 2;
    const std::size_t left = room - display_width(text.substr(0, inner));
    const std::string_view tail = text.substr(inner).substr(end_of(text.substr(inner), left - left / 2));
    const std::size_t begin = start_of(text.substr(inner), left - std::min(left, display_width(tail)));
    return std::string(text.substr(0, inner + begin)).append(ellipsis).append(tail);
}

std::string cut_middle(std::string_view text, std::size_t width) {
    const std::size_t room = width - 1;
    std::size_t end = telling_end(text);
    if (end != text.npos && text.substr(end).starts_with(" (") && 2 * (display_width(text.substr(0, end)) + 2) <= room)
        return cut_in_brackets(text, end, room);
    if (end == text.npos || display_width(text.substr(end)) + 2 > room) end = end_of(text, room - room / 2);
    const std::string_view tail = text.substr(end);
    const std::size_t begin = start_of(text, room - std::min(room, display_width(tail)));
    return std::string(text.substr(0, begin)).append(ellipsis).append(tail);
}

}  // namespace

TextColumn text_column(const Column& column, std::size_t width, bool tells) {
    TextColumn made;
    const std::size_t title = display_width(column.title);
    made.width = made.whole = std::max(width, title);
    made.right = numeric(column.unit);
    made.cut = cut_of(column);
    made.lesser = column.lesser;
    made.tells = tells;
    made.below = column.wraps || column.own_line;
    const std::size_t usual = made.cut == Cut::middle ? least_name : least_term;
    const std::size_t least = std::max<std::size_t>(column.least == 0 ? usual : column.least, title);
    made.least = made.cut == Cut::nothing ? made.width : std::min(made.width, least);
    made.best = std::clamp<std::size_t>(column.best, made.least, made.width);
    if (column.below) made.spot = Spot::entries;
    return made;
}

void lay_out(std::vector<TextColumn>& columns, std::size_t width) {
    if (total_of(columns) <= width) return;
    move_below(columns);
    leave_out(columns, width);
    narrow(columns, width, [](const TextColumn& each) { return each.best; });
    narrow(columns, width, [](const TextColumn& each) { return each.least; });
    if (total_of(columns) <= width) return;
    const std::size_t longest = width > 2 * second_line ? width - second_line : width;
    for (TextColumn& each : columns)
        if (each.cut != Cut::nothing) each.width = std::min(each.width, longest);
    std::size_t used = 0;
    TextColumn* last = nullptr;  // of the line
    const auto end_line = [&] {  // what is left of it is its last column's
        if (last != nullptr) last->width = std::min(last->whole, last->width + (width - std::min(width, used)));
    };
    for (TextColumn& each : columns) {
        if (each.spot != Spot::in_row) continue;
        if (used != 0 && used + column_gap + each.width > width) {
            end_line();
            each.spot = Spot::breaks;
            used = second_line + each.width;
        } else {
            used += (used == 0 ? 0 : column_gap) + each.width;
        }
        last = &each;
    }
    end_line();
}

std::string cut_text(std::string_view safe, std::size_t width, Cut cut) {
    if (cut == Cut::nothing || safe.size() <= width || display_width(safe) <= width) return std::string(safe);
    if (width == 0) return {};
    const std::size_t blanks = std::min(std::min(safe.find_first_not_of(' '), safe.size()), width / 2);
    const std::string_view text = safe.substr(std::min(safe.find_first_not_of(' '), safe.size()));
    const std::size_t room = width - blanks;
    const std::string indent(blanks, ' ');
    if (room < 4) return indent + clipped(text, room);
    if (display_width(text) <= room) return indent + std::string(text);
    if (cut == Cut::middle) return indent + cut_middle(text, room);
    return indent + std::string(text.substr(0, start_of(text, room - 1))).append(ellipsis);
}

namespace {

bool within_character(std::string_view text, std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

// The part of `text` from `start` to `end`, with what there is room for of what stands in front of it, first its
// beginning, and an ellipsis for what is left out.
std::string cut_around(std::string_view text, std::size_t start, std::size_t end, std::size_t width) {
    while (start > 0 && (within_character(text, start) || within_figure(text, start))) --start;
    while (end < text.size() && (within_character(text, end) || within_figure(text, end))) ++end;
    const std::string_view behind = end < text.size() ? ellipsis : std::string_view();
    // Where all in front of it fits, what is behind it has the rest of the room.
    if (const std::size_t used = display_width(text.substr(0, end)) + 1; used < width)
        end += start_of(text.substr(end), width - used);
    const std::string_view part = text.substr(start, end - start);
    const std::size_t taken = display_width(part) + (behind.empty() ? 0 : 1);
    if (taken > width) return std::string(part.substr(0, start_of(part, width - 1))).append(ellipsis);
    const std::string_view front = text.substr(0, start);
    std::string out;
    if (display_width(front) + taken <= width) out = front;
    else if (taken < width) out.append(front.substr(0, start_of(front, width - taken - 1))).append(ellipsis);
    return out.append(part).append(behind);
}

// Whether both begin with the same `columns`, or with all that stands in front of an ellipsis.
bool begins_alike(std::string_view cut, std::string_view safe, std::size_t columns) {
    const auto differ = std::ranges::mismatch(cut, safe);
    return display_width(cut.substr(0, static_cast<std::size_t>(differ.in1 - cut.begin()))) >= columns;
}

}  // namespace

void ColumnCut::add(std::string_view safe) {
    const std::string cut = cut_text(safe, width_, cut_);
    if (cut == safe) return;
    const auto [at, is_new] = alike_.try_emplace(cut, Alike{std::string(safe), safe.size(), safe.size()});
    if (is_new) return;
    Alike& alike = at->second;
    const std::string_view first = alike.first;
    const std::size_t most = std::min(first.size(), safe.size());
    const auto differ = std::mismatch(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(most), safe.begin());
    alike.start = std::min(alike.start, static_cast<std::size_t>(differ.first - first.begin()));
    const auto differ_back =
        std::mismatch(first.rbegin(), first.rbegin() + static_cast<std::ptrdiff_t>(most), safe.rbegin());
    alike.end = std::min(alike.end, static_cast<std::size_t>(differ_back.first - first.rbegin()));
}

std::string ColumnCut::operator()(std::string_view safe) const {
    std::string cut = cut_text(safe, width_, cut_);
    const auto at = alike_.find(cut);
    if (at == alike_.end() || at->second.start >= at->second.first.size() || width_ < 4) return cut;
    const std::size_t start = std::min(at->second.start, safe.size());
    const std::size_t end = std::max(start, safe.size() - std::min(at->second.end, safe.size()));
    std::string around = cut_around(safe, start, end, width_);
    // What a term is stands at its beginning: where only a reference or the like would be left of it, it is told as it
    // would be alone.
    if (cut_ == Cut::end && !begins_alike(around, safe, width_ / least_front)) return cut;
    return around;
}

std::size_t hang_of(std::string_view text) {
    const std::size_t at = std::min(text.find_first_not_of(' '), text.size());
    for (const std::string_view mark : {"-> ", "- "})
        if (text.substr(at).starts_with(mark)) return at + mark.size();
    return at == 0 ? 0 : at + 2;
}

}  // namespace beamheap::present
