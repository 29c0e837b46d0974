// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/loop_state.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "erlang/behaviours.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/functions.hpp"
#include "erlang/term_reader.hpp"

namespace beamheap::analyses {
namespace {

/// A slot of a frame: the root that it is, and what it holds.
struct Slot {
    std::size_t root = 0;
    Element term;
};

class Finder {
public:
    Finder(const Snapshot& snapshot, ProcId process, TermSource& terms)
        : s_(snapshot), p_(snapshot[process]), terms_(terms), reader_(terms) {}

    std::optional<LoopState> run() {
        if (auto found = hibernating()) return found;
        const std::span<const Frame> frames = s_.stacks[p_.stack];
        std::map<std::uint32_t, std::vector<Slot>> slots;  // of frames of loops, by frame
        const RootList& roots = terms_.graph().roots();
        for (std::size_t i = 0; i < roots.size(); ++i) {
            const Root root = roots[i];
            if (root.kind != RootKind::stack || root.frame >= frames.size()) continue;
            if (loop_of(frames[root.frame].function) != erlang::LoopKind::none) slots[root.frame].push_back({i, {}});
        }
        // The oldest frame is the loop's own: what stands above it are its helpers, which may have let go of some.
        for (auto frame = slots.rbegin(); frame != slots.rend(); ++frame) {
            std::vector<Slot>& held = frame->second;
            std::ranges::sort(held, {}, [&](const Slot& slot) { return roots[slot.root].index; });
            for (Slot& slot : held) slot.term = terms_.root(slot.root);
            const erlang::LoopKind kind = loop_of(frames[frame->first].function);
            if (kind == erlang::LoopKind::event_manager) continue;
            const bool old = kind == erlang::LoopKind::old_state_machine;
            if (auto found = kind == erlang::LoopKind::state_machine ? state_machine(held) : server(held, old))
                return found;
        }
        // The youngest frame of an event manager has the handler that runs; older ones those that are still to run.
        for (const auto& [frame, held] : slots)
            if (loop_of(frames[frame].function) == erlang::LoopKind::event_manager)
                if (auto found = event_handlers(held)) return found;
        return suspended();
    }

private:
    erlang::LoopKind loop_of(FunctionId function) const { return erlang::loop_of(module_of(s_, function)); }

    // The callback module that a slot names: itself, or as {callback_cache, Module, ...}; empty: none.
    std::string callbacks(const Element& term) const {
        if (term.kind == ElementKind::atom) return std::string(term.text);
        const std::vector<Element> fields = reader_.tuple(term);
        if (fields.size() > 2 && reader_.is(fields[0], "callback_cache") && TermReader::is_atom(fields[1]))
            return std::string(fields[1].text);
        return {};
    }
    bool is_name(const Element& term) const {
        return term.kind == ElementKind::atom || term.kind == ElementKind::pid ||
               reader_.is_kind(term, TermKind::tuple);
    }
    bool is_parent(const Element& term) const {
        return term.kind == ElementKind::pid || reader_.is_kind(term, TermKind::external_pid);
    }

    std::optional<LoopState> server(const std::vector<Slot>& held, bool old_state_machine) const {
        for (std::size_t i = held.size(); i-- > 0;) {
            const std::vector<Element> data = reader_.tuple(held[i].term);
            if (data.size() < 5 || !reader_.is(data[0], "server_data")) continue;
            // {server_data, Parent, Tag, Name, Module, HibernateAfter, ...}
            std::string module = TermReader::is_atom(data[4]) ? std::string(data[4].text) : std::string();
            const std::size_t at = i + 1 < held.size() ? i + 1 : i - 1;
            if (at >= held.size()) return std::nullopt;
            return LoopState{LoopState::Loop::server, held[at].root, held[at].term, {}, {}, data[3], std::move(module)};
        }
        for (std::size_t i = held.size(); i-- > 0;) {
            std::string module = callbacks(held[i].term);
            if (module.empty()) continue;
            // A state machine of gen_fsm has the name of its state between its data and its own name.
            const std::size_t name = i + (old_state_machine ? 3 : 2);
            if (name + 1 >= held.size() || !is_parent(held[name + 1].term) || !is_name(held[name].term)) continue;
            return LoopState{LoopState::Loop::server,
                             held[i + 1].root,
                             held[i + 1].term,
                             {},
                             old_state_machine ? held[i + 2].term : Element{},
                             held[name].term,
                             std::move(module)};
        }
        return std::nullopt;
    }

    std::optional<LoopState> state_machine(const std::vector<Slot>& held) const {
        for (const Slot& slot : held) {
            std::vector<Element> record = reader_.tagged(slot.term, "state", 5);
            if (record.empty()) record = reader_.tagged(slot.term, "state", 6);
            if (record.empty()) continue;
            const std::vector<Element> pair = reader_.tuple(record[1], 2);
            if (pair.empty()) continue;
            LoopState found{LoopState::Loop::state_machine, slot.root, pair[1], record[2], pair[0], {}, {}};
            // {params, CallbackMode, StateEnter, Parent, [Module | Previous], Name, ...}
            for (const Slot& other : held) {
                const std::vector<Element> params = reader_.tuple(other.term);
                if (params.size() < 6 || !reader_.is(params[0], "params")) continue;
                const std::vector<Element> modules = reader_.list(params[4], 1);
                const Element module = modules.empty() ? params[4] : modules[0];
                if (TermReader::is_atom(module)) found.module = module.text;
                found.name = params[5];
            }
            return found;
        }
        return std::nullopt;
    }

    // {handler, Module, Id, State, Supervised}; one alone has its state told, of several there is the list.
    std::optional<LoopState> event_handlers(const std::vector<Slot>& held) const {
        for (const Slot& slot : held) {
            std::vector<Element> handlers{slot.term};
            if (reader_.is_kind(slot.term, TermKind::cons)) handlers = reader_.list(slot.term, 2);
            const std::vector<Element> handler =
                handlers.empty() ? handlers : reader_.tagged(handlers[0], "handler", 5);
            if (handler.empty() || !TermReader::is_atom(handler[1])) continue;
            if (handlers.size() > 1)
                return LoopState{LoopState::Loop::event_handlers, slot.root, slot.term, {}, {}, {}, {}};
            return LoopState{LoopState::Loop::event_handlers, slot.root, handler[3], {}, {}, {},
                             std::string(handler[1].text)};
        }
        return std::nullopt;
    }

    // Arguments of gen_server:wake_hib, in a register: [Parent, Name, State, Module | CallbackCache, ...].
    std::optional<LoopState> hibernating() const {
        const RootList& roots = terms_.graph().roots();
        bool wakes = false;
        std::optional<std::size_t> arguments;
        for (std::size_t i = 0; i < roots.size(); ++i) {
            if (roots[i].kind != RootKind::x_register) continue;
            const Element term = terms_.root(i);
            wakes |= reader_.is(term, "wake_hib");
            if (reader_.is_kind(term, TermKind::cons)) arguments = i;
        }
        if (!wakes || !arguments) return std::nullopt;
        const std::vector<Element> list = reader_.list(terms_.root(*arguments), 8);
        if (list.size() < 4 || !is_parent(list[0]) || !is_name(list[1])) return std::nullopt;
        std::string module = callbacks(list[3]);
        if (module.empty()) return std::nullopt;
        return LoopState{LoopState::Loop::server, *arguments, list[2], {}, {}, list[1], std::move(module)};
    }

    // A server that sys:suspend/1 has stopped: [Name, State, Module | CallbackCache, ...], or (since 28) [ServerData,
    // State, ...], in the frame of the loop that waits for sys:resume/1.
    std::optional<LoopState> suspended() const {
        const std::span<const Frame> frames = s_.stacks[p_.stack];
        const RootList& roots = terms_.graph().roots();
        for (std::size_t i = 0; i < roots.size(); ++i) {
            const Root root = roots[i];
            if (root.kind != RootKind::stack || root.frame >= frames.size()) continue;
            if (!has_role(s_, frames[root.frame].function, erlang::FunctionRole::is_suspended)) continue;
            const std::vector<Element> held = reader_.list(terms_.root(i), 8);
            if (held.size() < 3) continue;
            const std::vector<Element> data = reader_.tuple(held[0]);
            if (data.size() >= 5 && reader_.is(data[0], "server_data") && TermReader::is_atom(data[4]))
                return LoopState{LoopState::Loop::server, i, held[1], {}, {}, data[3], std::string(data[4].text)};
            std::string module = callbacks(held[2]);
            if (module.empty() || !is_name(held[0])) continue;
            return LoopState{LoopState::Loop::server, i, held[1], {}, {}, held[0], std::move(module)};
        }
        return std::nullopt;
    }

    const Snapshot& s_;
    const Process& p_;
    TermSource& terms_;
    TermReader reader_;
};

}  // namespace

std::optional<LoopState> loop_state(const Snapshot& snapshot, ProcId process, TermSource& terms) {
    return Finder(snapshot, process, terms).run();
}

Sentence loop_in_words(const LoopState& state) {
    if (const Ours kind = erlang::server_kind(state.module); !kind.empty()) return kind;
    const Atom module{state.module, false};
    switch (state.loop) {
        case LoopState::Loop::state_machine:
            return state.module.empty() ? Sentence(Ours("a gen_statem")) : sentence("a gen_statem of {}", module);
        case LoopState::Loop::event_handlers:
            return state.module.empty() ? Sentence(Ours("a gen_event with several handlers"))
                                        : sentence("a gen_event with the handler {}", module);
        case LoopState::Loop::server: break;
    }
    if (state.state_name.kind != ElementKind::unknown) return sentence("a gen_fsm of {}", module);
    if (erlang::is_elixir(state.module)) return sentence("a GenServer of {}", module);
    return sentence("a gen_server of {}", module);
}

}  // namespace beamheap::analyses
