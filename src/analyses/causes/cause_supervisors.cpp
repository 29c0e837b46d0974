// SPDX-License-Identifier: Apache-2.0
// Supervisors that gave up, children that did not start, and processes that were killed.
#include <algorithm>

#include "analyses/causes/explainer.hpp"
#include "analyses/causes/own_modules.hpp"
#include "erlang/crash_reports.hpp"
#include "erlang/elixir_names.hpp"
#include "erlang/registered.hpp"
#include "erlang/usual_causes.hpp"

namespace beamheap::analyses {
namespace {

bool has_atom_of(const Snapshot& snapshot, std::string_view name) {
    return std::ranges::any_of(snapshot.atoms, [&](TextId atom) { return snapshot.text(atom) == name; });
}

// Whether the VM has purged code: its own process for that has done more than begin.
bool has_purged(const Snapshot& snapshot) {
    constexpr std::uint64_t at_rest = 2'000;  // reductions: some 20 where nothing was ever purged
    const ProcId purger = snapshot.find_registered(erlang::registered::code_purger);
    return purger != ProcId::none && snapshot[purger].reductions.value_or(0) > at_rest;
}

constexpr Ours purge_kills(
    "Loading a module a second time kills who still runs the code of before it: let the loop of a process call itself "
    "by its module's name (?MODULE:loop/1) to change over.");

}  // namespace

// A child whose end is no failure of its own: it was killed with its old code, or ended in order, as often as its
// supervisor allows.
bool Explainer::child_ended() {
    if (!failure_.stack.empty() || failure_.asked.kind != ElementKind::unknown) return false;
    if (TermReader::is(failure_.reason, "killed") && has_purged(snapshot_)) {
        cause_.kind = CauseKind::stopped;
        cause_.what =
            Sentence("it was killed (killed), again and again, most likely by the purge of old code that it ran");
        hint(purge_kills);
        return true;
    }
    if (!TermReader::is_one_of(failure_.reason, {"normal", "shutdown"})) return false;
    cause_.kind = CauseKind::stopped;
    cause_.what =
        sentence("it ended each time that it was started ({}), and its supervisor gave up", plain(failure_.reason));
    hint(
        "A permanent child that ends without an error (normal, {shutdown, ...}) is restarted, too: is it meant to be "
        "transient or temporary?");
    return true;
}

// An application that had run ended with its top supervisor (supervisor.erl). What its children ended of is the cause,
// where a report tells it. Where none does, modules tell a little: what prints a crash is loaded when the first is
// printed, and so is the module of an exception of Elixir.
bool Explainer::gave_up() {
    constexpr std::size_t most_exceptions = 2;
    if (!failure_.exited) return false;
    if (!failure_.children.empty()) return child_ended();
    if (!TermReader::is(failure_.reason, "shutdown")) return false;
    cause_.kind = CauseKind::unknown;
    // The supervisor of 24 and later ends with a significant child, too, and has its function for that among the atoms.
    const bool significant = has_atom_of(snapshot_, "do_auto_shutdown");
    std::vector<Sentence> exceptions;
    for (const std::string_view module : exceptions_since(snapshot_, most_exceptions))
        exceptions.push_back(sentence("{}", Atom{std::string(module), false}));
    const std::optional<bool> printed = has_printed_crashes(snapshot_);
    if (exceptions.empty() && !printed.value_or(false) && has_purged(snapshot_)) {
        cause_.what = Sentence(
            "its top supervisor gave up, and no crash was printed: most likely a child was killed, again and again, by "
            "the purge of old code that it ran");
        hint(purge_kills);
        return true;
    }
    if (!exceptions.empty())
        cause_.what = sentence("its top supervisor gave up: a child failed too often, most likely with {}",
                               joined(exceptions, ", "));
    else if (printed.value_or(!significant))
        cause_.what = Sentence("its top supervisor gave up: a child failed too often (shutdown)");
    else if (!printed)
        cause_.what = Sentence("its top supervisor gave up: a child failed too often, or was significant (shutdown)");
    else if (!significant)
        cause_.what = Sentence("its top supervisor gave up, and no crash was printed: a child ended too often");
    else
        cause_.what = Sentence(
            "its top supervisor gave up, and no crash was printed: a child ended too often, or was significant");
    if (exceptions.empty() && printed == std::optional(false)) {
        hint(
            "A permanent child that ends without an error (normal, {shutdown, ...}) is restarted, too: is it meant to "
            "be transient or temporary?");
    }
    if (exceptions.empty() && significant && !printed.value_or(false))
        hint("With `auto_shutdown` a supervisor ends as soon as a significant child does: see its flags.");
    return true;
}

// An application that gives up with reason normal has said why, elsewhere: mnesia does where it can't read its schema.
bool Explainer::without_a_word() {
    if (!TermReader::is(failure_.reason, "normal")) return false;
    cause_.kind = CauseKind::stopped;
    if (failure_.exited) {
        cause_.what =
            Sentence("its top process ended by itself, with reason normal, and a permanent one ends the node");
        hint(
            "An application whose work has an end is started as temporary or transient "
            "(application:start(App, transient); in a release's .rel {App, Version, transient}); else its top process "
            "is a supervisor, which stays.");
        return true;
    }
    const std::string_view started = erlang::application_of_callback(failure_.start_module);
    const bool of_another = !started.empty() && started != failure_.application;
    if (of_another)
        cause_.what =
            sentence("{} stopped with reason normal, and said why in the log alone", Atom{std::string(started), false});
    else cause_.what = Sentence("the reason is normal, and what it had to say of it stands in its log alone");
    if (const Ours* usual = erlang::usual_cause_of(of_another ? started : failure_.application)) hint(*usual);
    hint("See what the node printed before, and what lies in the folder of its data.");
    return true;
}

// Words of start_link/N itself (gen.erl, proc_lib.erl), with which a child did not start.
bool Explainer::of_start_function() {
    if (!failure_.stack.empty() || failure_.asked.kind != ElementKind::unknown || !TermReader::is_atom(failure_.reason))
        return false;
    if (failure_.children.empty()) return without_a_word();
    if (TermReader::is(failure_.reason, "normal")) {
        cause_.kind = CauseKind::bad_return;
        cause_.what = Sentence("it ended with reason normal in its start");
        hint("Its init stopped, or returned {stop,normal}: one that need not run is to return ignore.");
        return true;
    }
    if (TermReader::is(failure_.reason, "timeout")) {
        cause_.kind = CauseKind::timeout;
        cause_.what = Sentence("it was not ready in the time that its start allows (timeout)");
        hint("See what its init waits for; what may take long belongs into handle_continue.");
        return true;
    }
    return false;
}

// "Process: <0.9.0> Context: maximum heap size reached ..." (erl_process.c, since OTP 19): nobody else kills so.
bool Explainer::killed_for_its_heap() {
    if (!TermReader::is(failure_.reason, "killed")) return false;
    const bool told = std::ranges::any_of(events_, [](const LogEvent& event) {
        const TermReader e(*event.term);
        const auto says = [&](const Element& element) {
            const auto text = e.text(element, 2000);
            return text && text->find("maximum heap size reached") != text->npos;
        };
        return says(event.format) || says(event.report) || std::ranges::any_of(event.args, says);
    });
    // Nobody could call exit(Pid, kill) before the first program was there.
    const bool early = !snapshot_.modules.empty() &&
                       snapshot_.find_registered(erlang::registered::application_controller) == ProcId::none &&
                       !has_atom_of(snapshot_, "applications_loaded");
    if (!told && !early) return false;
    cause_.kind = CauseKind::stopped;
    if (early) {
        cause_.what = Sentence("it was killed before any program ran: +hmax is too small for the start, most likely");
        hint("Raise +hmax (the limit that every process has, in words), or leave it out.");
        return true;
    }
    cause_.what = Sentence("it was killed for exceeding max_heap_size");
    hint("Raise the limit (max_heap_size of the process or +hmax), or see what it was building.");
    where();
    return true;
}

}  // namespace beamheap::analyses
