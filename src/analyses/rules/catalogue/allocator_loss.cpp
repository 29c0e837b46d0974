// SPDX-License-Identifier: Apache-2.0
// allocator-loss: memory that the node took from the system and does not use.
//
// Theory. The VM's allocators place blocks in carriers and give a carrier back only when its last block is freed. After
// a peak a few long-lived blocks in each carrier keep them all: the machine sees a node of 8 GB, erlang:memory() one of
// 3 GB, and nothing leaks. Carriers that were well used at the highest ever and are not now are such leftovers;
// carriers that never were do not fit the sizes of the blocks.
//
// Thresholds: 100 MiB and 30 % of all carriers lost is medium, 60 % high. The allocator that loses most is named with
// its multiblock carriers' use, now and at the peak (recon_alloc:fragmentation/1's measures).
#include <algorithm>

#include "analyses/facts/catalogue/node_figures.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace allocator_loss_rule {
namespace {

constexpr std::uint64_t least_bytes = std::uint64_t{100} << 20;
constexpr double medium_share = 0.3;
constexpr double high_share = 0.6;

// "+MBlmbcs 512" and the like name an allocator by a letter (erts_alloc(3)).
Ours flag_letter(std::string_view name) {
    if (name == "binary_alloc") return "B";
    if (name == "eheap_alloc") return "H";
    if (name == "ets_alloc") return "E";
    if (name == "driver_alloc") return "R";
    if (name == "ll_alloc") return "L";
    if (name == "sl_alloc") return "S";
    if (name == "std_alloc") return "D";
    if (name == "temp_alloc") return "T";
    return "";
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const AllocatorReport& report = facts.get<AllocatorReport>();
    const AllocatorUse& total = report.total;
    const auto lost = total.fragmentation();
    if (!lost || total.lost_bytes.value_or(0) < least_bytes || *lost < medium_share) return;
    const auto worst =
        std::ranges::max_element(report.types, {}, [](const AllocatorUse& use) { return use.lost_bytes.value_or(0); });
    const InputText name = of_vm(s.text(worst->name));

    Finding finding;
    finding.severity = *lost >= high_share ? FindingSeverity::high : FindingSeverity::medium;
    finding.subject = {SubjectKind::allocator, sentence("{}", name)};
    finding.bytes = total.lost_bytes;
    finding.percent = 100 * *lost;
    finding.title.say(
        "The node uses {} of the {} that its allocators hold: {} ({}) is lost between blocks, {} of it in {}",
        bytes(*total.block_bytes), bytes(*total.carrier_bytes), bytes(*total.lost_bytes), Percent{*finding.percent},
        bytes(worst->lost_bytes.value_or(0)), name);
    finding.evidence = {figure("carriers of all allocators", total.carrier_bytes, AmountUnit::bytes),
                        figure("blocks in them", total.block_bytes, AmountUnit::bytes),
                        figure(sentence("lost in {}", name), worst->lost_bytes, AmountUnit::bytes)};
    const auto now = worst->mbcs.usage();
    const auto peak = worst->mbcs.max_usage();
    if (now) finding.evidence.push_back(share("use of its multiblock carriers now", 100 * *now));
    if (peak) finding.evidence.push_back(share("and at the highest ever", 100 * *peak));
    if (now && peak && *peak > 2 * *now)
        finding.advise(
            "Its carriers were filled once and are not now: look for the peak (a burst of messages, a large query), "
            "and for what was allocated then and still lives.");
    else finding.advise("This is no leak of terms: blocks and carriers do not fit each other.");
    if (const Ours letter = flag_letter(s.text(worst->name)); letter.empty())
        finding.advise("See every allocator and instance: `beamheap alloc DUMP`");
    else
        finding.advise(
            "Let it prefer low addresses, so that high carriers empty (+M{}as aobf), or use smaller carriers "
            "(+M{}lmbcs 512).",
            letter, letter);
    finding.advise(
        "See every allocator and instance, and watch recon_alloc:fragmentation(current): `beamheap alloc DUMP`");
    findings.push_back(std::move(finding));
}

}  // namespace
}  // namespace allocator_loss_rule

Rule allocator_loss() { return {"allocator-loss", 150, allocator_loss_rule::run}; }

}  // namespace beamheap::analyses::rule
