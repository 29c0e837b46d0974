// SPDX-License-Identifier: Apache-2.0
#include "present/render.hpp"

#include <fmt/format.h>

#include "analyses/selectors/selectors.hpp"
#include "present/sanitise.hpp"
#include "present/view.hpp"

namespace beamheap::present {
namespace {

// The first of these columns that the main table does not have.
std::string_view missing(const View& view, std::span<const std::string_view> columns) {
    const TableView* const table = view.primary();
    for (const std::string_view wanted : columns) {
        bool found = false;
        for (std::size_t c = 0; table != nullptr && c < table->columns(); ++c) found |= table->column(c).name == wanted;
        if (!found) return wanted;
    }
    return {};
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
    const std::vector<std::string> near = analyses::near_names(word, candidates, 3);
    if (near.empty()) return {};
    std::string text = "did you mean " + near[0];
    for (std::size_t i = 1; i < near.size(); ++i) text += (i + 1 == near.size() ? " or " : ", ") + near[i];
    return text + '?';
}

Status render(const Document& document, const RenderOptions& options, Sink& sink) {
    const Presenter* presenter = find_presenter(options.format);
    if (presenter == nullptr) {
        std::vector<std::string> names;
        for (const Presenter* each : presenters()) names.emplace_back(each->name);
        return Error{ErrorCode::usage, fmt::format("there is no format {}", options.format),
                     fmt::format("formats are: {}", fmt::join(names, " "))};
    }
    BH_TRY(const View view, View::make(document, options, *presenter));
    const bool does_without = !presenter->or_needs.empty() && missing(view, presenter->or_needs).empty();
    if (const std::string_view need = does_without ? std::string_view() : missing(view, presenter->needs);
        !need.empty())
        return Error{ErrorCode::usage,
                     fmt::format("{} has no column {}, which format {} needs", document.kind, need, options.format),
                     std::string(presenter->needs_advice)};
    presenter->present(view, sink);
    sink.flush();
    return ok();
}

namespace {

constexpr std::size_t line_hang = 2;

void warn(const Warning& warning, const Redactor& redactor, const RenderOptions& options, Sink& sink) {
    const bool note = warning.severity == "info";
    if (note && !warning.unasked && !options.notes) return;
    const std::string_view head = note ? "note:" : "warning:";
    std::string line = fmt::format("{} ", head);
    append_text(redactor.apply(warning.text), line);
    line = wrapped(line, options.width, line_hang);
    if (options.color && !note) line = fmt::format("\x1b[33m{}\x1b[0m{}", head, line.substr(head.size()));
    sink.write(line + '\n');
}

}  // namespace

void render_warnings(const Document& document, const RenderOptions& options, Sink& sink) {
    const Redactor redactor(options.redact);
    for (const Warning& warning : document.warnings)
        if (!warning.leads) warn(warning, redactor, options, sink);
    sink.flush();
}

void render_leading_warnings(const Document& document, const RenderOptions& options, Sink& sink) {
    const Redactor redactor(options.redact);
    for (const Warning& warning : document.warnings)
        if (warning.leads) warn(warning, redactor, options, sink);
    if (!document.reading.empty()) {
        std::string line;
        append_text(redactor.apply(document.reading), line);
        sink.write(wrapped(line, options.width, line_hang) + '\n');
    }
    sink.flush();
}

}  // namespace beamheap::present
