// SPDX-License-Identifier: Apache-2.0
// heap: the root set of one process, each root's term with its sizes.
#include <fmt/format.h>

#include <optional>

#include "analyses/base/sum.hpp"
#include "analyses/facts/needs.hpp"
#include "analyses/heaps/addresses.hpp"
#include "analyses/heaps/histogram.hpp"
#include "analyses/heaps/live_garbage.hpp"
#include "analyses/heaps/term_shape.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/secrets.hpp"
#include "cli/verbs/process_terms.hpp"
#include "present/spelling.hpp"

namespace beamheap::cli {

using present::Object;
using present::Value;

namespace {

// " (2 %)"
analyses::Sentence share(std::uint64_t part, std::uint64_t whole) {
    const auto percent = analyses::percent_of(Count(part), Count(whole));
    return percent ? analyses::sentence(" ({})", analyses::Percent{*percent}) : analyses::Sentence();
}

// "log_event <0.79.0> has 2,809 words alive in its heaps and 18 words of garbage; message 7 holds most, and keeps 47
// words (1.7 %) alive." `most`: the root that holds most, where that is known.
analyses::Sentence answer(const ProcessTerms& process, const present::TermView& view,
                          const analyses::LiveGarbage& words, bool unknown, std::optional<std::uint32_t> most) {
    const auto in_words = [](std::uint64_t number) { return analyses::Amount{number, analyses::AmountUnit::words}; };
    analyses::Sentence text = analyses::sentence("{}", process.process);
    if (unknown) {
        if (words.used_words.has()) text.say(" has {} in its heaps", in_words(*words.used_words));
        text.say("{} which of them are alive is not known",
                 words.used_words.has() ? analyses::Ours(";") : analyses::Ours(" has heaps;"));
    } else {
        text.say(" has {} alive in its heaps", in_words(words.live_words));
        if (words.garbage_words.has()) text.say(" and {} of garbage", in_words(*words.garbage_words));
    }
    if (words.message_words != 0) text.say(", {} in messages beside them", in_words(words.message_words));
    if (const std::uint64_t kept = most ? view.measures().root_words(*most) : 0; kept != 0)
        text.say("; {} holds most, and keeps {}{} alive", view.root_sentence(*most), in_words(kept),
                 share(kept, words.live_words));
    return text.say(".");
}

// The elements of one term, or the tree below it.
Status show_term(const Context& context, const ProcessTerms& process, const present::TermView& view,
                 const Element& into, present::Document document) {
    const std::size_t depth = context.options().depth;
    document.lead.push_back(present::spell(
        view.names(),
        analyses::sentence("The term at {} is {}.", analyses::Amount{into.address, analyses::AmountUnit::address},
                           analyses::shape_in_words(*process.terms, into, view.shape_records()))));
    if (depth != 0) {
        document.members.push_back(
            {.key = "tree", .title = "What it is made of", .body = present::term_tree_table(view, depth - 1, into)});
        document.primary = "tree";
    } else {
        document.members.push_back(children_member(context, view, into));
        document.primary = "children";
    }
    return context.print(document, process.snapshot(), known_secrets(*process.artifact));
}

// The tree of its terms.
Status show_tree(const Context& context, const ProcessTerms& process, const present::TermView& view,
                 present::Document document) {
    document.lead.push_back(present::spell(
        view.names(), analyses::sentence("{} keeps {} alive.", process.process,
                                         analyses::Amount{view.measures().live_words(), analyses::AmountUnit::words})));
    document.members.push_back({.key = "tree", .body = present::term_tree_table(view, context.options().depth)});
    document.primary = "tree";
    return context.print(document, process.snapshot(), known_secrets(*process.artifact));
}

}  // namespace

static Status cmd_heap(const Context& context) {
    const bool dead = context.options().dead;
    const std::size_t depth = context.options().depth;
    if (dead && depth != 0)
        return Error{ErrorCode::usage, "heap: garbage is no tree: --dead and --depth don't go together", {}};
    const LoadPlan plan{analyses::need::stacks};
    BH_TRY(const ProcessTerms process, dead ? open_process_garbage(context, plan, context.argument(1))
                                            : open_process_terms(context, plan, context.argument(1)));
    const present::TermView view = process.view(context);
    Element into;
    if (!context.options().into.empty()) {
        BH_TRY(const analyses::AddressArgument address, analyses::parse_address(context.options().into));
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
                                .in_text = false,
                                .content = present::Content::name});
    if (into.kind == ElementKind::object) return show_term(context, process, view, into, std::move(document));
    if (depth != 0) return show_tree(context, process, view, std::move(document));
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

    present::RootTable roots = present::root_table(view, dead);
    document.lead.push_back(present::spell(
        view.names(), answer(process, view, words, unknown, dead || unknown ? std::nullopt : roots.first)));
    document.members.push_back({.key = "rows", .body = std::move(roots.table)});
    document.members.push_back({.key = "totals",
                                .title = "Words of its heaps",
                                .body = Value(Object{{"used_words", words.used_words},
                                                     {"live_words", unknown ? Value() : Value(words.live_words)},
                                                     {"garbage_words", unknown ? Value() : Value(words.garbage_words)},
                                                     {"message_fragment_words", words.message_words},
                                                     {"objects", moved ? Value() : Value(objects)}}),
                                .in_text = false});
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
