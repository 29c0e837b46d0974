// SPDX-License-Identifier: Apache-2.0
// Where a watch writes its rounds: a SQLite file, or lines of JSON in a folder, one file a day.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "analyses/diagnosis/growth.hpp"
#include "beamheap/error.hpp"
#include "present/growing.hpp"
#include "present/secrets/redact.hpp"
#include "sql/rounds_file.hpp"

namespace beamheap::cli {

/// A round of one VM.
struct WatchRound {
    std::string vm;          ///< as its input is written
    std::int64_t at_ms = 0;  ///< of 1970, UTC
    const analyses::GrowthWatch& watch;
    std::span<const present::ToldGrowth> told;  ///< all that grow, and what no longer does
    present::Syntax syntax = present::Syntax::erlang;
};

class WatchOutput {
public:
    /// "FILE.sqlite" (or .db), else a folder, which is made. Errors: unreadable, usage: it is a file.
    static Result<WatchOutput> open(const std::string& place);
    /// Errors: resource_limit: this round is lost.
    Status add(const WatchRound& round, const present::Redactor& redactor);
    const std::string& place() const { return place_; }
    bool losing = false;  ///< the round before was lost

private:
    explicit WatchOutput(std::string place) : place_(std::move(place)) {}
    Status add_rows(const WatchRound& round, const present::Redactor& redactor);
    Status add_line(const WatchRound& round, const present::Redactor& redactor) const;
    std::string place_;
    std::optional<sql::RoundsFile> file_;  // none: it is a folder
};

}  // namespace beamheap::cli
