// Text for people: sentences, "key  value" blocks and aligned tables.
//
// Tables are measured in one pass over the rows to show and written in a second one, so that nothing is kept and
// 100,000 rows cost no memory; twenty rows, the default, cost nothing either way.
#include <fmt/format.h>

#include <algorithm>

#include "present/sanitise.hpp"
#include "present/units.hpp"
#include "present/view.hpp"

namespace beamheap::present {
namespace {

constexpr std::string_view bold = "\x1b[1m";
constexpr std::string_view dim = "\x1b[2m";
constexpr std::string_view plain = "\x1b[0m";
constexpr std::size_t gap = 2;
constexpr std::size_t narrowest = 16;  // a column of terms is not shortened below this to keep a row on one line
constexpr std::size_t folded = 4;      // what the second line of a row, or of a sentence, is indented by

// "stack_words" -> "stack": the value says the unit.
std::string label_of(std::string_view name) {
    for (const std::string_view unit : {"_bytes", "_words", "_ms"})
        if (name.ends_with(unit) && name.size() > unit.size()) name.remove_suffix(unit.size());
    std::string label(name);
    std::ranges::replace(label, '_', ' ');
    return label;
}

class TextPresenter {
public:
    TextPresenter(const View& view, Sink& sink) : view_(view), sink_(sink) {}

    void run() {
        for (const Warning& warning : view_.document().warnings)
            if (warning.leads) paragraph(safe_text("warning: " + view_.text(warning.text)), 0);
        for (const Text& sentence : view_.document().lead) paragraph(sentence_text(sentence), 0);
        for (const View::Item& item : view_.items()) {
            if (!item.member->in_text) continue;
            if (sink_.closed()) return;
            if (item.object() || (view_.is_primary(item) && !item.is_table))
                object(item);
            else if (item.is_table)
                table(item);
            else
                value(item);
        }
    }

private:
    void line(std::string_view text) {
        sink_.write(text);
        sink_.write("\n");
        started_ = true;
    }
    // A sentence, sanitised, whose commands a terminal's edge does not break.
    std::string sentence_text(const Text& sentence) const {
        if (view_.options().width == 0) return safe_text(view_.text(sentence));
        std::string all;
        for (const Text::Piece& piece : sentence.pieces) {
            std::string text = safe_text(view_.text(Text{{piece}}));
            if (piece.command) std::ranges::replace(text, ' ', glued_blank);
            all += text;
        }
        return all;
    }
    std::string sentence_text(const Value& value, Unit unit, Content content) const {
        if (const auto* sentence = std::get_if<std::shared_ptr<const Text>>(&value.data())) return sentence_text(**sentence);
        return people_text(view_, value, unit, content);
    }
    // Text that a terminal's edge breaks at words, its further lines behind `hang` blanks.
    void paragraph(std::string_view text, std::size_t hang) {
        line(view_.options().width == 0 ? std::string(text) : wrapped(text, view_.options().width, hang));
    }
    std::string paint(std::string_view style, std::string_view text) const {
        return view_.options().color ? fmt::format("{}{}{}", style, text, plain) : std::string(text);
    }
    void heading(const Member& member) {
        if (started_) sink_.write("\n");
        if (!member.title.empty()) line(paint(bold, member.title));
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
            list(**array, item.member->content, item.member->unit, 0);
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
            entry(column.title.empty() ? label_of(column.name) : column.title, item.table.cell(0, c), column.unit,
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

    void prose(const Array& array, Content content) {
        for (const Value& each : array) {
            const std::string text = sentence_text(each, Unit::none, content);
            paragraph(text, hang_of(text));
        }
    }
    // Further lines stand below the text of the first: behind its blanks, its arrow or its dash.
    static std::size_t hang_of(std::string_view text) {
        std::size_t at = std::min(text.find_first_not_of(' '), text.size());
        for (const std::string_view mark : {"-> ", "- "})
            if (text.substr(at).starts_with(mark)) return at + mark.size();
        return at == 0 ? 0 : at + 2;
    }
    // A list of what is to be read whole, and copied; terms are cut at the edge.
    void list(const Array& array, Content content, Unit unit, std::size_t indent) {
        const std::size_t wanted = view_.options().top.value_or(default_rows);
        const std::size_t shown = wanted == 0 ? array.size() : std::min(array.size(), wanted);
        for (std::size_t i = 0; i < shown; ++i) {
            std::string text(indent, ' ');
            if (const auto* object = std::get_if<std::shared_ptr<const Object>>(&array[i].data())) {
                for (std::size_t j = 0; j < (*object)->size(); ++j) {
                    const auto& each = (**object)[j];
                    if (j != 0) text += "  ";
                    text += people_text(view_, each.second, unit_of(each.first), content);
                }
            } else {
                text += sentence_text(array[i], unit, content);
            }
            if (content == Content::term)
                line(fits(text));
            else
                paragraph(text, text.starts_with("- ") ? hang_of(text) : indent + folded);
        }
        if (shown < array.size()) line(std::string(indent, ' ') + more(array.size() - shown));
    }
    std::string more(std::size_t rows) const { return paint(dim, fmt::format("... {} more", grouped(rows))); }
    std::string fits(std::string text) const {
        return view_.options().width == 0 ? text : clipped(text, view_.options().width);
    }

    std::string cell(const TableView& table, std::size_t row, std::size_t c, const Value& value) const {
        const Column& column = table.column(c);
        std::string text = people_text(view_, value, table.unit_of(row, c), column.content, table.key_of(row, c));
        const std::size_t depth = table.depth_of(row, c);
        return depth == 0 ? text : std::string(2 * std::min<std::size_t>(depth, 40), ' ') + text;
    }

    struct Layout {
        std::vector<std::size_t> widths;
        std::vector<bool> below;  // columns that are not in the row
        std::vector<bool> right;
        std::vector<bool> gives;  // terms and messages, which may be shortened
        std::vector<bool> breaks; // begins another line
    };

    Layout measure(const TableView& table) const {
        Layout layout;
        for (std::size_t c = 0; c < table.columns(); ++c) {
            const Column& column = table.column(c);
            layout.widths.push_back(display_width(column.title));
            layout.below.push_back(column.below);
            layout.right.push_back(numeric(column.unit));
            layout.gives.push_back(column.content == Content::term || column.content == Content::message);
            layout.breaks.push_back(false);
        }
        for (std::size_t row = 0; row < table.rows(); ++row) {
            for (std::size_t c = 0; c < table.columns(); ++c) {
                if (layout.below[c]) continue;
                layout.widths[c] = std::max(layout.widths[c], display_width(cell(table, row, c, table.cell(row, c))));
            }
        }
        if (view_.options().width != 0) fit(layout);
        return layout;
    }

    // Makes rows fit a terminal: terms give way as long as they keep some width; where that is not enough, the row goes
    // on in a second line. Names and numbers stay whole, so that they can be copied, unless one is wider than a line.
    void fit(Layout& layout) const {
        const std::size_t width = view_.options().width;
        std::size_t total = 0, least = 0;
        for (std::size_t c = 0; c < layout.widths.size(); ++c) {
            if (layout.below[c]) continue;
            const std::size_t between = total == 0 ? 0 : gap;
            total += layout.widths[c] + between;
            least += (layout.gives[c] ? std::min(layout.widths[c], narrowest) : layout.widths[c]) + between;
        }
        if (total <= width) return;
        if (least <= width) {
            std::size_t less = total - width;
            for (std::size_t c = layout.widths.size(); c-- > 0 && less != 0;) {
                if (layout.below[c] || !layout.gives[c] || layout.widths[c] <= narrowest) continue;
                const std::size_t taken = std::min(less, layout.widths[c] - narrowest);
                layout.widths[c] -= taken;
                less -= taken;
            }
            return;
        }
        const std::size_t longest = width > 2 * folded ? width - folded : width;
        std::size_t used = 0;
        for (std::size_t c = 0; c < layout.widths.size(); ++c) {
            if (layout.below[c]) continue;
            layout.widths[c] = std::min(layout.widths[c], longest);
            if (used != 0 && used + gap + layout.widths[c] > width) {
                layout.breaks[c] = true;
                used = folded + layout.widths[c];
            } else {
                used += (used == 0 ? 0 : gap) + layout.widths[c];
            }
        }
    }

    // Cells of a row, joined; nothing is padded behind the last of a line.
    template <class CellText>
    std::string row_text(const Layout& layout, CellText&& text_of) const {
        std::string text;
        std::size_t owed = 0;  // blanks that are only written when something follows
        bool first = true;
        for (std::size_t c = 0; c < layout.widths.size(); ++c) {
            if (layout.below[c]) continue;
            if (layout.breaks[c]) {
                while (text.ends_with(' ')) text.pop_back();
                text.append("\n").append(folded, ' ');
                owed = 0;
                first = true;
            }
            const std::string body = clipped(text_of(c), layout.widths[c]);
            const std::size_t pad = layout.widths[c] - std::min(layout.widths[c], display_width(body));
            const std::size_t left = layout.right[c] ? pad : 0;
            text.append(owed + (first ? 0 : gap) + left, ' ').append(body);
            owed = pad - left;
            first = false;
        }
        while (text.ends_with(' ')) text.pop_back();
        return text;
    }

    void table(const View::Item& item) {
        const TableView& table = item.table;
        if (table.rows() == 0) {
            if (table.empty().empty() && !item.member->title.empty()) return;
            heading(*item.member);
            return line(table.empty().empty() ? "nothing" : table.empty());
        }
        heading(*item.member);
        const Layout layout = measure(table);
        line(paint(bold, row_text(layout, [&](std::size_t c) { return table.column(c).title; })));
        for (std::size_t row = 0; row < table.rows() && !sink_.closed(); ++row) {
            line(row_text(layout, [&](std::size_t c) { return cell(table, row, c, table.cell(row, c)); }));
            for (std::size_t c = 0; c < table.columns(); ++c) {
                if (!layout.below[c]) continue;
                const Value value = table.cell(row, c);
                if (const auto* inner = std::get_if<std::shared_ptr<const Array>>(&value.data()))
                    list(**inner, table.column(c).content, table.column(c).unit, 4);
            }
        }
        if (table.rows() < table.total()) line(more(table.total() - table.rows()));
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
