// SPDX-License-Identifier: Apache-2.0
// Text for people: sentences, "key  value" blocks and aligned tables.
//
// Tables are measured in one pass over the rows to show and written in a second one, so that nothing is kept and
// 100,000 rows cost no memory; twenty rows, the default, cost nothing either way.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "present/glued_text.hpp"
#include "present/sanitise.hpp"
#include "present/text_layout.hpp"
#include "present/units.hpp"
#include "present/view.hpp"

namespace beamheap::present {
namespace {

constexpr std::string_view bold = "\x1b[1m";
constexpr std::string_view dim = "\x1b[2m";
constexpr std::string_view bold_red = "\x1b[1;31m";
constexpr std::string_view bold_yellow = "\x1b[1;33m";
constexpr std::string_view plain = "\x1b[0m";
constexpr std::size_t gap = column_gap;
constexpr std::size_t usual_width = 80;
constexpr std::size_t widest_prose = 120;      // columns of a sentence's lines, however wide the terminal is
constexpr std::size_t lines_of_rest = 4;       // at the end of one screen: a blank one, and what else there is
constexpr std::size_t least_cut = 4;           // lines of prose that are worth being begun
constexpr std::size_t most_compared = 10'000;  // rows of which cells that would be cut alike are cut where they differ
constexpr std::size_t most_below = 8;          // lines of a text below its row, unless all is asked for
constexpr std::size_t least_folded = 44;       // columns in which a text that is read whole stands behind its row
constexpr std::size_t folded = 4;              // what the second line of a row, or of a sentence, is indented by

class TextPresenter {
public:
    TextPresenter(const View& view, Sink& sink) : view_(view), sink_(sink) {}

    void run() {
        for (const Warning& warning : view_.document().warnings)
            if (warning.leads) paragraph(safe_text("warning: " + view_.text(warning.text)), 0);
        if (view_.document().reading_leads) paragraph(sentence_text(view_.document().reading), 0);
        if (!view_.chosen())
            for (const Text& sentence : view_.document().lead) lead(sentence);
        if (!view_.document().reading.empty() && !view_.document().reading_leads)
            painted(dim, in_width(sentence_text(view_.document().reading), 0));
        if (view_.document().lines != 0 && !view_.chosen()) return screen();
        for (const View::Item& item : view_.items()) {
            if (!view_.for_people(item)) continue;
            if (sink_.closed()) return;
            show(item);
        }
    }

private:
    // Another one that goes on where this one stopped.
    TextPresenter(const View& view, Sink& sink, bool started) : view_(view), sink_(sink), started_(started) {}

    // The first sentence is the answer.
    void lead(const Text& sentence) {
        const bool answer = &sentence == &view_.document().lead.front();
        painted(answer ? bold : std::string_view(), in_width(sentence_text(sentence), 0));
    }
    void show(const View::Item& item) {
        if (item.object() || item.adapted == View::Item::Adapted::object) object(item);
        else if (item.is_table || item.adapted == View::Item::Adapted::list) table(item);
        else value(item);
    }

    // Columns of the terminal, or of the one that a pipe's reader will have.
    std::size_t screen_width() const { return view_.options().width == 0 ? usual_width : view_.options().width; }
    std::size_t lines_of(std::string_view text) const {
        std::size_t lines = 0;
        while (!text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            lines += 1 + (std::max<std::size_t>(display_width(unpainted(text.substr(0, end))), 1) - 1) / screen_width();
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        return lines;
    }
    static std::string unpainted(std::string_view text) {
        std::string out;
        for (std::size_t at = 0; at < text.size(); ++at) {
            if (text[at] == '\x1b') at = std::min(text.find('m', at), text.size());
            else out += text[at];
        }
        return out;
    }

    // No more than Document::lines: what always stands, then the rest of the members in the order of their ranks. The
    // first of them is cut where it does not fit (in front of what it keeps), others are named in the last line with
    // the command that shows them.
    void screen() {
        struct Part {
            const View::Item* item;
            std::string text;
            std::size_t lines;
            bool shown = false;
        };
        std::vector<Part> parts;
        for (const View::Item& item : view_.items()) {
            if (!item.member->in_text) continue;
            StringSink sink;
            TextPresenter(view_, sink, true).show(item);
            parts.push_back({&item, sink.text(), lines_of(sink.text())});
        }
        std::size_t left = view_.document().lines;
        if (!view_.document().reading.empty())
            left -= std::min(left, lines_of(in_width(sentence_text(view_.document().reading), 0)));
        for (const Text& sentence : view_.document().lead)
            left -= std::min(left, lines_of(in_width(sentence_text(sentence), 0)));
        for (const Warning& warning : view_.document().warnings)
            if (warning.leads)
                left -= std::min(left, lines_of(in_width(safe_text("warning: " + view_.text(warning.text)), 0)));
        left -= std::min(left, lines_of_rest);
        std::vector<std::size_t> order(parts.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::ranges::stable_sort(order, {}, [&](std::size_t i) { return parts[i].item->member->rank; });
        std::uint8_t closed = 0;  // the rank of which nothing more is shown
        bool first = true;
        for (const std::size_t i : order) {
            Part& part = parts[i];
            const std::uint8_t rank = part.item->member->rank;
            if (rank != 0 && rank == closed) continue;
            const bool begun = rank != 0 && std::exchange(first, false);
            if (rank != 0 && part.lines > left) {
                closed = rank;
                if (!begun || !part.item->member->prose || left < least_cut) continue;
                cut(part.text, *part.item->member, left);
                part.lines = lines_of(part.text);
            }
            part.shown = true;
            left -= std::min(left, part.lines);
        }
        std::string missing;
        for (const Part& part : parts) {
            if (part.shown) sink_.write(part.text);
            else if (!part.item->member->title.empty())
                missing.append(missing.empty() ? "" : ", ").append(part.item->member->title);
        }
        rest(missing);
    }
    void rest(const std::string& missing) {
        sink_.write("\n");
        const std::string command = sentence_text(view_.document().rest);
        std::string text = missing.empty() ? command : fmt::format("Not shown: {}. {}", missing, command);
        if (lines_of(in_width(text, 0)) + 1 > lines_of_rest) text = command;
        paragraph(text, 0);
    }
    // Leaves so many lines of a member's text: the first of its sentences, each whole where one fits at all, and what
    // it keeps at its end where that leaves room for the heading.
    void cut(std::string& text, const Member& member, std::size_t lines) const {
        const auto* array = std::get_if<std::shared_ptr<const Array>>(&std::get<Value>(member.body).data());
        const std::span<const Value> all = array == nullptr ? std::span<const Value>() : std::span(**array);
        std::span<const Value> first = all;
        std::string end = prose_text(all.last(std::min(member.kept, all.size())), member.content);
        if (lines_of(end) + least_cut > lines) end.clear();
        else first = all.first(all.size() - std::min(member.kept, all.size()));
        std::size_t left = lines - 1 - lines_of(end);
        const std::string_view heading =
            std::string_view(text).substr(0, text.size() - prose_text(all, member.content).size());
        std::string out = first_lines(heading, left);
        left -= std::min(left, lines_of(out));
        bool any = false;
        for (const Value& each : first) {
            const std::string sentence = prose_text(std::span(&each, 1), member.content);
            if (lines_of(sentence) > left) {
                if (!any) out += first_lines(sentence, left);
                break;
            }
            out += sentence;
            left -= lines_of(sentence);
            any = true;
        }
        text = out + "  ...\n" + end;
    }
    std::string prose_text(std::span<const Value> sentences, Content content) const {
        StringSink sink;
        TextPresenter(view_, sink, true).prose(sentences, content);
        return sink.text();
    }
    std::string first_lines(std::string_view text, std::size_t lines) const {
        std::string out;
        std::size_t used = 0;
        while (!text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
            used += lines_of(text.substr(0, end));
            if (used > lines) break;
            out += text.substr(0, end);
            text.remove_prefix(end);
        }
        return out;
    }
    std::string in_width(std::string_view text, std::size_t hang) const {
        return in_columns(text, std::min(view_.options().width, widest_prose), hang);
    }
    static std::string in_columns(std::string_view text, std::size_t width, std::size_t hang) {
        if (width == 0) return std::string(text);
        std::string glued(text);
        glue_units(glued);
        return wrapped(glued, width, hang);
    }

    void line(std::string_view text) {
        sink_.write(text);
        sink_.write("\n");
        started_ = true;
    }
    // A sentence, sanitised, whose commands a terminal's edge does not break.
    std::string sentence_text(const Text& sentence) const {
        if (view_.options().width == 0) return safe_text(view_.text(sentence));
        return glued_text(sentence, view_.redactor());
    }
    std::string sentence_text(const Value& value, Unit unit, Content content) const {
        if (const auto* sentence = std::get_if<std::shared_ptr<const Text>>(&value.data()))
            return sentence_text(**sentence);
        return people_text(view_, value, unit, content);
    }
    // Text that a terminal's edge breaks at words, its further lines behind `hang` blanks.
    void paragraph(std::string_view text, std::size_t hang) { line(in_width(text, hang)); }
    std::string paint(std::string_view style, std::string_view text) const {
        return view_.options().color && !style.empty() ? fmt::format("{}{}{}", style, text, plain) : std::string(text);
    }
    // Each line by itself: a pager shows them one by one.
    void painted(std::string_view style, std::string_view text) {
        while (!text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            line(paint(style, text.substr(0, end)));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
    }
    // The title of a finding begins with its severity.
    static std::string_view title_style(std::string_view title) {
        const std::string_view severity = title.substr(0, title.find(':'));
        if (severity == "critical" || severity == "high") return bold_red;
        if (severity == "medium") return bold_yellow;
        return severity == "info" ? dim : bold;
    }
    void heading(const Member& member) {
        if (started_) sink_.write("\n");
        if (!member.title.empty()) line(paint(title_style(member.title), member.title));
    }

    // A scalar, or an object as a block of "key  value".
    void value(const View::Item& item) {
        const Value& value = std::get<Value>(item.member->body);
        if (const auto* object = std::get_if<std::shared_ptr<const Object>>(&value.data())) {
            Lines lines;
            collect(**object, {}, item.member->content, lines);
            block(*item.member, lines);
        } else if (const auto* array = std::get_if<std::shared_ptr<const Array>>(&value.data())) {
            if ((*array)->empty()) return;
            heading(*item.member);
            if (item.member->prose) return prose(**array, item.member->content);
            list(**array, item.member->content, item.member->unit, 0, view_.options().top.value_or(default_rows));
        } else if (!value.is_null()) {
            const std::string text = people_text(view_, value, item.member->unit, item.member->content);
            const std::string title = item.member->title.empty() ? label_of(item.member->key) : item.member->title;
            paragraph(fmt::format("{}: {}", title, text), folded);
        }
    }

    using Lines = std::vector<std::pair<std::string, std::string>>;

    void object(const View::Item& item) {
        Lines lines;
        for (std::size_t c = 0; c < item.table.columns(); ++c) {
            const Column& column = item.table.column(c);
            const bool titled = !column.title.empty() && column.title != column.name;
            entry(titled ? std::string(column.title) : label_of(column.name), item.table.cell(0, c), column.unit,
                  column.content, item.table.key_of(0, c), lines);
        }
        block(*item.member, lines);
    }
    void collect(const Object& object, const std::string& prefix, Content content, Lines& lines) {
        for (const auto& [name, value] : object)
            entry(prefix + label_of(name), value, unit_of(name), content, {}, lines);
    }
    void entry(std::string label, const Value& value, Unit unit, Content content, const std::string& key,
               Lines& lines) {
        if (value.is_null()) return;
        if (const auto* object = std::get_if<std::shared_ptr<const Object>>(&value.data()))
            return collect(**object, label + ' ', content, lines);
        std::string text = people_text(view_, value, unit, content, key);
        if (text.empty()) return;
        if (unit == Unit::words) text += " words";
        lines.emplace_back(std::move(label), std::move(text));
    }
    void block(const Member& member, const Lines& lines) {
        if (lines.empty()) return;
        heading(member);
        std::size_t widest = 0;
        for (const auto& each : lines) widest = std::max(widest, display_width(each.first));
        for (const auto& each : lines)
            paragraph(fmt::format("{}{}{}", each.first, std::string(widest + gap - display_width(each.first), ' '),
                                  each.second),
                      std::min(widest + gap, view_.options().width / 2));
    }

    void prose(std::span<const Value> sentences, Content content) {
        for (const Value& each : sentences) {
            const std::string text = sentence_text(each, Unit::none, content);
            paragraph(text, hang_of(text));
        }
    }
    std::string entry_of_list(const Value& value, Content content, Unit unit, std::size_t indent) {
        std::string text(indent, ' ');
        const auto* object = std::get_if<std::shared_ptr<const Object>>(&value.data());
        if (object == nullptr) return text + sentence_text(value, unit, content);
        for (const auto& [name, each] : **object)
            text.append(text.size() == indent ? "" : "  ").append(people_text(view_, each, unit_of(name), content));
        return text;
    }
    // A list of what is to be read whole, and copied; terms are cut at the edge.
    void list(const Array& array, Content content, Unit unit, std::size_t indent, std::size_t wanted) {
        std::size_t next =
            0;  // lines that are alike and follow each other, of a recursion, of blocks of one size, are one
        for (std::size_t lines = 0; next < array.size() && (wanted == 0 || lines < wanted); ++lines) {
            std::string text = entry_of_list(array[next], content, unit, indent);
            std::size_t alike = 1;
            while (next + alike < array.size() && entry_of_list(array[next + alike], content, unit, indent) == text)
                ++alike;
            next += alike;
            if (alike > 1) text += fmt::format(" \u00d7{}", grouped(alike));
            if (content == Content::term) line(fits(text));
            else paragraph(text, text.starts_with("- ") ? hang_of(text) : indent + folded);
        }
        if (next < array.size()) line(std::string(indent, ' ') + more(array.size() - next));
    }
    std::string more(std::size_t rows) const { return paint(dim, fmt::format("... {} more", grouped(rows))); }
    std::string fits(std::string text) const {
        return view_.options().width == 0 ? text : cut_text(text, view_.options().width, Cut::end);
    }

    // The text of a wrapped column, as far as it is told unless all is asked for; of a term that has a line, that.
    void below(const Column& column, const std::string& text) {
        if (text == "-") return;
        const std::size_t width = view_.options().width;
        const bool all = view_.options().top == std::size_t{0};
        if (column.own_line && !all) return line(cut_text(std::string(second_line, ' ') + text, width, Cut::end));
        std::string whole = in_width(std::string(second_line, ' ') + text, second_line) + "\n";
        line(all || lines_of(whole) <= most_below
                 ? std::string_view(whole).substr(0, whole.size() - 1)
                 : first_lines(whole, most_below - 1) + std::string(second_line, ' ') + "...");
    }

    std::string cell(const TableView& table, std::size_t row, std::size_t c, const Value& value) const {
        const Column& column = table.column(c);
        std::string text = people_text(view_, value, table.unit_of(row, c), column.content, table.key_of(row, c));
        const std::size_t depth = table.depth_of(row, c);
        return depth == 0 ? text : std::string(2 * std::min<std::size_t>(depth, 40), ' ') + text;
    }

    using Layout = std::vector<TextColumn>;

    static bool is_empty(const Value& value) {
        const auto* array = std::get_if<std::shared_ptr<const Array>>(&value.data());
        return value.is_null() || (array != nullptr && (*array)->empty());
    }

    // On a terminal columns in which no row has anything are not shown, unless they were asked for. Who takes a pipe's
    // text apart finds each column in its place, whatever the rows have.
    void leave_out_silent(Layout& layout) const {
        if (view_.options().width == 0 || !view_.options().columns.empty()) return;
        const auto tells = [](const TextColumn& each) { return each.tells && each.spot == Spot::in_row; };
        if (std::ranges::none_of(layout, tells)) return;
        for (TextColumn& each : layout)
            if (!each.tells && each.spot == Spot::in_row) each.spot = Spot::left_out;
    }

    // A text that is read whole, behind whose row there is room for it: it is folded there, in its own column.
    bool folds_last(const TableView& table, Layout& layout) const {
        std::size_t others = 0, last = layout.size();
        for (std::size_t c = 0; c < layout.size(); ++c) {
            if (layout[c].spot != Spot::in_row) continue;
            if (last != layout.size()) others += layout[last].width + column_gap;
            last = c;
        }
        if (last == layout.size() || !table.column(last).wraps) return false;
        const std::size_t width = view_.options().width;
        if (others + layout[last].width <= width || others + least_folded > width || others > width / 2) return false;
        if (layout[last].whole > most_below * (width - others)) return false;
        layout[last].width = width - others;
        layout[last].cut = Cut::nothing;
        return true;
    }

    Layout measure(const TableView& table) const {
        std::vector<std::size_t> widths(table.columns());
        std::vector<char> tells(table.columns());
        for (std::size_t row = 0; row < table.rows(); ++row) {
            for (std::size_t c = 0; c < table.columns(); ++c) {
                if (table.column(c).below) continue;
                const Value value = table.cell(row, c);
                if (!is_empty(value)) tells[c] = 1;
                widths[c] = std::max(widths[c], display_width(cell(table, row, c, value)));
            }
        }
        Layout layout;
        for (std::size_t c = 0; c < table.columns(); ++c) {
            const Column& column = table.column(c);
            layout.push_back(text_column(column, widths[c], tells[c] != 0));
            // What was asked for stays.
            if (!view_.options().columns.empty() || column.name == view_.options().sort ||
                column.name == table.ranked_by())
                layout.back().lesser = 0;
        }
        leave_out_silent(layout);
        if (view_.options().width != 0 && !folds_last(table, layout)) lay_out(layout, view_.options().width);
        return layout;
    }

    // How cells are cut, by column: of a table that is not too long with all of its rows in view.
    using Cuts = std::vector<ColumnCut>;
    Cuts cuts(const TableView& table, const Layout& layout) const {
        Cuts cuts(layout.begin(), layout.end());
        if (view_.options().width == 0 || table.rows() > most_compared) return cuts;
        for (std::size_t c = 0; c < layout.size(); ++c) {
            const bool in_row = layout[c].spot == Spot::in_row || layout[c].spot == Spot::breaks;
            if (!in_row || layout[c].width >= layout[c].whole) continue;
            for (std::size_t row = 0; row < table.rows(); ++row) cuts[c].add(cell(table, row, c, table.cell(row, c)));
        }
        return cuts;
    }

    // Cells of a row, joined; nothing is padded behind the last of a line.
    template <class CellText>
    std::string row_text(const Layout& layout, const Cuts& cuts, CellText&& text_of) const {
        std::string text;
        std::size_t owed = 0;  // blanks that are only written when something follows
        bool first = true;
        for (std::size_t c = 0; c < layout.size(); ++c) {
            const TextColumn& column = layout[c];
            if (column.spot != Spot::in_row && column.spot != Spot::breaks) continue;
            if (column.spot == Spot::breaks) {
                while (text.ends_with(' ')) text.pop_back();
                text.append("\n").append(second_line, ' ');
                owed = 0;
                first = true;
            }
            std::string body = cuts[c](text_of(c));
            if (display_width(body) > column.width && column.cut == Cut::nothing && column.width < column.whole) {
                const std::size_t behind = display_width(text) + owed + gap;
                const std::string whole = in_columns(std::string(behind, ' ') + body, view_.options().width, behind);
                body = whole.substr(std::min(behind, whole.size()));
            }
            const std::size_t pad = column.width - std::min(column.width, display_width(body));
            const std::size_t left = column.right ? pad : 0;
            text.append(owed + (first ? 0 : gap) + left, ' ').append(body);
            owed = pad - left;
            first = false;
        }
        while (text.ends_with(' ')) text.pop_back();
        return text;
    }

    // Of an answer whose table is empty, the first sentence says so.
    bool said_empty() const {
        const TableView* const primary = view_.primary();
        return !view_.document().lead.empty() && !view_.chosen() && primary != nullptr && primary->rows() == 0;
    }
    void table(const View::Item& item) {
        const TableView& table = item.table;
        if (table.rows() == 0) {
            if (table.empty().empty() && !item.member->title.empty()) return;
            if (said_empty()) return;
            heading(*item.member);
            return line(table.empty().empty() ? "nothing" : table.empty());
        }
        heading(*item.member);
        const Layout layout = measure(table);
        if (std::ranges::count(layout, Spot::breaks, &TextColumn::spot) > 1) return records(table);
        const Cuts cut = cuts(table, layout);
        line(paint(bold, row_text(layout, cut, [&](std::size_t c) { return std::string(table.column(c).title); })));
        std::string below_titles;
        for (std::size_t c = 0; c < table.columns(); ++c)
            if (layout[c].spot == Spot::lines)
                below_titles.append(below_titles.empty() ? second_line : gap, ' ').append(table.column(c).title);
        if (!below_titles.empty()) line(paint(bold, below_titles));
        for (std::size_t row = 0; row < table.rows() && !sink_.closed(); ++row) {
            line(row_text(layout, cut, [&](std::size_t c) { return cell(table, row, c, table.cell(row, c)); }));
            for (std::size_t c = 0; c < table.columns(); ++c) {
                if (layout[c].spot != Spot::lines && layout[c].spot != Spot::entries) continue;
                const Value value = table.cell(row, c);
                if (layout[c].spot == Spot::lines) below(table.column(c), cell(table, row, c, value));
                if (const auto* inner = std::get_if<std::shared_ptr<const Array>>(&value.data()))
                    list(**inner, table.column(c).content, table.column(c).unit, 4,  // -n is for rows
                         view_.options().top == std::size_t{0} ? 0 : default_rows);
            }
        }
        if (table.rows() < table.total()) line(more(table.total() - table.rows()));
        std::string left_out;
        for (std::size_t c = 0; c < table.columns(); ++c)
            if (layout[c].spot == Spot::left_out && layout[c].tells)
                left_out.append(left_out.empty() ? "" : ", ").append(table.column(c).title);
        if (!left_out.empty()) lesser(left_out);
    }
    // Rows of which each would need more than two lines: a block for each, without what it does not have.
    void records(const TableView& table) {
        std::size_t widest = 0;
        for (std::size_t c = 0; c < table.columns(); ++c)
            widest = std::max(widest, display_width(table.column(c).title));
        for (std::size_t row = 0; row < table.rows() && !sink_.closed(); ++row) {
            if (row != 0) sink_.write("\n");
            for (std::size_t c = 0; c < table.columns(); ++c) {
                const Value value = table.cell(row, c);
                if (is_empty(value)) continue;
                const std::string label(table.column(c).title);
                const std::string text = fits(
                    label + std::string(widest + gap - display_width(label), ' ') +
                    people_text(view_, value, table.unit_of(row, c), table.column(c).content, table.key_of(row, c)));
                line(paint(bold, label) + text.substr(std::min(label.size(), text.size())));
            }
        }
        if (table.rows() < table.total()) line(more(table.total() - table.rows()));
    }
    // Which columns there was no room for, and how to see them.
    void lesser(const std::string& titles) {
        painted(dim, in_width(fmt::format("No room for {}; --columns or --format json has {}.", titles,
                                          titles.find(", ") == titles.npos ? "it" : "them"),
                              0));
    }

    const View& view_;
    Sink& sink_;
    bool started_ = false;
};

}  // namespace

static void present_text(const View& view, Sink& sink) { TextPresenter(view, sink).run(); }

BH_DEFINE_FORMAT(table){
    .name = "table",
    .doc = "text for people: aligned tables, human units",
    .for_people = true,
    .for_terminals = true,
    .present = &present_text,
};

}  // namespace beamheap::present
