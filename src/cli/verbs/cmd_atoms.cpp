// SPDX-License-Identifier: Apache-2.0
// atoms: how full the table is, families of atoms that were made by a pattern, and the atoms, newest first.
#include <fmt/format.h>

#include "analyses/facts/needs.hpp"
#include "analyses/memory/atom_families.hpp"
#include "analyses/processes/totals.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/secrets.hpp"
#include "present/spelling.hpp"
#include "present/table_cells.hpp"
#include "present/tables.hpp"
#include "present/units.hpp"

namespace beamheap::cli {

static Status cmd_atoms(const Context& context) {
    LoadPlan plan{analyses::need::atoms};
    plan_for_secrets(plan);
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    const Snapshot& snapshot = artifact->snapshot();
    const present::Names names = context.names(snapshot);
    const analyses::AtomFamilies families = analyses::atom_families(snapshot);
    const analyses::Fill fill = analyses::totals(snapshot).atom_fill;
    present::Document document = context.document(snapshot);
    if (fill.used.has() && fill.limit.has() && fill.percent)
        document.lead = {
            present::spell(analyses::sentence("{} of {} atoms: the table is {} full.", analyses::Amount{*fill.used},
                                              analyses::Amount{*fill.limit}, analyses::Percent{*fill.percent}))};
    else if (fill.used.has())
        document.lead = {present::spell(analyses::sentence("{}; this input does not say how many there may be.",
                                                           analyses::Counted{*fill.used, "atom", "atoms"}))};
    else
        document.lead = {present::spell(analyses::sentence("{} in this input, which does not say how many there were.",
                                                           analyses::Counted{families.atoms, "atom", "atoms"}))};
    document.members.push_back(
        {.key = "families", .title = "Families", .body = present::atom_family_table(names, families)});
    document.members.push_back({.key = "rows", .title = "Newest atoms", .body = present::atom_table(names)});
    document.members.push_back(
        {.key = "totals",
         .body = present::Value(present::Object{{"atoms", fill.used},
                                                {"atom_limit", fill.limit},
                                                {"atom_percent", present::cells::percent(fill.percent)},
                                                {"atoms_listed", families.atoms},
                                                {"atoms_in_families", families.in_families},
                                                {"families_exact", families.exact}}),
         .in_text = false});
    document.primary = "rows";
    return context.print(document, snapshot, known_secrets(*artifact));
}

BH_DEFINE_VERB(atoms){
    .name = "atoms",
    .arguments = {argument::input},
    .summary = "the atom table: how full, families of atoms, newest first",
    .examples = "atoms erl_crash.dump",
    .run = &cmd_atoms,
};

}  // namespace beamheap::cli
