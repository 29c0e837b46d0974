// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/recipes.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace beamheap::cli {
namespace {

constexpr std::array texts{
    Recipe{"top-queues", "whose queues are longest?",
           R"(SELECT pid, name, group_key, msgq_len, memory_bytes, current_function
  FROM process
 ORDER BY msgq_len DESC, memory_bytes DESC
 LIMIT 10)"},
    Recipe{"memory-by-group", "what kinds of processes hold the memory?",
           R"(SELECT coalesce(group_key, initial_call) AS group_key, count(*) AS processes,
       sum(memory_bytes) AS memory_bytes,
       round(100.0 * sum(memory_bytes) / sum(sum(memory_bytes)) OVER (), 2) AS percent
  FROM process
 GROUP BY 1
 ORDER BY memory_bytes DESC
 LIMIT 20)"},
    Recipe{"message-shapes", "what is in the longest queue?",
           R"(SELECT shape, count(*) AS messages,
       round(100.0 * count(*) / sum(count(*)) OVER (), 2) AS percent,
       sum(flat_words) AS flat_words, min(pos) AS oldest
  FROM message
 WHERE pid = (SELECT pid FROM process ORDER BY msgq_len DESC LIMIT 1)
 GROUP BY shape
 ORDER BY messages DESC
 LIMIT 20)"},
    Recipe{"words-by-function", "which functions hold the live words?",
           R"(SELECT module, function, arity, frames, words, percent
  FROM profile
 ORDER BY words DESC
 LIMIT 20)"},
    Recipe{"pinned-binaries", "who keeps large binaries for the sake of small slices?",
           R"(SELECT r.pid, p.name, p.group_key, count(*) AS binaries, sum(b.bytes) AS binary_bytes,
       sum(b.pinned_bytes) AS pinned_bytes
  FROM (SELECT DISTINCT pid, address FROM binary_ref) AS r
  JOIN binary AS b ON b.address = r.address
  JOIN process AS p ON p.pid = r.pid
 GROUP BY r.pid
 ORDER BY pinned_bytes DESC
 LIMIT 20)"},
    Recipe{"ets-tables", "which ETS tables are largest, and what do their owners do?",
           R"(SELECT e.name, e.owner, e.owner_name, e.objects, e.bytes, e.percent, p.msgq_len, p.current_function
  FROM ets AS e
  LEFT JOIN process AS p ON p.pid = e.owner
 ORDER BY e.bytes DESC
 LIMIT 20)"},
    Recipe{"convoys", "for whom do most processes wait, and what does that do?",
           R"(SELECT w.target, w.target_name, count(*) AS waiters, p.msgq_len, p.current_function
  FROM waits_for AS w
  LEFT JOIN process AS p ON p.pid = w.target
 GROUP BY w.target
 ORDER BY waiters DESC
 LIMIT 20)"},
    Recipe{"wait-cycles", "which processes wait for each other in a circle?",
           R"(WITH RECURSIVE way(start, at, least, path, processes) AS (
    SELECT waiter, target, min(waiter, target), waiter || ' > ' || target, 1
      FROM waits_for
     UNION ALL
    SELECT way.start, w.target, min(way.least, w.target), way.path || ' > ' || w.target, way.processes + 1
      FROM way
      JOIN waits_for AS w ON w.waiter = way.at
     WHERE way.at <> way.start AND way.processes < 50
)
SELECT path, processes
  FROM way
 WHERE at = start AND start = least
 ORDER BY processes DESC)"},
    Recipe{"below-supervisor", "what is below a supervisor in all? (kernel_sup here)",
           R"(WITH RECURSIVE below(pid) AS (
    SELECT pid FROM tree WHERE name = 'kernel_sup'
     UNION
    SELECT t.pid FROM below JOIN tree AS t ON t.parent = below.pid
)
SELECT count(*) AS processes, sum(p.memory_bytes) AS memory_bytes, sum(p.msgq_len) AS msgq_len,
       sum(p.reductions) AS reductions
  FROM below
  JOIN process AS p ON p.pid = below.pid)"},
    Recipe{"idle-garbage", "who waits, and holds more garbage than live terms?",
           R"(SELECT pid, name, group_key, live_words, garbage_words, memory_bytes
  FROM process
 WHERE state = 'waiting' AND garbage_words > live_words
 ORDER BY garbage_words DESC
 LIMIT 20)"},
    Recipe{"allocator-loss", "what do allocators hold that nothing uses?",
           R"(SELECT name, block_bytes, carrier_bytes, lost_bytes, fragmentation_percent
  FROM allocator
 ORDER BY lost_bytes DESC)"},
    Recipe{"findings", "what was found, in how many inputs? (over exports of many)",
           R"(SELECT rule, severity, count(*) AS findings, count(DISTINCT dump_id) AS dumps,
       sum(bytes) AS bytes, min(title) AS title
  FROM finding
 GROUP BY rule, severity
 ORDER BY dumps DESC, findings DESC)"},
    Recipe{"atom-families", "what makes the atoms?",
           R"(SELECT pattern, count, percent, examples
  FROM atom_family
 ORDER BY count DESC
 LIMIT 20)"},
    Recipe{
        "slow-sockets", "which connections take nothing more, and who waits?",
        R"(SELECT port, owner, owner_name, driver, queue_bytes, coalesce(json_array_length(suspended), 0) AS suspended
  FROM port
 WHERE queue_bytes > 0
 ORDER BY queue_bytes DESC
 LIMIT 20)"},
    // Over exports of many inputs, in whatever database they are: the SQL of SQLite and DuckDB alike. A release is as
    // new as its first dump: machines are not deployed to at once, and old ones go on dying. Dumps of nodes that have
    // no name are no row of readings of one node.
    Recipe{"fleet-diseases", "which release has which disease, where, since when?",
           R"(SELECT d.release_name, d.release_version, f.rule, count(DISTINCT d.dump_id) AS dumps,
       count(DISTINCT d.host) AS hosts, min(d.created_at) AS since
  FROM finding AS f
  JOIN dump AS d ON d.dump_id = f.dump_id
 GROUP BY d.release_name, d.release_version, f.rule
 ORDER BY dumps DESC, f.rule, d.release_version)"},
    Recipe{"fleet-new-findings", "what is found in each program's newest release, and in no other of its releases?",
           R"(WITH release AS (
    SELECT release_name, release_version, min(created_at) AS since
      FROM dump
     WHERE release_version IS NOT NULL AND created_at IS NOT NULL
     GROUP BY release_name, release_version
), newest AS (
    SELECT release_name, release_version, since,
           row_number() OVER (PARTITION BY release_name ORDER BY since DESC, release_version DESC) AS place
      FROM release
)
SELECT n.release_name, n.release_version, f.rule, f.fingerprint, count(DISTINCT f.dump_id) AS dumps,
       min(d.created_at) AS since, min(f.title) AS title
  FROM finding AS f
  JOIN dump AS d ON d.dump_id = f.dump_id
  JOIN newest AS n ON n.release_name = d.release_name AND n.place = 1
 GROUP BY n.release_name, n.release_version, f.rule, f.fingerprint
HAVING sum(CASE WHEN d.release_version = n.release_version THEN 0 ELSE 1 END) = 0
 ORDER BY dumps DESC, n.release_name, f.fingerprint)"},
    Recipe{"fleet-growth", "which release needs more memory than the one before it?",
           R"(WITH release AS (
    SELECT d.release_name, d.release_version, count(*) AS dumps, min(d.created_at) AS since,
           avg(m.bytes) AS mean_bytes, max(m.bytes) AS most_bytes
      FROM dump AS d
      JOIN memory AS m ON m.dump_id = d.dump_id AND m.name = 'total'
     GROUP BY d.release_name, d.release_version
)
SELECT release_name, release_version, dumps, since, mean_bytes, most_bytes,
       round(100.0 * mean_bytes / lag(mean_bytes) OVER (PARTITION BY release_name ORDER BY since) - 100, 1) AS growth_percent
  FROM release
 ORDER BY release_name, since)"},
    Recipe{"fleet-kinds", "what kind of memory grew from a node's first dump to its last?",
           R"(WITH placed AS (
    SELECT d.node, d.release_name, m.name, m.bytes, count(*) OVER each AS dumps,
           first_value(m.bytes) OVER (each ORDER BY d.created_at, d.dump_id) AS first_bytes,
           row_number() OVER (each ORDER BY d.created_at DESC, d.dump_id DESC) AS from_last
      FROM dump AS d
      JOIN memory AS m ON m.dump_id = d.dump_id
     WHERE d.node <> 'nonode@nohost' AND d.created_at IS NOT NULL
    WINDOW each AS (PARTITION BY d.node, d.release_name, m.name)
)
SELECT node, release_name, name, dumps, first_bytes, bytes AS last_bytes, bytes - first_bytes AS more_bytes
  FROM placed
 WHERE from_last = 1 AND dumps > 1
 ORDER BY more_bytes DESC, node, name)"},
    Recipe{"fleet-atoms", "how do each node's atoms grow from day to day?",
           R"(WITH daily AS (
    SELECT node, release_name, substr(created_at, 1, 10) AS day, count(*) AS dumps, max(atoms) AS atoms,
           max(atom_limit) AS atom_limit
      FROM dump
     WHERE node <> 'nonode@nohost' AND created_at IS NOT NULL
     GROUP BY node, release_name, substr(created_at, 1, 10)
)
SELECT node, release_name, day, dumps, atoms, round(100.0 * atoms / atom_limit, 2) AS percent,
       atoms - lag(atoms) OVER (PARTITION BY node, release_name ORDER BY day) AS more
  FROM daily
 ORDER BY node, release_name, day)"},
    Recipe{"fleet-hosts", "which hosts have twice what all have, or half of it?",
           R"(WITH host AS (
    SELECT d.host, count(*) AS dumps, avg(d.processes) AS processes, avg(d.messages) AS messages, avg(m.bytes) AS bytes
      FROM dump AS d
      LEFT JOIN memory AS m ON m.dump_id = d.dump_id AND m.name = 'total'
     GROUP BY d.host
), usual AS (
    SELECT avg(processes) AS processes, avg(messages) AS messages, avg(bytes) AS bytes FROM host
)
SELECT h.host, h.dumps, round(h.processes / nullif(u.processes, 0), 2) AS processes_ratio,
       round(h.messages / nullif(u.messages, 0), 2) AS messages_ratio, round(h.bytes / nullif(u.bytes, 0), 2) AS memory_ratio
  FROM host AS h
 CROSS JOIN usual AS u
 WHERE h.processes NOT BETWEEN u.processes / 2 AND u.processes * 2
    OR h.messages NOT BETWEEN u.messages / 2 AND u.messages * 2
    OR h.bytes NOT BETWEEN u.bytes / 2 AND u.bytes * 2
 ORDER BY h.host)"},
    Recipe{"fleet-versions", "which applications run in several versions?",
           R"(SELECT a.name, count(DISTINCT a.version) AS versions, min(a.version) AS one, max(a.version) AS another,
       count(DISTINCT d.host) AS hosts, count(DISTINCT d.dump_id) AS dumps
  FROM application AS a
  JOIN dump AS d ON d.dump_id = a.dump_id
 WHERE a.running
 GROUP BY a.name
HAVING count(DISTINCT a.version) > 1
 ORDER BY versions DESC, a.name)"},
    Recipe{"fleet-queues", "whose queues are long again and again?",
           R"(SELECT coalesce(p.name, p.group_key, p.initial_call) AS process, count(DISTINCT p.dump_id) AS dumps,
       count(DISTINCT d.host) AS hosts, max(p.msgq_len) AS longest, sum(p.msgq_len) AS messages
  FROM process AS p
  JOIN dump AS d ON d.dump_id = p.dump_id
 WHERE p.msgq_len >= 100
 GROUP BY coalesce(p.name, p.group_key, p.initial_call)
 ORDER BY dumps DESC, longest DESC
 LIMIT 20)"},
    Recipe{"fleet-tables", "which ETS tables grew from a node's first dump to its last?",
           R"(WITH sized AS (
    SELECT d.node, d.release_name, d.dump_id, d.created_at, e.name, sum(e.bytes) AS bytes
      FROM dump AS d
      JOIN ets AS e ON e.dump_id = d.dump_id
     WHERE d.node <> 'nonode@nohost' AND d.created_at IS NOT NULL
     GROUP BY d.node, d.release_name, d.dump_id, d.created_at, e.name
), placed AS (
    SELECT node, release_name, name, bytes, count(*) OVER each AS dumps,
           first_value(bytes) OVER (each ORDER BY created_at, dump_id) AS first_bytes,
           row_number() OVER (each ORDER BY created_at DESC, dump_id DESC) AS from_last
      FROM sized
    WINDOW each AS (PARTITION BY node, release_name, name)
)
SELECT node, release_name, name, dumps, first_bytes, bytes AS last_bytes, bytes - first_bytes AS more_bytes
  FROM placed
 WHERE from_last = 1 AND bytes > first_bytes
 ORDER BY more_bytes DESC, node, name
 LIMIT 20)"},
    Recipe{
        "fleet-deaths", "which nodes die most, of what, and when last?",
        R"(SELECT node, release_name, count(*) AS dumps, count(DISTINCT slogan) AS reasons, min(created_at) AS first_at,
       max(created_at) AS last_at, max(slogan) AS a_reason
  FROM dump
 WHERE format = 'crash_dump' OR format = 'core' AND slogan IS NOT NULL
 GROUP BY node, release_name
 ORDER BY dumps DESC, node, release_name)"},
    Recipe{"fleet-doubts", "which inputs are not whole, and may have too low figures?",
           R"(WITH lost AS (
    SELECT dump_id, count(*) AS losses, min(text) AS a_loss
      FROM warning
     WHERE severity <> 'info'
     GROUP BY dump_id
)
SELECT d.path, d.node, d.created_at, d.complete, d.process_table_complete, d.truncation,
       coalesce(l.losses, 0) AS losses, l.a_loss
  FROM dump AS d
  LEFT JOIN lost AS l ON l.dump_id = d.dump_id
 WHERE l.losses > 0 OR NOT coalesce(d.complete, false) OR NOT coalesce(d.process_table_complete, false)
 ORDER BY d.created_at, d.path)"},
};

}  // namespace

std::span<const Recipe> recipes() { return texts; }

const Recipe* find_recipe(std::string_view name) {
    const auto found = std::ranges::find(texts, name, &Recipe::name);
    return found == texts.end() ? nullptr : &*found;
}

Limited without_limit(std::string_view query) {
    constexpr std::string_view limit = "\n LIMIT ";
    const std::size_t at = query.rfind(limit);
    if (at == query.npos) return {query, {}};
    const std::string_view figure = query.substr(at + limit.size());
    std::uint64_t rows = 0;
    const auto [end, error] = std::from_chars(figure.data(), figure.data() + figure.size(), rows);
    if (error != std::errc() || end != figure.data() + figure.size()) return {query, {}};
    return {query.substr(0, at), rows};
}

}  // namespace beamheap::cli
