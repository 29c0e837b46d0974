// The rules: each looks at a node for one thing that kills nodes, and says what it found.
//
// A rule is one file of catalogue/, with its theory, its thresholds and its place among the others, and the page of
// `explain` of its name (docs/explain): the build finds both. It is a pure function of RuleInput. It says nothing
// rather than something doubtful.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/causes/told_causes.hpp"
#include "analyses/heaps/messages.hpp"
#include "analyses/heaps/put_off.hpp"
#include "analyses/heaps/shared_names.hpp"
#include "analyses/heaps/unanswered.hpp"
#include "analyses/logs/service_states.hpp"
#include "analyses/memory/atom_families.hpp"
#include "analyses/memory/unreferenced_binaries.hpp"
#include "analyses/processes/application_starts.hpp"
#include "analyses/processes/locks.hpp"
#include "analyses/processes/restarts.hpp"
#include "analyses/processes/totals.hpp"
#include "analyses/processes/waits.hpp"
#include "analyses/rules/finding.hpp"
#include "analyses/slogan/slogan.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

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
    std::uint64_t messages_read = 0;
    std::vector<Share> shapes;  ///< of messages, the most frequent first, at most three
    /// Binaries outside the heaps that its messages refer to, each counted once; where not all messages were read, as
    /// many for each of the others.
    Count message_binary_bytes;
    std::vector<FromSender> senders;  ///< those that messages name, the most frequent first, at most three
    /// What most of its heap is, and where: "its State > key queue, a list of 41,000 integers, keeps 92 % of what is
    /// live (3.8 MiB)". Empty: nothing stands out, or not looked at.
    Sentence accumulation;
    /// What kind of server it is: "a gen_server of shop_cart", "an Agent". Empty where it is none, or not looked at.
    Sentence server;
    Confidence accumulation_confidence = Confidence::exact;
    Sentence accumulated;  ///< the same in short: "its State > key queue, a list of 41,000 integers"
    std::uint64_t accumulated_bytes = 0;
};

/// What a process keeps of binaries outside its heap, because of slices.
struct PinnedBinaries {
    ProcId process = ProcId::none;
    std::uint64_t slices = 0;        ///< references that show a part of a binary only
    std::uint64_t binaries = 0;      ///< that these are parts of
    std::uint64_t seen_bytes = 0;    ///< that they show
    std::uint64_t pinned_bytes = 0;  ///< of those binaries, beyond what is seen
    /// The input does not list binaries that only slices refer to (dumps up to OTP 26): the process's virtual binary
    /// heap, less what is listed, tells their size.
    bool by_subtraction = false;
};

/// What rules look at. The snapshot was loaded with tables, links, stacks, labels, to_the_end and the
/// slots of waiting processes (diagnosis/diagnose.hpp).
struct RuleInput {
    const Snapshot& snapshot;
    const Slogan& slogan;
    const Totals& totals;
    const Death& death;
    const Waits& waits;
    std::span<const TermFacts> terms = {};        ///< of suspects (suspects()), as far as they were looked at
    std::span<const PinnedBinaries> pinned = {};  ///< most pinned bytes first; heaps that were decoded alone
    std::span<const LockQueue> locks = {};        ///< locks of libraries that processes wait for
    const ApplicationStarts* starts = nullptr;    ///< where the application controller's state was read
    const UnheldBinaries* unheld = nullptr;       ///< of core images with many bytes in binaries
    const ToldCause* told = nullptr;              ///< of a node that did not start: what is told of why
    std::span<const LogEvent> events = {};        ///< of such a node: what its loggers still held
    std::span<const HandlerLoad> handlers = {};   ///< of log handlers whose terms were read
    std::span<const SetAlarm> alarms = {};        ///< that the node had set itself
    std::span<const CreditBlock> blocked = {};    ///< processes that may not send until they are granted credit
    std::uint64_t credit_unread = 0;  ///< processes that may be blocked so, too: they were too many to be read
    std::span<const ConnectionTick> ticks = {};         ///< of connections to other nodes
    TickTime tick_time = {};                            ///< how long net_kernel waits for a sign of life
    std::span<const std::string> loader_path = {};      ///< of such a node: where its loader looked for modules
    std::span<const SupervisorRestarts> restarts = {};  ///< of supervisors that have restarted children, the most first
    bool held_in_native = false;           ///< no scheduler is in Erlang code, where all of them are in one function
    std::span<const PutOff> put_off = {};  ///< servers that are idle, and have not answered those who wait
    std::span<const UnwrittenLog> unwritten = {};   ///< logs whose last write failed
    std::span<const SharedName> shared_names = {};  ///< what those who wait in one place all name
    std::span<const Keeper> keepers = {};           ///< who keeps the pids of those who wait in one function
    const AtomFamilies* atom_families = nullptr;    ///< where somebody has sought them already

    const PutOff* put_off_of(ProcId process) const {
        for (const PutOff& each : put_off)
            if (each.server == process) return &each;
        return nullptr;
    }

    const TermFacts* terms_of(ProcId process) const {
        for (const TermFacts& facts : terms)
            if (facts.process == process) return &facts;
        return nullptr;
    }
};

struct Rule {
    std::string_view id;  ///< "queue-flood": what findings, ignores and `explain` call it
    unsigned order = 0;   ///< at equal findings the smaller comes first: a cause before its consequences
    void (*run)(const RuleInput& input, std::vector<Finding>& findings);
};

/// All rules, by their order.
std::span<const Rule> rules();
/// The rule with this id; nullptr where there is none.
const Rule* find_rule(std::string_view id);

/// Runs all rules. The findings come worst first: by severity, causes before victims, then by the order of rules().
std::vector<Finding> run_rules(const RuleInput& input);

}  // namespace beamheap::analyses
