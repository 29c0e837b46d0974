// SPDX-License-Identifier: Apache-2.0
// descriptors: the file descriptors that the operating system allows are used up.
//
// Theory: facts/catalogue/descriptors.hpp. What has most of them is named by its kind: one that leaks them itself, or
// clients that keep their connections open, one for each process that serves them.
//
// Thresholds: 100 descriptors, and somebody who holds emfile or enfile. Two who hold it, or one that has half of the
// descriptors itself, are high; one alone may keep what was long ago: medium. What a program ended the node for is
// critical.
#include "analyses/facts/catalogue/descriptors.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "analyses/base/links_of.hpp"
#include "analyses/processes/inventory.hpp"
#include "analyses/rules/phrases.hpp"
#include "erlang/modules.hpp"

namespace beamheap::analyses::rule {
namespace descriptors_rule {
namespace {

// Whose they are: of each kind of processes how many ports and resources, and how many of its processes have some.
struct Owners {
    ProcId example = ProcId::none;
    std::string_view what;  // driver or module
    std::uint64_t count = 0;
    std::set<std::uint32_t> processes;
};

std::vector<Owners> owners(const Snapshot& s) {
    std::map<std::pair<FunctionId, std::string_view>, Owners> kinds;
    const auto add = [&](ProcId id, std::string_view what) {
        Owners& kind = kinds[{first_call(s[id]), what}];
        if (kind.count++ == 0) kind.example = id;
        kind.what = what;
        kind.processes.insert(index_of(id));
    };
    const auto owner_of = [&](ProcId id, std::string_view what) {
        const ProcId opener = what == erlang::module_of_files ? s.find(opener_of(s, s[id])) : id;
        return opener == ProcId::none ? id : opener;
    };
    for (const Port& port : s.ports)
        if (const ProcId id = s.find(port.connected);
            id != ProcId::none && port.driver != TextId::none && erlang::is_driver_of_sockets(s.text(port.driver)))
            add(id, s.text(port.driver));
    for (std::uint32_t i = 0; i < s.processes.size(); ++i)
        for (const Link& link : links_of(s, s.processes[i]))
            if (link.kind == LinkKind::resource && link.name != TextId::none &&
                erlang::is_of_descriptors(s.text(link.name)))
                add(owner_of(ProcId{i}, s.text(link.name)), s.text(link.name));
    std::vector<Owners> found;
    for (auto& [key, kind] : kinds) found.push_back(std::move(kind));
    std::ranges::stable_sort(found, std::ranges::greater(), &Owners::count);
    return found;
}

// "230 tcp_inet, one for each of 230 processes of my_handler:init/1"
Sentence owners_text(const Facts& facts, const Owners& kind) {
    const Snapshot& s = facts.snapshot();
    const Sentence what = kind.what == erlang::module_of_files ? sentence("{}", Counted{kind.count, "file", "files"})
                          : erlang::is_driver_of_sockets(kind.what)
                              ? sentence("{} {} ports", number(kind.count), names(kind.what))
                              : sentence("{} sockets", number(kind.count));
    if (kind.processes.size() == 1) return sentence("{} of {}", what, kind.example);
    const Sentence of = kind_of(facts, s[kind.example]);
    if (kind.processes.size() == kind.count) return sentence("{}, one for each of {} {}", what, number(kind.count), of);
    return sentence("{} of {} of {}", what, processes(kind.processes.size()), of);
}

// The kind of which most hold it: "5 processes of my_acceptor:run/3 hold emfile".
Sentence told_text(const Facts& facts, const Descriptors& all, ProcId& example) {
    const Snapshot& s = facts.snapshot();
    std::map<FunctionId, std::vector<ProcId>> kinds;
    for (const ProcId id : all.told) kinds[first_call(s[id])].push_back(id);
    const auto most = std::ranges::max_element(kinds, {}, [](const auto& each) { return each.second.size(); });
    example = most->second.front();
    const Ours what = all.of_machine ? Ours("enfile") : Ours("emfile");
    Sentence text = most->second.size() == 1 ? sentence("{} holds {}", example, what)
                                             : sentence("{} of {} hold {}", processes(most->second.size()),
                                                        kind_of(facts, s[example]), what);
    return text;
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const Descriptors& all = facts.get<Descriptors>();
    if ((all.told.empty() && !all.said) || is_failed_start(facts.get<Slogan>().kind)) return;
    const std::vector<Owners> kinds = owners(s);
    Finding finding;
    ProcId example = ProcId::none;
    const Sentence held =
        all.said ? sentence("the text that ended the node says {}", all.of_machine ? Ours("enfile") : Ours("emfile"))
                 : told_text(facts, all, example);
    if (all.said && !kinds.empty()) example = kinds.front().example;
    if (example != ProcId::none) about(facts, example, finding);
    else finding.subject = {SubjectKind::node, Ours("node")};
    const bool own = std::ranges::any_of(kinds, [&](const Owners& kind) {
        return kind.processes.size() == 1 && !all.told.empty() && kind.processes.contains(index_of(all.told.front())) &&
               kind.count * 2 >= all.all();
    });
    finding.severity = all.said                     ? FindingSeverity::critical
                       : all.told.size() > 1 || own ? FindingSeverity::high
                                                    : FindingSeverity::medium;
    finding.confidence = Confidence::estimate;
    finding.count = all.all();
    finding.members = all.told;
    finding.title.say(all.of_machine ? Form<1>("The machine's file descriptors are used up: {}")
                                     : Form<1>("File descriptors are used up: {}"),
                      held);
    if (!kinds.empty()) finding.title.say("; {}", owners_text(facts, kinds.front()));
    finding.evidence = {figure("connections and other sockets", all.connections, AmountUnit::count),
                        figure("open files", all.files, AmountUnit::count),
                        figure("external programs", all.programs, AmountUnit::count),
                        figure("processes that hold it, of those that were looked at", all.told.size(),
                               AmountUnit::count, Confidence::lower_bound)};
    for (std::size_t i = 1; i < kinds.size() && i < 3; ++i)
        finding.evidence.push_back(fact("and besides", owners_text(facts, kinds[i])));
    if (example != ProcId::none) add_stack(facts, example, finding);
    finding.advise(
        "Raise the limit (`ulimit -n`, LimitNOFILE= of a unit) only where the node needs as many: see who has them, "
        "`beamheap ports DUMP`");
    if (!kinds.empty())
        finding.advise(
            "Give connections that are silent a time after which they are closed, and close files where they were "
            "opened; see one that has some: {}",
            Command{"proc", s[kinds.front().example].pid});
    finding.advise(
        "Until then nothing is accepted, opened, started or loaded: a call that fails with undef may be of a module "
        "whose file could not be opened.");
    findings.push_back(std::move(finding));
}

}  // namespace
}  // namespace descriptors_rule

Rule descriptors() { return {"descriptors", 46, descriptors_rule::run}; }

}  // namespace beamheap::analyses::rule
