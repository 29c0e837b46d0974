// SPDX-License-Identifier: Apache-2.0
// Fields of a section, "Key: value" line by line, driven by a table: a new field is one row.
//
// The VM writes the fields of a section always in the same order, so that the row after the last match is nearly
// always the next match; a key that is not in the table is kept aside by the caller.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "formats/crashdump/loader.hpp"

namespace beamheap::crashdump {

/// One field: its key with the separator ("OldHeap: "), and where its value goes. One of the three is set; or a count,
/// and `custom` for values that are no plain numbers.
template <class Row>
struct Field {
    std::string_view key;
    Count Row::*count = nullptr;
    TextId Row::*text = nullptr;
    void (*custom)(Loader&, Row&, std::string_view value, std::uint64_t offset) = nullptr;
    /// Gives a row what the same line has given another one, where the line alone decides that; false: it must be read.
    bool (*repeat)(Row&, const Row& other) = nullptr;
    bool many = false;       ///< a section has a line of it for each of several things
    bool free_text = false;  ///< its value is somebody else's text and may go on over lines of any kind
};

/// How far a section is read: where the next field is looked for first, and which ones it had already.
struct FieldPlace {
    std::size_t hint = 0;
    std::uint64_t seen = 0;  ///< bits by rows
};

/// Reads `line` into `row`; `place` is moved behind the match. Of a field that a section has once the first line
/// counts, and a further one is counted as repeated_field: readers add to lists, or keep a place and a count that
/// belong together. False: no such field.
template <class Row>
bool read_field(Loader& loader, std::span<const Field<Row>> fields, FieldPlace& place, Row& row, std::string_view line,
                std::uint64_t offset) {
    const std::size_t hint = place.hint;
    for (std::size_t tried = 0; tried < fields.size(); ++tried) {
        const std::size_t at = hint + tried < fields.size() ? hint + tried : hint + tried - fields.size();
        const Field<Row>& field = fields[at];
        if (line.empty() || line[0] != field.key[0]) continue;
        if (!line.starts_with(field.key)) {
            // "Current Port: " with an empty value may have lost its blank to an editor or a mail program.
            const std::string_view bare = field.key.substr(0, field.key.size() - 1);
            if (field.key.back() != ' ' || line != bare) continue;
        }
        const std::size_t key = field.key.size();
        const std::string_view value =
            line.size() > key ? std::string_view(line.data() + key, line.size() - key) : std::string_view();
        place.hint = at + 1 == fields.size() ? 0 : at + 1;
        const std::uint64_t bit = std::uint64_t{1} << at;
        if ((place.seen & bit) != 0 && !field.many) {
            loader.anomalies().add(Anomaly::repeated_field, offset, line);
            return true;
        }
        place.seen |= bit;
        if (field.custom != nullptr) field.custom(loader, row, value, offset);
        else if (field.count != nullptr) row.*field.count = loader.number(value, offset);
        else row.*field.text = loader.text(value);
        return true;
    }
    return false;
}

/// A field that every section of its kind has, since which release; and one that has no place among the others.
struct Always {
    std::string_view key;
    std::uint32_t since = 0;
};
struct Anywhere {
    std::string_view key;
};

/// Holds the lines of a section against the order in which the VM writes them: each once, each behind those before it
/// in the table, and some always.
template <class Row>
class FieldOrder {
public:
    explicit FieldOrder(std::span<const Field<Row>> fields, std::span<const Anywhere> anywhere = {})
        : fields_(fields), anywhere_(anywhere) {}
    /// A line was read, and read_field() has left `hint`.
    void found(std::size_t hint) {
        const std::size_t row = hint == 0 ? fields_.size() - 1 : hint - 1;
        const std::uint64_t bit = std::uint64_t{1} << row;
        const bool repeats =
            fields_[row].many || std::ranges::find(anywhere_, fields_[row].key, &Anywhere::key) != anywhere_.end();
        if (!repeats && seen_ >= bit && odd_.empty()) odd_ = fields_[row].key;
        if (!repeats) seen_ |= bit;
        has_ |= bit;
    }
    bool has(std::string_view key) const {
        for (std::size_t row = 0; row < fields_.size(); ++row)
            if (fields_[row].key == key) return (has_ >> row & 1) != 0;
        return false;
    }
    /// The section was read. Tells Losses what it lacks of `always`, or has twice or out of place.
    void judge(Loader& loader, const Section& section, std::span<const Always> always) {
        for (const Always& field : always)
            if (loader.dialect.otp >= field.since && odd_.empty() && !has(field.key)) odd_ = field.key;
        if (odd_.empty()) return;
        std::string detail = "=";
        detail.append(section.tag).append(section.id.empty() ? "" : ":").append(section.id).append(", ").append(odd_);
        loader.losses.torn_section(section.offset, std::move(detail));
    }
    /// The same of something else that is wrong with it: which field it concerns.
    void odd(std::string_view key) {
        if (odd_.empty()) odd_ = key;
    }

private:
    std::span<const Field<Row>> fields_;
    std::span<const Anywhere> anywhere_;
    std::uint64_t has_ = 0;   // by row
    std::uint64_t seen_ = 0;  // those that stand in order
    std::string_view odd_;
};

/// The keys of a table that a section has once, for who wants to know what is read.
template <class Row>
void add_keys_had_once(std::span<const Field<Row>> fields, std::vector<std::string_view>& keys) {
    for (const Field<Row>& field : fields)
        if (!field.many) keys.push_back(field.key);
}

/// Calls take(line, offset) for every line of a section's body that is not empty; the offset is the line's in the
/// input.
template <class Take>
void read_lines(const Section& section, std::string_view body, Take&& take) {
    const char* const begin = body.data();
    while (!body.empty()) {
        const std::uint64_t offset = section.body_offset + static_cast<std::uint64_t>(body.data() - begin);
        const std::string_view line = take_line(body);
        if (!line.empty()) take(line, offset);
    }
}

/// Whether a line's key may be that of a field which this version does not know: the VM's begin with a capital letter
/// and hold nothing but words. What is left of a line that damage cut is no such thing, but by chance.
inline bool is_field_name(std::string_view key) {
    if (key.empty() || key[0] < 'A' || key[0] > 'Z') return false;
    for (const char c : key)
        if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != ' ' && c != '_' && c != '-' &&
            c != '+' && c != '(' && c != ')')
            return false;
    return true;
}

/// Reads every line of `body` into `row`; unknown keys are told by Loader::unknown_field(), lines that are no field of
/// a section whose fields begin with capital letters as bad_line. What it lacks of `always`, or has twice or out of
/// place, is told to Losses.
template <class Row>
FieldOrder<Row> read_fields(Loader& loader, std::span<const Field<Row>> fields, Row& row, const Section& section,
                            std::string_view body, std::span<const Always> always = {},
                            std::span<const Anywhere> anywhere = {}) {
    FieldPlace place;
    FieldOrder<Row> order(fields, anywhere);
    bool free_text = false;
    read_lines(section, body, [&](std::string_view line, std::uint64_t offset) {
        loader.look_for_zeros(offset, line);
        if (read_field(loader, fields, place, row, line, offset)) {
            free_text = fields[place.hint == 0 ? fields.size() - 1 : place.hint - 1].free_text;
            return order.found(place.hint);
        }
        const bool capitals =
            std::ranges::all_of(fields, [](const auto& f) { return f.key[0] >= 'A' && f.key[0] <= 'Z'; });
        const std::size_t colon = line.find(':');
        const bool field = colon != std::string_view::npos && (!capitals || is_field_name(line.substr(0, colon)));
        if (field && free_text) loader.anomalies().add(Anomaly::unknown_field, offset, line);
        else if (field) loader.unknown_field(offset, line);
        else loader.anomalies().add(Anomaly::bad_line, offset, line);
    });
    order.judge(loader, section, always);
    return order;
}

}  // namespace beamheap::crashdump
