// SPDX-License-Identifier: Apache-2.0
// The format of pprof (its profile.proto), which `go tool pprof`, Pyroscope, Grafana and speedscope read: a sample for
// each stack, with a value for each of its sums, and what else the row says (a pid, a name, a scheduler) as labels.
//
// A gzip stream, made row by row: what is known of a name (strings, functions, locations) is written when it first
// appears, since fields of a message may stand in any order.
#include <map>

#include "bytes/compress.hpp"
#include "present/protobuf.hpp"
#include "present/sanitise.hpp"
#include "present/stack_rows.hpp"

namespace beamheap::present {
namespace {

// Numbers of fields, by the messages of profile.proto.
namespace pprof {
namespace profile {
constexpr std::uint32_t sample_type = 1, sample = 2, location = 4, function = 5, string_table = 6, time_ns = 9,
                        duration_ns = 10, period_type = 11, period = 12, comment = 13, default_sample_type = 14;
}
namespace value_type {
constexpr std::uint32_t type = 1, unit = 2;
}
namespace sample {
constexpr std::uint32_t location_ids = 1, values = 2, label = 3;
}
namespace label {
constexpr std::uint32_t key = 1, text = 2, number = 3, unit = 4;
}
namespace location {
constexpr std::uint32_t id = 1, line = 4;
}
namespace line {
constexpr std::uint32_t function_id = 1;
}
namespace function {
constexpr std::uint32_t id = 1, name = 2, system_name = 3;
}
}  // namespace pprof

std::string_view unit_name(const Column& column) {
    if (column.name.ends_with("_ns")) return "nanoseconds";
    switch (column.unit) {
        case Unit::bytes: return "bytes";
        case Unit::milliseconds: return "milliseconds";
        case Unit::words: return "words";
        default: return "count";
    }
}

class Profile {
public:
    Profile(const View& view, const TableView& table, Sink& sink)
        : view_(view),
          table_(table),
          rows_(view, table),
          gzip_([&sink](std::string_view piece) { sink.write(piece); }) {
        string({});  // the first one is always empty
    }
    void write(const Sink& sink) {
        for (const std::size_t weight : rows_.weights()) {
            message_.number(pprof::value_type::type, string(rows_.column(weight).name));
            message_.number(pprof::value_type::unit, string(unit_name(rows_.column(weight))));
            put(pprof::profile::sample_type);
        }
        if (const auto wanted = rows_.wanted_weight())
            field(pprof::profile::default_sample_type, string(rows_.column(*wanted).name));
        if (const auto& span = view_.document().span) {
            field(pprof::profile::time_ns, static_cast<std::uint64_t>(span->begin_ns));
            field(pprof::profile::duration_ns, span->length_ns);
            if (span->period_ns != 0) {
                message_.number(pprof::value_type::type, string("cpu"));
                message_.number(pprof::value_type::unit, string("nanoseconds"));
                put(pprof::profile::period_type);
                field(pprof::profile::period, span->period_ns);
            }
        }
        field(pprof::profile::comment, string("written by beamheap, redacted as --redact " +
                                              std::string(name_of(view_.redactor().level())) + " has it"));
        for (std::size_t row = 0; row < rows_.size() && !sink.closed(); ++row) add_sample(row);
        gzip_.finish();
    }

private:
    void put(std::uint32_t number) {
        ProtoMessage outer;
        outer.message(number, message_);
        gzip_.write(outer.bytes());
        message_.clear();
    }
    void field(std::uint32_t number, std::uint64_t value) {
        ProtoMessage outer;
        outer.number(number, value);
        gzip_.write(outer.bytes());
    }
    std::uint64_t string(std::string_view raw) {
        std::string safe;
        append_text(raw, safe);
        const auto [at, is_new] = strings_.emplace(std::move(safe), strings_.size());
        if (is_new) {
            ProtoMessage outer;
            outer.bytes(pprof::profile::string_table, at->first);
            gzip_.write(outer.bytes());
        }
        return at->second;
    }
    // A function and its only location have the same number, from 1 on.
    std::uint64_t place(const std::string& frame) {
        const std::uint64_t name = string(frame);
        const auto [at, is_new] = places_.emplace(name, places_.size() + 1);
        if (is_new) {
            ProtoMessage message;
            message.number(pprof::function::id, at->second);
            message.number(pprof::function::name, name);
            message.number(pprof::function::system_name, name);
            std::swap(message, message_);
            put(pprof::profile::function);
            ProtoMessage of_line;
            of_line.number(pprof::line::function_id, at->second);
            message_.number(pprof::location::id, at->second);
            message_.message(pprof::location::line, of_line);
            put(pprof::profile::location);
        }
        return at->second;
    }
    void add_label(std::size_t row, std::size_t c, ProtoMessage& into) {
        const Column& column = table_.column(c);
        const Value value = table_.cell(row, c);
        ProtoMessage one;
        one.number(pprof::label::key, string(column.name));
        if (const auto* number = std::get_if<std::uint64_t>(&value.data())) {
            one.number(pprof::label::number, *number);
            if (column.unit != Unit::none) one.number(pprof::label::unit, string(unit_name(column)));
        } else if (const auto* signed_number = std::get_if<std::int64_t>(&value.data())) {
            one.number(pprof::label::number, static_cast<std::uint64_t>(*signed_number));
        } else {
            const std::string text = machine_text(view_, value, column.content, table_.key_of(row, c));
            if (text.empty()) return;
            one.number(pprof::label::text, string(text));
        }
        into.message(pprof::sample::label, one);
    }
    void add_sample(std::size_t row) {
        std::vector<std::uint64_t> values;
        bool any = false;
        for (const std::size_t weight : rows_.weights()) {
            values.push_back(rows_.weight(row, weight));
            any = any || values.back() != 0;
        }
        if (!any) return;
        std::vector<std::uint64_t> places;
        for (const std::string& frame : rows_.frames(row)) places.push_back(place(frame));
        std::ranges::reverse(places);  // the youngest one is first here
        ProtoMessage one;
        one.packed(pprof::sample::location_ids, places);
        one.packed(pprof::sample::values, values);
        for (const std::size_t c : rows_.labels(row)) add_label(row, c, one);
        message_ = std::move(one);
        put(pprof::profile::sample);
    }

    const View& view_;
    const TableView& table_;
    StackRows rows_;
    bytes::GzipStream gzip_;
    ProtoMessage message_;
    std::map<std::string, std::uint64_t, std::less<>> strings_;
    std::map<std::uint64_t, std::uint64_t> places_;  // by the string that names it
};

}  // namespace

static void present_pprof(const View& view, Sink& sink) {
    const TableView* table = view.primary();
    if (table == nullptr) return;
    Profile(view, *table, sink).write(sink);
}

BH_DEFINE_FORMAT(pprof){
    .name = "pprof",
    .doc = "stacks for pprof, with what else a row says as labels; a gzip stream (stacks, profile)",
    .bytes = true,
    .needs = column_of_stacks,
    .or_needs = columns_of_a_function,
    .needs_advice = where_stacks_are,
    .present = &present_pprof,
};

}  // namespace beamheap::present
