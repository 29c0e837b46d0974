// SPDX-License-Identifier: Apache-2.0
// term, why: one term by its address, and the shortest path to it from a root.
#include <fmt/format.h>

#include "analyses/facts/heap_stats.hpp"
#include "analyses/facts/needs.hpp"
#include "analyses/heaps/addresses.hpp"
#include "analyses/heaps/paths.hpp"
#include "analyses/heaps/term_shape.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/secrets.hpp"
#include "cli/verbs/process_terms.hpp"
#include "present/spelling.hpp"

namespace beamheap::cli {
namespace {

using present::Content;
using present::Value;

/// Whose term that is, as PID.
Result<std::string> owner_of(const Context& context, const analyses::AddressArgument& argument) {
    if (!argument.pid.empty()) return argument.pid;
    analyses::AddressSearch search(argument.address, analyses::worker_count(context.options().threads));
    LoadPlan plan;
    plan.heaps = &search.request();
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    return search.owner(artifact->snapshot());
}

struct Found {
    ProcessTerms process;
    Element term;
};

Result<Found> find(const Context& context) {
    BH_TRY(const analyses::AddressArgument argument, analyses::parse_address(context.argument(1)));
    BH_TRY(const std::string pid, owner_of(context, argument));
    Found found;
    BH_TRY(found.process, open_process_terms(context, {analyses::need::stacks}, pid));
    BH_TRY(found.term, analyses::object_at(*found.process.terms, argument.address));
    return found;
}

/// Everything about the term but the term itself.
present::Object facts(const present::TermView& view, const Element& term, const std::string& owner) {
    const ObjectHead head = view.source().head(term.id);
    const bool literal = term.id.space == ObjectId::Space::literals;
    present::Object object{{"address", present::TermView::address_value(head.address)},
                           {"owner", literal ? Value("literals") : Value(owner)},
                           {"kind", name_of(head.kind)},
                           {"flat_words", view.measures().flat_words(term)},
                           {"shared_words", view.measures().shared_words(term)},
                           {"retained_words", view.measures().retained_words(term)}};
    if (head.binary != 0) {
        object.emplace_back("binary", present::TermView::address_value(head.binary));
        object.emplace_back("binary_bytes", view.source().binary_size(head.binary));
        object.emplace_back("seen_bytes", head.size);
        object.emplace_back("offset_bytes", head.offset);
    }
    if (head.kind == TermKind::fun && head.free != 0)
        object.emplace_back("lost", fmt::format("{} free variable{}: the VM overwrites them in a dump", head.free,
                                                head.free == 1 ? "" : "s"));
    return object;
}

// "A term of log_event <0.79.0>: a list of 3 tuples; it keeps 51 words alive."
analyses::Sentence answer(const Found& found, const present::TermView& view) {
    const bool literal = found.term.id.space == ObjectId::Space::literals;
    analyses::Sentence text = literal ? analyses::Sentence(analyses::Ours("A literal"))
                                      : analyses::sentence("A term of {}", found.process.process);
    text.say(": {}", analyses::shape_in_words(*found.process.terms, found.term, view.shape_records()));
    if (const Count words = view.measures().retained_words(found.term); words.has())
        text.say("; it keeps {} alive", analyses::Amount{*words, analyses::AmountUnit::words});
    return text.say(".");
}

}  // namespace

static Status cmd_term(const Context& context) {
    BH_TRY(const Found found, find(context));
    const present::TermView view = found.process.view(context);
    present::Document document = context.document(found.process.snapshot());
    add_term_warnings(found.process, document);
    document.lead = {present::spell(view.names(), answer(found, view))};
    document.members.push_back(
        {.key = "facts", .body = Value(facts(view, found.term, found.process.names->process(found.process.row())))});
    document.members.push_back(
        {.key = "shape",
         .title = "Shape",
         .body = Value(present::spell(
             view.names(), analyses::shape_in_words(*found.process.terms, found.term, view.shape_records()))),
         .in_text = false});
    document.members.push_back(
        {.key = "term", .title = "Term", .body = Value(view.text(found.term)), .content = Content::term});
    document.members.push_back(children_member(context, view, found.term));
    document.primary = "facts";
    return context.print(document, found.process.snapshot(), known_secrets(*found.process.artifact));
}

static Status cmd_why(const Context& context) {
    BH_TRY(const Found found, find(context));
    const present::TermView view = found.process.view(context);
    const std::string owner = found.process.names->process(found.process.row());
    present::Document document = context.document(found.process.snapshot());
    add_term_warnings(found.process, document);
    const std::optional<analyses::Path> path = analyses::shortest_path(*found.process.terms, found.term.id);
    if (!path) {
        const bool literal = found.term.id.space == ObjectId::Space::literals;
        document.lead.push_back(literal
                                    ? present::Text{}.add("A literal: a module or a persistent term holds it. "
                                                          "PID@ADDRESS tells how one process refers to it.")
                                    : present::Text{}.add("No root of ").add(owner, Content::name).add(" reaches it."));
        document.members.push_back({.key = "path", .body = Value(), .in_text = false});
    } else {
        std::vector<present::PathStep> steps = present::path_steps(view, *path);
        document.lead.push_back(present::spell(
            view.names(),
            analyses::sentence("In {}, {} keeps it alive, ", found.process.process, view.root_sentence(path->root))
                .say("{}.", steps.empty()
                                ? analyses::Sentence(analyses::Ours("itself"))
                                : analyses::sentence("{} away", analyses::Counted{steps.size(), "step", "steps"}))));
        document.members.push_back({.key = "owner", .title = "In", .body = Value(owner), .content = Content::name});
        document.members.push_back({.key = "path",
                                    .title = "Path",
                                    .body = Value(present::path_text(view, *path, steps)),
                                    .content = Content::term});
        document.members.push_back({.key = "rows", .body = present::path_table(view, &*path, std::move(steps))});
        document.primary = "rows";
    }
    document.members.push_back({.key = "facts", .title = "The term", .body = Value(facts(view, found.term, owner))});
    return context.print(document, found.process.snapshot(), known_secrets(*found.process.artifact));
}

BH_DEFINE_VERB(term){
    .name = "term",
    .arguments = {argument::input, argument::address},
    .options = "--page --term-bytes",
    .summary = "one term in full, by its address, and its elements, largest first",
    .details = "ADDRESS is hexadecimal, as `heap` shows it; PID@ADDRESS where several processes have it.",
    .examples = "term erl_crash.dump 7FEDD8C3E990 --term-bytes 0",
    .run = &cmd_term,
};

BH_DEFINE_VERB(why){
    .name = "why",
    .arguments = {argument::input, argument::address},
    .options = "--term-bytes",
    .summary = "the shortest path from a root to a term: what keeps it alive",
    .examples = "why erl_crash.dump 7FEDD8C3E990",
    .run = &cmd_why,
};

}  // namespace beamheap::cli
