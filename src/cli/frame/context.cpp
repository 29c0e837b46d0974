// SPDX-License-Identifier: Apache-2.0
#include "cli/frame/context.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <unordered_set>

#include "analyses/facts/needs.hpp"
#include "analyses/heaps/identities.hpp"
#include "analyses/heaps/unanswered.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/waits.hpp"
#include "analyses/selectors/selectors.hpp"
#include "cli/code/code_lines.hpp"
#include "cli/console/pager.hpp"
#include "cli/console/terminal.hpp"
#include "cli/frame/inputs.hpp"
#include "cli/frame/kept_answers.hpp"
#include "present/describe.hpp"
#include "present/render.hpp"
#include "present/sanitise.hpp"
#include "present/spelling.hpp"
#include "present/units.hpp"

namespace beamheap::cli {
namespace {

void tell_what_was_read(const Snapshot& snapshot, std::chrono::duration<double> time) {
    const Source& source = snapshot.source;
    const std::string_view kind = source.live                                     ? "running VM"
                                  : source.kind.format == InputFormat::crash_dump ? "crash dump"
                                                                                  : "core image";
    std::string text =
        source.live ? fmt::format("read in {:.2f} s: {}", time.count(), kind)
                    : fmt::format("read {} in {:.2f} s: {}", present::human_bytes(source.bytes), time.count(), kind);
    if (!source.format_version.empty()) text += fmt::format(" {}", source.format_version);
    if (!source.otp_release.empty()) text += fmt::format(" of Erlang/OTP {}", source.otp_release);
    text += fmt::format(", {}", present::counted(snapshot.processes.size(), "process", "processes"));
    if (!source.not_looked_at.empty()) text += fmt::format("; not looked at: {}", fmt::join(source.not_looked_at, " "));
    say_beside(text);
}

}  // namespace

void LoadedInput::forget_answers() {
    Snapshot& snapshot = artifact->snapshot();
    snapshot.anomalies = met_by_loading;
    if (heaps != nullptr) return;
    for (Process& process : snapshot.processes)
        process.live_words = process.garbage_words = process.refc_bytes = process.refc_garbage_bytes = Count();
}

namespace {

// What errors may not tell of the input that was opened last, whose snapshot is gone when they are told.
struct Opened {
    bool any = false;
    std::vector<std::string> private_names;
};
Opened& opened() {
    static Opened last;
    return last;
}

}  // namespace

void plan_for_identities(LoadPlan& plan) {
    const bool any = plan.has(analyses::need::terms);
    plan |= analyses::need::terms_and_stacks;
    if (!any) {
        plan.terms_of = analyses::MayBeIdentified();
    } else if (plan.terms_of) {
        plan.terms_of = [others = std::move(plan.terms_of), ours = analyses::MayBeIdentified()](
                            const Snapshot& snapshot, ProcId id) mutable {
            return others(snapshot, id) || ours(snapshot, id);
        };
    }
}

std::string in_file_names(std::string_view node) {
    constexpr std::size_t longest = 80;
    std::string name(node.substr(0, longest));
    for (char& c : name) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && (c == '\0' || std::strchr("@._-", c) == nullptr)) c = '_';
    }
    return name.empty() ? "node" : name;
}

namespace {

// What the answers call an input that is opened by another name than people know it by.
void show_as(const Options& options, Snapshot& snapshot) {
    constexpr std::string_view place = "{node}";
    std::string shown = options.shown_as;
    const bool told = options.redact != present::RedactLevel::full && snapshot.node.name != TextId::none;
    if (const std::size_t at = shown.find(place); at != shown.npos)
        shown.replace(at, place.size(), in_file_names(told ? snapshot.text(snapshot.node.name) : ""));
    snapshot.source.path = std::move(shown);
}

// What a catcher of deaths knows of its input, and the input itself does not: the signal, and who has cut it. A dying
// VM stands still in its kernel's hands, and not of somebody's SIGSTOP.
void add_what_was_caught(const Options& options, Snapshot& snapshot) {
    if (options.died_of != 0) snapshot.node.signal = Signal{options.died_of, {}};
    if (options.died_of != 0 && snapshot.source.live) snapshot.source.live->halt = VmHalt::none;
    if (options.cut_by.empty()) return;
    if (snapshot.source.complete.value_or(true)) snapshot.anomalies.add(Anomaly::truncated, snapshot.source.bytes);
    snapshot.source.complete = false;
    snapshot.source.truncation = fmt::format("less of it was kept than the VM wrote: {}", options.cut_by);
}

}  // namespace

Result<std::shared_ptr<Artifact>> Context::open(const std::string& path, LoadPlan plan, const Progress& shown) const {
    if (options_.redact == present::RedactLevel::full) plan |= analyses::need::names_in_texts;
    if (loaded_ != nullptr && path == loaded_->path && loaded_->plan.covers(plan)) {
        if (plan.heaps != nullptr) BH_CHECK(loaded_->artifact->visit_heaps(*plan.heaps));
        return loaded_->artifact;
    }
    const auto start = std::chrono::steady_clock::now();
    ProgressLine progress(options_.progress);
    OpenOptions open_options;
    open_options.executable = options_.executable;
    open_options.threads = options_.threads;
    open_options.progress = shown ? shown : progress_ != nullptr ? *progress_ : progress.callback();
    BH_TRY(std::shared_ptr<Artifact> artifact, open_input(path, open_options));
    if (options_.strict) plan |= analyses::need::whole_input;
    const bool records = plan_for_records(options_, plan);
    const bool frames = plan.has(analyses::need::stacks);
    const bool code = (frames || records) && plan_for_code(options_, plan);
    if (code && records) plan |= analyses::need::code_versions;
    const bool identities = plan.has(analyses::need::labels);
    if (identities) plan_for_identities(plan);
    BH_CHECK(artifact->load(plan));
    if (identities) analyses::identify_by_terms(*artifact);
    if (!options_.shown_as.empty()) show_as(options_, artifact->snapshot());
    add_what_was_caught(options_, artifact->snapshot());
    opened().any = true;
    if (options_.redact == present::RedactLevel::full)
        opened().private_names = redaction(artifact->snapshot(), {}).private_names;
    std::shared_ptr<CodeFiles> files;
    if (code) {
        BH_TRY(files, open_code(options_, *artifact));
        if (frames) add_frame_lines(options_, *artifact, *files, shown_to_people());
    }
    if (records) BH_CHECK(add_records(options_, artifact->snapshot(), files));
    progress.completed(artifact->snapshot().source.bytes);
    if (options_.verbose) tell_what_was_read(artifact->snapshot(), std::chrono::steady_clock::now() - start);
    return artifact;
}

Result<LoadedInput> load_for_questions(const Context& context, const std::string& path, const Progress& progress) {
    LoadPlan plan{analyses::need::everything};
    BH_TRY(std::shared_ptr<Artifact> artifact, context.open(path, plan, progress));
    const Anomalies met = artifact->snapshot().anomalies;
    return LoadedInput{path, std::move(plan), std::move(artifact), met};
}

std::shared_ptr<const analyses::Waits> Context::waits(Artifact& artifact) const {
    const auto find = [&artifact] { return std::make_shared<const analyses::Waits>(analyses::all_waits(artifact)); };
    KeptAnswers* const shared = kept(artifact.snapshot());
    if (shared == nullptr) return find();
    if (shared->waits == nullptr) shared->waits = find();
    return shared->waits;
}

std::shared_ptr<const analyses::SupervisionTree> Context::supervision(const Snapshot& snapshot) const {
    KeptAnswers* const shared = kept(snapshot);
    if (shared == nullptr) return std::make_shared<const analyses::SupervisionTree>(analyses::supervision(snapshot));
    if (shared->tree == nullptr)
        shared->tree = std::make_shared<const analyses::SupervisionTree>(analyses::supervision(snapshot));
    return shared->tree;
}

bool Context::for_people() const {
    const present::Presenter* presenter = present::find_presenter(options_.format);
    return presenter != nullptr && presenter->for_people;
}

present::Identify Context::identify(Artifact& artifact, bool loaded) const {
    constexpr std::size_t most_looked_for = 500;  // one by one; a cell is asked for several times: for its width, too
    if (!shown_to_people() || (!loaded && !artifact.can_identify())) return {};
    return [&artifact, loaded, asked = std::make_shared<std::unordered_set<ProcId>>()](ProcId id) {
        if (!loaded && asked->size() < most_looked_for && asked->insert(id).second) artifact.identify(id);
    };
}

present::Text Context::lead(Artifact& artifact, const analyses::Sentence& answer) const {
    for (const analyses::Part& part : answer.parts())
        if (const auto* process = std::get_if<ProcId>(&part);
            process != nullptr && *process != ProcId::none && artifact.can_identify())
            artifact.identify(*process);
    return present::spell(names(artifact.snapshot()), answer);
}

bool Context::folds() const {
    return taker_ == nullptr && for_people() && !options_.no_fold && options_.columns.empty() &&
           options_.sort.empty() && options_.table.empty();
}

bool Context::one_screen() const {
    const present::Presenter* presenter = present::find_presenter(options_.format);
    const bool for_terminal = taker_ == nullptr && presenter != nullptr && presenter->for_terminals;
    return (for_terminal || options_.screen) && !options_.verbose && !options_.full && !options_.top &&
           options_.columns.empty() && options_.sort.empty() && options_.table.empty();
}

std::string opened_with(const Options& options) {
    std::string text;
    const auto say = [&text](std::string_view option, const std::string& value) {
        text += fmt::format("{}{} {}", text.empty() ? "" : " ", option, present::shell_word(value));
    };
    if (!options.executable.empty()) say("--exe", options.executable);
    for (const std::string& place : options.code) say("--code", place);
    return text;
}

present::Names Context::names(const Snapshot& snapshot) const {
    const present::Syntax syntax = options_.syntax ? *options_.syntax
                                   : for_people()  ? present::syntax_of(snapshot)
                                                   : present::Syntax::erlang;
    present::Names names(snapshot, syntax);
    names.hide_secrets(options_.redact != present::RedactLevel::none);
    names.open_with(opened_with(options_));
    return names;
}

Result<std::vector<bool>> Context::wanted(const Snapshot& snapshot) const {
    BH_TRY(const std::vector<ProcId> ids, selected(snapshot));
    std::vector<bool> marks(snapshot.processes.size());
    for (const ProcId id : ids) marks[index_of(id)] = true;
    return marks;
}

Status Context::plan_for_selector(LoadPlan& plan) const {
    if (options_.procs.empty()) return ok();
    BH_TRY(const analyses::Selector selector, analyses::parse_selector(options_.procs));
    plan |= analyses::need::of(selector.needs());
    return ok();
}

bool Context::selector_needs_heaps() const {
    if (options_.procs.empty()) return false;
    const auto selector = analyses::parse_selector(options_.procs);
    return selector && selector->needs().heaps;
}

Result<std::vector<ProcId>> Context::selected(const Snapshot& snapshot) const {
    if (options_.procs.empty()) return analyses::all_processes(snapshot);
    return analyses::select_processes(snapshot, options_.procs);
}

present::RedactOptions Context::redaction() const {
    return {.level = options_.redact, .known_secrets = {}, .private_names = {}, .salt = options_.salt};
}
present::RedactOptions Context::redaction(const Snapshot& snapshot, std::vector<std::string> secrets) const {
    return present::redaction(options_.redact, options_.salt, snapshot, std::move(secrets));
}

Error Context::redacted(Error error) const {
    if (loaded_ == nullptr && !opened().any) return error;
    present::RedactOptions options = loaded_ == nullptr ? redaction() : redaction(loaded_->artifact->snapshot(), {});
    if (loaded_ == nullptr) options.private_names = opened().private_names;
    const present::Redactor redactor(std::move(options));
    error.message = redactor.apply(error.message, present::Content::message);
    error.advice = redactor.apply(error.advice, present::Content::message);
    return error;
}

present::Document Context::document(const Snapshot& snapshot) const {
    present::Document document;
    document.kind = options_.verb;
    document.source = present::source_of(snapshot);
    document.warnings = present::warnings_of(snapshot);
    return document;
}

// An answer about a VM that runs says so first: what it tells is of an instant, and so far proved.
Status Context::print(const present::Document& document, const Snapshot& snapshot, std::vector<std::string> secrets,
                      std::string_view default_sort) const {
    if (snapshot.source.live && document.reading.empty()) {
        present::Document told = document;
        told.reading = present::reading_text(snapshot);
        told.reading_leads = snapshot.source.live->halt != VmHalt::none;
        told.source = present::source_of(snapshot);  // rows may have been read again for the answer
        return print(told, snapshot, std::move(secrets), default_sort);
    }
    BH_CHECK(print(document, redaction(snapshot, std::move(secrets)), default_sort));
    if (options_.verbose) tell_where_records_are_from(snapshot);
    if (options_.strict && (snapshot.anomalies.data_lost() || !snapshot.source.complete.value_or(true)))
        return Error{ErrorCode::damaged, fmt::format("{}: the input is incomplete or damaged", snapshot.source.path),
                     snapshot.source.truncation};
    return ok();
}

Status Context::print(const present::Document& document, std::span<const Snapshot* const> snapshots,
                      std::vector<std::string> secrets) const {
    present::RedactOptions redact = redaction();
    bool damaged = false;
    for (const Snapshot* snapshot : snapshots) {
        for (std::string& name : redaction(*snapshot, {}).private_names)
            redact.private_names.push_back(std::move(name));
        damaged = damaged || snapshot->anomalies.data_lost() || !snapshot->source.complete.value_or(true);
    }
    redact.known_secrets = std::move(secrets);
    present::Document told = document;
    for (const Snapshot* snapshot : snapshots) {
        const present::Text reading = present::reading_text(*snapshot);
        if (!told.reading.empty() && !reading.empty()) told.reading.add(" ");
        told.reading.add(reading);
        told.reading_leads =
            told.reading_leads || (snapshot->source.live && snapshot->source.live->halt != VmHalt::none);
    }
    BH_CHECK(print(told, std::move(redact), {}));
    if (options_.strict && damaged)
        return Error{ErrorCode::damaged, "an input is incomplete or damaged", "The warnings say which, and where."};
    return ok();
}

Status Context::print(const present::Document& document) const { return print(document, redaction(), {}); }

present::RenderOptions Context::render_options(present::RedactOptions redact, std::string_view format,
                                               std::string_view default_sort) const {
    present::RenderOptions render_options;
    render_options.format = format;
    render_options.columns = options_.columns;
    render_options.table = options_.table;
    render_options.sort = options_.sort;
    if (options_.sort.empty() && options_.table.empty()) render_options.sort = default_sort;
    render_options.descending = options_.descending;
    render_options.top = options_.top;
    render_options.redact = std::move(redact);
    return render_options;
}

Result<std::string> Context::rendered(const present::Document& document, const Snapshot& snapshot,
                                      std::string_view format, std::string_view default_sort) const {
    present::StringSink sink;
    BH_CHECK(present::render(document, render_options(redaction(snapshot, {}), format, default_sort), sink));
    return sink.text();
}

Status Context::print_line(const present::Document& document, const Snapshot& snapshot,
                           std::string_view default_sort) const {
    BH_TRY(std::string text, rendered(document, snapshot, "json", default_sort));
    // Line breaks stand between members alone: within texts they are escaped.
    std::replace(text.begin(), text.end() - 1, '\n', ' ');
    FileSink out(STDOUT_FILENO);
    out.write(text);
    out.flush();
    if (out.error() != 0)
        return Error{ErrorCode::resource_limit, fmt::format("standard output: {}", std::strerror(out.error())), {}};
    return out.closed() ? Status(Error{ErrorCode::interrupted, {}, {}}) : ok();
}

Status Context::print(const present::Document& document, present::RedactOptions redact,
                      std::string_view default_sort) const {
    present::RenderOptions render_options = this->render_options(std::move(redact), options_.format, default_sort);
    const present::Presenter* const presenter = present::find_presenter(options_.format);
    const bool for_terminals = presenter != nullptr && presenter->for_terminals;
    render_options.color = for_terminals && wants_color(options_.color, is_terminal(STDOUT_FILENO));
    render_options.width = for_terminals ? terminal_width() : 0;
    if (presenter != nullptr && presenter->bytes && (taker_ != nullptr || is_terminal(STDOUT_FILENO)))
        return Error{
            ErrorCode::usage, fmt::format("format {} is no text to be shown", presenter->name),
            fmt::format("Write it to a file: beamheap {} ... --format {} > FILE", options_.verb, presenter->name)};
    if (taker_ != nullptr) return (*taker_)(document, render_options);
    if (!options_.quiet && !for_people() && options_.format != "json") {
        FileSink errors(STDERR_FILENO);
        present::RenderOptions plain = render_options;
        plain.color = wants_color(options_.color, is_terminal(STDERR_FILENO));
        plain.width = terminal_width(STDERR_FILENO);
        present::render_leading_warnings(document, plain, errors);
    }
    Output out(!options_.no_pager);
    BH_CHECK(present::render(document, render_options, out));
    out.finish();
    reader_gone_ = out.closed();
    if (out.error() != 0)
        return Error{ErrorCode::resource_limit,
                     fmt::format("standard output: can't be written: {}", std::strerror(out.error())),
                     {}};
    if (options_.quiet || (presenter != nullptr && presenter->holds_warnings)) return ok();
    render_options.color = wants_color(options_.color, is_terminal(STDERR_FILENO));
    render_options.width = terminal_width(STDERR_FILENO);
    render_options.notes = options_.verbose;
    FileSink errors(STDERR_FILENO);
    present::render_warnings(document, render_options, errors);
    return ok();
}

}  // namespace beamheap::cli
