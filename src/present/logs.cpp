// SPDX-License-Identifier: Apache-2.0
#include "present/logs.hpp"

#include <fmt/format.h>

#include "erlang/term_reader.hpp"
#include "present/table_cells.hpp"
#include "present/term_printer.hpp"

namespace beamheap::present {
namespace {

using analyses::LogEvent;
using analyses::LogFrame;
using analyses::LogKind;

class Words {
public:
    Words(const Names& names, const LogEvent& event, std::size_t max_bytes)
        : event_(event),
          terms_(*event.term),
          options_{.syntax = names.syntax(),
                   .max_bytes = max_bytes,
                   .unknown = "...",
                   .hide_secrets = names.hides_secrets()} {}

    std::string printed(const Element& term) const { return term_text(*event_.term, term, options_); }
    std::string reason() const { return term_text(*event_.reason_term, event_.reason, options_); }

    // A string as itself, anything else as a term.
    std::string plain(const Element& term) const {
        if (const auto text = terms_.text(term)) return *text;
        if (TermReader::is_atom(term)) return std::string(term.text);
        return printed(term);
    }

    // io_lib:format with the directives that logs use: ~p ~w ~P ~W ~s ~ts ~tp ~n ~~; widths are skipped.
    std::string formatted() const {
        const auto format = terms_.text(event_.format, 16'384);
        if (!format) return printed(event_.format);
        if (event_.args.empty()) return *format;
        std::string out;
        std::size_t next = 0;
        for (std::size_t i = 0; i < format->size(); ++i) {
            if ((*format)[i] != '~') {
                out += (*format)[i];
                continue;
            }
            const std::size_t directive = format->find_first_not_of("0123456789.*-+tlk ", i + 1);
            if (directive == format->npos) break;
            const char c = (*format)[directive];
            i = directive;
            if (c == '~' || c == 'n') {
                out += c == 'n' ? '\n' : '~';
            } else if (next < event_.args.size()) {
                const Element& arg = event_.args[next++];
                out += c == 's' || c == 'c' ? plain(arg) : printed(arg);
                if ((c == 'P' || c == 'W') && next < event_.args.size()) ++next;  // the depth
            } else {
                out += "...";
            }
        }
        return out;
    }

    std::string report() const {
        std::string out;
        if (const auto text = terms_.text(event_.report)) return *text;
        // A report is a list of pairs or a map; the label says what it is.
        const Element label = terms_.get(event_.report, "label");
        if (label.kind != ElementKind::unknown) out += printed(label) + ' ';
        const Element inner = terms_.get(event_.report, "report");
        return out + printed(inner.kind == ElementKind::unknown ? event_.report : inner);
    }

private:
    const LogEvent& event_;
    TermReader terms_;
    PrintOptions options_;
};

Value reason_value(const Names& names, const LogEvent& event, std::size_t max_bytes) {
    if (event.reason.kind == ElementKind::unknown) return {};
    return Words(names, event, max_bytes).reason();
}

}  // namespace

std::string log_frame_text(const Names& names, const LogFrame& frame) {
    std::string text = function_text(frame.module, frame.function, frame.arity, names.syntax());
    if (!frame.file.empty())
        text +=
            frame.line == 0 ? fmt::format(" ({})", frame.file) : fmt::format(" ({}, line {})", frame.file, frame.line);
    return text;
}

std::string log_text(const Names& names, const LogEvent& event, std::size_t max_bytes) {
    const Words words(names, event, max_bytes);
    const auto with_reason = [&](std::string text) {
        if (event.reason.kind != ElementKind::unknown) text += ": " + words.reason();
        return text;
    };
    const auto subject = [&] { return event.subject.kind == ElementKind::unknown ? "?" : words.plain(event.subject); };
    switch (event.kind) {
        case LogKind::crash_report: return with_reason("crash report");
        case LogKind::supervisor_report: return with_reason("supervisor report: child " + subject());
        case LogKind::progress: return "started " + subject();
        case LogKind::application_end: return with_reason("application " + subject() + " ended");
        case LogKind::exit_message: return with_reason("exit");
        case LogKind::process_error:
            if (event.format.kind == ElementKind::unknown) return with_reason("process ended");
            break;
        case LogKind::message:
        case LogKind::output: break;
    }
    std::string text = event.format.kind == ElementKind::unknown ? words.report() : words.formatted();
    while (text.ends_with('\n')) text.pop_back();  // the end of a line of the log
    return text;
}

Table log_table(const Names& names, const std::vector<LogEvent>& events, std::size_t term_bytes) {
    using Row = const LogEvent*;
    const Snapshot& s = names.snapshot();
    const std::size_t bytes = term_bytes == 0 ? 0 : std::max<std::size_t>(term_bytes, 200);
    Columns<Row> columns{
        {{.name = "time",
          .title = "TIME",
          .doc = "when it was logged: the node's local time, or UTC where it ends in Z"},
         [](Row e) { return cells::text(e->time); }},
        {{.name = "level", .title = "LEVEL", .doc = "logger's level"},
         [](Row e) { return cells::text(name_of(e->level)); }},
        {{.name = "pid", .title = "PID", .doc = "the process that it is about"},
         [names](Row e) { return cells::pid(names, e->pid); }},
        {{.name = "name",
          .title = "PROCESS",
          .doc = "that process's or supervisor's name, as the event gives it",
          .content = Content::name},
         [](Row e) { return cells::text(e->name); }},
        {{.name = "what", .title = "WHAT", .doc = "what it says", .content = Content::message, .wraps = true},
         [=](Row e) { return Value(log_text(names, *e, bytes)); }},
        {{.name = "kind",
          .title = "KIND",
          .doc = "message crash_report supervisor_report progress application_end process_error exit_message output",
          .wide = true},
         [](Row e) { return Value(name_of(e->kind)); }},
        {{.name = "module",
          .title = "MODULE",
          .doc = "where it was logged or failed",
          .content = Content::name,
          .wide = true},
         [](Row e) { return cells::text(e->module); }},
        {{.name = "reason",
          .title = "REASON",
          .doc = "why it ended, without its stack",
          .content = Content::term,
          .wide = true},
         [=](Row e) { return reason_value(names, *e, bytes); }},
        {{.name = "stack",
          .title = "STACK",
          .holds = Holds::texts,
          .doc = "of the failure, youngest frame first",
          .content = Content::name,
          .below = true},
         [=](Row e) {
             Array frames;
             for (const LogFrame& frame : e->stack) frames.emplace_back(log_frame_text(names, frame));
             return Value(std::move(frames));
         }},
        {{.name = "source", .title = "HELD BY", .doc = "the process in whose memory it was", .content = Content::term},
         [=, &s](Row e) { return Value(names.process(s[e->holder])); }},
        {{.name = "unread",
          .title = "UNREAD",
          .holds = Holds::flag,
          .doc = "whether it was a message that nobody had read",
          .wide = true},
         [](Row e) { return Value(e->in_queue); }},
    };
    std::vector<Row> rows;
    for (const LogEvent& event : events) rows.push_back(&event);
    return table_of(std::move(columns), std::move(rows), "no log events in the memory of this node");
}

}  // namespace beamheap::present
