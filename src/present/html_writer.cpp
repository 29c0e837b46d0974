// SPDX-License-Identifier: Apache-2.0
#include "present/html_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "erlang/elixir_names.hpp"
#include "present/sanitise.hpp"
#include "present/units.hpp"

namespace beamheap::present {
namespace {

constexpr std::size_t frames_shown = 12;    // of a stack; the rest unfolds
constexpr std::size_t pids_shown = 32;      // of a list
constexpr std::size_t frames_at_most = 60;  // of a stack that goes on and on

std::string text_of(const Value& value) {
    const auto* text = std::get_if<std::string>(&value.data());
    return text == nullptr ? std::string() : *text;
}

Unit evidence_unit(std::string_view name) {
    if (name == "bytes") return Unit::bytes;
    if (name == "words") return Unit::words;
    if (name == "percent") return Unit::percent;
    if (name == "milliseconds") return Unit::milliseconds;
    return Unit::count;
}

std::optional<std::size_t> column_of(const TableView& table, std::string_view name) {
    for (std::size_t c = 0; c < table.columns(); ++c)
        if (table.column(c).name == name) return c;
    return std::nullopt;
}

// The number itself where people see it rounded or grouped: what rows are sorted by, and what a test compares.
std::string number_of(const Value& value) {
    if (const auto* whole = std::get_if<std::uint64_t>(&value.data())) return fmt::format_int(*whole).str();
    if (const auto* whole = std::get_if<std::int64_t>(&value.data())) return fmt::format_int(*whole).str();
    if (const auto* real = std::get_if<double>(&value.data())) return fmt::format("{}", *real);
    return {};
}

}  // namespace

void append_html(std::string_view safe, std::string& out) {
    for (const char c : safe) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&#39;"; break;
            default: out += c;
        }
    }
}

std::optional<Pid> local_pid(std::string_view text) {
    if (text.starts_with("#PID")) text.remove_prefix(4);
    if (!text.starts_with("<0.") || !text.ends_with('>')) return std::nullopt;
    text.remove_prefix(3);
    text.remove_suffix(1);
    Pid pid;
    const char* const end = text.data() + text.size();
    auto [next, error] = std::from_chars(text.data(), end, pid.number);
    if (error != std::errc{} || next == end || *next != '.') return std::nullopt;
    const auto [last, failure] = std::from_chars(next + 1, end, pid.serial);
    if (failure != std::errc{} || last != end) return std::nullopt;
    return pid;
}

std::string process_anchor(Pid pid) { return fmt::format("p{}.{}.{}", pid.node, pid.number, pid.serial); }

std::string table_anchor(std::string_view shown) {
    std::string anchor = "ets-";
    for (const char c : shown) {
        const bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        anchor += word ? std::string(1, c) : fmt::format("-{:02x}", static_cast<unsigned char>(c));
    }
    return anchor;
}

void HtmlWriter::heading(int level, std::string_view title) {
    out_ += fmt::format("<h{}>", level);
    text(safe_text(title));
    out_ += fmt::format("</h{}>\n", level);
}

void HtmlWriter::paragraph(const Text& sentence_text, std::string_view css_class) {
    out_ += css_class.empty() ? "<p>" : fmt::format("<p class=\"{}\">", css_class);
    sentence(sentence_text);
    out_ += "</p>\n";
}

void HtmlWriter::link(Pid pid, std::string_view shown) {
    if (!pid.local() || !links_.known(pid)) return text(shown);
    links_.linked.insert(pid);
    out_ += fmt::format("<a href=\"#{}\">", process_anchor(pid));
    text(shown);
    out_ += "</a>";
}

// Pieces side by side that name one process are one link, those of a command one piece of code.
void HtmlWriter::sentence(const Text& sentence_text) {
    const std::vector<Text::Piece>& pieces = sentence_text.pieces;
    for (std::size_t i = 0; i < pieces.size();) {
        const Text::Piece& first = pieces[i];
        std::string shown;
        do {
            shown += safe_text(view_.text(Text{{pieces[i++]}}));
        } while (i < pieces.size() && pieces[i].command == first.command && pieces[i].process == first.process &&
                 pieces[i].function == first.function && (first.command || first.process.has() || first.function));
        if (first.process.has() && !first.command) {
            link(first.process, shown);
        } else if (!table_.empty() && first.content == Content::name && is_table(first.text) && !first.command &&
                   !first.function) {
            const std::string anchor = table_anchor(shown);
            links_.tables.insert(anchor);
            out_ += fmt::format("<a href=\"#{}\">", anchor);
            text(shown);
            out_ += "</a>";
        } else if (first.command || first.function) {
            out_ += first.command ? "<code class=\"cmd\">" : "<code class=\"fn\">";
            text(shown);
            out_ += "</code>";
        } else {
            text(shown);
        }
    }
}

void HtmlWriter::string(std::string_view raw, Content content, std::string_view key) {
    const std::string shown = safe_text(view_.text(raw, content, key));
    if (const auto pid = local_pid(shown)) return link(*pid, shown);
    text(shown);
}

void HtmlWriter::value(const Value& value, Unit unit, Content content, std::string_view key) {
    if (const auto* sentence_text = std::get_if<std::shared_ptr<const Text>>(&value.data()))
        return sentence(**sentence_text);
    if (const auto* raw = std::get_if<std::string>(&value.data()); raw != nullptr && unit != Unit::address)
        return string(*raw, content, key);
    if (const auto* array = std::get_if<std::shared_ptr<const Array>>(&value.data())) {
        bool first = true;
        for (const Value& each : **array) {
            if (!std::exchange(first, false)) out_ += ' ';
            this->value(each, unit, content, key);
        }
        return;
    }
    if (value.is_null()) return;
    text(people_text(view_, value, unit, content, key));
}

void HtmlWriter::object(const Object& object, const std::string& prefix, Content content) {
    for (const auto& [name, entry] : object) {
        if (entry.is_null()) continue;
        if (const auto* inner = std::get_if<std::shared_ptr<const Object>>(&entry.data())) {
            this->object(**inner, prefix + name + ' ', content);
            continue;
        }
        std::string label = prefix + name;
        std::ranges::replace(label, '_', ' ');
        out_ += "<dt>";
        text(safe_text(label));
        const std::string number = number_of(entry);
        out_ += number.empty() ? "</dt><dd>" : fmt::format("</dt><dd data-v=\"{}\">", number);
        value(entry, unit_of(name), content, {});
        out_ += "</dd>\n";
    }
}

void HtmlWriter::object_row(const TableView& table) {
    out_ += "<dl>\n";
    for (std::size_t c = 0; c < table.columns(); ++c) {
        const Column& column = table.column(c);
        const Value cell = table.cell(0, c);
        if (cell.is_null()) continue;
        out_ += "<dt>";
        text(column.title);
        const std::string number = number_of(cell);
        out_ += number.empty() ? "</dt><dd>" : fmt::format("</dt><dd data-v=\"{}\">", number);
        value(cell, table.unit_of(0, c), column.content, table.key_of(0, c));
        out_ += "</dd>\n";
    }
    out_ += "</dl>\n";
}

void HtmlWriter::list(const Member& member, const Array& array) {
    // Pids, of which the last may be how many more there are: those that fit some lines, the others unfold.
    const auto is_pid = [](const Value& each) { return local_pid(text_of(each)).has_value(); };
    const bool pids = array.size() > 1 && std::all_of(array.begin(), array.end() - 1, is_pid);
    const char* const begin = pids ? "<ul class=\"inline\">\n" : "<ul>\n";
    out_ += begin;
    std::size_t shown = 0;
    const bool folds = pids && array.size() > pids_shown + pids_shown / 4;
    for (const Value& each : array) {
        if (folds && shown++ == pids_shown)
            out_ += fmt::format("</ul>\n<details><summary>{} more</summary>\n{}", grouped(array.size() - pids_shown),
                                begin);
        out_ += "<li>";
        const auto* sentence_text = std::get_if<std::shared_ptr<const Text>>(&each.data());
        if (sentence_text != nullptr && !(*sentence_text)->pieces.empty() &&
            (*sentence_text)->pieces.front().text == "- ")
            sentence(Text{{(*sentence_text)->pieces.begin() + 1,
                           (*sentence_text)->pieces.end()}});  // the page has marks of its own
        else value(each, member.unit, member.content, {});
        out_ += "</li>\n";
    }
    out_ += folds ? "</ul>\n</details>\n" : "</ul>\n";
}

void HtmlWriter::frames(const Array& array, Content content) {
    const auto some = [&](std::size_t from, std::size_t to) {
        out_ += fmt::format("<ol class=\"frames\" start=\"{}\">", from);
        for (std::size_t i = from; i < to; ++i) {
            out_ += "<li>";
            if (const auto* object = std::get_if<std::shared_ptr<const Object>>(&array[i].data())) {
                // A name and what it holds: "y0  {state,1}".
                for (const auto& [name, entry] : **object) {
                    value(entry, unit_of(name), content, {});
                    out_ += "  ";
                }
            } else {
                value(array[i], Unit::none, content, {});
            }
            out_ += "</li>";
        }
        out_ += "</ol>";
    };
    some(0, std::min(frames_shown, array.size()));
    if (array.size() <= frames_shown) return;
    out_ += fmt::format("<details><summary>{} more frames</summary>", grouped(array.size() - frames_shown));
    some(frames_shown, std::min(frames_at_most, array.size()));
    if (array.size() > frames_at_most)
        out_ += fmt::format("<p>... {} more</p>", grouped(array.size() - frames_at_most));
    out_ += "</details>";
}

void HtmlWriter::open_cell(const Value& value, Unit unit) {
    const std::string number = number_of(value);
    if (numeric(unit))
        out_ += number.empty() ? "<td class=\"n\">" : fmt::format("<td class=\"n\" data-v=\"{}\">", number);
    else out_ += number.empty() ? "<td>" : fmt::format("<td data-v=\"{}\">", number);
}

std::string HtmlWriter::place_of(const TableView& table, std::size_t row) {
    if (!places_ || table.columns() < 2) return {};
    if (table.column(0).name == "pid") {
        const auto pid = local_pid(text_of(table.cell(row, 0)));
        return pid && links_.placed.insert(*pid).second ? process_anchor(*pid) : std::string();
    }
    if (table.column(0).name != "name" || table.column(1).name != "owner") return {};
    const std::string name = text_of(table.cell(row, 0));
    if (name.empty()) return {};
    std::string anchor = table_anchor(safe_text(view_.text(name, table.column(0).content)));
    return links_.tables_placed.insert(anchor).second ? anchor : std::string();
}

// Columns in which some row has something: a dump that does not tell a figure needs no column for it.
std::vector<std::size_t> HtmlWriter::filled_columns(const TableView& table) {
    std::vector<std::size_t> filled{0};
    for (std::size_t c = 1; c < table.columns(); ++c)
        for (std::size_t row = 0; row < table.rows(); ++row)
            if (!table.cell(row, c).is_null()) {
                filled.push_back(c);
                break;
            }
    return filled;
}

void HtmlWriter::rows(const TableView& table, const std::vector<std::size_t>& filled, std::size_t from,
                      std::size_t to) {
    out_ += "<div class=\"scroll\"><table>\n<thead><tr>";
    for (const std::size_t c : filled) {
        const Column& column = table.column(c);
        out_ += numeric(column.unit) ? "<th scope=\"col\" class=\"n\" title=\"" : "<th scope=\"col\" title=\"";
        text(column.doc);
        out_ += "\">";
        text(column.title);
        out_ += "</th>";
    }
    out_ += "</tr></thead>\n<tbody>\n";
    for (std::size_t row = from; row < to; ++row) {
        const std::string place = place_of(table, row);
        out_ += place.empty() ? "<tr>" : fmt::format("<tr id=\"{}\">", place);
        for (const std::size_t c : filled) {
            const Column& column = table.column(c);
            const Value cell = table.cell(row, c);
            const Unit unit = table.unit_of(row, c);
            open_cell(cell, unit);
            if (const std::size_t depth = std::min<std::size_t>(table.depth_of(row, c), 12); depth != 0)
                out_ += fmt::format("<span class=\"d{}\">{}</span>", depth, std::string(depth, '.'));
            const auto* array = std::get_if<std::shared_ptr<const Array>>(&cell.data());
            if (array != nullptr && column.below) frames(**array, column.content);
            else value(cell, unit, column.content, table.key_of(row, c));
            out_ += "</td>";
        }
        out_ += "</tr>\n";
    }
    out_ += "</tbody></table></div>\n";
}

void HtmlWriter::table(const TableView& table, std::size_t folded_from) {
    if (table.rows() == 0) {
        out_ += "<p class=\"none\">";
        text(table.empty().empty() ? "nothing" : safe_text(table.empty()));
        out_ += "</p>\n";
        return;
    }
    const std::size_t shown = std::min(table.rows(), folded_from);
    const std::vector<std::size_t> filled = filled_columns(table);
    rows(table, filled, 0, shown);
    if (shown < table.rows()) {
        out_ += fmt::format("<details class=\"more\"><summary>{} more rows</summary>\n", grouped(table.rows() - shown));
        rows(table, filled, shown, table.rows());
        out_ += "</details>\n";
    }
    if (table.rows() < table.total())
        out_ += fmt::format("<p class=\"cut\">{} of {} rows are in this file.</p>\n", grouped(table.rows()),
                            grouped(table.total()));
}

void HtmlWriter::item(const View::Item& item) {
    const auto* plain = std::get_if<Value>(&item.member->body);
    if (plain != nullptr && plain->is_null()) return;
    if (plain != nullptr)
        if (const auto* array = std::get_if<std::shared_ptr<const Array>>(&plain->data());
            array != nullptr && (*array)->empty())
            return;
    if (!item.member->title.empty()) heading(3, item.member->title);
    if (item.object()) return object_row(item.table);
    if (item.is_table) {
        const std::size_t usual = std::get<Table>(item.member->body).for_people;
        return table(item.table, usual == 0 ? default_rows : usual);
    }
    if (const auto* fields = std::get_if<std::shared_ptr<const Object>>(&plain->data())) {
        out_ += "<dl>\n";
        object(**fields, {}, item.member->content);
        out_ += "</dl>\n";
        return;
    }
    if (const auto* array = std::get_if<std::shared_ptr<const Array>>(&plain->data()))
        return list(*item.member, **array);
    out_ += "<p>";
    value(*plain, item.member->unit, item.member->content, {});
    out_ += "</p>\n";
}

void HtmlWriter::evidence(const Value& all) {
    const auto* array = std::get_if<std::shared_ptr<const Array>>(&all.data());
    if (array == nullptr || (*array)->empty()) return;
    out_ += "<dl class=\"evidence\">\n";
    for (const Value& each : **array) {
        const auto* object = std::get_if<std::shared_ptr<const Object>>(&each.data());
        if (object == nullptr) continue;
        const auto member = [&](std::string_view name) -> const Value& {
            static const Value none;
            for (const auto& [key, entry] : **object)
                if (key == name) return entry;
            return none;
        };
        const Unit unit = evidence_unit(text_of(member("unit")));
        const std::string confidence = text_of(member("confidence"));
        out_ += "<dt>";
        value(member("name"), Unit::none, Content::plain, {});
        const std::string number = number_of(member("value"));
        out_ += number.empty() ? "</dt><dd>" : fmt::format("</dt><dd data-v=\"{}\">", number);
        value(member("value"), unit, Content::message, {});
        if (unit == Unit::words && !number.empty()) out_ += " words";
        if (confidence == "lower_bound") out_ += " <small>at least</small>";
        if (confidence == "estimate") out_ += " <small>estimate</small>";
        out_ += "</dd>\n";
    }
    out_ += "</dl>\n";
}

namespace {

// The section that lists things of this kind; processes have places of their own.
std::string_view section_of(std::string_view subject_kind) {
    if (subject_kind == "table") return "<a href=\"#ets\">ETS tables</a>";
    if (subject_kind == "port") return "<a href=\"#ports\">Ports</a>";
    if (subject_kind == "allocator") return "<a href=\"#alloc\">Allocators</a>";
    return {};
}

// The name that a sentence is, without the prefix that Elixir's modules have; empty where it is no name alone.
std::string name_in(const Value& value) {
    const auto* sentence = std::get_if<std::shared_ptr<const Text>>(&value.data());
    if (sentence == nullptr || (*sentence)->pieces.size() != 1 || (*sentence)->pieces[0].content != Content::name)
        return {};
    const std::string_view name = (*sentence)->pieces[0].text;
    return std::string(erlang::without_elixir(name));
}

}  // namespace

void HtmlWriter::findings(const TableView& table) {
    const auto column = [&table](std::string_view name) { return column_of(table, name).value_or(0); };
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const std::string severity = text_of(table.cell(row, column("severity")));
        const std::string rule = text_of(table.cell(row, column("rule")));
        table_ = text_of(table.cell(row, column("subject_kind"))) == "table"
                     ? name_in(table.cell(row, column("subject")))
                     : std::string();
        out_ += fmt::format(
            "<article class=\"finding {0}\" id=\"finding-{1}\">\n<h3><span class=\"badge\">{0}</span> <span "
            "class=\"rule\" title=\"beamheap explain {2}\">{2}</span> {3}</h3>\n<p class=\"says\">",
            severity, row + 1, rule, section_of(text_of(table.cell(row, column("subject_kind")))));
        value(table.cell(row, column("title")), Unit::none, Content::message, {});
        out_ += "</p>\n";
        evidence(table.cell(row, column("evidence")));
        const Value steps = table.cell(row, column("next_steps"));
        if (const auto* array = std::get_if<std::shared_ptr<const Array>>(&steps.data());
            array != nullptr && !(*array)->empty()) {
            out_ += "<ul class=\"steps\">\n";
            for (const Value& step : **array) {
                out_ += "<li>";
                value(step, Unit::none, Content::message, {});
                out_ += "</li>\n";
            }
            out_ += "</ul>\n";
        }
        out_ += "</article>\n";
    }
}

}  // namespace beamheap::present
