#include "cli/context.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>

#include "analyses/process_columns.hpp"
#include "analyses/selectors.hpp"
#include "cli/terminal.hpp"
#include "formats/format.hpp"
#include "present/describe.hpp"
#include "present/render.hpp"

namespace beamheap::cli {
namespace {

bool for_people(const Options& options) {
    const present::Presenter* presenter = present::find_presenter(options.format);
    return presenter != nullptr && presenter->for_people;
}

}  // namespace

Result<std::unique_ptr<Artifact>> Context::open(const std::string& path, LoadPlan plan) const {
    ProgressLine progress(options_.progress);
    OpenOptions open_options;
    open_options.executable = options_.executable;
    open_options.threads = options_.threads;
    open_options.progress = progress.callback();
    BH_TRY(std::unique_ptr<Artifact> artifact, open_artifact(path, open_options));
    if (options_.strict) plan.to_the_end = true;
    BH_CHECK(artifact->load(plan));
    progress.completed(artifact->snapshot().source.bytes);
    return artifact;
}

present::Names Context::names(const Snapshot& snapshot) const {
    if (options_.syntax) return {snapshot, *options_.syntax};
    return {snapshot, for_people(options_) ? present::syntax_of(snapshot) : present::Syntax::erlang};
}

Status Context::plan_for_selector(LoadPlan& plan) const {
    if (options_.procs.empty()) return ok();
    BH_TRY(const analyses::Selector selector, analyses::parse_selector(options_.procs));
    const analyses::SelectorNeeds needs = selector.needs();
    plan.links = plan.links || needs.links;
    plan.labels = plan.labels || needs.labels;
    plan.stacks = plan.stacks || needs.stacks;
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

present::Document Context::document(const Snapshot& snapshot) const {
    present::Document document;
    document.kind = options_.verb;
    document.source = present::source_of(snapshot);
    document.warnings = present::warnings_of(snapshot);
    return document;
}

Status Context::print(const present::Document& document, const Snapshot& snapshot,
                      std::vector<std::string> secrets, std::string_view default_sort) const {
    BH_CHECK(print(document, present::redaction(options_.redact, snapshot, std::move(secrets)), default_sort));
    if (options_.strict && (snapshot.anomalies.data_lost() || !snapshot.source.complete.value_or(true)))
        return Error{ErrorCode::damaged, fmt::format("{}: the input is incomplete or damaged", snapshot.source.path),
                     snapshot.source.truncation};
    return ok();
}

Status Context::print(const present::Document& document) const {
    present::RedactOptions redact;
    redact.level = options_.redact;
    return print(document, std::move(redact), {});
}

Status Context::print(const present::Document& document, present::RedactOptions redact,
                      std::string_view default_sort) const {
    present::RenderOptions render_options;
    render_options.format = options_.format;
    render_options.columns = options_.columns;
    render_options.sort = options_.sort.empty() ? std::string(default_sort) : options_.sort;
    render_options.descending = options_.descending;
    render_options.top = options_.top;
    render_options.color = options_.format == "table" && wants_color(options_.color, is_terminal(STDOUT_FILENO));
    render_options.width = options_.format == "table" ? terminal_width() : 0;
    render_options.redact = std::move(redact);
    FileSink out(STDOUT_FILENO);
    BH_CHECK(present::render(document, render_options, out));
    if (out.error() != 0)
        return Error{ErrorCode::resource_limit, fmt::format("standard output: {}", std::strerror(out.error())), {}};
    if (options_.quiet || options_.format == "json") return ok();
    render_options.color = wants_color(options_.color, is_terminal(STDERR_FILENO));
    FileSink errors(STDERR_FILENO);
    present::render_warnings(document, render_options, errors);
    return ok();
}

}  // namespace beamheap::cli
