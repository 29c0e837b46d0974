// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/watch_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "analyses/diagnosis/growth_causes.hpp"
#include "cli/console/terminal.hpp"
#include "present/describe.hpp"
#include "present/row_lines.hpp"

namespace beamheap::cli {
namespace {

bool is_database(const std::string& place) { return place.ends_with(".sqlite") || place.ends_with(".db"); }

}  // namespace

Result<WatchOutput> WatchOutput::open(const std::string& place) {
    WatchOutput output(place);
    if (is_database(place)) {
        BH_TRY(sql::RoundsFile file, sql::RoundsFile::open(place));
        output.file_.emplace(std::move(file));
        return output;
    }
    if (mkdir(place.c_str(), 0700) != 0 && errno != EEXIST)
        return Error{ErrorCode::unreadable, fmt::format("{}: can't be made: {}", place, std::strerror(errno)), {}};
    struct stat status {};
    if (stat(place.c_str(), &status) != 0)
        return Error{ErrorCode::unreadable, fmt::format("{}: {}", place, std::strerror(errno)), {}};
    if (!S_ISDIR(status.st_mode))
        return Error{ErrorCode::usage, fmt::format("{}: is no folder", place),
                     "--out takes a folder, or a file whose name ends in .sqlite"};
    return output;
}

Status WatchOutput::add(const WatchRound& round, const present::Redactor& redactor) {
    return file_ ? add_rows(round, redactor) : add_line(round, redactor);
}

// Processes without a name come and go; what of them grows is among the findings.
Status WatchOutput::add_rows(const WatchRound& round, const present::Redactor& redactor) {
    const std::vector<analyses::GrowthWatch::Now> now = round.watch.now();
    std::vector<std::string> keys;
    keys.reserve(now.size());
    std::vector<sql::RoundFigure> figures;
    for (const auto& [key, value, single] : now) {
        if (single) continue;
        keys.push_back(redactor.apply(key->key, present::Content::name));
        figures.push_back(
            {analyses::name_of(key->what), keys.back(), key->measure, key->bytes, value, analyses::is_sum(*key)});
    }
    std::vector<sql::RoundFinding> findings;
    for (const present::ToldGrowth& told : round.told) {
        if (told.change == present::GrowthChange::kept) continue;
        const analyses::Growing& growing = told.growing;
        findings.push_back({std::string(present::name_of(told.change)),
                            std::string(analyses::name_of(growing.key.what)),
                            redactor.apply(growing.key.key, present::Content::name), std::string(growing.key.measure),
                            redactor.apply(present::growing_text(told, round.syntax)), growing.per_second});
    }
    return file_->add(round.vm, round.at_ms, figures, findings);
}

// {"at":...,"vm":...,"memory_bytes":{...},"totals":{...},"growing":[...]}: a line is whole or not there.
Status WatchOutput::add_line(const WatchRound& round, const present::Redactor& redactor) const {
    using present::Value;
    present::Object memory, totals;
    for (const auto& [key, value, single] : round.watch.now()) {
        const auto number = Value(static_cast<std::uint64_t>(value));
        if (key->what == analyses::GrowthOf::memory) memory.emplace_back(present::memory_kind(*key), number);
        else if (key->what == analyses::GrowthOf::total && !key->bytes) totals.emplace_back(key->measure, number);
    }
    present::Array growing;
    const present::Table table = present::growing_table(round.told, round.syntax);
    for (std::size_t row = 0; row < table.rows; ++row) {
        present::Object object;
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            Value value = table.cell(row, c);
            if (const auto* text = std::get_if<std::string>(&value.data()))
                value = Value(redactor.apply(*text, table.columns[c].content));
            if (const auto* text = std::get_if<std::shared_ptr<const present::Text>>(&value.data()))
                value = Value(redactor.apply(**text));
            object.emplace_back(std::string(table.columns[c].name), std::move(value));
        }
        growing.emplace_back(std::move(object));
    }
    struct Line {
        const WatchRound& round;
        const Value &memory, &totals, &growing;
    };
    const Value memory_value(std::move(memory)), totals_value(std::move(totals)), growing_value(std::move(growing));
    const Line line{round, memory_value, totals_value, growing_value};
    using Row = const Line*;
    const present::Columns<Row> columns{
        {{.name = "at"}, [](const Row& r) { return Value(present::time_text(r->round.at_ms)); }},
        {{.name = "vm"}, [](const Row& r) { return Value(r->round.vm); }},
        {{.name = "memory_bytes"}, [](const Row& r) { return r->memory; }},
        {{.name = "totals"}, [](const Row& r) { return r->totals; }},
        {{.name = "growing"}, [](const Row& r) { return r->growing; }},
    };
    present::StringSink text;
    present::write_ndjson_rows(present::table_of(columns, std::vector<Row>{&line}, ""), redactor, text);
    std::string day = present::time_text(round.at_ms).substr(0, 10);
    const std::string path = fmt::format("{}/watch-{}.ndjson", place_, day);
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return Error{ErrorCode::resource_limit, fmt::format("{}: {}", path, std::strerror(errno)), {}};
    struct stat before {};
    fstat(file, &before);
    const int failed = write_all(file, text.text());
    if (failed != 0) (void)!ftruncate(file, before.st_size);
    ::close(file);
    if (failed != 0) return Error{ErrorCode::resource_limit, fmt::format("{}: {}", path, std::strerror(failed)), {}};
    return ok();
}

}  // namespace beamheap::cli
