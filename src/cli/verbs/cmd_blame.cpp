// SPDX-License-Identifier: Apache-2.0
// blame: which threads were inside a native function, by the Erlang function that they worked for.
#include <fmt/format.h>

#include "analyses/facts/needs.hpp"
#include "analyses/processes/native_stacks.hpp"
#include "cli/frame/commands.hpp"
#include "present/native.hpp"
#include "present/render.hpp"
#include "present/spelling.hpp"
#include "present/units.hpp"

namespace beamheap::cli {

static Status cmd_blame(const Context& context) {
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open({analyses::need::stacks}));
    const Snapshot& snapshot = artifact->snapshot();
    BH_TRY(const NativeThreads native, artifact->native_threads());
    const std::string& function = context.argument(1);
    const analyses::Blame blame = analyses::blame(snapshot, native, function);
    present::Document document = context.document(snapshot);
    using analyses::Amount;
    using analyses::AmountUnit;
    const auto say = [&document](const analyses::Sentence& sentence) {
        document.lead.push_back(present::spell(sentence));
    };
    const auto vm = [](std::string text) {
        return analyses::InputText{std::move(text), analyses::InputText::Holds::vm};
    };
    say(analyses::sentence("{} of {} threads were inside {}.", Amount{blame.threads, AmountUnit::plain},
                           Amount{native.threads.size(), AmountUnit::plain}, vm(function)));
    if (blame.threads == 0) {
        const std::vector<std::string_view> names(blame.names.begin(), blame.names.end());
        if (const std::string near = present::did_you_mean(function, names); !near.empty())
            say(analyses::sentence("{}", vm(near)));
        if (blame.unnamed != 0)
            say(
                analyses::sentence("{} of {} native frames have no name: their file is stripped. An executable with "
                                   "symbols, or its debug package, gives them.",
                                   Amount{blame.unnamed}, Amount{blame.frames}));
    }
    for (const std::string& file : native.missing) say(analyses::sentence("Not unwound: {}.", vm(file)));
    document.members.push_back({.key = "native_function", .body = present::Value(function), .in_text = false});
    document.members.push_back({.key = "rows", .body = present::blame_table(context.names(snapshot), native, blame)});
    document.primary = "rows";
    return context.print(document, snapshot);
}

BH_DEFINE_VERB(blame){
    .name = "blame",
    .arguments = {Argument{"CORE", ArgumentKind::input}, Argument{"FUNCTION", ArgumentKind::function}},
    .summary = "threads inside a native function, by the Erlang function above it",
    .details = "FUNCTION is a name as the executable's symbols have it; * stands for any text.",
    .examples = "blame core.4711 erts_garbage_collect\nblame core.4711 'copy_*'",
    .run = &cmd_blame,
};

}  // namespace beamheap::cli
