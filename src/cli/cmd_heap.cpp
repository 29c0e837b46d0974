// SPDX-License-Identifier: Apache-2.0
// heap: the root set of one process, each root's term with its sizes.
#include <fmt/format.h>

#include "analyses/heaps/histogram.hpp"
#include "analyses/heaps/live_garbage.hpp"
#include "analyses/heaps/term_shape.hpp"
#include "cli/commands.hpp"
#include "cli/process_terms.hpp"
#include "cli/secrets.hpp"
#include "present/spelling.hpp"

namespace beamheap::cli {

using present::Object;
using present::Value;

static Status cmd_heap(const Context& context) {
    const bool dead = context.options().dead;
    const std::size_t depth = context.options().depth;
    if (dead && depth != 0)
        return Error{ErrorCode::usage, "heap: garbage is no tree: --dead and --depth don't go together", {}};
    LoadPlan plan;
    plan.stacks = true;
    BH_TRY(const ProcessTerms process, dead ? open_process_garbage(context, plan, context.argument(1))
                                            : open_process_terms(context, plan, context.argument(1)));
    const present::TermView view = process.view(context);
    Element into;
    if (!context.options().into.empty()) {
        BH_TRY(const AddressArgument address, parse_address(context.options().into));
        into = process.terms->at(address.address);
        if (into.kind != ElementKind::object)
            return Error{
                ErrorCode::usage, fmt::format("{:X}: this process has no object at that address", address.address),
                fmt::format("`beamheap heap {} {}` shows addresses of its terms.",
                            present::shell_word(context.argument(0)), present::shell_word(context.argument(1)))};
    }
    present::Document document = context.document(process.snapshot());
    add_term_warnings(process, document);
    document.members.push_back({.key = "process",
                                .title = dead ? "Garbage of" : "Root set of",
                                .body = Value(process.names->process(process.row())),
                                .content = present::Content::name});
    if (into.kind == ElementKind::object) {
        document.lead.push_back(present::spell(
            view.names(),
            analyses::sentence("The term at {} is {}.", analyses::Amount{into.address, analyses::AmountUnit::address},
                               analyses::shape_in_words(*process.terms, into, view.shape_records()))));
        if (depth != 0) {
            document.members.push_back({.key = "tree",
                                        .title = "What it is made of",
                                        .body = present::term_tree_table(view, depth - 1, into)});
            document.primary = "tree";
        } else {
            document.members.push_back(children_member(context, view, into));
            document.primary = "children";
        }
        return context.print(document, process.snapshot(), known_secrets(*process.artifact));
    }
    if (depth != 0) {
        document.members.push_back({.key = "tree", .body = present::term_tree_table(view, depth)});
        document.primary = "tree";
        return context.print(document, process.snapshot(), known_secrets(*process.artifact));
    }
    analyses::Census census;
    census.count(view.graph(), view.measures().reach());
    const analyses::LiveGarbage words = analyses::live_and_garbage(census, process.row());
    analyses::Histogram histogram;
    if (dead) histogram.add_garbage(census);
    else histogram.add(census);
    std::uint64_t objects = 0;
    for (const analyses::KindShare& share : histogram.rows()) objects += share.count;

    // While they are being moved, or where the input does not show all that holds them, nobody knows which are alive.
    const bool moving = process.row().state == ProcessState::garbage_collecting && view.graph().size() == 0;
    const bool moved = process.terms->moved();
    const bool unknown = moved || moving || process.row().registers_lost || !process.row().has_heap;

    document.members.push_back({.key = "rows", .body = present::root_table(view, dead)});
    document.members.push_back({.key = "totals",
                                .title = "Words of its heaps",
                                .body = Value(Object{{"used_words", words.used_words},
                                                     {"live_words", unknown ? Value() : Value(words.live_words)},
                                                     {"garbage_words", unknown ? Value() : Value(words.garbage_words)},
                                                     {"message_fragment_words", words.message_words},
                                                     {"objects", moved ? Value() : Value(objects)}})});
    document.members.push_back({.key = "kinds",
                                .title = dead ? "Garbage by kind of object" : "By kind of object",
                                .body = present::histogram_table(histogram.rows())});
    document.primary = "rows";
    return context.print(document, process.snapshot(), known_secrets(*process.artifact));
}

BH_DEFINE_VERB(heap){
    .name = "heap",
    .arguments = {argument::input, argument::process},
    .options = "--dead --into --page --depth --term-bytes",
    .summary = "the root set of one process: what each root holds and keeps alive",
    .details =
        "FLAT is what a copy would need (erts_debug:flat_size), SHARED what is there (erts_debug:size), RETAINED what\n"
        "would be freed if the root, and all that hold the same term, were gone. --into ADDRESS lists the elements\n"
        "of one term instead, largest first. --depth N shows N levels below each root at once, as far as parts keep\n"
        "half a percent alive. --dead lists the terms of a core's process that no root reaches.",
    .examples =
        "heap erl_crash.dump 0.89.0\nheap erl_crash.dump my_cache --sort flat_words\nheap erl_crash.dump my_cache "
        "--into 7FEDD8C3E990 --page 2\nheap erl_crash.dump my_cache --depth 3\nheap core.4711 my_cache --dead",
    .run = &cmd_heap,
};

}  // namespace beamheap::cli
