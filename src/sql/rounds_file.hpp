// SPDX-License-Identifier: Apache-2.0
// A SQLite file to which the rounds of a watch are appended, and which others may read meanwhile.
//
// watch_thing names what is followed, watch_figure has a row for each figure that is another than in the round before
// (so that the last one at or before a time is what holds), watch_round when each round was, watch_finding what was
// told. A round is one transaction: what is interrupted has the rounds before it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/error.hpp"

namespace beamheap::sql {

struct RoundFigure {
    std::string_view what, key, measure;
    bool bytes = false;
    double value = 0;
    bool sum = false;  ///< of the node: it has a row in each round in which it is another
};
struct RoundFinding {
    std::string change, what, key, measure, text;
    double per_second = 0;
};

class RoundsFile {
public:
    /// Opens the file, or makes it (mode 0600). Errors: unreadable (it is no such file, or SQLite's reason).
    static Result<RoundsFile> open(const std::string& path);
    RoundsFile(RoundsFile&&) noexcept;
    RoundsFile& operator=(RoundsFile&&) = delete;
    ~RoundsFile();

    /// A round of one VM. Errors: resource_limit, SQLite's reason (the disk is full).
    Status add(std::string_view vm, std::int64_t at_ms, std::span<const RoundFigure> figures,
               std::span<const RoundFinding> findings);

private:
    struct State;
    explicit RoundsFile(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace beamheap::sql
