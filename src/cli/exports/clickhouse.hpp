// SPDX-License-Identifier: Apache-2.0
// The tables of an export as ClickHouse defines them.
#pragma once

#include <string>
#include <vector>

#include "cli/tables/node_tables.hpp"

namespace beamheap::cli {

/// Statements that make the tables on each server, and those that span all servers of the cluster `fleet` (all_process
/// over process, ...). NDJSON with dump_id in each row loads into them (docs/fleets.md). A dump is a partition, so that
/// one that was loaded in part can be dropped and loaded again. Columns that hold objects in JSON are left out.
std::string clickhouse_definitions(const std::vector<ExportTable>& tables);

}  // namespace beamheap::cli
