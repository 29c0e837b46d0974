// SPDX-License-Identifier: Apache-2.0
// Whom rules suspect: which processes to look into, chosen from the process table alone, and what their terms show.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyses/base/confidence.hpp"
#include "analyses/base/sentence.hpp"
#include "analyses/facts/facts.hpp"
#include "analyses/heaps/largest_collection.hpp"
#include "analyses/heaps/messages.hpp"
#include "beamheap/snapshot.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::analyses {

/// How much heap may be decoded for the rules. What holds most is what one wants to know of, however large it is: a
/// process with a quarter of what all processes hold has a budget of its own.
struct SuspectBudget {
    std::uint64_t sample_words = 600'000;      ///< of idle heaps and of heaps with slices, each
    std::uint64_t term_words = 3'000'000;      ///< of one process whose terms are looked into for its messages
    std::uint64_t heap_words = 12'000'000;     ///< of the process with the largest heap (of 9 million 0.3 s and 260 MB)
    std::uint64_t messages = 200'000;          ///< of one process whose terms are looked into
    std::uint64_t giant_words = 64'000'000;    ///< of one that holds so much (of 24 million 2 s and 290 MB)
    std::uint64_t giant_messages = 4'000'000;  ///< of the same
};

struct Suspects {
    std::vector<ProcId> heaps;     ///< to decode: samples of idle groups, holders of large binaries; sorted
    std::vector<ProcId> binaries;  ///< of them, those whose references to binaries matter; sorted
    /// Whether these are all processes: binaries are much of the node, and heaps little.
    bool all_binaries = false;
    std::vector<ProcId> terms;  ///< to look into: long queues, the largest heap; sorted
    /// To look into, too. Of the processes that were started alike and do the same, where they hold a fifth of what all
    /// hold: those to whom the middle one of their bytes belongs, and the first and third quarter. The middle one
    /// stands first.
    std::vector<ProcId> alike;
    bool decode(ProcId id) const;
    bool look_into(ProcId id) const;
    bool is_alike(ProcId id) const;
};

/// Needs the process table and =memory. O(processes).
Suspects suspects(const Snapshot& snapshot, const SuspectBudget& budget);

/// What was seen in the terms of a process that a rule suspects.
struct TermFacts {
    struct Share {
        std::string text;    ///< a shape, as a printed term
        double percent = 0;  ///< of the messages that were read
    };
    struct FromSender {
        Sender sender;
        double percent = 0;  ///< of the messages that were read
    };
    ProcId process = ProcId::none;
    std::uint64_t messages_listed = 0;  ///< of a queue that the VM is at work on, its own figure may be another one
    std::uint64_t messages_read = 0;
    std::vector<Share> shapes;  ///< of messages, the most frequent first, at most three
    /// Binaries outside the heaps that its messages refer to, each counted once; where not all messages were read, as
    /// many for each of the others.
    Count message_binary_bytes;
    /// What a list of copies of all its messages takes, as process_info(messages) makes one; where not all were read,
    /// the others as large. Missing where it has few messages.
    Count queue_copy_words;
    std::vector<FromSender> senders;  ///< those that messages name, the most frequent first, at most three
    /// What most of its heap is, and where: "its State > key queue, a list of 41,000 integers, keeps 92 % of what is
    /// live (3.8 MiB)". Empty: nothing stands out, or not looked at.
    Sentence accumulation;
    /// What kind of server it is: "a gen_server of shop_cart", "an Agent". Empty where it is none, or not looked at.
    Sentence server;
    Confidence accumulation_confidence = Confidence::exact;
    Sentence accumulated;  ///< the same in short: "its State > key queue, a list of 41,000 integers"
    std::uint64_t accumulated_bytes = 0;
    Sentence living;  ///< the same of a collection that has half of what is live, where that explains no heap so large
    /// "a copy of one term, a map #{cacerts, ciphers} (4.8 KiB)", of the values of that collection; empty:
    /// they have nothing in common.
    Sentence accumulated_copies;
    Count live_words;                                 ///< of its heap; missing where not all of it was looked into
    bool hides_captures = false;                      ///< some live terms are in funs, and not in the input
    std::uint64_t references = 0;                     ///< on its heap; of `alike` alone
    bool accumulated_fresh_keys = false;              ///< a dictionary's (accumulation.hpp)
    std::uint64_t accumulated_count = 0;              ///< of what it has as elements; 0: it is no collection
    NamedProcesses accumulated_processes;             ///< that these name
    std::optional<std::uint64_t> accumulated_digest;  ///< to be compared (term_digest.hpp); of `alike` alone
    /// Of the keys of what it has as elements, as far as they are sampled; of `alike` alone. Nothing: it has none.
    std::optional<std::uint64_t> accumulated_keys;
};

/// What a suspect's terms show; of one of many that are alike also whether it holds the same as the others. Bounded:
/// reads at most 2,000 messages, spread evenly over the queue.
TermFacts look_into(const Snapshot& snapshot, ProcId process, TermSource& terms, bool alike = false);

struct SuspectTerms {
    std::vector<TermFacts> processes;

    /// Of one process; nullptr: it was not looked into.
    const TermFacts* of(ProcId process) const {
        const auto found = std::ranges::find(processes, process, &TermFacts::process);
        return found == processes.end() ? nullptr : &*found;
    }
};

Result<Suspects> find_fact(FactOf<Suspects>, const Facts& facts);
Result<SuspectTerms> find_fact(FactOf<SuspectTerms>, const Facts& facts, Artifact& artifact);

}  // namespace beamheap::analyses
