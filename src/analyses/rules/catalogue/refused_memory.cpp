// SPDX-License-Identifier: Apache-2.0
// refused-memory: who asked for the memory that the VM was refused, where it was not for a heap.
//
// Theory. The slogan names an allocator, a size and a type; the scheduler that called for the dump names the process
// that ran on it. For a heap that is what big-heap tells. A binary that is appended to, a term that is encoded at once
// (term_to_binary, iolist_to_binary, a driver's or NIF's buffer), an entry of a table, is asked for by the process that
// runs, and a request that is large beside all that the node has names the culprit by itself. A small one is the last
// straw only: then it says who carried it, and another finding who had filled the node.
//
// Thresholds: none, the refusal is a fact; where it is twice what the node had, that is said; critical for a request of
// a sixteenth of the node's memory or more, else medium.
#include "analyses/base/sum.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace refused_memory_rule {
namespace {

constexpr double large_percent = 100.0 / 16;
constexpr std::uint64_t times_the_node = 2;  // then nothing had grown: it was the request

Sentence asked_for(const Slogan& slogan) {
    const Amount size = bytes(slogan.refused_bytes.value_or(0));
    if (slogan.operation == "reallocate" && slogan.allocator == "binary_alloc")
        return sentence("{} to make a binary larger, as appending does,", size);
    // "drv_binary" is no driver's alone: what is appended to is one, too, up to OTP 23.
    if (slogan.allocator == "binary_alloc") return sentence("a binary of {}", size);
    if (slogan.allocator == "ets_alloc") return sentence("{} for an ETS table", size);
    if (slogan.memory_type.empty()) return sentence("{} of {}", size, of_vm(slogan.allocator));
    return sentence("{} of {} ({})", size, of_vm(slogan.allocator), of_vm(slogan.memory_type));
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Slogan& slogan = facts.get<Slogan>();
    const ProcId id = facts.get<Death>().process;
    if (slogan.kind != SloganKind::out_of_memory || slogan.allocator == "eheap_alloc" || id == ProcId::none) return;
    const Process& process = facts.snapshot()[id];
    const auto percent = percent_of(slogan.refused_bytes, node_bytes(facts));
    Finding finding;
    about(facts, id, finding);
    finding.severity = percent.value_or(100) >= large_percent ? FindingSeverity::critical : FindingSeverity::medium;
    finding.bytes = slogan.refused_bytes;
    finding.percent = percent;
    if (!slogan.purpose.empty())
        finding.title.say("{} was refused {} for {}; it {}", id, bytes(slogan.refused_bytes.value_or(0)),
                          slogan.purpose, running(facts, id));
    else finding.title.say("{} asked for {} and was refused it; it {}", id, asked_for(slogan), running(facts, id));
    const std::uint64_t binaries =
        words_to_bytes(virtual_heap_words(process), facts.snapshot().source.word_size).value_or(0);
    if (slogan.allocator == "binary_alloc" && binaries >= slogan.refused_bytes.value_or(0) / 4)
        finding.title.say("; its binaries take {}", bytes(binaries));
    if (percent && *percent < large_percent) finding.title.say(", and is only the one that came last");
    else if (const Count node = node_bytes(facts);
             node.value_or(0) != 0 && slogan.refused_bytes.value_or(0) / times_the_node >= *node)
        finding.title.say(": one request, {} times what the node had ({})", number(*slogan.refused_bytes / *node),
                          bytes(*node));
    finding.confidence =
        facts.get<Death>().evidence == DeathEvidence::calling_thread ? Confidence::exact : Confidence::estimate;
    finding.evidence = {
        figure("refused", slogan.refused_bytes, AmountUnit::bytes),
        figure("memory of the node", node_bytes(facts), AmountUnit::bytes),
        figure("its own memory, binaries not counted", process_bytes(facts, process), AmountUnit::bytes)};
    add_stack(facts, id, finding);
    finding.advise("See what it was doing, and with which data: {}", Command{"proc", process.pid});
    if (slogan.allocator == "binary_alloc") {
        finding.advise(
            "A binary that is appended to doubles each time that it is full, and needs old and new at once: write it "
            "out in pieces, or keep an iolist.");
        finding.advise("Bound what one request, file or message may bring, before it is read or built.");
    }
    findings.push_back(std::move(finding));
}

}  // namespace
}  // namespace refused_memory_rule

Rule refused_memory() { return {"refused-memory", 72, refused_memory_rule::run}; }

}  // namespace beamheap::analyses::rule
