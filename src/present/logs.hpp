// SPDX-License-Identifier: Apache-2.0
// Log events (analyses/logs/log_events.hpp) as a table.
#pragma once

#include <string>
#include <vector>

#include "analyses/logs/log_events.hpp"
#include "present/document.hpp"
#include "present/erlang_text.hpp"

namespace beamheap::present {

/// What an event says, as its logger would have printed it: the format with its arguments in place, a report's label
/// and reason. At most about `max_bytes` bytes of each term.
std::string log_text(const Names& names, const analyses::LogEvent& event, std::size_t max_bytes);

/// "m:f/a (file, line n)".
std::string log_frame_text(const Names& names, const analyses::LogFrame& frame);

/// The events must outlive the table.
Table log_table(const Names& names, const std::vector<analyses::LogEvent>& events, std::size_t term_bytes);

}  // namespace beamheap::present
