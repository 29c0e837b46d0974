// SPDX-License-Identifier: Apache-2.0
// Tables of one process's terms: frames with their slots, dictionary, messages, roots, paths.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyses/heaps/histogram.hpp"
#include "analyses/heaps/paths.hpp"
#include "analyses/heaps/record_scope.hpp"
#include "analyses/heaps/term_measures.hpp"
#include "analyses/heaps/term_shape.hpp"
#include "beamheap/terms.hpp"
#include "present/document.hpp"
#include "present/erlang_text.hpp"
#include "present/term_printer.hpp"

namespace beamheap::present {

/// Whose records the tuples of a process are; nullptr: none are named. Where they are not `printed` as records (in what
/// programs read), their fields' names say what is secret all the same.
struct ShownRecords {
    std::shared_ptr<const analyses::RecordScope> scope;
    bool printed = false;
};

/// What terms of one process are shown with; `state_root` is the root that holds the state of a server. Everything that
/// it refers to must outlive the tables made of it.
class TermView {
public:
    TermView(const Names& names, const Process& process, TermSource& source, analyses::TermMeasures& measures,
             std::size_t term_bytes, std::optional<std::size_t> state_root = {},
             std::shared_ptr<AnswerBudget> budget = std::make_shared<AnswerBudget>(), ShownRecords records = {})
        : names_(names),
          process_(process),
          source_(source),
          measures_(measures),
          state_root_(state_root),
          budget_(std::move(budget)),
          records_(std::move(records)) {
        budget_->allow(source.graph());
        options_.budget = budget_.get();
        options_.syntax = names.syntax();
        options_.max_bytes = term_bytes;
        options_.hide_secrets = names.hides_secrets();
        if (options_.hide_secrets) secrets_ = std::make_shared<SecretTerms>(source, records_.scope.get());
        options_.secrets = secrets_.get();
        if (records_.scope != nullptr) {
            options_.as_records = records_.printed && records_.scope->told();
            options_.records = records_.scope.get();
            options_.module = options_.records->module();
        }
    }
    const Names& names() const { return names_; }
    const Process& process() const { return process_; }
    TermSource& source() const { return source_; }
    analyses::TermMeasures& measures() const { return measures_; }
    const HeapGraph& graph() const { return source_.graph(); }

    /// What is secret by its place; nullptr where all is shown.
    /// What a table of terms says that has no rows: `otherwise`, where the terms could be read.
    std::string nothing(std::string otherwise) const {
        return source().moved() ? "the process ran each time that its terms were read: ask again" : otherwise;
    }
    SecretTerms* secrets() const { return secrets_.get(); }

    std::string text(const Element& term) const { return term_text(source_, term, options_); }
    /// What graph().roots()[root] holds.
    std::string root_text(std::size_t root) const {
        PrintOptions options = options_;
        if (options.records != nullptr) options.module = options.records->of_root(graph(), root);
        return term_text(source_, source_.root(root), options);
    }
    /// The record that a tuple is printed as; nullptr: it is printed as a tuple. `module` is whose records it is in.
    const RecordType* record_of(ObjectId tuple, std::string_view module) const {
        if (!options_.as_records) return nullptr;
        return options_.records->of_tuple(source_, tuple, source_.head(tuple), options_.records->within(tuple, module));
    }
    const analyses::RecordScope* records() const { return options_.as_records ? options_.records : nullptr; }
    /// The same for shapes, which are sentences whatever reads them.
    analyses::ShapeRecords shape_records() const {
        const analyses::RecordScope* const scope = records_.scope.get();
        return {scope, scope == nullptr ? std::string_view{} : scope->module()};
    }
    /// The same of an element that is known to be secret, or not.
    std::string text(const Element& term, bool secret) const { return secret ? std::string(masked) : text(term); }
    static constexpr std::string_view masked = "'***'";
    /// In few bytes, to stand within a sentence.
    std::string short_text(const Element& term) const;
    /// "gen_server:loop/7 y3", "dictionary '$ancestors'", "message 17"; of a server's state "State (gen_server:loop/7
    /// y3)", in whichever slot it is.
    std::string root_name(std::size_t root) const;
    /// The same as a part of a sentence, which is spelled with it.
    analyses::Sentence root_sentence(std::size_t root) const;
    /// Whether the root holds the state of a server.
    bool is_state(std::size_t root) const;
    /// Key and value of a dictionary entry; false where the entry is no pair in this input.
    bool dictionary_pair(std::size_t root, Element& key, Element& value) const;
    std::string slot_name(std::size_t root) const;  ///< the same without "State"
    /// Hides all elements of a tuple but the one at `key`, where secrets are hidden.
    void hide_elements(ObjectId tuple, std::uint64_t key) const;
    /// Roots of one kind, as indexes.
    std::vector<std::uint32_t> roots_of(RootKind kind) const;
    /// "7FEDD8C3E990", or null where there is none.
    static Value address_value(std::uint64_t address);

private:
    const Names& names_;
    const Process& process_;
    TermSource& source_;
    analyses::TermMeasures& measures_;
    std::optional<std::size_t> state_root_;
    std::shared_ptr<AnswerBudget> budget_;
    PrintOptions options_;
    std::shared_ptr<SecretTerms> secrets_;
    ShownRecords records_;
};

/// "#state.sessions": element `place`, from 2 on, of a record.
std::string field_name(const Names& names, const RecordType& record, std::uint64_t place);
/// Frames, youngest first, with the terms that each holds.
Table frame_table(const TermView& view, std::span<const Frame> frames);
Table dictionary_table(const TermView& view);
/// Messages, oldest first: these roots. `more` are columns behind the others.
Table message_table(const TermView& view, std::vector<std::uint32_t> roots, Columns<std::uint32_t> more = {});
/// The root set: a row for each object that roots hold, with all of them; the one that reaches most comes first.
/// Garbage: only terms that no root reaches.
struct RootTable {
    Table table;
    std::optional<std::uint32_t> first;  ///< the root of its first row
};
RootTable root_table(const TermView& view, bool garbage = false);
/// What a term is made of: elements of a list or tuple, pairs of a map, what a fun closes over; the one that keeps most
/// alive first. Rows from the `skip`-th on.
Table child_table(const TermView& view, const Element& term, std::size_t skip = 0);
/// The terms of a process as a tree: below each root what it is made of, down to `depth` levels, as far as a part keeps
/// half a percent of what is alive; the parts of a term that keep less are one row. At most some hundred rows, of which
/// those that keep most are looked for first. `term`: below this one in place of the roots.
Table term_tree_table(const TermView& view, std::size_t depth, const Element& term = {});
/// The roots of root_table, in its order.
std::vector<std::uint32_t> largest_roots(const TermView& view);
/// Objects of an ETS table, of which element `key` is the key. `secret`: the table's name says that all others are
/// secret.
Table object_table(const TermView& view, std::uint32_t key, bool secret = false);
Table histogram_table(std::vector<analyses::KindShare> rows);

/// A way from a root to a term, step by step.
struct PathStep {
    ObjectId id;
    std::string via;  ///< "field 3", "[17]", "#{users}"
};
std::vector<PathStep> path_steps(const TermView& view, const analyses::Path& path);
/// "dictionary cache -> #{users} -> [17] -> field 3".
std::string path_text(const TermView& view, const analyses::Path& path, std::span<const PathStep> steps);
/// A row for each of path_steps(), with the root's own term before them; without a path none.
Table path_table(const TermView& view, const analyses::Path* path, std::vector<PathStep> steps);

}  // namespace beamheap::present
