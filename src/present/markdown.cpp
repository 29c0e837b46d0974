// SPDX-License-Identifier: Apache-2.0
// Markdown to paste into an issue: sentences, bullet lists for objects, pipe tables.
#include <fmt/format.h>

#include <algorithm>

#include "present/sanitise.hpp"
#include "present/units.hpp"
#include "present/view.hpp"

namespace beamheap::present {
namespace {

std::string safe(std::string_view text) {
    std::string out;
    append_markdown(text, out);
    return out;
}

// people_text makes text safe for a terminal; Markdown's own characters come on top of that.
std::string cell_text(const View& view, const Value& value, Unit unit, Content content, std::string_view key) {
    return safe(people_text(view, value, unit, content, key));
}

void write_bullets(const View& view, const Object& object, const std::string& prefix, Content content, Sink& sink) {
    for (const auto& [name, value] : object) {
        if (value.is_null()) continue;
        if (const auto* inner = std::get_if<std::shared_ptr<const Object>>(&value.data())) {
            write_bullets(view, **inner, prefix + name + '.', content, sink);
            continue;
        }
        sink.write(
            fmt::format("- {}{}: {}\n", safe(prefix), safe(name), cell_text(view, value, unit_of(name), content, {})));
    }
}

void write_table(const View& view, const TableView& table, Sink& sink) {
    if (table.rows() == 0) {
        sink.write(fmt::format("{}\n", table.empty().empty() ? "nothing" : safe(table.empty())));
        return;
    }
    std::string head = "|";
    std::string rule = "|";
    for (std::size_t c = 0; c < table.columns(); ++c) {
        head += fmt::format(" {} |", safe(table.column(c).title));
        rule += numeric(table.column(c).unit) ? " ---: |" : " --- |";
    }
    sink.write(fmt::format("{}\n{}\n", head, rule));
    for (std::size_t row = 0; row < table.rows() && !sink.closed(); ++row) {
        sink.write("|");
        for (std::size_t c = 0; c < table.columns(); ++c) {
            const Column& column = table.column(c);
            sink.write(fmt::format(" {} |", cell_text(view, table.cell(row, c), table.unit_of(row, c), column.content,
                                                      table.key_of(row, c))));
        }
        sink.write("\n");
    }
    if (table.rows() < table.total()) sink.write(fmt::format("\n... {} more\n", grouped(table.total() - table.rows())));
}

void write_value(const View& view, const Member& member, const Value& value, Sink& sink) {
    if (const auto* object = std::get_if<std::shared_ptr<const Object>>(&value.data()))
        return write_bullets(view, **object, {}, member.content, sink);
    if (const auto* array = std::get_if<std::shared_ptr<const Array>>(&value.data())) {
        for (const Value& each : **array) {
            const std::string text = cell_text(view, each, member.unit, member.content, {});
            const std::string_view line =
                std::string_view(text).substr(std::min(text.find_first_not_of(' '), text.size()));
            sink.write(fmt::format("- {}\n", line.substr(line.starts_with("- ") ? 2 : 0)));
        }
        return;
    }
    sink.write(fmt::format("{}\n", cell_text(view, value, member.unit, member.content, {})));
}

}  // namespace

static void present_markdown(const View& view, Sink& sink) {
    bool started = false;
    for (const Warning& warning : view.document().warnings) {
        if (!warning.leads) continue;
        sink.write(fmt::format("{}**Warning:** {}\n", started ? "\n" : "", safe(view.text(warning.text))));
        started = true;
    }
    const auto say = [&](const Text& sentence) {
        sink.write(fmt::format("{}{}\n", started ? "\n" : "", safe(view.text(sentence))));
        started = true;
    };
    if (view.document().reading_leads) say(view.document().reading);
    for (const Text& sentence : view.document().lead) {
        if (view.chosen()) break;
        say(sentence);
    }
    if (!view.document().reading.empty() && !view.document().reading_leads) say(view.document().reading);
    for (const View::Item& item : view.items()) {
        if (!view.for_people(item) || sink.closed()) continue;
        const auto* value = std::get_if<Value>(&item.member->body);
        if (value != nullptr && value->is_null()) continue;
        if (started) sink.write("\n");
        if (!item.member->title.empty()) sink.write(fmt::format("### {}\n\n", safe(item.member->title)));
        started = true;
        if (item.object()) {
            for (std::size_t c = 0; c < item.table.columns(); ++c) {
                const Column& column = item.table.column(c);
                const Value cell = item.table.cell(0, c);
                if (cell.is_null()) continue;
                sink.write(fmt::format("- {}: {}\n", safe(column.name),
                                       cell_text(view, cell, column.unit, column.content, item.table.key_of(0, c))));
            }
        } else if (item.is_table || item.adapted == View::Item::Adapted::list) {
            write_table(view, item.table, sink);
        } else {
            write_value(view, *item.member, *value, sink);
        }
    }
    sink.flush();
}

BH_DEFINE_FORMAT(md){
    .name = "md",
    .doc = "Markdown, to paste into an issue",
    .for_people = true,
    .present = &present_markdown,
};

}  // namespace beamheap::present
