// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/recipes.hpp"

#include <algorithm>
#include <array>

namespace beamheap::cli {
namespace {

constexpr std::array texts{
    Recipe{"top-queues", "whose queues are longest?",
           R"(SELECT pid, name, group_key, msgq_len, memory_bytes, current_function
  FROM process
 ORDER BY msgq_len DESC
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
    Recipe{"ets-tables", "which ETS tables are largest, and what are their owners doing?",
           R"(SELECT e.name, e.owner, e.owner_name, e.objects, e.bytes, e.percent, p.msgq_len, p.current_function
  FROM ets AS e
  LEFT JOIN process AS p ON p.pid = e.owner
 ORDER BY e.bytes DESC
 LIMIT 20)"},
    Recipe{"convoys", "for whom do most processes wait, and what is that one doing?",
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
    Recipe{"below-supervisor", "what is below a supervisor, all together? (kernel_sup here)",
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
        "slow-sockets", "which connections take nothing any more, and who waits for them?",
        R"(SELECT port, owner, owner_name, driver, queue_bytes, coalesce(json_array_length(suspended), 0) AS suspended
  FROM port
 WHERE queue_bytes > 0
 ORDER BY queue_bytes DESC
 LIMIT 20)"},
};

}  // namespace

std::span<const Recipe> recipes() { return texts; }

const Recipe* find_recipe(std::string_view name) {
    const auto found = std::ranges::find(texts, name, &Recipe::name);
    return found == texts.end() ? nullptr : &*found;
}

}  // namespace beamheap::cli
