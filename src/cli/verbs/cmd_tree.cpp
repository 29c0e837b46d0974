// SPDX-License-Identifier: Apache-2.0
// tree: who supervises whom, with sums.
#include "analyses/facts/needs.hpp"
#include "analyses/processes/answers.hpp"
#include "analyses/processes/supervision.hpp"
#include "analyses/selectors/selectors.hpp"
#include "cli/frame/commands.hpp"
#include "present/spelling.hpp"
#include "present/tables.hpp"

namespace beamheap::cli {

static Status cmd_tree(const Context& context) {
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open({analyses::need::tree}));
    const Snapshot& snapshot = artifact->snapshot();
    ProcId top = ProcId::none;
    if (context.options().inputs.size() > 1) {
        BH_TRY(top, analyses::resolve(snapshot, context.argument(1)));
    }
    const std::shared_ptr<const analyses::SupervisionTree> found = context.supervision(snapshot);
    const analyses::SupervisionTree& tree = *found;
    std::vector<analyses::TreeRow> rows = analyses::tree_rows(tree, top, context.options().depth);
    if (context.folds()) rows = analyses::fold_alike(snapshot, tree, rows, least_alike);
    present::Document document = context.document(snapshot);
    document.lead = {present::spell(context.names(snapshot), analyses::tree_answer(tree, top))};
    document.members.push_back(
        {.key = "rows", .body = present::tree_table(context.names(snapshot), tree, std::move(rows))});
    document.members.push_back(
        {.key = "totals",
         .body = present::Value(present::Object{{"roots", static_cast<std::uint64_t>(tree.roots.size())},
                                                {"orphans", static_cast<std::uint64_t>(tree.orphans.size())},
                                                {"loops_cut", tree.cut},
                                                {"links_used", tree.links_used},
                                                {"labels_used", tree.labels_used}}),
         .in_text = false});
    return context.print(document, snapshot);
}

BH_DEFINE_VERB(tree){
    .name = "tree",
    .arguments = {argument::input, optional(argument::process)},
    .options = "--depth --no-fold",
    .summary = "the supervision tree, with sums",
    .details =
        "Of one process and all below it where PID is given. Children of one parent that are alike are one line with "
        "their\n"
        "number; --no-fold, --columns and the formats for programs have each.",
    .examples = "tree erl_crash.dump --depth 3\ntree erl_crash.dump kernel_sup",
    .run = &cmd_tree,
};

}  // namespace beamheap::cli
