// SPDX-License-Identifier: Apache-2.0
// super-carrier: the node may use one reserved area of memory only, and that is full.
//
// Theory. With +MMscs the VM reserves an area of address space at its start (the super carrier, erl_mmap.c) and takes
// carriers from there first; with +MMsco true from there alone. Such a node ends for want of memory while its machine
// has plenty, and neither the machine's memory nor a limit of the operating system tells why. Whether other memory is
// allowed needs no option: erts_mmap_info() tells what is mapped outside the area only where that is allowed.
//
// Thresholds: an area of which nine tenths are used is medium, one that has less room than what was refused is high. It
// says whose wall that is; who has filled the node another finding says, and first.
#include <algorithm>

#include "analyses/base/sum.hpp"
#include "analyses/facts/catalogue/node_figures.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace super_carrier_rule {
namespace {

constexpr double nearly_full_percent = 90;

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const AllocatorReport& report = facts.get<AllocatorReport>();
    const auto area = std::ranges::find_if(
        report.mmaps, [&](const MmapUse& use) { return s.text(use.name) == "erts_mmap.default_mmap"; });
    if (area == report.mmaps.end() || area->os_used_bytes.has()) return;
    const std::uint64_t size = area->supercarrier_bytes.value_or(0);
    const std::uint64_t used = area->supercarrier_used_bytes.value_or(0);
    if (size == 0 || used > size) return;
    const Slogan& slogan = facts.get<Slogan>();
    const bool refused = slogan.kind == SloganKind::out_of_memory && slogan.refused_bytes.value_or(0) > size - used;
    if (!refused && area->supercarrier_percent.value_or(0) < nearly_full_percent) return;

    Finding finding;
    finding.severity = refused ? FindingSeverity::high : FindingSeverity::medium;
    finding.subject = {SubjectKind::allocator, sentence("{}", of_vm(s.text(area->name)))};
    finding.bytes = used;
    finding.percent = area->supercarrier_percent;
    finding.title.say("The node may use a super carrier of {} only (+MMsco), and {} of it is used", bytes(size),
                      used == size ? sentence("all") : sentence("{}", bytes(used)));
    if (refused) finding.title.say(": the limit that it met is its own, not the machine's");
    finding.confidence = Confidence::exact;
    finding.evidence = {figure("the super carrier", size, AmountUnit::bytes),
                        figure("of it used", used, AmountUnit::bytes),
                        figure("refused", slogan.refused_bytes, AmountUnit::bytes)};
    finding.advise("Bound what fills the node, or give it more: +MMscs is the area's size in MiB.");
    finding.advise("+MMsco false lets the node take memory outside the area once that is full.");
    finding.advise("See what each allocator has of it: `beamheap alloc DUMP`");
    findings.push_back(std::move(finding));
}

}  // namespace
}  // namespace super_carrier_rule

Rule super_carrier() { return {"super-carrier", 148, super_carrier_rule::run}; }

}  // namespace beamheap::analyses::rule
