// SPDX-License-Identifier: Apache-2.0
#include "analyses/causes/failure.hpp"

#include <algorithm>

#include "analyses/logs/log_forms.hpp"
#include "erlang/functions.hpp"

namespace beamheap::analyses {
namespace {

constexpr int most_layers = 64;

// Modules that only start others: a match that fails there is a layer, not the cause.
bool starts_others(const std::vector<LogFrame>& stack) {
    if (stack.empty()) return false;
    return std::ranges::any_of(stack, [](const LogFrame& frame) {
        return erlang::has_role(frame.module, frame.function, erlang::FunctionRole::starts_others);
    });
}

// Whether something of a term is not known: printed to a depth, or cut.
bool has_holes(OwnedTerm& term, const Element& root) {
    std::vector<Element> left{root};
    for (std::size_t i = 0; i < left.size() && i < 400; ++i) {
        if (left[i].kind == ElementKind::unknown) return i != 0;
        if (left[i].kind != ElementKind::object) continue;
        if (term.ends_early(left[i].id)) return true;
        ElementCursor cursor = term.elements(left[i].id);
        for (Element element; left.size() < 400 && term.next(cursor, element);) left.push_back(element);
    }
    return false;
}

class Peeler {
public:
    explicit Peeler(Failure& failure) : failure_(failure) {}

    void run() {
        for (int i = 0; i < most_layers && layer(); ++i) {
        }
    }

private:
    TermReader terms() const { return TermReader(*failure_.term); }

    bool go_on(const Element& inner) {
        failure_.reason = inner;
        return true;
    }

    void child(const Element& id) {
        if (TermReader::is_atom(id)) failure_.children.emplace_back(id.text);
        else if (const auto text = terms().text(id, 60)) failure_.children.push_back(*text);
        else if (const auto parts = terms().tuple(id); !parts.empty())
            for (const Element& part : parts)  // {ranch_listener_sup, http}, {http, 8081}: the last name says most
                if (TermReader::is_atom(part)) {
                    failure_.children.emplace_back(part.text);
                    break;
                }
    }

    // Takes one layer off; false where there is none.
    bool layer() {
        const TermReader t = terms();
        const Element reason = failure_.reason;
        if (auto text = t.is_list(reason) ? t.text(reason, 64u << 10) : std::nullopt; text && text->starts_with('{')) {
            // A text that the slogan cuts is read as far as it goes.
            if (std::shared_ptr<OwnedTerm> inner = parse_term(*text); text->ends_with('}') || !inner->strange()) {
                failure_.term = std::move(inner);
                return go_on(failure_.term->term());
            }
        }
        if (const auto p = t.tagged(reason, "failed_to_start_child", 3); !p.empty()) {
            child(p[1]);
            return go_on(p[2]);
        }
        if (const auto p = t.tagged(reason, "application_start_failure", 3); !p.empty()) {
            failure_.asked = {};  // the controller, which this ended
            if (TermReader::is_atom(p[1])) failure_.application = p[1].text;
            return go_on(p[2]);
        }
        if (const auto p = t.tagged(reason, "application_terminated", 3); !p.empty()) {
            if (TermReader::is_atom(p[1])) failure_.application = p[1].text;
            failure_.exited = true;
            return go_on(p[2]);
        }
        if (const auto p = t.tagged(reason, "cannot_start_application", 3); !p.empty()) {
            if (TermReader::is_atom(p[1])) failure_.application = p[1].text;
            return go_on(p[2]);
        }
        if (const auto p = t.tagged(reason, "could_not_start", 3); !p.empty()) {  // rabbit, rabbit_boot_state
            if (TermReader::is_atom(p[1])) failure_.application = p[1].text;
            return go_on(p[2]);
        }
        if (const auto p = t.tuple(reason, 3); !p.empty() && TermReader::is(p[1], "failure_during_boot"))
            return go_on(p[2]);
        if (const auto p = t.tuple(reason, 1); !p.empty())
            return go_on(p[0]);  // the text ends before the second element
        // {shutdown, {M, start, Args}}: the layer is the function that started it, and shutdown is the reason.
        if (const auto p = t.tagged(reason, "shutdown", 2); !p.empty() && is_start(p[1])) {
            started_by(p[1]);
            return go_on(p[0]);
        }
        // {exception, Reason, Stack}: what erpc:call/4 makes of an error at the other end
        if (const auto p = t.tagged(reason, "exception", 3); !p.empty())
            if (auto frames = frames_of(t, p[2]); !frames.empty()) {
                // Who called it stands behind the other end's own frames.
                frames.insert(frames.end(), failure_.stack.begin(), failure_.stack.end());
                failure_.stack = std::move(frames);
                return go_on(p[1]);
            }
        // {badrpc, {'EXIT', Reason}} of rpc:call/4, matched or as it is
        const auto matched = t.tagged(reason, "badmatch", 2);
        if (const auto p = t.tagged(matched.empty() ? reason : matched[1], "badrpc", 2);
            !p.empty() && !t.tagged(p[1], "EXIT", 2).empty())
            return go_on(p[1]);
        for (const std::string_view tag : {"shutdown", "EXIT", "error", "init_failed", "nocatch"})
            if (const auto p = t.tagged(reason, tag, 2); !p.empty()) return go_on(p[1]);
        if (const auto p = t.tagged(reason, "badmatch", 2);
            !p.empty() && starts_others(failure_.stack) && !t.tagged(p[1], "error", 2).empty())
            return go_on(t.tagged(p[1], "error", 2)[1]);
        // {badmatch, {error, {Reason, Stack}}}: the failure of another, of which the start was told.
        if (const auto p = t.tagged(reason, "badmatch", 2); !p.empty())
            for (const std::string_view tag : {"error", "EXIT"})
                if (const auto inner = t.tagged(p[1], tag, 2); !inner.empty() && tells_failure(inner[1]))
                    return go_on(inner[1]);
        if (exit_of_start()) return true;
        // {cannot_start, App, {Reason, {M, start, Args}}}: in whatever words a program passes on why one did not start
        if (const auto p = t.tuple(reason, 3); !p.empty() && TermReader::is_atom(p[0]) && TermReader::is_atom(p[1]))
            if (const auto inner = t.tuple(p[2], 2); !inner.empty() && (is_start(inner[1]) || is_exit_of_start(p[2]))) {
                failure_.application = p[1].text;
                return go_on(p[2]);
            }
        // {could_not_start_listener, Options, {shutdown, {failed_to_start_child, ...}}}: the same behind a word of its
        // own
        if (const auto p = t.tuple(reason, 3); !p.empty() && TermReader::is_atom(p[0]) && tells_start(p[2]))
            return go_on(p[2]);
        return pair();
    }

    bool is_function(const std::vector<Element>& mfa) const {
        return mfa.size() == 3 && TermReader::is_atom(mfa[0]) && TermReader::is_atom(mfa[1]) && terms().is_list(mfa[2]);
    }
    /// {bad_return, {{M, start, Args}, {'EXIT', Reason}}}
    bool is_exit_of_start(const Element& term) const {
        const TermReader t = terms();
        const auto returned = t.tagged(term, "bad_return", 2);
        const auto inner = returned.empty() ? std::vector<Element>{} : t.tuple(returned[1], 2);
        return !inner.empty() && is_start(inner[0]) && !t.tagged(inner[1], "EXIT", 2).empty();
    }
    bool is_start(const Element& term) const {
        const auto mfa = terms().tuple(term, 3);
        return is_function(mfa) && TermReader::is_one_of(mfa[1], {"start", "start_phase"});
    }

    /// The start function of an application that passes a reason on.
    void started_by(const Element& term) {
        const auto mfa = terms().tuple(term, 3);
        if (!is_function(mfa)) return;
        failure_.start_module = mfa[0].text;
        failure_.start_function = mfa[1].text;
        failure_.start_arity = static_cast<std::uint32_t>(terms().list(mfa[2], 255).size());
    }

    /// [{shop_db,ini}|...]: a stack whose text ends within its first frame. The module is whole, the function may not
    /// be, and is left out.
    std::optional<LogFrame> cut_frame(const Element& list) const {
        const TermReader t = terms();
        const auto frames = t.list(list, 1);
        if (frames.empty()) return std::nullopt;
        const auto pair = t.tuple(frames[0], 2);
        if (pair.empty() || !TermReader::is_atom(pair[0]) || !TermReader::is_atom(pair[1])) return std::nullopt;
        return LogFrame{std::string(pair[0].text), {}, {}, 0, 0, true, {}, {}};
    }
    /// What the VM raises, whose second element is a stack.
    bool is_exception(const Element& reason) const {
        const auto pair = terms().tuple(reason, 2);
        return TermReader::is_one_of(pair.empty() ? reason : pair[0],
                                     {"badmatch", "case_clause", "badkey", "badmap", "undef", "function_clause",
                                      "badarg", "nocatch", "badarith"});
    }

    /// {shutdown, {failed_to_start_child, _, _}}
    bool tells_child(const Element& term) const {
        const TermReader t = terms();
        const auto p = t.tagged(term, "shutdown", 2);
        return !p.empty() && !t.tagged(p[1], "failed_to_start_child", 3).empty();
    }
    /// What nothing but a failed start looks like, whatever stands before it.
    bool tells_start(const Element& term) const { return tells_child(term) || is_exit_of_start(term); }

    // Whether a term is a reason with the stack of an exception, or a child that did not start.
    bool tells_failure(const Element& term) const {
        const TermReader t = terms();
        const auto p = t.tuple(term, 2);
        if (p.empty()) {
            const auto cut = t.tuple(term, 1);
            return !cut.empty() && failure_.term->ends_early(term.id) && tells_failure(cut[0]);
        }
        if (TermReader::is(p[0], "shutdown")) return !t.tagged(p[1], "failed_to_start_child", 3).empty();
        if (is_exit_of_start(p[1])) return TermReader::is_atom(p[0]);  // of application:ensure_all_started/1
        if (is_start(p[1])) return true;                               // of application:start/1
        // {Reason, {child, undefined, Id, ...}} of supervisor:start_child/2
        if (const auto given = t.tuple(p[1]); given.size() >= 8 && TermReader::is(given[0], "child")) return true;
        return p[1].kind == ElementKind::object && !frames_of(t, p[1]).empty();
    }

    // {M, start_phase, [Phase | _]}: a phase of an application's start, named as its children are.
    void phase(const Element& term) {
        const TermReader t = terms();
        const auto mfa = t.tuple(term, 3);
        if (!is_function(mfa) || !TermReader::is(mfa[1], "start_phase")) return;
        if (const auto arguments = t.list(mfa[2], 1); !arguments.empty()) child(arguments[0]);
    }

    // {App, Reason} of application:ensure_all_started/1: told by what the reason is.
    bool of_application(const Element& name, const Element& reason) {
        const TermReader t = terms();
        const auto pair = t.tuple(reason, 2);
        if (!TermReader::is_atom(name) || pair.empty()) return false;
        const auto call = t.tuple(pair[1], 3);
        const bool started = !call.empty() && TermReader::is(call[1], "start");
        const bool missing = t.text(pair[1], 300).value_or("").ends_with(".app");
        const bool returned = TermReader::is(pair[0], "bad_return");
        if (!started && !missing && !returned) return false;
        if (!missing) failure_.application = name.text;
        return go_on(reason);
    }

    // {bad_return, {{M, F, Args}, {'EXIT', Reason}}}
    bool exit_of_start() {
        const TermReader t = terms();
        for (const std::string_view tag : {"bad_return", "bad_return_value"})
            if (const auto p = t.tagged(failure_.reason, tag, 2); !p.empty()) {
                const auto inner = t.tuple(p[1], 2);
                if (inner.empty() || t.tagged(inner[1], "EXIT", 2).empty()) continue;
                phase(inner[0]);
                started_by(inner[0]);
                return go_on(inner[1]);
            }
        return false;
    }

    // {Reason, What}: a stack, the call that failed with it, or the function that started it.
    bool pair() {
        const TermReader t = terms();
        const auto p = t.tuple(failure_.reason, 2);
        if (p.empty()) return false;
        if (auto frames = frames_of(t, p[1]); !frames.empty()) {
            failure_.stack = std::move(frames);
            return go_on(p[0]);
        }
        if (p[1].kind == ElementKind::nil && !t.tagged(p[0], "nocatch", 2).empty()) return go_on(p[0]);
        if (of_application(p[0], p[1])) return true;
        if (const auto given = t.tuple(p[1]); given.size() >= 8 && TermReader::is(given[0], "child")) {
            child(given[2]);  // {Reason, {child,undefined,Id,MFA,...}} of supervisor:start_child/2
            return go_on(p[0]);
        }
        if (TermReader::is_one_of(p[0], {"noproc", "timeout", "nodedown"})) return false;
        if (is_start(p[1])) {
            phase(p[1]);
            started_by(p[1]);
            return go_on(p[0]);
        }
        // The text ends within what stands beside a child's failure, or within the stack of a match.
        if (!t.tagged(p[0], "shutdown", 2).empty() && tells_failure(p[0])) return go_on(p[0]);
        if (const auto frame = cut_frame(p[1]); frame && is_exception(p[0])) {
            failure_.stack = {*frame};
            return go_on(p[0]);
        }
        if (const auto call = t.tuple(p[1], 3); is_function(call) && TermReader::is(call[1], "call")) {
            if (const auto arguments = t.list(call[2], 1); !arguments.empty()) failure_.asked = arguments[0];
            return go_on(p[0]);
        }
        return false;
    }

    Failure& failure_;
};

}  // namespace

int Failure::weight() const {
    if (reason.kind == ElementKind::unknown) return 0;
    if (words) return 1;
    int sum = 4 + static_cast<int>(std::min<std::size_t>(children.size(), 4)) + (stack.empty() ? 0 : 2);
    if (!stack.empty() && !stack.front().file.empty()) ++sum;
    // "shutdown" and "killed" tell that something else ended first.
    if (TermReader::is_one_of(reason, {"shutdown", "killed", "normal", "noproc"})) sum -= 4;
    if (has_holes(*term, reason)) sum -= 3;
    if (!stack.empty() && has_holes(*term, stack.front().arguments)) sum -= 2;
    return sum;
}

bool Failure::is_whole() const { return reason.kind != ElementKind::unknown && !has_holes(*term, reason); }

Failure failure_of(std::shared_ptr<OwnedTerm> term, const Element& reason, std::vector<LogFrame> stack) {
    Failure failure;
    failure.stack = std::move(stack);
    failure.term = std::move(term);
    failure.reason = reason;
    Peeler(failure).run();
    return failure;
}

Failure failure_of_printed(std::string_view reason) {
    std::shared_ptr<OwnedTerm> term = parse_term(reason);
    // Not every reason that is printed is a term: "error in config file ...", {cannot get bootfile,/x/start.boot}.
    if (!term->strange()) {
        const Element root = term->term();
        return failure_of(std::move(term), root);
    }
    Failure failure;
    failure.term = text_term(reason);
    failure.reason = failure.term->term();
    failure.words = true;
    return failure;
}

}  // namespace beamheap::analyses
