// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/table_catalogue.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "analyses/base/sum.hpp"
#include "analyses/code/applications.hpp"
#include "analyses/diagnosis/diagnose.hpp"
#include "analyses/diagnosis/function_words.hpp"
#include "analyses/facts/heap_reports.hpp"
#include "analyses/facts/needs.hpp"
#include "analyses/heaps/addresses.hpp"
#include "analyses/heaps/messages.hpp"
#include "analyses/heaps/paths.hpp"
#include "analyses/heaps/unanswered.hpp"
#include "analyses/logs/log_events.hpp"
#include "analyses/memory/allocators.hpp"
#include "analyses/memory/atom_families.hpp"
#include "analyses/processes/inventory.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/supervision.hpp"
#include "analyses/selectors/selectors.hpp"
#include "cli/code/code_lines.hpp"
#include "present/findings.hpp"
#include "present/ledger.hpp"
#include "present/logs.hpp"
#include "present/tables.hpp"
#include "present/tables_heaps.hpp"
#include "present/tables_relations.hpp"
#include "present/waits.hpp"

namespace beamheap::cli {
namespace {

using present::Content;
using present::TermView;
using TableResult = Result<present::Table>;
namespace need = analyses::need;

bool any_process(const Process&) { return true; }
bool has_messages(const Process& process) { return process.msgq_len.value_or(0) != 0; }

using KnownRelease = std::optional<analyses::Release>;

TableResult input(NodeModel& m) {
    const auto known = [&] { return m.plan().has(need::terms) ? analyses::release(m.artifact()) : std::nullopt; };
    return present::input_table(m.names(), m.redactor()->level(), m.full(), m.found<KnownRelease>(known));
}

TableResult processes(NodeModel& model) {
    return present::process_table(model.names(), analyses::all_processes(model.snapshot()),
                                  {.labels = model.plan().has(need::labels), .heaps = true});
}

present::Table messages(NodeModel&, const TermView& view) {
    present::Columns<std::uint32_t> shape{
        {{.name = "shape", .title = "SHAPE", .doc = "the message's form, as a type", .content = Content::term},
         [view](const std::uint32_t& root) {
             return present::Value(analyses::shape_of(view.source(), view.source().root(root)));
         }},
    };
    return present::message_table(view, view.roots_of(RootKind::message), std::move(shape));
}

TableResult tree(NodeModel& m) {
    const auto& tree = m.found<analyses::SupervisionTree>([&] { return analyses::supervision(m.snapshot()); });
    return present::tree_table(m.names(), tree, analyses::tree_rows(tree, ProcId::none, 0));
}

TableResult findings(NodeModel& m) {
    BH_TRY(const auto* diagnosis, m.found<analyses::Diagnosis>([&] {
        return analyses::diagnose_loaded(m.artifact(), {.threads = m.options().threads}, m.gathered());
    }));
    return present::finding_table(m.names(), diagnosis->findings);
}

TableResult waits_for(NodeModel& m) {
    const auto& waits = m.found<analyses::Waits>([&] { return analyses::all_waits(m.artifact()); });
    return present::wait_edge_table(m.names(), waits);
}

TableResult profile(NodeModel& m) {
    const std::vector<bool> all(m.snapshot().processes.size(), true);
    std::vector<analyses::FunctionWords> rows = analyses::function_words(m.snapshot(), m.heaps().frames(), all, false);
    std::uint64_t total = 0;
    for (const analyses::FunctionWords& row : rows) total = analyses::saturating_add(total, row.words);
    return present::profile_table(m.names(), std::move(rows), total, false);
}

TableResult binaries(NodeModel& m) {
    BH_TRY(analyses::NodeBinaries found,
           analyses::node_binaries(m.artifact(), m.heaps().binaries(), m.heaps().garbage_binaries(), true));
    return present::binary_table(m.names(), std::make_shared<analyses::BinaryReport>(std::move(found.report)));
}

TableResult ledger(NodeModel& m) {
    BH_TRY(const auto* ledger,
           m.found<analyses::Ledger>([&] { return analyses::node_ledger(m.artifact(), m.heaps()); }));
    return present::ledger_table(m.names(), *ledger);
}

TableResult modules(NodeModel& m) {
    const auto& report = m.found<analyses::ModuleReport>([&] { return analyses::modules(m.snapshot()); });
    BH_TRY(std::vector<present::ModuleCode> code, module_code(m.options(), m.artifact()));
    return present::module_table(m.names(), report, std::move(code));
}

TableResult ets(NodeModel& m) {
    const auto& report = m.found<analyses::EtsReport>([&] { return analyses::ets_tables(m.snapshot()); });
    return present::ets_table(m.names(), report);
}

TableResult allocators(NodeModel& m) {
    const auto& report = m.found<analyses::AllocatorReport>([&] { return analyses::allocators(m.snapshot()); });
    return present::allocator_table(m.names(), report.types);
}

TableResult atom_families(NodeModel& m) {
    const auto& families = m.found<analyses::AtomFamilies>([&] { return analyses::atom_families(m.snapshot()); });
    return present::atom_family_table(m.names(), families);
}

TableResult applications(NodeModel& m) {
    using Applications = std::vector<analyses::Application>;
    const auto& found = m.found<Applications>([&] { return analyses::applications(m.artifact()); });
    return present::application_table(m.names(), found);
}

TableResult log_events(NodeModel& m) {
    using Events = std::vector<analyses::LogEvent>;
    const auto& events = m.found<Events>([&] { return analyses::log_events(m.artifact()); });
    return present::log_table(m.names(), events, m.term_bytes());
}

template <present::Table (*Make)(const present::Names&)>
TableResult of_names(NodeModel& m) {
    return Make(m.names());
}

const Demand the_node{need::node}, the_terms{need::terms_and_stacks};

present::Table steps_from(present::Table table) {
    return present::with_row_numbers(
        std::move(table), {.name = "step", .title = "#", .unit = present::Unit::count, .doc = "0 is the root's term"});
}

Result<ArgumentTable::Made> objects_of(NodeModel& m, const std::optional<std::string_view>& pid) {
    ProcId process = ProcId::none;
    if (pid) {
        BH_TRY(process, analyses::resolve(m.snapshot(), *pid));
    }
    ArgumentTable::Made made;
    BH_TRY(made.terms, m.terms(process));
    made.table = present::object_list_table(*made.terms->view);
    return made;
}

Result<ArgumentTable::Made> path_to(NodeModel& m, const std::optional<std::string_view>& target) {
    ArgumentTable::Made made;
    std::optional<analyses::Path> path;
    std::vector<present::PathStep> steps;
    if (!target) {
        BH_TRY(made.terms, m.terms(ProcId::none));
    } else {
        BH_TRY(analyses::AddressArgument wanted, analyses::parse_address(*target));
        if (wanted.pid.empty()) {
            analyses::AddressSearch search(wanted.address, analyses::worker_count(m.options().threads));
            BH_CHECK(m.artifact().visit_heaps(search.request()));
            BH_TRY(wanted.pid, search.owner(m.snapshot()));
        }
        BH_TRY(const ProcId process, analyses::resolve(m.snapshot(), wanted.pid));
        BH_TRY(made.terms, m.terms(process, true));
        BH_TRY(const Element term, analyses::object_at(*made.terms->terms, wanted.address));
        path = analyses::shortest_path(*made.terms->terms, term.id);
        if (path) steps = present::path_steps(*made.terms->view, *path);
    }
    made.table = steps_from(present::path_table(*made.terms->view, path ? &*path : nullptr, std::move(steps)));
    return made;
}

const std::array tables{
    NodeTable{.name = "dump", .doc = "the input and its node: one row", .needs = Demand{need::input}, .whole = &input},
    NodeTable{.name = "warning",
              .doc = "what of the input is lost, or odd",
              .needs = Demand{need::everything},
              .whole = &of_names<present::warning_table>},
    NodeTable{.name = "memory",
              .doc = "what erlang:memory() would say",
              .needs = the_node,
              .whole = &of_names<present::memory_table>},
    NodeTable{.name = "finding",
              .doc = "what went wrong, as analyze says",
              .needs = Demand{need::everything},
              .whole = &findings},
    NodeTable{.name = "process", .doc = "every process", .needs = Demand{}, .whole = &processes},
    NodeTable{.name = "tree",
              .doc = "the supervision tree, with sums of what is below each process",
              .needs = Demand{need::tree},
              .whole = &tree},
    NodeTable{.name = "frame",
              .doc = "every frame of every stack",
              .needs = Demand{need::stacks},
              .whole = &of_names<present::all_frames_table>},
    NodeTable{.name = "link",
              .doc = "who is linked to whom, and who monitors whom",
              .needs = Demand{need::relations},
              .whole = &of_names<present::link_table>},
    NodeTable{.name = "waits_for",
              .doc = "who waits for whom",
              .needs = Demand{.parts = need::waits | need::terms, .terms_of = analyses::MayBeAsked()},
              .whole = &waits_for},
    NodeTable{.name = "message",
              .doc = "every message, with its shape",
              .needs = the_terms,
              .part = &messages,
              .has = &has_messages},
    NodeTable{.name = "dictionary",
              .doc = "every entry of a process dictionary",
              .needs = the_terms,
              .part = [](NodeModel&, const TermView& view) { return present::dictionary_table(view); },
              .has = &any_process},
    NodeTable{.name = "root",
              .doc = "what each root of a process holds and keeps alive",
              .needs = the_terms,
              .part = [](NodeModel&, const TermView& view) { return present::root_table(view).table; },
              .has = &any_process,
              .states = true},
    NodeTable{.name = "profile",
              .doc = "live words by the function whose frame holds them",
              .needs = Demand{.parts = need::stacks, .frames = true},
              .whole = &profile},
    NodeTable{.name = "binary",
              .doc = "binaries outside the heaps: who holds them, and what slices pin",
              .needs = Demand{.parts = need::binaries, .references = true},
              .whole = &binaries},
    NodeTable{.name = "binary_ref",
              .doc = "each reference from a heap to a binary outside",
              .needs = Demand{.references = true},
              .whole = [](NodeModel& m) -> TableResult {
                  return present::binary_reference_table(m.names(), m.heaps().binaries());
              }},
    NodeTable{.name = "ets", .doc = "ETS tables with their owners", .needs = the_node, .whole = &ets},
    NodeTable{.name = "port",
              .doc = "ports and what is queued in them",
              .needs = Demand{need::ports},
              .whole = [](NodeModel& m) -> TableResult { return present::port_table(m.names()); }},
    NodeTable{.name = "timer",
              .doc = "timers",
              .needs = the_node,
              .whole = [](NodeModel& m) -> TableResult { return present::timer_table(m.names()); }},
    NodeTable{.name = "atom",
              .doc = "every atom, newest first",
              .needs = Demand{need::atoms | need::terms},
              .whole = &of_names<present::atom_table>},
    NodeTable{.name = "atom_family",
              .doc = "atoms that were made by a pattern",
              .needs = Demand{need::atoms | need::terms},
              .whole = &atom_families},
    NodeTable{.name = "ledger",
              .doc = "all memory by owner: rows add up to what the node has",
              .needs = Demand{.parts = need::ledger, .references = true},
              .whole = &ledger},
    NodeTable{.name = "allocator",
              .doc = "what allocators hold of the system, and use of it",
              .needs = the_node,
              .whole = &allocators},
    NodeTable{.name = "scheduler",
              .doc = "what each scheduler did, and who waited to run",
              .needs = Demand{need::schedulers},
              .whole = [](NodeModel& m) -> TableResult {
                  return present::scheduler_table(m.names(), present::Places::apart);
              }},
    NodeTable{.name = "module",
              .doc = "loaded code",
              .needs = Demand{.parts = need::modules, .code = true},
              .whole = &modules},
    NodeTable{
        .name = "node", .doc = "other nodes that it knew", .needs = the_node, .whole = &of_names<present::node_table>},
    NodeTable{.name = "application",
              .doc = "applications with their versions, and which of them ran",
              .needs = Demand{need::applications},
              .whole = &applications},
    NodeTable{.name = "log", .doc = "log events that the node still held", .needs = the_terms, .whole = &log_events},
};

const std::array of_arguments{
    ArgumentTable{.name = "terms",
                  .doc = "every object on the heap of one process",
                  .argument = "pid",
                  .needs = the_terms,
                  .of = &objects_of},
    ArgumentTable{.name = "path_to",
                  .doc = "the shortest path from a root to a term, by its address, as why tells it",
                  .argument = "target",
                  .needs = the_terms,
                  .of = &path_to},
};

}  // namespace

std::span<const NodeTable> node_tables() { return tables; }

const NodeTable* find_node_table(std::string_view name) {
    const auto found = std::ranges::find(tables, name, &NodeTable::name);
    return found == tables.end() ? nullptr : &*found;
}

std::span<const ArgumentTable> argument_tables() { return of_arguments; }

}  // namespace beamheap::cli
