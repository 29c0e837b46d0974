// doctor: what was recognised, and how far it can be trusted.
#include "cli/commands.hpp"
#include "present/describe.hpp"
#include "present/tables.hpp"

namespace beamheap::cli {

static Status cmd_doctor(const Context& context) {
    LoadPlan plan;
    plan.tables = plan.links = plan.stacks = plan.labels = plan.atoms = plan.modules = plan.to_the_end = true;
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    const Snapshot& snapshot = artifact->snapshot();
    std::vector<Check> checks = artifact->checks();
    present::Document document = context.document(snapshot);
    document.members.push_back({.key = "input",
                                .title = "Input",
                                .body = present::Value(present::source_of(snapshot)),
                                .in_json = false,
                                .content = present::Content::message});
    document.members.push_back({.key = "checks", .title = "Checks", .body = present::check_table(std::move(checks))});
    return context.print(document, snapshot);
}

BH_DEFINE_VERB(doctor){
    .name = "doctor",
    .arguments = {argument::input},
    .summary = "what was recognised in the input, and how far it can be trusted",
    .examples = "doctor erl_crash.dump",
    .run = &cmd_doctor,
};

}  // namespace beamheap::cli
