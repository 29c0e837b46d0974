// SPDX-License-Identifier: Apache-2.0
#include "erlang/kept_states.hpp"

#include "erlang/term_reader.hpp"

namespace beamheap::erlang {
namespace {

struct KeptStateRow {
    KeptState state;
    Pattern form;
};

constexpr KeptStateRow kept_states[] = {
    // logger_olp.erl, 21 and later
    {KeptState::log_protection,
     "#{mode := Mode :: atom(), sync_mode_qlen := Sync, drop_mode_qlen := Drop, flush_qlen := Flush}"},
    // logger_disk_log_h.erl, in what its protection keeps for it; logger_std_h.erl; the record of disk_log.erl
    {KeptState::log_results, "#{cb_state := #{handler_state := #{prev_log_result := Log, prev_sync_result := Sync}}}"},
    {KeptState::log_results, "#{file_name := File, write_res := Log, sync_res := Sync}"},
    {KeptState::log_results, "{state, _, _, _, _, _, _, Log, Sync}"},
    // the record of dets.erl: update_mode, behind which newer releases have more
    {KeptState::table_file, "{head, _, ...}"},
    // of several writes (file:pwrite/2) the N-th failed; of one; of a file that the writer knows
    {KeptState::failed_write, "{error, {file_error, File, {_, Reason :: atom()}}}"},
    {KeptState::failed_write, "{error, {file_error, File, Reason :: atom()}}"},
    {KeptState::failed_write, "{error, Reason :: atom()}"},
    // the record of dist_util.erl
    {KeptState::connection, "{tick, Read, _, Tick, Ticked}"},
    // net_kernel.erl: in its state; with the intensity since 24
    {KeptState::tick_time, "{tick, _ :: pid(), Time, Intensity :: integer(), ...}"},
    {KeptState::tick_time, "{tick_change, _ :: pid(), Time, Intensity :: integer(), ...}"},
    {KeptState::tick_time, "{tick, _ :: pid(), Time, ...}"},
    {KeptState::tick_time, "{tick_change, _ :: pid(), Time, ...}"},
    // credit_flow.erl of rabbit_common
    {KeptState::credit_blocked, "{credit_blocked, By}"},
    // rabbit_queue_consumers.erl of rabbit, since 3.9, whose queues of tags know how many they are (lqueue.erl)
    {KeptState::unacknowledged, "{{ch, Channel :: pid()}, {cr, _, _, Unacked, ...}}"},
    // ra_server.erl of ra, the state of a member, and ra_server.hrl: metrics_labels stands before the machine in later
    // releases. A member that has not known a leader yet has no leader_id. ra_log.erl: its record has the numbers of
    // the
    // first and the last entry, or in later releases both in one field, which is undefined of an empty log.
    {KeptState::raft_member,
     "#{cfg := {cfg, Me, _, _, _, {machine, Machine :: atom(), ...}, ...}, cluster := Members, commit_index := Commit, "
     "log := Log}"},
    {KeptState::raft_member,
     "#{cfg := {cfg, Me, _, _, _, _, {machine, Machine :: atom(), ...}, ...}, cluster := Members, "
     "commit_index := Commit, log := Log}"},
    {KeptState::raft_member, "#{cfg := {cfg, Me, ...}, cluster := Members, commit_index := Commit, log := Log}"},
    {KeptState::raft_leader, "#{leader_id := {Name :: atom(), Node :: atom()}}"},
    {KeptState::raft_log, "{ra_log, _, {_, Last :: integer()}, ...}"},
    {KeptState::raft_log, "{ra_log, _, _ :: integer(), Last :: integer(), ...}"},
    {KeptState::raft_peer, "{Name :: atom(), Node :: atom()}"},
    {KeptState::raft_progress, "#{match_index := Match :: integer()}"},
    // gen_event.erl
    {KeptState::event_handler, "{handler, Module :: atom(), _, State, _}"},
    // rabbit_alarm.erl
    {KeptState::alarms_of_nodes, "{alarms, _, Passed, Others}"},
    {KeptState::node_alarms, "[Node :: atom() | Limits]"},
    // alarm_handler.erl: {Id, Description}
    {KeptState::alarm, "{Id, _}"},
    // rabbit_prelaunch.erl, set_stop_reason/1, since 3.8
    {KeptState::stop_reason, "{rabbit_prelaunch, stop_reason}"},
};

constexpr std::string_view reasons_of_disks[] = {"enospc", "edquot", "efbig", "eio", "erofs"};

}  // namespace

Match match_state(KeptState state, TermSource& terms, const Element& term) {
    for (const KeptStateRow& row : kept_states)
        if (row.state == state)
            if (Match found = row.form.match(terms, term)) return found;
    return {};
}

bool keeps_alarms(std::string_view module) { return module.find("alarm") != module.npos; }

bool is_quorum_queue(std::string_view machine) { return machine == "rabbit_fifo"; }

bool is_of_disk(const Element& reason) {
    for (const std::string_view each : reasons_of_disks)
        if (TermReader::is(reason, each)) return true;
    return false;
}

}  // namespace beamheap::erlang
