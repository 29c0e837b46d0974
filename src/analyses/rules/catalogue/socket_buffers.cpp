// SPDX-License-Identifier: Apache-2.0
// socket-buffers: the binaries of the node are the receive buffers of its sockets.
//
// Theory. The inet driver reads into a binary of {buffer, Bytes} (the size of recbuf unless it is set, inet_drv.c),
// which stays with the socket while a packet is not complete. It is counted as binary memory, and no process, table or
// slice has anything to do with it. A core image has the blocks: many of one size that nothing refers to, hardly more
// than there are sockets. A dump has what processes refer to (their virtual binary heaps count it, garbage included);
// what is left of the binaries beside that, and the number of sockets, make the buffers likely, not proved: tables and
// native code may hold binaries, too.
//
// Thresholds: 64 MiB that are 30 % of the node's memory are medium, and 16 MiB that are half of it: hardly any of it is
// ever touched, and a hundred idle connections on a small node have as much. Half of the memory is high from 1 GiB on,
// and where memory was refused; of a dump only where a socket would have between 16 KiB and 8 MiB.
#include <algorithm>
#include <map>

#include "analyses/processes/groups.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/rules/phrases.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/modules.hpp"

namespace beamheap::analyses::rule {
namespace socket_buffers_rule {
namespace {

constexpr std::uint64_t least_of_kind = 5;

// "40 of the sockets are of mqtt_gateway:session/0, 4.0 MiB for each of them": the kind of process that owns most
// sockets which have sent nothing, as those do to whom a packet is on its way.
void say_owners(const Facts& facts, std::uint64_t in_buffers, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    struct Sockets {
        std::uint64_t count = 0, silent = 0;  // of these, those that have delivered nothing either
        ProcId example = ProcId::none;
        bool several = false;  // owners
    };
    std::map<FunctionId, Sockets> kinds;
    for (const Port& port : s.ports) {
        const ProcId owner = port.connected.has() ? s.find(port.connected) : ProcId::none;
        if (owner == ProcId::none || !erlang::is_driver_of_sockets(s.text(port.driver)) ||
            port.output_bytes.value_or(0) != 0)
            continue;
        Sockets& sockets = kinds[first_call(s[owner])];
        if (sockets.count++ == 0) sockets.example = owner;
        sockets.several |= sockets.example != owner;
        sockets.silent += port.input_bytes == Count(0);
    }
    kinds.erase(FunctionId::none);
    if (kinds.empty()) return;
    const auto& [kind, sockets] =
        *std::ranges::max_element(kinds, {}, [](const auto& each) { return each.second.count; });
    if (sockets.count < least_of_kind) return;
    // What was spawned without a name of its own is of many kinds.
    if (sockets.several && erlang::is_library(module_of(s, kind))) return;
    finding.behind.say("{} of the sockets are of {}, {} for each of them", number(sockets.count),
                       sockets.several ? sentence("{}", kind) : sentence("{}", sockets.example),
                       bytes(in_buffers / sockets.count));
    if (sockets.silent == sockets.count) finding.behind.add(Ours(", and no whole packet has come in on these"));
    finding.evidence.push_back(fact("one that owns such a socket", sentence("{}", sockets.example)));
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const auto found = buffers_of_sockets(facts);
    if (!found) return;
    const auto percent = percent_of(found->bytes, node_bytes(facts));
    constexpr double high_percent = 50;
    constexpr std::uint64_t high_bytes = 1u << 30;
    Finding finding;
    const bool much = found->bytes >= high_bytes || facts.get<Slogan>().kind == SloganKind::out_of_memory;
    finding.severity = much && percent.value_or(0) >= high_percent ? FindingSeverity::high : FindingSeverity::medium;
    finding.subject = {SubjectKind::binaries, Ours("socket buffers")};
    finding.count = found->sockets;
    finding.bytes = found->bytes;
    finding.percent = percent;
    finding.confidence = found->proved ? Confidence::exact : Confidence::estimate;
    if (found->proved)
        finding.title.say("Buffers of sockets take {} ({} of the node's memory): {} of {} each, for {}",
                          bytes(found->bytes), Percent{percent.value_or(0)}, Counted{found->blocks, "block", "blocks"},
                          bytes(found->block_bytes), Counted{found->sockets, "socket", "sockets"});
    else
        finding.title.say(
            "{} of binaries ({} of the node's memory) belong to no process: most likely buffers of its {}, {} each",
            bytes(found->bytes), Percent{percent.value_or(0)}, Counted{found->sockets, "socket", "sockets"},
            bytes(found->bytes / found->sockets));
    finding.evidence = {figure("all binaries of the node", facts.snapshot().memory_bytes("binary"), AmountUnit::bytes),
                        figure("of them in no process", found->bytes, AmountUnit::bytes, finding.confidence),
                        figure("sockets (ports) of the node", found->sockets, AmountUnit::count)};
    say_owners(facts, found->bytes, finding);
    finding.advise(
        "Where packets have their length in front ({packet, 1}, 2 or 4), as much is kept ready as the other side says: "
        "bound it by {packet_size, Bytes}.");
    finding.advise(
        "Set {buffer, Bytes} on listen and connect to what a packet needs; without it the buffer is as large as "
        "{recbuf, Bytes}, which may be the system's default of megabytes.");
    finding.advise("See the sockets and their owners: `beamheap ports DUMP`");
    if (!found->proved)
        finding.advise("A core image (gcore) would show the blocks, and whether tables or native code hold some.");
    findings.push_back(std::move(finding));
}

}  // namespace
}  // namespace socket_buffers_rule

Rule socket_buffers() { return {"socket-buffers", 88, socket_buffers_rule::run}; }

}  // namespace beamheap::analyses::rule
