// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/identities.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "analyses/base/allocated_words.hpp"
#include "analyses/heaps/loop_state.hpp"
#include "analyses/processes/groups.hpp"
#include "erlang/behaviours.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/functions.hpp"
#include "erlang/identities.hpp"
#include "erlang/term_reader.hpp"
#include "erlang/term_walks.hpp"

namespace beamheap::analyses {
namespace {

using erlang::IdentityRow;
using Where = erlang::IdentityRow::Where;

constexpr std::size_t all_of_few = 200;                 // processes: of so many all are looked into,
constexpr std::size_t most_of_each_figure = 64;         // of more those that come first, which tables show
constexpr std::uint64_t largest_identified = 1u << 22;  // words of its heaps
constexpr std::uint64_t most_identified_words = 1u << 23;
constexpr std::uint64_t most_kept_words = 1u << 18;  // of a stream, whose terms are kept until they are asked for
constexpr std::size_t most_frames = 24;              // looked at from each end of a stack
constexpr std::size_t most_roots = 4'000;            // of one process
constexpr std::size_t most_members = 100'000;        // of one keeper
constexpr std::size_t most_keepers = 16;

bool may_get_label(const Process& process) {
    return process.name == TextId::none && process.label == TextId::none && process.sensitive != true &&
           process.state != ProcessState::exiting &&
           (process.reading == RowReading::whole || process.reading == RowReading::stable);
}

/// Modules of a snapshot's functions that rows are about.
class KnownModules {
public:
    explicit KnownModules(const Snapshot& snapshot) : s_(snapshot), known_(snapshot.functions.size(), not_asked) {}

    bool about(FunctionId function) {
        if (function == FunctionId::none) return false;
        if (index_of(function) >= known_.size()) known_.resize(s_.functions.size(), not_asked);
        std::uint8_t& known = known_[index_of(function)];
        if (known == not_asked) known = is_known(module_of(s_, function)) ? yes : no;
        return known == yes;
    }

    /// Whether a row may fit a process, as far as its functions tell.
    bool fit(const Process& process) {
        if (about(process.real_initial_call) || about(process.initial_call)) return true;
        if (has_role(s_, process.current_function, erlang::FunctionRole::is_suspended)) return true;
        const std::span<const Frame> frames = s_.stacks[process.stack];
        for (std::size_t i = 0; i < frames.size(); ++i) {
            if (i == most_frames && frames.size() > 2 * most_frames) i = frames.size() - most_frames;
            if (about(frames[i].function)) return true;
        }
        return false;
    }

private:
    enum : std::uint8_t { not_asked, no, yes };
    static bool is_known(std::string_view module) {
        return erlang::loop_of(module) != erlang::LoopKind::none ||
               std::ranges::find(erlang::identity_rows(), module, &IdentityRow::module) !=
                   erlang::identity_rows().end();
    }
    const Snapshot& s_;
    std::vector<std::uint8_t> known_;
};

/// Looks for the row that fits a process.
class Identifier {
public:
    Identifier(const Snapshot& snapshot, ProcId process, TermSource& terms)
        : s_(snapshot), id_(process), p_(snapshot[process]), terms_(terms), reader_(terms) {}

    std::string run() {
        state_ = loop_state(s_, id_, terms_);
        started_in_ = module_of(s_, first_call(p_));
        std::string label = by_state();
        if (label.empty()) label = by_slots();
        if (label.empty()) label = by_entries();
        if (label.empty()) label = by_own_name();
        return label;
    }

private:
    std::string label_of(const IdentityRow& row, const Element& term) {
        const erlang::Match match = row.term.match(terms_, term);
        const erlang::Match* const matches[] = {&match};
        return match ? erlang::label_text(row.label, terms_, matches) : std::string();
    }

    std::string by_state() {
        if (!state_) return {};
        for (const IdentityRow& row : erlang::identity_rows())
            if (row.where == Where::state && row.module == state_->module)
                if (std::string label = label_of(row, state_->term); !label.empty()) return label;
        return {};
    }

    // Whether the process is in a module, or was started in it.
    bool runs_in(std::string_view module) const {
        if (module == started_in_) return true;
        const std::span<const Frame> frames = s_.stacks[p_.stack];
        for (std::size_t i = 0; i < frames.size(); ++i) {
            if (i == most_frames && frames.size() > 2 * most_frames) i = frames.size() - most_frames;
            if (module_of(s_, frames[i].function) == module) return true;
        }
        return false;
    }

    // The terms of frames and registers in which rows of a module may find theirs: those of the module's own frames
    // first, then those of what it has called.
    std::vector<Element> places_of(std::string_view module) {
        std::vector<Element> places, called;
        const std::span<const Frame> frames = s_.stacks[p_.stack];
        const RootList& roots = terms_.graph().roots();
        std::size_t at = 0;
        for (const Root root : roots) {
            const std::size_t number = at++;
            if (number == most_roots) break;
            if (root.kind == RootKind::stack) {
                const bool in_module =
                    root.frame < frames.size() && module_of(s_, frames[root.frame].function) == module;
                if (in_module) places.push_back(terms_.root(number));
                else if (module == started_in_ && terms_.root(number).kind == ElementKind::object)
                    called.push_back(terms_.root(number));  // an atom there may be anything
            } else if (root.kind == RootKind::x_register && module == started_in_) {
                const Element term = terms_.root(number);
                places.push_back(term);
                for (const Element& argument : reader_.list(term, 8)) places.push_back(argument);
            }
        }
        places.insert(places.end(), called.begin(), called.end());
        return places;
    }

    std::string by_slots() {
        for (const IdentityRow& row : erlang::identity_rows()) {
            if (row.where != Where::slot || !runs_in(row.module)) continue;
            if (places_module_ != row.module) {
                places_ = places_of(row.module);
                places_module_ = row.module;
            }
            for (const Element& place : places_)
                if (std::string label = label_of(row, place); !label.empty()) return label;
        }
        return {};
    }

    std::string by_entries() {
        for (const IdentityRow& row : erlang::identity_rows()) {
            if (row.where != Where::entry || !runs_in(row.module)) continue;
            const RootList& roots = terms_.graph().roots();
            std::size_t at = 0;
            for (const Root root : roots) {
                const std::size_t number = at++;
                if (root.kind != RootKind::dictionary) continue;
                const std::vector<Element> pair = reader_.tuple(terms_.root(number), 2);
                if (pair.empty() || !TermReader::is(pair[0], row.key)) continue;
                if (std::string label = label_of(row, pair[1]); !label.empty()) return label;
            }
        }
        return {};
    }

    // Then its loop's frames are others than those of which the order of slots is known.
    bool terminates() const {
        return std::ranges::any_of(s_.stacks[p_.stack], [this](const Frame& frame) {
            return erlang::loop_of(module_of(s_, frame.function)) != erlang::LoopKind::none &&
                   s_.text(s_.functions[frame.function].name).starts_with("terminate");
        });
    }

    std::string by_own_name() {
        if (!state_) return {};
        const ElementKind kind = state_->name.kind;
        if (kind != ElementKind::atom && kind != ElementKind::object) return {};
        if (TermReader::is_one_of(state_->name, {"undefined", "infinity", "nil", "true", "false"}) || terminates())
            return {};
        for (const IdentityRow& row : erlang::identity_rows()) {
            if (row.where != Where::own_name) continue;
            if (!row.key.empty()) {
                const auto begin = reader_.begin_of(state_->name);
                if (!begin || !TermReader::is_atom(begin->first) || !begin->first.text.starts_with(row.key)) continue;
            }
            if (std::string label = label_of(row, state_->name); !label.empty()) return label;
        }
        return {};
    }

    const Snapshot& s_;
    const ProcId id_;
    const Process& p_;
    TermSource& terms_;
    TermReader reader_;
    std::optional<LoopState> state_;
    std::string_view started_in_;
    std::vector<Element> places_;
    std::string_view places_module_;
};

void give_label(Snapshot& snapshot, ProcId process, std::string_view label) {
    if (label.empty() || !may_get_label(snapshot[process])) return;
    const TextId text = snapshot.texts.intern(label);
    snapshot[process].label = text;
    snapshot[process].label_concluded = true;
}

// What reading the terms of a process costs, in words.
std::uint64_t words_to_read(const Process& process) {
    constexpr std::uint64_t of_a_message = 16;
    return saturating_add(saturating_add(allocated_words(process), process.fragment_words.value_or(0)),
                          std::min<std::uint64_t>(process.msgq_len.value_or(0), largest_identified) * of_a_message);
}

// Those who come first by a queue, memory or work, of all that are wanted.
template <class Wanted>
std::vector<ProcId> foremost(const Snapshot& snapshot, Wanted&& wanted) {
    std::vector<ProcId> all;
    for (std::uint32_t i = 0; i < snapshot.processes.size(); ++i)
        if (wanted(snapshot.processes[i])) all.push_back(ProcId{i});
    if (all.size() <= all_of_few) return all;
    std::vector<bool> taken(snapshot.processes.size());
    std::vector<ProcId> chosen;
    const auto take = [&](auto figure) {
        std::ranges::partial_sort(all, all.begin() + most_of_each_figure, [&](ProcId a, ProcId b) {
            const std::uint64_t of_a = figure(snapshot[a]), of_b = figure(snapshot[b]);
            return of_a != of_b ? of_a > of_b : a < b;
        });
        for (std::size_t i = 0; i < most_of_each_figure; ++i)
            if (!taken[index_of(all[i])]) {
                taken[index_of(all[i])] = true;
                chosen.push_back(all[i]);
            }
    };
    take([](const Process& p) { return p.msgq_len.value_or(0); });
    take([](const Process& p) { return p.memory_bytes.value_or(allocated_words(p)); });
    take([](const Process& p) { return p.reductions.value_or(0); });
    return chosen;
}

// A keeper's State, read.
void add_members(Artifact& artifact, ProcId process, const erlang::MemberKeeper& keeper) {
    Result<std::unique_ptr<TermSource>> terms = artifact.terms(process, {.messages = 0});
    if (!terms) return;
    Snapshot& snapshot = artifact.snapshot();
    const auto state = loop_state(snapshot, process, **terms);
    if (!state || state->module != keeper.module) return;
    const erlang::Match match = keeper.state.match(**terms, state->term);
    if (!match) return;
    const Element members = match["Members"];  // a map, as the type in the pattern says
    if (members.kind != ElementKind::object) return;
    MapWalk walk(**terms, members.id, (*terms)->head(members.id));
    Pair pair;
    for (std::size_t i = 0; i < most_members && walk.next(pair); ++i) {
        const ProcId member = pair.key.kind == ElementKind::pid ? snapshot.find(pair.key.pid) : ProcId::none;
        if (member == ProcId::none || !may_get_label(snapshot[member])) continue;
        const erlang::Match of_member = keeper.member.match(**terms, pair.value);
        const erlang::Match* const matches[] = {&match, &of_member};
        if (of_member) give_label(snapshot, member, erlang::label_text(keeper.label, **terms, matches));
    }
}

void identify(Artifact& artifact, ProcId process) {
    Snapshot& snapshot = artifact.snapshot();
    const Process before = snapshot[process];
    const Result<std::unique_ptr<TermSource>> terms = artifact.terms(process, {.messages = 0});
    std::string label;
    if (terms && !(*terms)->moved()) label = Identifier(snapshot, process, **terms).run();
    snapshot[process] = before;  // of a VM that runs it was read again; its figures stay of the other rows' instant
    give_label(snapshot, process, label);
}

/// What is odd in terms that nobody has asked for is not told.
class OddAsBefore {
public:
    explicit OddAsBefore(Snapshot& snapshot) : snapshot_(snapshot), before_(snapshot.anomalies) {}
    ~OddAsBefore() { snapshot_.anomalies = std::move(before_); }
    OddAsBefore(const OddAsBefore&) = delete;
    OddAsBefore& operator=(const OddAsBefore&) = delete;

private:
    Snapshot& snapshot_;
    Anomalies before_;
};

}  // namespace

bool MayBeIdentified::operator()(const Snapshot& snapshot, ProcId process) {
    if (!known_) {
        known_ = true;
        chosen_.resize(snapshot.processes.size());
        std::uint64_t left = most_kept_words;
        for (const ProcId id : foremost(snapshot, may_get_label)) {
            const std::uint64_t words = words_to_read(snapshot[id]);
            if (words > largest_identified || words > left) continue;
            left -= words;
            chosen_[index_of(id)] = true;
        }
    }
    return index_of(process) < chosen_.size() && chosen_[index_of(process)];
}

void identify_by_terms(Artifact& artifact) {
    Snapshot& snapshot = artifact.snapshot();
    const OddAsBefore odd(snapshot);
    KnownModules known(snapshot);
    std::uint64_t left = most_identified_words;
    for (const ProcId id :
         foremost(snapshot, [&](const Process& process) { return may_get_label(process) && known.fit(process); })) {
        const std::uint64_t words = words_to_read(snapshot[id]);
        if (words > largest_identified || words > left) continue;
        left -= words;
        identify(artifact, id);
    }
    std::size_t keepers = 0;
    for (std::uint32_t i = 0; i < snapshot.processes.size() && keepers < most_keepers; ++i) {
        const Process& process = snapshot.processes[i];
        if (process.real_initial_call == FunctionId::none || allocated_words(process) > largest_identified) continue;
        const std::string_view module = module_of(snapshot, process.real_initial_call);
        for (const erlang::MemberKeeper& keeper : erlang::member_keepers())
            if (keeper.module == module) {
                ++keepers;
                add_members(artifact, ProcId{i}, keeper);
            }
    }
}

void identify_by_terms(Artifact& artifact, ProcId process) {
    const OddAsBefore odd(artifact.snapshot());
    if (may_get_label(artifact.snapshot()[process]) &&
        words_to_read(artifact.snapshot()[process]) <= largest_identified)
        identify(artifact, process);
}

}  // namespace beamheap::analyses
