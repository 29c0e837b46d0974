// SPDX-License-Identifier: Apache-2.0
// What every verb works with: the options, opening an input, and printing a document.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analyses/base/sentence.hpp"
#include "beamheap/artifact.hpp"
#include "cli/options/options.hpp"
#include "present/document.hpp"
#include "present/erlang_text.hpp"
#include "present/tables.hpp"

namespace beamheap::present {
struct RenderOptions;
}
namespace beamheap::analyses {
class HeapStats;
struct SupervisionTree;
struct Waits;
}  // namespace beamheap::analyses

namespace beamheap::cli {

struct KeptAnswers;

/// Takes a verb's answer in place of standard output: the report is made of the answers of other verbs. The document's
/// tables hold during the call only.
using AnswerTaker = std::function<Status(const present::Document& document, const present::RenderOptions& options)>;

/// From how many on rows that are alike are one.
inline constexpr std::uint64_t least_alike = 3;

/// An input that the shell loaded once, with the plan that says what it is able to answer.
struct LoadedInput {
    std::string path;
    LoadPlan plan;
    std::shared_ptr<Artifact> artifact;
    Anomalies met_by_loading;
    /// Figures of all heaps, frames and binaries with them, gathered and stored once for several answers.
    const analyses::HeapStats* heaps = nullptr;
    /// Where answers may share what they find (kept_answers.hpp); null: each finds it for itself.
    std::shared_ptr<KeptAnswers> kept = {};

    /// Takes back what a question has added to the snapshot (figures of heaps, what was met in them), so that each
    /// question is answered as if it were the first.
    void forget_answers();
};

/// Adds to a plan what analyses::identify_by_terms() takes: of a stream, terms of those it may look into.
void plan_for_identities(LoadPlan& plan);

/// The options that another command about the same input takes, too: "--exe beam.smp --code DIR".
std::string opened_with(const Options& options);

/// A node's name as a part of a file's: letters, digits and @._- stay, other letters become _; "node" where there is
/// none.
std::string in_file_names(std::string_view node);

class Context;
/// Loads all of an input that any verb may ask for but the heaps, so that many questions are answered by one reading.
/// Errors: those of Context::open. `progress` is called as OpenOptions::progress is, where it is given.
Result<LoadedInput> load_for_questions(const Context& context, const std::string& path, const Progress& progress = {});

class Context {
public:
    explicit Context(const Options& options, const LoadedInput* loaded = nullptr, const AnswerTaker* taker = nullptr)
        : options_(options), loaded_(loaded), taker_(taker) {}
    /// The same with other options, which must outlive it.
    Context with(const Options& options) const {
        Context other(options, loaded_, taker_);
        other.progress_ = progress_;
        other.for_reader_ = for_reader_;
        other.one_of_many_ = one_of_many_;
        return other;
    }
    /// Tells how far opening an input has come to `progress`, which must outlive this, in place of the terminal.
    void tell_progress(const Progress& progress) { progress_ = &progress; }
    const Options& options() const { return options_; }
    /// Positional argument number `i`; the table of verbs says how many there are.
    const std::string& argument(std::size_t i) const { return options_.inputs[i]; }

    /// Opens the input (the first argument unless told otherwise) and loads what the plan asks for, showing progress
    /// (in `shown` where that is given). Where the shell has loaded that input and its plan covers this one, it is that
    /// same artifact; heaps are decoded anew.
    Result<std::shared_ptr<Artifact>> open(LoadPlan plan) const { return open(argument(0), std::move(plan)); }
    Result<std::shared_ptr<Artifact>> open(const std::string& path, LoadPlan plan, const Progress& shown = {}) const;

    /// How names are written: --syntax; by itself Elixir for people where the input is Elixir's, else Erlang.
    present::Names names(const Snapshot& snapshot) const;
    /// The processes that --procs selects, all without it.
    Result<std::vector<ProcId>> selected(const Snapshot& snapshot) const;
    /// The same, as a mark for each process of the snapshot.
    Result<std::vector<bool>> wanted(const Snapshot& snapshot) const;
    /// Adds to the plan what --procs needs to be answered.
    Status plan_for_selector(LoadPlan& plan) const;
    /// Whether --procs asks for figures that only decoded heaps give.
    bool selector_needs_heaps() const;

    /// What was gathered of all heaps before (LoadedInput::heaps); null where the verb has to decode them itself.
    const analyses::HeapStats* gathered() const { return loaded_ == nullptr ? nullptr : loaded_->heaps; }
    /// What answers about this snapshot share; null where they share nothing.
    KeptAnswers* kept(const Snapshot& snapshot) const {
        return loaded_ == nullptr || &snapshot != &loaded_->artifact->snapshot() ? nullptr : loaded_->kept.get();
    }
    /// analyses::waits() and analyses::supervision() of the opened input's snapshot, found once where answers share
    /// them. With waits that are found in terms, of those processes that the plan has terms of (analyses::MayBeAsked).
    std::shared_ptr<const analyses::Waits> waits(Artifact& artifact) const;
    std::shared_ptr<const analyses::SupervisionTree> supervision(const Snapshot& snapshot) const;
    /// Whether this is the program's one question: not one of the shell's, nor a part of the report.
    bool by_itself() const { return loaded_ == nullptr && taker_ == nullptr; }
    /// Whether the answer is for people to read: text, not a format for machines.
    bool for_people() const;
    /// The same of an answer that is shown as it is; the report makes its own tables of answers.
    bool shown_to_people() const { return (taker_ == nullptr || for_reader_) && for_people(); }
    /// It is printed: nobody takes the answer.
    bool printed() const { return taker_ == nullptr; }
    /// It answers one of many questions, and the next is not asked before it ends.
    bool one_of_many() const { return one_of_many_; }
    void answer_one_of_many() { one_of_many_ = true; }
    /// Who takes the answer shows it as it is.
    void answer_a_reader() { for_reader_ = true; }
    /// For tables that are shown to people: looks for what processes are, for as many of them as that takes no time
    /// where it was not loaded with the rest. Empty where nobody sees it, or the input can't tell. Must not outlive the
    /// artifact.
    present::Identify identify(Artifact& artifact, bool loaded = false) const;
    /// A first sentence as all formats have it: whom it names is looked for, where it was not loaded with the rest.
    present::Text lead(Artifact& artifact, const analyses::Sentence& answer) const;
    /// Whether rows that are alike are shown as one: to people who did not ask for columns, an order, or --no-fold.
    bool folds() const;
    /// Whether the answer is to be one screen: text for people who asked for no more (-v, --full) and nothing else (-n,
    /// --columns).
    bool one_screen() const;
    /// A document about this input: kind, source, warnings.
    present::Document document(const Snapshot& snapshot) const;
    /// Prints the document, its warnings on standard error (people's formats), and with --strict fails where the input
    /// is damaged. `secrets` are texts to be masked wherever they appear (secrets.hpp). Without --sort the main table
    /// is sorted by `default_sort`, where given.
    Status print(const present::Document& document, const Snapshot& snapshot, std::vector<std::string> secrets = {},
                 std::string_view default_sort = {}) const;
    /// The document as bytes in some format of render()'s, with --columns, --sort, -n and --redact as given. Errors:
    /// render()'s.
    Result<std::string> rendered(const present::Document& document, const Snapshot& snapshot, std::string_view format,
                                 std::string_view default_sort) const;
    /// The same for a document about several inputs.
    Status print(const present::Document& document, std::span<const Snapshot* const> snapshots,
                 std::vector<std::string> secrets) const;
    /// The same for a document about no input.
    Status print(const present::Document& document) const;
    /// Prints it as an object of JSON on a line of its own, as verbs do that go on. Errors: resource_limit, it can't be
    /// written; interrupted, without words, who read has gone.
    Status print_line(const present::Document& document, const Snapshot& snapshot,
                      std::string_view default_sort = {}) const;
    /// Whether nobody read all of the last answer that was printed (a closed pipe): who goes on ends then.
    bool reader_gone() const { return reader_gone_; }

    /// The error without the secrets of the input that was opened: names that look like the one that was asked for,
    /// what was expected in its place. As it is where none was.
    Error redacted(Error error) const;

private:
    present::RedactOptions redaction() const;
    present::RedactOptions redaction(const Snapshot& snapshot, std::vector<std::string> secrets) const;
    Status print(const present::Document& document, present::RedactOptions redact, std::string_view default_sort) const;
    present::RenderOptions render_options(present::RedactOptions redact, std::string_view format,
                                          std::string_view default_sort) const;
    const Options& options_;
    const LoadedInput* loaded_;  // null but in the shell and the report
    const AnswerTaker* taker_;   // null but in the report
    const Progress* progress_ = nullptr;
    bool for_reader_ = false, one_of_many_ = false;
    mutable bool reader_gone_ = false;
};

}  // namespace beamheap::cli
