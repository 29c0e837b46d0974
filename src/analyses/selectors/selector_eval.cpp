// SPDX-License-Identifier: Apache-2.0
// Evaluates a selector: a stack of masks over the process table, one byte a process.
#include <cassert>
#include <optional>

#include "analyses/base/sum.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/supervision.hpp"
#include "analyses/selectors/selectors.hpp"
#include "erlang/elixir_names.hpp"
#include "erlang/erlang_syntax.hpp"

namespace beamheap::analyses {
namespace {

using Step = Selector::Step;
using Kind = Step::Kind;
using Operator = Step::Operator;
using Mask = std::vector<std::uint8_t>;

template <class T>
bool holds(Operator op, const T& a, const T& b) {
    switch (op) {
        case Operator::less: return a < b;
        case Operator::less_equal: return a <= b;
        case Operator::greater: return a > b;
        case Operator::greater_equal: return a >= b;
        case Operator::equal: return a == b;
        case Operator::not_equal: return a != b;
    }
    return false;
}

// Whether all that is told of a process is of one instant.
bool stood_still(const Process& process) {
    return process.reading == RowReading::whole || process.reading == RowReading::stable;
}

class Evaluation {
public:
    explicit Evaluation(const Snapshot& snapshot) : snapshot_(snapshot) {}

    Result<Mask> run(const Selector& selector) {
        std::vector<Mask> stack;
        for (const Step& step : selector.steps) {
            if (step.kind == Kind::negate) {
                for (std::uint8_t& bit : stack.back()) bit = !bit;
            } else if (step.kind == Kind::unite || step.kind == Kind::intersect) {
                const Mask right = std::move(stack.back());
                stack.pop_back();
                Mask& left = stack.back();
                const bool both = step.kind == Kind::intersect;
                for (std::size_t i = 0; i < left.size(); ++i)
                    left[i] = both ? left[i] != 0 && right[i] != 0 : left[i] != 0 || right[i] != 0;
            } else {
                BH_TRY(Mask mask, term(step));
                stack.push_back(std::move(mask));
            }
        }
        assert(stack.size() == 1);
        return std::move(stack.back());
    }

private:
    template <class Predicate>
    Mask where(Predicate&& fits) const {
        Mask mask(snapshot_.processes.size());
        for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = fits(snapshot_.processes[i]);
        return mask;
    }

    const SupervisionTree& tree() {
        if (!tree_) tree_ = supervision(snapshot_);
        return *tree_;
    }

    Result<Mask> term(const Step& step) {
        switch (step.kind) {
            case Kind::all: return where([](const Process&) { return true; });
            case Kind::registered: return where([](const Process& p) { return p.name != TextId::none; });
            case Kind::sensitive: return where([](const Process& p) { return p.sensitive.value_or(false); });
            case Kind::state: return where([&](const Process& p) { return p.state == step.state; });
            case Kind::stable: return where([](const Process& p) { return stood_still(p); });
            case Kind::moving: return where([](const Process& p) { return !stood_still(p); });
            case Kind::supervisors: {
                Mask mask(snapshot_.processes.size());
                for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = tree().nodes[i].supervisor;
                return mask;
            }
            case Kind::orphans: {
                Mask mask(snapshot_.processes.size());
                for (const ProcId id : tree().orphans) mask[index_of(id)] = 1;
                return mask;
            }
            case Kind::process: {
                BH_TRY(const ProcId found, resolve(snapshot_, step.process));
                Mask mask(snapshot_.processes.size());
                mask[index_of(found)] = 1;
                return mask;
            }
            case Kind::names: return names(step);
            case Kind::compare: return compare(step);
            case Kind::children:
            case Kind::all_children: {
                BH_TRY(const ProcId top, resolve(snapshot_, step.process));
                Mask mask(snapshot_.processes.size());
                if (step.kind == Kind::children) {
                    for (const ProcId id : tree().children_of(top)) mask[index_of(id)] = 1;
                } else {
                    for (const ProcId id : descendants(tree(), top)) mask[index_of(id)] = 1;
                }
                return mask;
            }
            case Kind::group: return group(step);
            case Kind::initial:
            case Kind::current: {
                const std::vector<bool> fits = matching_functions(step.function, snapshot_);
                const auto in = [&](FunctionId f) { return f != FunctionId::none && fits[index_of(f)]; };
                if (step.kind == Kind::current) return where([&](const Process& p) { return in(p.current_function); });
                return where([&](const Process& p) { return in(p.initial_call) || in(p.real_initial_call); });
            }
            case Kind::stack: return on_stack(step);
            case Kind::in:
            case Kind::module: {
                const std::vector<bool> fits = matching_functions(step.function, snapshot_);
                const auto fit = [&](FunctionId f) { return f != FunctionId::none && fits[index_of(f)]; };
                Mask mask = on_stack(step);
                for (std::size_t i = 0; i < mask.size(); ++i) {
                    const Process& p = snapshot_.processes[i];
                    const bool started = step.kind == Kind::module && (fit(p.initial_call) || fit(p.real_initial_call));
                    if (started || fit(p.current_function)) mask[i] = 1;
                }
                return mask;
            }
            case Kind::unite:
            case Kind::intersect:
            case Kind::negate: break;
        }
        return Mask(snapshot_.processes.size());
    }

    Result<Mask> names(const Step& step) {
        bool any = false;
        Mask mask = where([&](const Process& p) {
            if (p.name == TextId::none) return false;
            const std::string_view name = snapshot_.text(p.name);
            const bool fits = fits_glob(name, step.text) || fits_glob(erlang::without_elixir(name), step.text);
            any |= fits;
            return fits;
        });
        if (!any) return Error{ErrorCode::usage, "no registered name fits '" + step.text + "'", {}};
        return mask;
    }

    Mask compare(const Step& step) {
        const bool as_bytes = step.quantity.unit == Quantity::Unit::bytes && step.column->measure == Measure::words;
        if (step.quantity.unit == Quantity::Unit::percent) {
            Sum sum;
            for (const Process& process : snapshot_.processes) sum.add(step.column->figure(process));
            return where([&](const Process& p) {
                const std::optional<double> share = percent_of(step.column->figure(p), sum.value());
                return share && holds(step.op, *share, step.quantity.percent);
            });
        }
        return where([&](const Process& p) {
            Count value = step.column->figure(p);
            if (as_bytes) value = words_to_bytes(value, snapshot_.source.word_size);
            return value.has() && holds(step.op, *value, step.quantity.value);
        });
    }

    // A group is named as it is shown: the ancestor's or label's text, or m:f/a.
    Mask group(const Step& step) {
        const TextId plain = snapshot_.texts.find(step.text);
        const TextId elixir = snapshot_.texts.find(erlang::with_elixir(step.text));
        std::vector<std::uint8_t> functions(snapshot_.functions.size());
        if (step.text.find(':') != std::string::npos)
            for (std::size_t i = 0; i < functions.size(); ++i)
                functions[i] = function_text(snapshot_, static_cast<FunctionId>(i)) == step.text;
        return where([&](const Process& p) {
            const GroupKey key = group_key(p);
            if (key.function != FunctionId::none) return functions[index_of(key.function)] != 0;
            return key.text != TextId::none && (key.text == plain || key.text == elixir);
        });
    }

    Mask on_stack(const Step& step) {
        const std::vector<bool> fits = matching_functions(step.function, snapshot_);
        std::vector<std::uint8_t> stacks(snapshot_.stacks.size());
        for (std::size_t i = 0; i < stacks.size(); ++i)
            for (const Frame& frame : snapshot_.stacks[static_cast<StackId>(i)])
                if (frame.function != FunctionId::none && fits[index_of(frame.function)]) {
                    stacks[i] = 1;
                    break;
                }
        return where([&](const Process& p) { return p.stack != StackId::none && stacks[index_of(p.stack)] != 0; });
    }

    const Snapshot& snapshot_;
    std::optional<SupervisionTree> tree_;
};

}  // namespace

Result<std::vector<ProcId>> select_processes(const Snapshot& snapshot, const Selector& selector) {
    std::vector<ProcId> selected;
    if (selector.steps.empty()) return selected;
    Evaluation evaluation(snapshot);
    BH_TRY(const Mask mask, evaluation.run(selector));
    for (std::size_t i = 0; i < mask.size(); ++i)
        if (mask[i] != 0) selected.push_back(static_cast<ProcId>(i));
    return selected;
}

Result<std::vector<ProcId>> select_processes(const Snapshot& snapshot, std::string_view text) {
    BH_TRY(const Selector selector, parse_selector(text));
    return select_processes(snapshot, selector);
}

}  // namespace beamheap::analyses
