// SPDX-License-Identifier: Apache-2.0
// What grows in a running VM, as a sentence, as a table, and as metrics that Prometheus reads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyses/diagnosis/growth.hpp"
#include "present/document.hpp"
#include "present/erlang_text.hpp"
#include "present/secrets/redact.hpp"

namespace beamheap::present {

/// What became of a growth since it was told last.
enum class GrowthChange : std::uint8_t { added, changed, kept, gone };
std::string_view name_of(GrowthChange change);  ///< "new", "changed", "kept", "gone"

struct ToldGrowth {
    GrowthChange change = GrowthChange::kept;
    analyses::Growing growing;
    Text detail;  ///< where in it: "its State > key pending, a map of 81,000 keys"; empty: not looked at, nothing
                  ///< stands out
};

/// "orders_cache: memory grows by 1.2 MiB a minute since 2026-11-22T14:02:00Z, ...; the memory limit ... is reached in
/// 3 h 10 min".
Text growing_text(const ToldGrowth& told, Syntax syntax);
/// A row for each; `told` must outlive it.
Table growing_table(std::span<const ToldGrowth> told, Syntax syntax);

/// "in its last 12 min the memory of the node rose from 51 MiB to 812 MiB; process orders_cache: memory from ...": what
/// rose, steadily or not. Empty: nothing did.
Text risen_text(std::span<const analyses::Risen> risen, Syntax syntax);
/// A row for each; `risen` and what its keys belong to must outlive it.
Table risen_table(std::span<const analyses::Risen> risen, Syntax syntax);

/// What a figure of the node's memory is called: "binary", "resident"; of an allocator "binary_alloc_unused".
std::string memory_kind(const analyses::Figures::Key& key);

/// One VM of a scrape.
struct MeasuredVm {
    std::string vm, node;
    const analyses::GrowthWatch* watch = nullptr;
    std::span<const ToldGrowth> told;
    analyses::SystemFigures system;
    Redactor redactor;    ///< of this VM: what is hidden is known by its own names
    bool halted = false;  ///< it stands still
};
/// OpenMetrics 1.0 text: sums of the node, its limits, and what grows; names and labels as docs/watch.md lists them.
std::string open_metrics(std::span<const MeasuredVm> vms);

}  // namespace beamheap::present
