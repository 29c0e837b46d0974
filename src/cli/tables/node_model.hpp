// SPDX-License-Identifier: Apache-2.0
// An input as tables draw from it: what they need loaded, and what is found of it for several of them.
//
// Without an input it is an empty one: every table has its columns then, and no rows.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyses/facts/heap_stats.hpp"
#include "analyses/heaps/term_measures.hpp"
#include "cli/frame/context.hpp"
#include "present/secrets/redact.hpp"
#include "present/tables_terms.hpp"

namespace beamheap::cli {

/// What must be loaded for tables; heaps are gathered by the model.
struct Demand {
    using OfProcess = std::function<bool(const Snapshot&, ProcId)>;
    LoadParts parts{};
    OfProcess terms_of = {};  ///< where `parts` has terms: of a stream, whose; empty: all
    bool heaps = false;       ///< live and garbage words of all processes
    bool frames = false;      ///< words by frame; decodes all heaps
    bool references = false;  ///< references to binaries; decodes all heaps
    bool code = false;        ///< modules are looked for on this machine, where --code names places
    bool any_heaps() const { return heaps || frames || references; }
    void add(const Demand& other);
    /// Adds parts, and whose terms, to a plan.
    void add_to(LoadPlan& plan) const;
};

/// One process's terms, with all that tables of them refer to.
struct ProcessView {
    std::unique_ptr<TermSource> terms;
    std::unique_ptr<analyses::TermMeasures> measures;
    std::optional<present::TermView> view;
};

class NodeModel {
public:
    explicit NodeModel(const Options& options);
    NodeModel(const NodeModel&) = delete;
    NodeModel& operator=(const NodeModel&) = delete;
    ~NodeModel();

    /// Opens the context's input with what is demanded. Errors: those of Context::open.
    Status open(const Context& context, const Demand& demand);

    /// Takes an input that somebody has loaded with what is demanded, no heaps among it.
    void adopt(std::shared_ptr<Artifact> artifact, const LoadPlan& plan);

    Artifact& artifact() const { return *artifact_; }
    const Snapshot& snapshot() const { return artifact_->snapshot(); }
    /// Names as programs read them: in Erlang's syntax unless another one was asked for.
    const present::Names& names() const { return *names_; }
    const LoadPlan& plan() const { return plan_; }
    const Options& options() const { return options_; }
    /// Figures of all heaps, as far as they were demanded; `binaries` and `frames` are empty otherwise.
    const analyses::HeapStats& heaps() const { return *heaps_; }
    /// The same for whoever decodes heaps where nobody has gathered all of them with their references.
    const analyses::HeapStats* gathered() const { return references_ ? heaps_.get() : nullptr; }
    /// Redaction as this input and the options have it.
    const std::shared_ptr<const present::Redactor>& redactor() const { return redactor_; }
    /// Texts that are to be masked wherever they appear; empty where terms were not loaded.
    const std::vector<std::string>& secrets() const { return secrets_; }

    /// What was found of this input for tables that refer to it, by its type, once: const T&. Where `find` may fail
    /// (it gives a Result<T>), Result<const T*>.
    template <class T, class Find>
    auto found(Find&& find)
        -> std::conditional_t<std::is_same_v<std::invoke_result_t<Find>, T>, const T&, Result<const T*>> {
        std::shared_ptr<const void>& kept = found_[std::type_index(typeid(T))];
        if constexpr (std::is_same_v<std::invoke_result_t<Find>, T>) {
            if (kept == nullptr) kept = std::make_shared<const T>(find());
            return *static_cast<const T*>(kept.get());
        } else {
            if (kept == nullptr) {
                Result<T> result = find();
                if (!result) return result.error();
                kept = std::make_shared<const T>(std::move(*result));
            }
            return static_cast<const T*>(kept.get());
        }
    }
    /// Whether --full was asked for.
    bool full() const { return options_.full; }
    /// How much of a term is printed: --term-bytes.
    std::size_t term_bytes() const { return static_cast<std::size_t>(options_.term_bytes); }

    /// The terms of a process; `states` tells the root that holds a server's state from others.
    Result<std::shared_ptr<ProcessView>> terms(ProcId process, bool states = false);

private:
    void settle(std::shared_ptr<Artifact> artifact);

    Options options_;
    LoadPlan plan_;
    std::unique_ptr<analyses::HeapStats> heaps_;
    bool references_ = true;  // heaps_ holds what all heaps refer to
    std::shared_ptr<Artifact> artifact_;
    std::shared_ptr<ProcessView>
        measured_;  // whose literals have been measured: mostly they are those of all processes
    std::unique_ptr<present::Names> names_;
    std::shared_ptr<const present::Redactor> redactor_;
    std::vector<std::string> secrets_;
    std::unordered_map<std::type_index, std::shared_ptr<const void>> found_;
    std::shared_ptr<present::AnswerBudget> budget_ = std::make_shared<present::AnswerBudget>();
};

}  // namespace beamheap::cli
