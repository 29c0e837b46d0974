// SPDX-License-Identifier: Apache-2.0
// binary-pinning: large binaries stay because of small slices of them.
//
// Theory. A binary of more than 64 bytes lives outside the heaps and is freed with its last reference. A slice of it
// (of more than 64 bytes itself; smaller ones are copied by most functions) is such a reference: a field that was cut
// out of a packet and kept keeps the packet. Bytes that no reference shows are pinned. Up to OTP 26 a dump does not
// list binaries that only slices refer to; then the virtual binary heap of the process (BinVHeap, OldBinVHeap, in words
// of whole binaries) less what is listed tells their size, an estimate. ETS tables and ports hold binaries as well,
// which no dump shows; a core image does.
//
// A process that only hands binaries on keeps them as well: its heap hardly grows by them, so that it is collected
// seldom, and until then each reference that it had counts. Its virtual heap tells it, beside terms that refer to few.
//
// Thresholds: a process that pins at least 8 MiB, ten times what it sees, and a twentieth of all binaries' bytes. A
// fifth of the node's memory, and 64 MiB, is high. Ten of one kind count together where most of those that were looked
// at pin something, and none of them half of it. Binaries as a whole are said where they take three tenths of the
// node's memory and 64 MiB, or 8 MiB of which one process keeps half, or, by their terms, the processes of one kind;
// half of the node, and 64 MiB, is high.
#include <algorithm>
#include <optional>
#include <vector>

#include "analyses/base/sum.hpp"
#include "analyses/facts/catalogue/binary_keepers.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/senders.hpp"
#include "analyses/rules/phrases.hpp"
#include "model/whole.hpp"

namespace beamheap::analyses::rule {
namespace binary_pinning_rule {
namespace {

constexpr std::uint64_t least_bytes = 8u << 20;
constexpr std::uint64_t least_times_seen = 10;
constexpr double least_percent = 5;
constexpr std::uint64_t high_bytes = 64u << 20;
constexpr double high_percent = 20;
constexpr std::size_t most_findings = 5;
constexpr std::size_t least_alike = 10;     // of one kind, that are told together
constexpr std::uint64_t least_pinning = 3;  // of them that were seen to pin something
constexpr double area_percent = 30;
constexpr double area_high_percent = 50;
constexpr std::size_t many_senders = 10;  // that are held up: what can't be sent is their story

// "; frame_proxy <0.79.0> keeps 191 MiB of them, which wait for the next collection", since terms refer to few
void say_keepers(const Facts& facts, const BinaryKeepers& most, std::uint64_t binaries, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    const Amount kept = bytes(std::min(most.bytes, binaries));
    const ProcId first = most.processes.front();
    if (most.processes.size() == 1 || most.most_by_one > most.bytes / 10 * 9) {
        about(facts, first, finding);
        finding.title.say("; {} keeps {} of them", first, kept);
        if (most.place && most.place->bytes >= most.bytes / 2) finding.title.say(", in {}", most.place->where);
        else if (most.place) finding.title.say(", the largest in {}", most.place->where);
    } else {
        finding.title.say("; {} of {} keep {} of them", processes(most.processes.size()), most.kind, kept);
        if (most.place) finding.title.say(", as {} does in {}", first, most.place->where);
    }
    if (most.by_terms) return;
    // Where its heap was decoded, or the image tells, it is known whether its terms refer to them.
    const std::uint64_t referred =
        facts.get<Unheld>().has_value() ? facts.get<Unheld>()->held_bytes : s.node.binary_bytes.value_or(0);
    const bool looked = facts.get<Unheld>().has_value() ||
                        (s.source.complete.value_or(false) && s[most.processes.front()].live_words.has());
    if (!looked || referred >= binaries / 2) return;
    // Up to OTP 26 a dump does not list what only slices refer to, as those of one who appends to a binary do.
    std::uint64_t shown = referred;
    for (const PinnedBinaries& pinned : facts.get<Pinned>().processes)
        if (std::ranges::find(most.processes, pinned.process) != most.processes.end())
            shown = saturating_add(shown, pinned.seen_bytes);
    if (shown >= std::min(most.bytes, binaries) / 2) return;
    finding.title.say(", which wait for the next collection");
    finding.evidence.push_back(figure("in binaries that terms refer to", referred, AmountUnit::bytes));
}

// "; ETS table names of name_index <0.81.0> refers to 95 MiB of them"; where what is stored is a small part of that:
// "keeps 95 MiB by 97 KiB of slices"
void say_bytes(const UnheldBinaries::Stored& stored, Sentence who, Ours refers, Ours keeps, Finding& finding) {
    if (stored.shown_bytes >= stored.bytes / 2) {
        finding.title.say("; {} {} {} of them", who, Sentence(refers), bytes(stored.bytes));
        return;
    }
    finding.title.say("; {} {} {} by {} of slices", who, Sentence(keeps), bytes(stored.bytes),
                      bytes(stored.shown_bytes));
    finding.advise(
        "Copy each slice before it is stored: `binary:copy/1`. A part of a binary keeps all of it: what was matched "
        "out of a larger one, or split off it.");
}

// A node whose connection takes no more: what is sent to it waits in the connection's queue, of which nothing tells.
const DistNode* busy_peer(const Snapshot& s) {
    const auto found = std::ranges::find_if(s.nodes, [&](const DistNode& peer) {
        const Port* const port = connection_to(s, peer);
        return port != nullptr && is_busy(s, *port);
    });
    return found == s.nodes.end() ? nullptr : &*found;
}

// The rest of what no process keeps: tables and persistent terms, as far as the input tells which.
void say_stored(const Facts& facts, std::uint64_t binaries, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    const auto* const stored = facts.get<Unheld>().has_value() && facts.get<Unheld>()->most_stored
                                   ? &*facts.get<Unheld>()->most_stored
                                   : nullptr;
    if (const DistNode* const peer = busy_peer(s); stored == nullptr && peer != nullptr) {
        finding.title.say(
            "; processes keep few of them: they wait for {}, whose connection is busy, or are in tables or native code",
            Name{peer->name});
        finding.advise(
            "See whether that node still takes anything, and who sends to it with `nosuspend`, or under a large "
            "+zdbbl: `beamheap ports DUMP`");
    } else if (stored == nullptr) {
        finding.title.say("; processes keep few of them: they are in tables, persistent terms or native code");
        if (const Sentence table = candidate_table(facts, binaries, true, true); !table.empty())
            finding.behind.say("Rows may refer to them: {}", table);
        finding.advise(
            "Which table it is, a core image tells; tables with many objects: `beamheap ets DUMP --sort objects`");
    } else if (stored->bytes >= binaries / 2 && stored->table < s.ets.size()) {
        const EtsTable& table = s.ets[stored->table];
        say_bytes(*stored, sentence("ETS table {} of {}", Name{table.name}, AnyProcess{table.owner}), "refers to",
                  "keeps", finding);
        finding.evidence.push_back(figure("binaries that the table refers to", stored->binaries, AmountUnit::count));
        finding.advise(
            "Bound the table, or copy what is kept of each binary: ets:info(Table, memory) does not count them.");
    } else if (stored->bytes >= binaries / 2) {
        say_bytes(*stored, Ours("persistent terms"), "refer to", "keep", finding);
        finding.evidence.push_back(
            figure("binaries that persistent terms refer to", stored->binaries, AmountUnit::count));
    }
}

// Whose terms keep them: no collection frees those.
void say_referred(const Facts& facts, const BinaryKeepers& most, Finding& finding) {
    const ProcId first = most.processes.front();
    finding.evidence.push_back(figure(sentence("by {}", first), most.most_by_one, AmountUnit::bytes));
    finding.advise("See where one keeps them: {}", Command{"heap", facts.snapshot()[first].pid});
    finding.advise(
        "Terms refer to them, so that no collection frees them: clear what is kept beyond its use, or copy the "
        "parts that are needed: `binary:copy/1`.");
}

// Most of what is there nothing refers to.
void say_unreferred(const UnheldBinaries& unheld, Finding& finding) {
    const UnheldGroup& most_of_it = unheld.groups.front();
    finding.title.say("; no term refers to {} of them, most of it {} of {}", bytes(unheld.bytes),
                      Counted{most_of_it.blocks, "block", "blocks"}, bytes(most_of_it.block_bytes));
    finding.evidence.push_back(figure("in binaries that something refers to", unheld.held_bytes, AmountUnit::bytes));
    finding.evidence.push_back(figure("in blocks that nothing refers to", unheld.bytes, AmountUnit::bytes));
    finding.evidence.push_back(
        figure("of these, in blocks of the commonest size", most_of_it.bytes, AmountUnit::bytes));
    finding.advise(
        "Blocks of one size that nobody refers to are buffers of drivers: each socket has one of {buffer, Bytes}, "
        "which is as large as {recbuf, Bytes} unless set. Count the sockets: `beamheap ports DUMP`");
    finding.advise(
        "Otherwise native code holds them, or garbage that its process has not collected yet: `beamheap binaries "
        "DUMP`");
}

// All binaries together, and who holds most of them.
void add_area(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const Count binaries = s.memory_bytes("binary");
    const auto percent = percent_of(binaries, node_bytes(facts));
    if (binaries.value_or(0) < least_bytes || percent.value_or(0) < area_percent) return;
    const BinaryKeepers& most = facts.get<BinaryKeepers>();
    const bool kept = most.bytes >= *binaries / 2 && !most.processes.empty();
    // Buffers of a few dozen sockets are as much, and what those who write to them have not yet been collected for.
    if (*binaries < high_bytes && !(kept && (most.processes.size() == 1 || most.by_terms))) return;
    Finding finding;
    const std::size_t held_up = held_senders(s, facts.get<Waits>()).size();
    Sum in_ports;
    for (const Port& port : s.ports) in_ports.add(port.queue_bytes);
    const bool unsent = held_up >= many_senders || in_ports.value().value_or(0) >= *binaries / 4;
    finding.severity = *percent >= area_high_percent && *binaries >= high_bytes && !unsent ? FindingSeverity::high
                                                                                           : FindingSeverity::medium;
    finding.subject = {SubjectKind::binaries, Ours("binaries")};
    finding.bytes = binaries;
    finding.percent = percent;
    finding.title.say("Binaries outside the heaps take {} ({} of the node's memory)", bytes(*binaries),
                      Percent{*percent});
    finding.evidence.push_back(figure("all binaries of the node", binaries, AmountUnit::bytes));
    if (held_up >= many_senders)
        finding.evidence.push_back(
            figure("processes that can't send on, and may hold them", held_up, AmountUnit::count));
    bool said = false;
    if (s.node.binary_bytes.has() && s.source.complete.value_or(false)) {
        finding.evidence.push_back(
            figure("of these, in binaries that processes name", s.node.binary_bytes, AmountUnit::bytes));
        said = *s.node.binary_bytes < *binaries / 2 && most.bytes < *binaries / 2;
        const Sentence table = said ? candidate_table(facts, *binaries - *s.node.binary_bytes, true, true) : Sentence();
        if (said)
            finding.title.say("; processes refer to {}, slices, tables, ports or native code hold the rest",
                              bytes(*s.node.binary_bytes));
        if (said && !table.empty()) finding.behind.say("Rows may refer to them: {}", table);
    }
    if (!kept && facts.get<Unheld>().has_value() && facts.get<Unheld>()->bytes >= *binaries / 2 &&
        !facts.get<Unheld>()->groups.empty()) {
        say_unreferred(*facts.get<Unheld>(), finding);
        findings.push_back(std::move(finding));
        return;
    }
    if (kept) say_keepers(facts, most, *binaries, finding);
    else if (!most.known && !facts.get<Unheld>().has_value() && !unsent && !said)
        finding.title.say("; who keeps them this input does not tell");
    else if (most.of_all < *binaries / 4 && !unsent && !said) say_stored(facts, *binaries, finding);
    if (most.by_terms) {
        say_referred(facts, most, finding);
        findings.push_back(std::move(finding));
        return;
    }
    if (!most.processes.empty() && most.bytes != 0)
        finding.evidence.push_back(
            figure(sentence("the most by one process, {}, by its virtual heap", most.processes.front()),
                   words_to_bytes(virtual_heap_words(s[most.processes.front()]), s.source.word_size), AmountUnit::bytes,
                   Confidence::estimate));
    // A whole dump without any has none that a process refers to.
    const bool none_listed =
        s.source.kind.report_of_end && s.source.complete.value_or(false) && !s.node.binary_bytes.has();
    if (!none_listed) finding.advise("See the largest, and who holds them: `beamheap binaries DUMP`");
    else if (kept)
        finding.advise("Its registers hold what no term of the dump does: {}",
                       Command{"proc", s[most.processes.front()].pid});
    finding.advise(
        "A process that only passes binaries on keeps them until its next collection: hibernate it, or give it a low "
        "fullsweep_after.");
    finding.advise("Copy small parts of large binaries before storing them: `binary:copy/1`.");
    findings.push_back(std::move(finding));
}

FindingSeverity severity_of(std::uint64_t bytes, double of_node) {
    return of_node >= high_percent && bytes >= high_bytes ? FindingSeverity::high : FindingSeverity::medium;
}

bool is_much(std::uint64_t pinned_bytes, std::uint64_t seen_bytes, Count binaries) {
    return pinned_bytes >= least_bytes && pinned_bytes / least_times_seen >= seen_bytes &&
           percent_of(pinned_bytes, binaries).value_or(100) >= least_percent;
}

// Many of one kind, of which most pin something, and none most of it.
struct PinningKind {
    FunctionId kind = FunctionId::none;
    std::vector<ProcId> members;
    std::uint64_t looked = 0;  // of these, whose references are known
    PinnedBinaries all;        // by the virtual heaps of those that were not looked at, where there are such
    std::uint64_t most = 0;    // that one of them pins
};

// What the members pin of whom that is known, for all of them.
std::optional<PinningKind> pinning_kind(const Facts& facts, FunctionId kind) {
    const Snapshot& s = facts.snapshot();
    const std::vector<ProcId>& known = facts.get<Suspects>().binaries;
    PinningKind found;
    found.kind = kind;
    std::uint64_t heaps = 0, heaps_looked = 0, pinning = 0;
    for (const ProcId id : all_processes(s)) {
        if (first_call(s[id]) != kind) continue;
        found.members.push_back(id);
        const std::uint64_t words = virtual_heap_words(s[id]).value_or(0);
        heaps = saturating_add(heaps, words);
        if (!std::ranges::binary_search(known, id)) continue;
        ++found.looked;
        heaps_looked = saturating_add(heaps_looked, words);
    }
    if (found.members.size() < least_alike || heaps_looked == 0) return std::nullopt;
    for (const PinnedBinaries& pinned : facts.get<Pinned>().processes) {
        if (first_call(s[pinned.process]) != kind || !std::ranges::binary_search(known, pinned.process)) continue;
        if (pinning++ == 0) found.all.process = pinned.process;
        found.all.slices += pinned.slices;
        found.all.binaries += pinned.binaries;
        found.all.seen_bytes = saturating_add(found.all.seen_bytes, pinned.seen_bytes);
        found.all.pinned_bytes = saturating_add(found.all.pinned_bytes, pinned.pinned_bytes);
        found.all.by_subtraction |= pinned.by_subtraction;
        found.most = std::max(found.most, pinned.pinned_bytes);
    }
    if (pinning < least_pinning || pinning * 2 < found.looked || found.most >= found.all.pinned_bytes / 2)
        return std::nullopt;
    const double more = static_cast<double>(heaps) / static_cast<double>(heaps_looked);
    for (std::uint64_t* const figure :
         {&found.all.slices, &found.all.binaries, &found.all.seen_bytes, &found.all.pinned_bytes})
        *figure = whole(static_cast<double>(*figure) * more);
    return found;
}

// Kinds that pin much together, most first.
std::vector<PinningKind> pinning_kinds(const Facts& facts) {
    const Count binaries = facts.snapshot().memory_bytes("binary");
    std::vector<FunctionId> seen;
    std::vector<PinningKind> found;
    for (const PinnedBinaries& pinned : facts.get<Pinned>().processes) {
        const FunctionId kind = first_call(facts.snapshot()[pinned.process]);
        if (kind == FunctionId::none || std::ranges::find(seen, kind) != seen.end()) continue;
        seen.push_back(kind);
        auto of_kind = pinning_kind(facts, kind);
        if (!of_kind) continue;
        of_kind->all.pinned_bytes = std::min(of_kind->all.pinned_bytes, binaries.value_or(of_kind->all.pinned_bytes));
        if (is_much(of_kind->all.pinned_bytes, of_kind->all.seen_bytes, binaries)) found.push_back(std::move(*of_kind));
    }
    std::ranges::stable_sort(found, std::ranges::greater(),
                             [](const PinningKind& kind) { return kind.all.pinned_bytes; });
    return found;
}

// What one process pins, or those of a kind do.
void say_pinned(const Facts& facts, const PinnedBinaries& pinned, std::uint64_t pinned_bytes, const Sentence& by,
                Finding& finding) {
    const auto of_node = percent_of(pinned_bytes, node_bytes(facts));
    finding.severity = severity_of(pinned_bytes, of_node.value_or(0));
    finding.count = pinned.slices;
    finding.bytes = pinned_bytes;
    finding.percent = of_node;
    finding.title.say("{} of binaries stay because of {} that see {} of them, held by {}", bytes(pinned_bytes),
                      Counted{pinned.slices, "slice", "slices"}, bytes(pinned.seen_bytes), by);
    finding.evidence.push_back(figure("slices", pinned.slices, AmountUnit::count));
    if (!pinned.by_subtraction)
        finding.evidence.push_back(figure("binaries that they are parts of", pinned.binaries, AmountUnit::count));
    finding.evidence.push_back(figure("bytes that they show", pinned.seen_bytes, AmountUnit::bytes));
    finding.evidence.push_back(figure("bytes that nobody sees", pinned_bytes, AmountUnit::bytes, finding.confidence));
    finding.evidence.push_back(
        figure("all binaries of the node", facts.snapshot().memory_bytes("binary"), AmountUnit::bytes));
    add_stack(facts, pinned.process, finding);
    finding.advise("Copy what is to be kept: `binary:copy/1` before a slice is stored.");
    finding.advise("See which binaries they are: `beamheap binaries DUMP --sort pinned_bytes`");
    finding.advise("See where the slices are kept: {}", Command{"heap", facts.snapshot()[pinned.process].pid});
    finding.advise("For processes that only pass binaries on: hibernate, or a low fullsweep_after.");
}

Finding finding_of(const Facts& facts, const PinningKind& kind) {
    Finding finding;
    finding.subject = {SubjectKind::group, sentence("{}", kind.kind)};
    const bool all = kind.looked == kind.members.size();
    finding.confidence = all && !kind.all.by_subtraction ? Confidence::exact : Confidence::estimate;
    say_pinned(facts, kind.all, kind.all.pinned_bytes, sentence("{} of {}", processes(kind.members.size()), kind.kind),
               finding);
    if (!all)
        finding.evidence.push_back(figure("processes of them that were looked at", kind.looked, AmountUnit::count));
    finding.evidence.push_back(figure("the most by one of them", kind.most, AmountUnit::bytes));
    finding.evidence.push_back(fact("one of them", sentence("{}", kind.all.process)));
    return finding;
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Count binaries = facts.snapshot().memory_bytes("binary");
    std::size_t left = most_findings;
    std::vector<FunctionId> told;
    for (const PinningKind& kind : pinning_kinds(facts)) {
        if (left == 0) break;
        --left;
        told.push_back(kind.kind);
        findings.push_back(finding_of(facts, kind));
    }
    for (const PinnedBinaries& pinned : facts.get<Pinned>().processes) {
        const std::uint64_t pinned_bytes = std::min(pinned.pinned_bytes, binaries.value_or(pinned.pinned_bytes));
        if (pinned_bytes < least_bytes || left == 0) break;  // most come first
        if (!is_much(pinned_bytes, pinned.seen_bytes, binaries) ||
            std::ranges::find(told, first_call(facts.snapshot()[pinned.process])) != told.end())
            continue;
        --left;
        Finding finding;
        about(facts, pinned.process, finding);
        finding.confidence = pinned.by_subtraction ? Confidence::estimate : Confidence::exact;
        say_pinned(facts, pinned, pinned_bytes, sentence("{}", pinned.process), finding);
        findings.push_back(std::move(finding));
    }
    // Other rules say whose they are: messages in a queue, buffers of sockets.
    const bool in_queue = std::ranges::any_of(facts.get<SuspectTerms>().processes, [&](const TermFacts& seen) {
        return seen.message_binary_bytes.value_or(0) / 2 >= binaries.value_or(0) / 4;
    });
    if (left == most_findings && !in_queue && !buffers_of_sockets(facts)) add_area(facts, findings);
}

}  // namespace
}  // namespace binary_pinning_rule

Rule binary_pinning() { return {"binary-pinning", 90, binary_pinning_rule::run}; }

}  // namespace beamheap::analyses::rule
