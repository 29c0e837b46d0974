// SPDX-License-Identifier: Apache-2.0
// The forms that log events have in memory, told apart and read. See log_events.hpp for the list of them.
#pragma once

#include "analyses/logs/log_events.hpp"
#include "erlang/term_reader.hpp"

namespace beamheap::analyses {

/// Whether a tuple or map has the outer form of an event. Cheap: looks at tags and arities only.
bool is_event(const TermReader& terms, const Element& term);

/// Whether a tuple of this arity that begins with this element can have the outer form of an event: what is asked
/// first, of each tuple of a heap.
bool may_be_event(const Element& first, std::uint64_t arity);
/// The same of what unwrap_message() takes apart.
bool may_wrap_event(const Element& first, std::uint64_t arity);

/// Whether a tuple is what somebody kept of an event of logger's: of three to six elements in any order, one a level
/// and one a message, {report, Report}, {string, Text} or {Format, Args}.
bool is_kept_event(const TermReader& terms, const Element& term);
/// Whether an element is a level, as what is kept of an event has one: what is asked before is_kept_event().
bool may_be_level(const Element& element);
/// Whether a map is a report of OTP's own by itself: it has a label of two parts, and tells of an end or a start.
bool is_bare_report(const TermReader& terms, const Element& term);
/// The report that an event holds; kind `unknown` where it holds none.
Element report_within(const TermReader& terms, const Element& event);

/// Reads one, also what is kept of one and a report by itself: fills everything but `term`, `holder`, `in_queue` and
/// `order`. False where it is none after all.
bool read_event(const TermReader& terms, const Element& term, LogEvent& event);

/// The event inside of what loggers and event managers wrap it in on its way: {notify, E}, {'$gen_cast', {'$olp_load',
/// E}}, {Pid, Tag, {sync_notify, E}}, ...; the term itself where it is not wrapped.
Element unwrap_message(const TermReader& terms, const Element& message);

/// Whether an exit reason is an orderly end, of which nobody needs to be told: normal, shutdown, {shutdown, _} that
/// names no failure, noproc of a monitor.
bool is_orderly(const TermReader& terms, const Element& reason);

/// Frames of a list of {M,F,ArityOrArgs} or {M,F,ArityOrArgs,Location}; empty where it is none.
std::vector<LogFrame> frames_of(const TermReader& terms, const Element& list);

/// {Reason, Stack} taken apart: the reason without its stack, and the frames. A reason without a stack stays.
Element split_reason(const TermReader& terms, const Element& reason, std::vector<LogFrame>& stack);

/// "2011-11-09 14:57:37" of {{Y,M,D},{H,Mi,S}} or {{Y,M,D},{H,Mi,S,Ms}}; empty for anything else. `order` grows with
/// it.
std::string local_time(const TermReader& terms, const Element& date_and_time, std::uint64_t& order);

}  // namespace beamheap::analyses
