// SPDX-License-Identifier: Apache-2.0
// alloc: what the VM took from the system, what its blocks use of it, and where the difference is.
#include <fmt/format.h>

#include "analyses/facts/needs.hpp"
#include "analyses/memory/allocators.hpp"
#include "analyses/memory/carrier_sums.hpp"
#include "cli/frame/commands.hpp"
#include "present/carriers.hpp"
#include "present/spelling.hpp"
#include "present/table_cells.hpp"
#include "present/tables.hpp"
#include "present/units.hpp"

namespace beamheap::cli {

static Status cmd_alloc(const Context& context) {
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open({analyses::need::node}));
    const Snapshot& snapshot = artifact->snapshot();
    const present::Names names = context.names(snapshot);
    const analyses::AllocatorReport report = analyses::allocators(snapshot);
    present::Document document = context.document(snapshot);
    const analyses::AllocatorUse& total = report.total;
    const auto bytes = [](std::uint64_t value) { return analyses::Amount{value, analyses::AmountUnit::bytes}; };
    // Every node has some free megabytes in its first carriers: below this it is nothing that was lost.
    constexpr std::uint64_t lost_from = std::uint64_t{100} << 20;
    const std::uint64_t lost = total.lost_bytes.value_or(0);
    if (total.carrier_bytes.has() && total.block_bytes.has() && *total.carrier_bytes != 0)
        document.lead = {present::spell(analyses::sentence(
            "Carriers hold {}, blocks use {} of it: {} ({}) is {}.", bytes(*total.carrier_bytes),
            bytes(*total.block_bytes), bytes(lost), analyses::Percent{total.fragmentation().value_or(0) * 100},
            lost < lost_from ? analyses::Ours("free in them, no more than usual")
                             : analyses::Ours("lost to fragmentation")))};
    else
        document.lead = {present::spell(report.types.empty()
                                            ? analyses::Ours("No allocator in this input.")
                                            : analyses::Ours("This input does not say how large its carriers are."))};
    document.members.push_back(
        {.key = "rows", .title = "Allocators", .body = present::allocator_table(names, report.types)});
    document.members.push_back({.key = "instances",
                                .title = "Instances that lose most",
                                .body = present::allocator_table(names, report.instances)});
    document.members.push_back(
        {.key = "segments", .title = "Segments", .body = present::segment_table(report.segments), .in_text = false});
    document.members.push_back(
        {.key = "mmaps", .title = "Address space", .body = present::mmap_table(names, report.mmaps), .in_text = false});
    document.members.push_back(
        {.key = "areas", .title = "Allocated areas", .body = present::area_table(names), .in_text = false});
    document.members.push_back(
        {.key = "vm_tables", .title = "The VM's tables", .body = present::vm_table_table(names), .in_text = false});
    // Each carrier, and what is in none, where the input holds them.
    BH_TRY(const std::optional<Carriers> carriers, if_held(artifact->carriers()));
    if (carriers) {
        document.members.push_back({.key = "carriers",
                                    .title = "Carriers, block by block",
                                    .body = present::carrier_sum_table(names, analyses::carrier_sums(*carriers))});
        document.members.push_back(
            {.key = "nearly_empty",
             .title = "Carriers that a few blocks keep",
             .body = present::carrier_table(names, *carriers, analyses::nearly_empty_carriers(*carriers))});
        document.members.push_back(
            {.key = "mapped",
             .title = "Memory of the process",
             .body = present::Value(present::Object{{"mapped_bytes", carriers->mapped_bytes},
                                                    {"written_bytes", carriers->written_bytes},
                                                    {"in_carriers_bytes", carriers->carrier_bytes},
                                                    {"native_stacks_bytes", carriers->stack_bytes},
                                                    {"elsewhere_bytes", carriers->other_bytes},
                                                    {"broken_carriers", carriers->unknown}})});
    }
    document.members.push_back(
        {.key = "totals",
         .title = "Totals",
         .body = present::Value(present::Object{{"block_bytes", total.block_bytes},
                                                {"carrier_bytes", total.carrier_bytes},
                                                {"lost_bytes", total.lost_bytes},
                                                {"fragmentation_percent", present::cells::share(total.fragmentation())},
                                                {"segment_bytes", report.segment_bytes},
                                                {"memory_total_bytes", report.memory_total_bytes}}),
         .in_text = false});
    document.primary = "rows";
    return context.print(document, snapshot);
}

BH_DEFINE_VERB(alloc){
    .name = "alloc",
    .arguments = {argument::input},
    .summary = "allocators: blocks, carriers and what is lost between them",
    .examples = "alloc erl_crash.dump",
    .run = &cmd_alloc,
};

}  // namespace beamheap::cli
