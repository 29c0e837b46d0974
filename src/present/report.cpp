// SPDX-License-Identifier: Apache-2.0
#include "present/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "beamheap_version.hpp"
#include "bytes/compress.hpp"
#include "present/json_writer.hpp"
#include "present/sanitise.hpp"
#include "present/units.hpp"

namespace beamheap::present {
namespace {

// The style sheet and the script, compressed by zstd, with the hashes by which the page's policy knows them
// (cmake/embed_report.cmake).
struct Asset {
    std::string_view hash;
    std::size_t size;
    std::vector<std::string_view> pieces;

    std::string text() const {
        std::string stored;
        for (const std::string_view piece : pieces) stored += piece;
        return bytes::plain_of_frame(stored, size);
    }
};
using namespace std::string_view_literals;
#include "report_assets.inc"

// How a report sees tables: as people do.
constexpr Presenter as_people{.name = "html", .doc = {}, .for_people = true};
constexpr Presenter as_machines{.name = "island", .doc = {}};

constexpr std::size_t rows_at_most = 200;         // of a table that stands in the page
constexpr std::size_t array_at_most = 200;        // entries of a list within a cell of the island
constexpr std::size_t least_of_a_thread = 1'000;  // rows: fewer are written as quickly as a thread begins

void write_json_string(std::string_view raw, std::string& out) {
    out += '"';
    std::string escaped;
    append_json(raw, escaped);
    // No text can end the element that the island is.
    for (const char c : escaped) {
        if (c == '<') out += "\\u003c";
        else out += c;
    }
    out += '"';
}

std::string_view unit_name(Unit unit) {
    switch (unit) {
        case Unit::count: return "count";
        case Unit::bytes: return "bytes";
        case Unit::words: return "words";
        case Unit::percent: return "percent";
        case Unit::milliseconds: return "ms";
        case Unit::none:
        case Unit::address:
        case Unit::identifier: break;
    }
    return "";
}

}  // namespace

Report::Report(std::function<bool(Pid)> known) { links_.known = std::move(known); }

Result<View> Report::view_of(const Document& document, const RenderOptions& options) const {
    return View::make(document, options, as_people);
}

Status Report::add(const ReportSection& section, const Document& document, const RenderOptions& given) {
    RenderOptions options = given;
    if (!options.top) options.top = rows_at_most;
    BH_TRY(const View view, view_of(document, options));
    std::string& html = sections_.emplace_back(Section{section.id, section.title, {}, section.place}).html;
    html += fmt::format("<section id=\"{}\">\n<h2>", section.id);
    append_html(section.title, html);
    html += "</h2>\n";
    HtmlWriter writer(view, links_, section.places, html);
    if (!section.command.empty()) {
        html += "<p class=\"command\"><code class=\"cmd\">beamheap ";
        append_html(safe_text(view.text(section.command, Content::message)), html);
        html += "</code></p>\n";
    }
    if (section.members.empty())
        for (const Text& sentence : document.lead) writer.paragraph(sentence, {});
    if (section.picture) html += fmt::format("<div class=\"picture\" data-view=\"{}\"></div>\n", section.id);
    if (section.members.empty()) {
        for (const View::Item& item : view.items())
            if (item.member->in_text) writer.item(item);
    } else {
        for (const std::string& key : section.members) {
            if (key == "findings") BH_CHECK(findings(document, given));
            for (const View::Item& item : view.items())
                if (item.member->key == key && item.member->in_text) writer.item(item);
        }
    }
    return ok();
}

Status Report::add_process(Pid pid, const Document& document, const RenderOptions& options) {
    BH_TRY(const View view, view_of(document, options));
    links_.placed.insert(pid);
    const bool first = std::exchange(first_process_, false);
    std::string& html = sections_.back().html;
    HtmlWriter writer(view, links_, false, html);
    html += fmt::format("<details class=\"process\" id=\"{}\"{}><summary>", process_anchor(pid), first ? " open" : "");
    if (document.lead.empty()) html += process_anchor(pid).substr(1);
    else writer.sentence(document.lead.front());
    html += "</summary>\n";
    for (std::size_t i = 1; i < document.lead.size(); ++i) writer.paragraph(document.lead[i], {});
    for (const View::Item& item : view.items())
        if (item.member->in_text) writer.item(item);
    html += "</details>\n";
    return ok();
}

Status Report::findings(const Document& document, const RenderOptions& options) {
    RenderOptions all = options;
    all.top = 0;
    BH_TRY(const View view, View::make(document, all, as_machines));
    HtmlWriter writer(view, links_, false, sections_.back().html);
    for (const View::Item& item : view.items())
        if (item.member->key == "findings" && item.is_table) writer.findings(item.table);
    return ok();
}

void Report::add_limits(const Document& document, const RenderOptions& options, const std::vector<Text>& sentences) {
    Document empty;
    const auto view = view_of(empty, options);
    if (!view) return;
    std::string& html = sections_.back().html;
    HtmlWriter writer(*view, links_, false, html);
    html += "<ul>\n";
    for (const Text& each : sentences) {
        html += "<li>";
        writer.sentence(each);
        html += "</li>\n";
    }
    for (const Warning& warning : document.warnings) {
        html += fmt::format("<li class=\"warning {}\">", warning.severity);
        writer.sentence(warning.text);
        html += "</li>\n";
    }
    html += "</ul>\n";
}

std::size_t Report::Strings::number_of(std::string text) {
    const auto [place, fresh] = index_.try_emplace(std::move(text), all_.size());
    if (fresh) all_.push_back(place->first);
    return place->second;
}

/// Writes rows of a table, one after the other. Rows that are written beside those before them have numbers of their
/// own for their texts: a mark stands for each until append_to() knows the numbers of the page.
class Report::RowWriter {
public:
    RowWriter(const View& view, const TableView& rows) : view_(view), rows_(rows), redacted_(rows.columns()) {}

    void write(std::size_t from, std::size_t to, Strings& strings, std::string& out, bool marked) {
        strings_ = &strings, out_ = &out, marked_ = marked;
        for (std::size_t row = from; row < to; ++row) {
            out += row == 0 ? "\n[" : ",\n[";
            for (std::size_t c = 0; c < rows_.columns(); ++c) {
                if (c != 0) out += ',';
                cell(rows_.cell(row, c), rows_.column(c), rows_.key_of(row, c), redacted_[c]);
            }
            out += ']';
        }
    }
    /// The same with strings of its own, to be appended later.
    void write_apart(std::size_t from, std::size_t to) { write(from, to, own_strings_, own_text_, true); }
    void append_to(Strings& strings, std::string& out) {
        std::vector<std::size_t> numbers;
        numbers.reserve(own_strings_.all().size());
        for (const std::string_view text : own_strings_.all()) numbers.push_back(strings.number_of(std::string(text)));
        strings_ = &strings, out_ = &out, marked_ = false;
        std::string_view left = own_text_;
        for (const std::uint32_t own : marks_) {
            const std::size_t at = left.find(mark);
            out.append(left.substr(0, at));
            place(numbers[own]);
            left.remove_prefix(at + 1);
        }
        out.append(left);
    }

private:
    static constexpr char mark = '\1';  // JSON has none: control characters are escaped
    /// What a column's texts are once redacted: their numbers.
    using RedactedTexts = std::unordered_map<std::string, std::size_t>;

    void place(std::size_t index) {
        if (marked_) {
            *out_ += mark;
            marks_.push_back(static_cast<std::uint32_t>(index));
            return;
        }
        const fmt::format_int digits(index + 1);
        *out_ += '-';
        out_->append(digits.data(), digits.size());
    }
    void text(std::string shown) { place(strings_->number_of(std::move(shown))); }
    void cell(const Value& value, const Column& column, std::string_view key, RedactedTexts& redacted) {
        std::string& out = *out_;
        if (value.is_null()) {
            out += "null";
            return;
        }
        if (const auto* number = std::get_if<std::uint64_t>(&value.data());
            number != nullptr && column.content == Content::plain) {
            const fmt::format_int digits(*number);
            out.append(digits.data(), digits.size());
            return;
        }
        if (const auto* raw = std::get_if<std::string>(&value.data())) {
            if (!key.empty()) return text(view_.text(*raw, column.content, key));
            // Most texts of a column stand in many rows: each is looked at for secrets once.
            const auto [known, fresh] = redacted.try_emplace(*raw);
            if (fresh) known->second = strings_->number_of(view_.text(*raw, column.content));
            return place(known->second);
        }
        if (const auto* sentence = std::get_if<std::shared_ptr<const Text>>(&value.data()))
            return text(view_.text(**sentence));
        if (const auto* array = std::get_if<std::shared_ptr<const Array>>(&value.data())) {
            out += '[';
            const std::size_t shown = std::min((*array)->size(), array_at_most);
            for (std::size_t i = 0; i < shown; ++i) {
                if (i != 0) out += ',';
                cell((**array)[i], column, key, redacted);
            }
            if (shown < (*array)->size()) {
                out += ',';
                text(fmt::format("... {} more", grouped((*array)->size() - shown)));
            }
            out += ']';
            return;
        }
        StringSink sink;
        JsonWriter json(sink);
        write_json(view_, value, column.content, key, json);
        // A figure below zero would be read as a text's place.
        out += sink.text().starts_with('-') ? fmt::format("{{\"n\":{}}}", sink.text()) : sink.text();
    }

    const View& view_;
    const TableView& rows_;
    std::vector<RedactedTexts> redacted_;
    Strings* strings_ = nullptr;
    std::string* out_ = nullptr;
    bool marked_ = false;
    Strings own_strings_;
    std::string own_text_;
    std::vector<std::uint32_t> marks_;  // of own_strings_, in the order of the marks
};

Status Report::data(std::string_view key, const Table& table, std::string_view command, const RenderOptions& given,
                    std::size_t most, unsigned threads) {
    Document document;
    document.members.push_back({.key = "rows", .body = table});
    RenderOptions options = given;
    options.columns.clear();
    options.sort.clear();
    options.top = most;
    BH_TRY(const View view, View::make(document, options, as_machines));
    const TableView& rows = view.items().front().table;
    std::string& out = tables_;
    out += tables_.empty() ? "" : ",\n";
    write_json_string(key, out);
    out += ":{\"columns\":[";
    for (std::size_t c = 0; c < rows.columns(); ++c) {
        const Column& column = rows.column(c);
        out += c == 0 ? "{\"name\":" : ",{\"name\":";
        write_json_string(column.name, out);
        out += ",\"title\":";
        write_json_string(column.title, out);
        out += ",\"unit\":";
        write_json_string(unit_name(column.unit), out);
        out += ",\"doc\":";
        write_json_string(column.doc, out);
        out += '}';
    }
    out += fmt::format("],\"total\":{},\"command\":", rows.total());
    write_json_string(view.text(command, Content::message), out);
    out += ",\"rows\":[";
    // The first piece is written here and into the page itself, the others beside it.
    const std::size_t pieces = std::clamp<std::size_t>(rows.rows() / least_of_a_thread, 1, std::max(threads, 1u));
    const auto begin_of = [&](std::size_t piece) { return rows.rows() * piece / pieces; };
    std::vector<RowWriter> writers(pieces, RowWriter(view, rows));
    std::vector<std::future<void>> others;
    for (std::size_t i = 1; i < pieces; ++i)
        others.push_back(std::async(std::launch::async | std::launch::deferred,
                                    [&, i] { writers[i].write_apart(begin_of(i), begin_of(i + 1)); }));
    writers[0].write(0, begin_of(1), strings_, out, false);
    for (std::size_t i = 1; i < pieces; ++i) {
        others[i - 1].get();
        writers[i].append_to(strings_, out);
    }
    out += "]}";
    return ok();
}

Status Report::fact(std::string_view key, Value value, Content content, const RenderOptions& options) {
    Document document;
    BH_TRY(const View view, View::make(document, options, as_machines));
    write_json_string(key, facts_);
    facts_ += ':';
    StringSink sink;
    JsonWriter json(sink);
    write_json(view, value, content, {}, json);
    for (const char c : sink.text()) {
        if (c == '<') facts_ += "\\u003c";
        else facts_ += c;
    }
    facts_ += ",\n";
    return ok();
}

std::vector<Pid> Report::without_place() const {
    std::vector<Pid> pids;
    std::ranges::set_difference(links_.linked, links_.placed, std::back_inserter(pids));
    return pids;
}

void Report::finish(const ReportHead& head, const Document& first, const RenderOptions& options, Sink& sink) {
    std::ranges::stable_sort(sections_, {}, &Section::place);
    std::string out;
    const Document none;
    const auto view = view_of(none, options);
    const auto safe = [&](std::string_view raw, Content content) {
        return safe_text(view ? view->text(raw, content) : std::string());
    };
    out += "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    out += fmt::format(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-{}'; style-src "
        "'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'\">\n",
        report_script.hash, report_style.hash);
    out +=
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"
        "<link rel=\"icon\" href=\"data:,\">\n<title>";
    append_html(safe(head.title, Content::name), out);
    out += "</title>\n<style>";
    out += report_style.text();
    out += "</style>\n</head>\n<body>\n<header>\n<p class=\"what\"><b>";
    append_html(safe(head.title, Content::name), out);
    out += "</b> <span>";
    append_html(safe(head.input, Content::message), out);
    out +=
        fmt::format("</span> <span>beamheap {}</span> <span>redaction: {}</span></p>\n", BEAMHEAP_VERSION, head.level);
    out += "<nav><ul>\n";
    for (const Section& each : sections_) {
        out += fmt::format("<li><a href=\"#{}\">", each.id);
        append_html(each.title, out);
        out += "</a></li>\n";
    }
    out += "</ul></nav>\n</header>\n<main>\n";
    if (view) {
        HtmlWriter writer(*view, links_, false, out);
        for (const Warning& warning : first.warnings)
            if (warning.leads) writer.paragraph(warning.text, "warning");
        out += "<div class=\"lead\">\n";
        for (const Text& sentence : first.lead) {
            if (&sentence != first.lead.data()) {
                writer.paragraph(sentence, {});
                continue;
            }
            out += "<h1>";
            writer.sentence(sentence);
            out += "</h1>\n";
        }
        if (!first.reading.empty()) writer.paragraph(first.reading, first.reading_leads ? "" : "note");
        out += "</div>\n";
    }
    sink.write(out);
    for (const Section& each : sections_) {
        sink.write(each.html);
        // Tables that are told about and are too small to be listed have their place here.
        if (each.id == "ets")
            for (const std::string& anchor : links_.tables)
                if (!links_.tables_placed.contains(anchor)) sink.write(fmt::format("<span id=\"{}\"></span>", anchor));
        sink.write("</section>\n");
    }
    sink.write("</main>\n<script type=\"application/json\" id=\"data\">{\n");
    sink.write(facts_);
    sink.write("\"tables\":{");
    sink.write(tables_);
    sink.write("},\n\"strings\":[");
    std::string text;
    for (std::size_t i = 0; i < strings_.all().size(); ++i) {
        text = i == 0 ? "\n" : ",\n";
        write_json_string(safe_text(strings_.all()[i]), text);  // a script shows them as they are
        sink.write(text);
    }
    sink.write("]}</script>\n<script>");
    sink.write(report_script.text());
    sink.write("</script>\n</body>\n</html>\n");
    sink.flush();
}

}  // namespace beamheap::present
