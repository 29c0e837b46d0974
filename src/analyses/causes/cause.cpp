// SPDX-License-Identifier: Apache-2.0
#include "analyses/causes/cause.hpp"

#include <algorithm>

#include "analyses/causes/explainer.hpp"
#include "analyses/causes/own_modules.hpp"
#include "erlang/functions.hpp"
#include "erlang/modules.hpp"
#include "erlang/servers.hpp"
#include "erlang/waiting_functions.hpp"

namespace beamheap::analyses {

using erlang::FunctionRole;
bool has_atom(OwnedTerm& term, std::string_view atom) {
    std::vector<Element> left{term.term()};
    for (std::size_t i = 0; i < left.size() && i < 2000; ++i) {
        if (TermReader::is(left[i], atom)) return true;
        if (left[i].kind != ElementKind::object) continue;
        ElementCursor cursor = term.elements(left[i].id);
        for (Element element; term.next(cursor, element);) left.push_back(element);
    }
    return false;
}

Cause Explainer::run() {
    // The first that knows the reason says it.
    using erlang::Turn;
    const bool known = undefined() || not_loaded() || syntax_within() || killed_for_its_heap() || gave_up() ||
                       of_start_function() || row(Turn::first) || distribution() || output_gone() || table() ||
                       names_of_processes() || posix() || row(Turn::after_errors) || wrapped() || value() || words();
    if (!known && says_nothing(failure_.reason)) {
        if (row(Turn::left_out)) return std::move(cause_);
        cause_.kind = CauseKind::none;
        // {"no such file or directory", "shop.app"} as a slogan leaves it (application:load/1).
        constexpr erlang::Pattern two_texts("{[_], [_]}");
        if (own_frame() == nullptr && two_texts.match(*failure_.term, inside())) {
            cause_.kind = CauseKind::no_application;
            cause_.what =
                Sentence("an application's file (NAME.app) can't be read, most likely; the slogan leaves out which");
            hint("It is missing from the code path (-pa, ERL_LIBS) or from the release.");
            return std::move(cause_);
        }
        const LogFrame* frame = own_frame();
        if (frame == nullptr && !failure_.stack.empty() &&
            !erlang::has_role(failure_.stack.front().module, FunctionRole::tells_no_failure))
            frame = &failure_.stack.front();
        if (frame != nullptr) {
            cause_.kind = CauseKind::unknown;
            cause_.what = sentence("{} failed, with a reason that the slogan leaves out", place(*frame));
        } else if (!failure_.children.empty()) {
            cause_.kind = CauseKind::unknown;
            cause_.what = Sentence("it failed, with a reason that the slogan leaves out");
        }
    } else if (!known) {
        const bool asked = failure_.asked.kind != ElementKind::unknown;
        if (asked) {
            cause_.what = sentence("{} ended while it was called: ", plain(failure_.asked));
            hint("Look for why that process ended: its own log, or the reason that stands here.");
        }
        if (!asked && !failure_.children.empty() && failure_.stack.empty() && TermReader::is_atom(failure_.reason))
            cause_.what =
                sentence("its start failed with {}, and the dump does not hold where", plain(failure_.reason));
        else cause_.what.say("{}", printed(failure_.reason));
        where();
    }
    return std::move(cause_);
}

// What stands behind the tags of a match that failed, or of a transaction: {badmatch, {error, Reason}}.
Element Explainer::inside() const {
    Element reason = failure_.reason;
    for (const std::string_view tag : {"badmatch", "case_clause", "error", "aborted"})
        if (const auto p = t_.tagged(reason, tag, 2); !p.empty()) reason = p[1];
    return reason;
}

bool Explainer::in_circumstances(const erlang::CauseRow& row) const {
    const auto& stack = failure_.stack;
    const auto in = [](std::string_view functions) {
        return [functions](const LogFrame& f) { return erlang::is_function_of(functions, f.module, f.function); };
    };
    if (!row.frame.empty() && std::ranges::none_of(stack, in(row.frame))) return false;
    if (!row.youngest.empty() && (stack.empty() || !in(row.youngest)(stack.front()))) return false;
    switch (row.circumstance) {
        case erlang::Circumstance::any: return true;
        case erlang::Circumstance::child:
            return !failure_.children.empty() && failure_.asked.kind == ElementKind::unknown;
        case erlang::Circumstance::eval:
            return stack.empty() || (in("init:_")(stack.front()) && std::ranges::any_of(stack, in("init:start_it")));
    }
    return true;
}

// A reason of OTP's in a tag of the program's own: {audit_trail, {not_a_log_file, File}}.
bool Explainer::wrapped() {
    constexpr erlang::Pattern tagged("{_ :: atom(), Reason} | {_ :: atom(), _, Reason}");
    constexpr erlang::Pattern is_reason("{_ :: atom(), _} | {_ :: atom(), _, _} | {_ :: atom(), _, _, _}");
    Element reason = failure_.reason;
    for (int depth = 0; depth < 3; ++depth) {
        const erlang::Match match = tagged.match(*failure_.term, reason);
        if (!match) return false;
        reason = match["Reason"];
        if (!is_reason.match(*failure_.term, reason)) return false;
        for (const erlang::Turn turn : {erlang::Turn::first, erlang::Turn::after_errors})
            if (row(turn, reason, reason)) return true;
    }
    return false;
}

bool Explainer::row(erlang::Turn turn) { return row(turn, failure_.reason, inside()); }

bool Explainer::row(erlang::Turn turn, const Element& reason, const Element& inner) {
    for (const erlang::CauseRow& row : erlang::cause_rows()) {
        if (row.turn != turn || !in_circumstances(row)) continue;
        erlang::Match match = row.reason.match(*failure_.term, reason);
        if (!match && row.inside) match = row.reason.match(*failure_.term, inner);
        if (!match) continue;
        cause_.kind = row.kind;
        cause_.what = said(row.says, match, failure_.term);
        if (!row.hint.empty()) hint(row.hint);
        if (match.has("Server")) about_server(row.kind, match["Server"]);
        if (row.where == erlang::Where::own_code) where();
        return true;
    }
    return false;
}

// What erl_scan or erl_parse said, somewhere within a reason of the program's own making; rows know the bare forms.
bool Explainer::syntax_within() {
    constexpr std::size_t most = 60, longest = 300;
    static constexpr erlang::Pattern said(
        "{Line, erl_parse | erl_scan, Text} | {{Line, _}, erl_parse | erl_scan, Text}");
    static constexpr erlang::Pattern bare("{error, {_, erl_parse | erl_scan, _}, _}");
    const Element inner = inside();
    if (said.match(*failure_.term, inner) || bare.match(*failure_.term, inner)) return false;
    std::vector<Element> left{inner};
    std::string file;
    for (std::size_t i = 0; i < left.size() && i < most; ++i) {
        if (left[i].kind != ElementKind::object) continue;
        if (const auto text = t_.text(left[i], longest)) {
            const bool name = text->find(' ') == text->npos && text->find_first_of("./") != text->npos;
            if (file.empty() && name) file = *text;
            continue;
        }
        if (const erlang::Match match = said.match(*failure_.term, left[i])) {
            cause_.kind = CauseKind::bad_code;
            // {bad_ssl_dist_optfile, {parse_error, ...}}: the tag names what was read.
            const auto begin = t_.begin_of(inner);
            const bool tagged =
                begin && TermReader::is_atom(begin->first) && begin->first.text.find('_') != std::string::npos;
            cause_.what =
                file.empty() && tagged ? sentence("a text that it reads is not valid Erlang ({})", plain(begin->first))
                : file.empty()         ? Sentence("a text that it reads is not valid Erlang")
                                       : sentence("{} is not valid Erlang", InputText{file, InputText::Holds::message});
            if (const auto line = t_.number(match["Line"]); line && *line > 0)
                cause_.what.say(", line {}", Amount{static_cast<std::uint64_t>(*line), AmountUnit::plain});
            if (const auto text = t_.text(match["Text"], longest))
                cause_.what.say(": {}", InputText{one_line(*text, 80), InputText::Holds::message});
            else cause_.what.say(": {}", PrintedTerm{failure_.term, match["Text"], 60});
            hint("Check the file with file:consult/1: it names the line.");
            where();
            return true;
        }
        ElementCursor cursor = failure_.term->elements(left[i].id);
        for (Element element; left.size() < most && failure_.term->next(cursor, element);) left.push_back(element);
    }
    return false;
}

// Who was called: what it does instead of answering; which application registers its name.
void Explainer::about_server(CauseKind kind, const Element& server) {
    if (kind == CauseKind::not_registered && TermReader::is_atom(server)) {
        cause_.follows = erlang::is_kernel_server(server.text);
        if (const std::string_view application = erlang::application_of_server(server.text); !application.empty())
            hint(sentence("Application {} registers it when it starts: start that first.",
                          Atom{std::string(application), false}));
    }
    if (kind != CauseKind::timeout) return;
    const ProcId id = server.kind == ElementKind::pid ? snapshot_.find(server.pid)
                      : TermReader::is_atom(server)   ? snapshot_.find_registered(server.text)
                                                      : ProcId::none;
    if (id == ProcId::none || snapshot_[id].current_function == FunctionId::none) return;
    const Function& in = snapshot_.functions[snapshot_[id].current_function];
    const auto module = snapshot_.text(in.module), name = snapshot_.text(in.name);
    const bool idle = std::ranges::any_of(erlang::idle_functions, [&](const erlang::IdleFunction& row) {
        return row.module == module && row.function == name;
    });
    if (!idle) cause_.what.say("; it is in {}", snapshot_[id].current_function);
}

bool Explainer::says_nothing(const Element& reason) const { return !erlang::says_something(*failure_.term, reason); }

void Explainer::where() {
    if (!cause_.where.empty()) return;
    const LogFrame* frame = own_frame();
    // A tail call leaves no frame of the start function: who started it is known all the same.
    if ((frame == nullptr || is_library(frame->module)) && failure_.children.empty() &&
        !failure_.start_module.empty() && !failure_.stack.empty()) {
        cause_.where =
            sentence(", in {}", FunctionName{failure_.start_module, failure_.start_function, failure_.start_arity});
        return;
    }
    if (frame == nullptr) return;
    cause_.where.say(", in {}", place(*frame));
    if (!is_library(frame->module)) cause_.where_in_brief = sentence(", in {}", function(*frame));
}

void Explainer::called_by() {
    for (std::size_t i = 1; i < failure_.stack.size(); ++i) {
        const LogFrame& frame = failure_.stack[i];
        if (is_library(frame.module)) {
            if (erlang::has_role(frame.module, FunctionRole::starts_programs)) return;
            if (erlang::has_role(frame.module, FunctionRole::evaluates_text)) {
                const bool boot = std::ranges::any_of(failure_.stack, [](const LogFrame& f) {
                    return erlang::has_role(f.module, FunctionRole::of_init);
                });
                if (boot) cause_.where = Sentence(", called by -eval");
                return;
            }
            continue;
        }
        cause_.where.say(", called in {}", place(frame));
        cause_.where_in_brief = sentence(", called in {}", function(frame));
        return;
    }
}

bool Explainer::is_library(std::string_view module) const {
    if (erlang::is_library(module)) return true;
    const auto loaded = std::ranges::find_if(snapshot_.modules,
                                             [&](const Module& each) { return snapshot_.text(each.name) == module; });
    if (!folders_) folders_ = build_folders(snapshot_);
    const std::vector<std::string_view>& folders = *folders_;
    if (loaded == snapshot_.modules.end() || folders.empty() || snapshot_.text(loaded->source).empty())
        return is_of_otp(module);
    return !is_own_module(snapshot_, *loaded, folders);
}

const LogFrame* Explainer::own_frame() const {
    for (const LogFrame& frame : failure_.stack)
        if (!is_library(frame.module)) return &frame;
    // Where all are OTP's: not those of its helpers, which do what others ask of them.
    for (const LogFrame& frame : failure_.stack)
        if (!erlang::is_library(frame.module)) return &frame;
    return nullptr;
}

Sentence Explainer::function(const LogFrame& frame) {
    if (frame.function.empty()) return sentence("module {}", Atom{frame.module});
    if (frame.cut) return sentence("{}:{}", Atom{frame.module}, Atom{frame.function});
    return sentence("{}", FunctionName{frame.module, frame.function, frame.arity});
}

Sentence Explainer::place(const LogFrame& frame) {
    Sentence text = function(frame);
    if (!frame.file.empty() && frame.line != 0) {
        const std::size_t slash = frame.file.rfind('/');
        text.say(" ({}:{})", InputText{slash == std::string::npos ? frame.file : frame.file.substr(slash + 1)},
                 Amount{frame.line, AmountUnit::plain});
    }
    return text;
}

Cause cause_of(const Snapshot& snapshot, const Failure& failure, std::span<const LogEvent> events) {
    return Explainer(snapshot, failure, events).run();
}

}  // namespace beamheap::analyses
