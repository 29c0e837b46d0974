// SPDX-License-Identifier: Apache-2.0
#include "analyses/logs/log_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "erlang/crash_reports.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::array<std::pair<std::string_view, LogLevel>, 11> level_names{{
    {"emergency", LogLevel::emergency},
    {"alert", LogLevel::alert},
    {"critical", LogLevel::critical},
    {"error", LogLevel::error},
    {"warning", LogLevel::warning},
    {"warn", LogLevel::warning},
    {"notice", LogLevel::notice},
    {"info", LogLevel::info},
    {"debug", LogLevel::debug},
    {"progress", LogLevel::info},
    {"none", LogLevel::none},
}};

LogLevel level_of(const Element& atom) {
    if (!TermReader::is_atom(atom)) return LogLevel::none;
    for (const auto& [name, level] : level_names)
        if (name == atom.text) return level;
    return LogLevel::none;
}

bool is_level(const Element& atom) { return level_of(atom) != LogLevel::none; }

// error_logger's tags and the levels that they stand for.
constexpr std::array<std::pair<std::string_view, LogLevel>, 6> legacy_tags{{
    {"error", LogLevel::error},
    {"error_report", LogLevel::error},
    {"warning_msg", LogLevel::warning},
    {"warning_report", LogLevel::warning},
    {"info_msg", LogLevel::info},
    {"info_report", LogLevel::info},
}};

std::optional<LogLevel> legacy_level(const Element& tag) {
    for (const auto& [name, level] : legacy_tags)
        if (TermReader::is(tag, name)) return level;
    if (TermReader::is(tag, "info")) return LogLevel::info;  // up to R6, and of Elixir's Logger
    return std::nullopt;
}

// [{Key, Value}, ...]
bool is_pairs(const TermReader& terms, const Element& term) {
    const auto first = terms.list(term, 1);
    return !first.empty() && !terms.tuple(first[0], 2).empty();
}

bool is_who(const Element& term) { return term.kind == ElementKind::pid || term.kind == ElementKind::atom; }

// {Tag, GroupLeader, {Who, FormatOrType, ArgsOrReport}}
bool is_legacy(const TermReader& terms, const std::vector<Element>& event) {
    if (event.size() != 3 || !legacy_level(event[0]) || event[1].kind != ElementKind::pid) return false;
    const auto body = terms.tuple(event[2], 3);
    return !body.empty() && is_who(body[0]);
}

// {Level, GroupLeader, {'Elixir.Logger', Text, Time, Metadata}}
bool is_elixir(const TermReader& terms, const std::vector<Element>& event) {
    return event.size() == 3 && is_level(event[0]) && !terms.tagged(event[2], erlang::event_of_elixir, 4).empty();
}

// {log, Level, Format, Args, Meta} and {log, Level, Report, Meta}
bool is_forwarded(const TermReader& terms, const std::vector<Element>& event) {
    return (event.size() == 4 || event.size() == 5) && TermReader::is(event[0], "log") && is_level(event[1]) &&
           terms.is_map(event.back());
}

// {report, Report}, {string, Text}, {Format, Args}: what logger's events have as their message (logger.erl).
bool is_message(const TermReader& terms, const Element& term) {
    const auto pair = terms.tuple(term, 2);
    if (pair.empty()) return false;
    if (TermReader::is(pair[0], "report")) return terms.is_map(pair[1]) || is_pairs(terms, pair[1]);
    if (TermReader::is(pair[0], "string")) return terms.text(pair[1], 16).has_value();
    if (pair[0].kind != ElementKind::object || !terms.is_list(pair[1])) return false;
    return terms.text(pair[0], 400).value_or("").find('~') != std::string::npos;
}

bool is_event_map(const TermReader& terms, const Element& term) {
    if (!is_level(terms.get(term, "level"))) return false;
    const Element message = terms.get(term, "msg");
    if (message.kind == ElementKind::unknown) return false;
    return terms.is_map(terms.get(term, "meta")) || is_message(terms, message);
}

bool is_exit(const TermReader& terms, const Element& term) {
    const auto exit = terms.tagged(term, "EXIT", 3);
    if (!exit.empty()) return exit[1].kind == ElementKind::pid && !is_orderly(terms, exit[2]);
    const auto down = terms.tagged(term, "DOWN", 5);
    return !down.empty() && TermReader::is(down[2], "process") && !is_orderly(terms, down[4]);
}

// {put_chars, Encoding, Text} of a request that is being made, {log, Text} on its way to the process that writes.
bool is_text(const TermReader& terms, const std::vector<Element>& parts) {
    if (parts.size() == 2)
        return TermReader::is(parts[0], "log") && terms.text(parts[1], 16).value_or("").starts_with("=");
    return parts.size() == 3 && TermReader::is(parts[0], "put_chars") && TermReader::is_atom(parts[1]) &&
           terms.text(parts[2], 16).has_value();
}

// {application_started, Name, {error, Reason}} from an application master (application_controller.erl)
bool is_failed_application(const TermReader& terms, const std::vector<Element>& parts) {
    return parts.size() == 3 && TermReader::is(parts[0], "application_started") && TermReader::is_atom(parts[1]) &&
           !terms.tagged(parts[2], "error", 2).empty();
}

bool is_output(const TermReader& terms, const Element& term) {
    const auto request = terms.tagged(term, "io_request", 4);
    return !request.empty() && request[1].kind == ElementKind::pid && !terms.tuple(request[3]).empty() &&
           TermReader::is_one_of(terms.tuple(request[3])[0], {"put_chars", "requests"});
}

void set_name(const TermReader& terms, const Element& name, LogEvent& event) {
    if (TermReader::is_atom(name)) event.name = name.text;
    else if (const auto local = terms.tuple(name, 2); !local.empty() && TermReader::is_atom(local[1]))
        event.name = local[1].text;  // {local, Name}, {global, Name}, {Pid, Module}
    if (name.kind == ElementKind::pid) event.pid = name.pid;
    if (const auto local = terms.tuple(name, 2); !local.empty() && local[0].kind == ElementKind::pid)
        event.pid = local[0].pid;
}

void set_reason(const TermReader& terms, const Element& reason, LogEvent& event) {
    event.reason = split_reason(terms, reason, event.stack);
    if (!event.stack.empty()) event.module = event.stack.front().module;
}

// [[{initial_call,_},{pid,_},{registered_name,_},{error_info,{Class,Reason,Stack}}|_], Linked]
bool read_crash_report(const TermReader& terms, const Element& report, LogEvent& event) {
    const auto parts = terms.list(report, 2);
    if (parts.empty()) return false;
    const Element info = terms.get(parts[0], "error_info");
    if (info.kind == ElementKind::unknown) return false;
    event.kind = LogKind::crash_report;
    if (const Element pid = terms.get(parts[0], "pid"); pid.kind == ElementKind::pid) event.pid = pid.pid;
    set_name(terms, terms.get(parts[0], "registered_name"), event);
    if (const auto exception = terms.tuple(info, 3); !exception.empty()) {
        event.stack = frames_of(terms, exception[2]);
        std::vector<LogFrame> inner;
        event.reason = split_reason(terms, exception[1], inner);
        if (!inner.empty()) event.stack = std::move(inner);
        if (!event.stack.empty()) event.module = event.stack.front().module;
    } else {
        set_reason(terms, info, event);
    }
    return true;
}

// [{supervisor,Name},{errorContext,_},{reason,_},{offender,[{pid,_},{id,_},...]}]
bool read_supervisor_report(const TermReader& terms, const Element& report, LogEvent& event) {
    const Element offender = terms.get(report, "offender");
    if (offender.kind == ElementKind::unknown) return false;
    event.kind = LogKind::supervisor_report;
    set_name(terms, terms.get(report, erlang::key_of_supervisor), event);
    set_reason(terms, terms.get(report, "reason"), event);
    event.subject = terms.get(offender, "id");
    if (event.subject.kind == ElementKind::unknown) event.subject = terms.get(offender, "name");
    if (const Element pid = terms.get(offender, "pid"); pid.kind == ElementKind::pid) event.pid = pid.pid;
    return true;
}

void read_format(const TermReader& terms, const Element& format, const Element& arguments, LogEvent& event);

// What a report says, whatever type it was given.
void read_report(const TermReader& terms, const Element& given, LogEvent& event) {
    // error_logger's calls become reports of logger's (error_logger.erl, 21 and later)
    if (const auto label = terms.tagged(terms.get(given, "label"), erlang::label_of_error_logger, 2);
        !label.empty() && terms.has_key(given, "format"))
        return read_format(terms, terms.get(given, "format"), terms.get(given, "args"), event);
    event.report = given;
    // logger's own wrap error_logger's: #{label => {supervisor,_}, report => [...]}
    const Element inner = terms.get(given, "report");
    const Element& report = inner.kind == ElementKind::unknown ? given : inner;
    if (read_crash_report(terms, report, event) || read_supervisor_report(terms, report, event)) return;
    if (terms.has_key(report, "started") || terms.has_key(report, "started_at")) {
        event.kind = LogKind::progress;
        event.subject = terms.get(report, "application");
        if (event.subject.kind == ElementKind::unknown) event.subject = terms.get(report, {"started", "id"});
        if (event.subject.kind == ElementKind::unknown) event.subject = terms.get(report, {"started", "name"});
        set_name(terms, terms.get(report, erlang::key_of_supervisor), event);
        return;
    }
    if (terms.has_key(report, "exited")) {
        event.kind = LogKind::application_end;
        event.subject = terms.get(report, "application");
        set_reason(terms, terms.get(report, "exited"), event);
        return;
    }
    // Behaviours label what they report of their end; in a program's own report `reason` may be that of anything.
    if (!terms.has_key(report, "label")) return;
    if (const Element reason = terms.get(report, "reason"); reason.kind != ElementKind::unknown) {
        event.kind = LogKind::process_error;
        set_name(terms, terms.get(report, "name"), event);
        set_reason(terms, reason, event);
    }
}

void set_printed_reason(std::string_view text, LogEvent& event) {
    event.reason_term = parse_term(text);
    const TermReader terms(*event.reason_term);
    set_reason(terms, event.reason_term->term(), event);
}

// The emulator prints its own reports itself where it can't send terms (erts: utils.c send_error_term_to_logger, up to
// 20): "Error in process <0.2.0> on node 'n@h' with exit value: {Reason,Stack}\n\n", cut at some length.
void read_printed(std::string_view text, LogEvent& event) {
    constexpr std::string_view begin = "Error in process ", with = "with exit value:";
    const std::size_t at = text.find(with);
    if (!text.starts_with(begin) || at == text.npos) return;
    event.kind = LogKind::process_error;
    const auto pid = parse_term(text.substr(begin.size(), at - begin.size()));
    if (pid->term().kind == ElementKind::pid) event.pid = pid->term().pid;
    set_printed_reason(text.substr(at + with.size()), event);
}

// A report that a formatter has made a text of already (logger_formatter, sasl_report): what follows the word for its
// reason is the reason as printed.
void read_formatted_report(const std::string& text, LogEvent& event) {
    constexpr std::array<std::string_view, 6> words{
        "exception error: ", "exception exit: ", "exception throw: ", "exited: ", "reason: ", "Reason: "};
    if (!text.starts_with("=")) return;
    event.level = text.starts_with("=INFO") || text.starts_with("=NOTICE") || text.starts_with("=PROGRESS")
                      ? LogLevel::info
                      : LogLevel::error;
    for (const std::string_view word : words)
        if (const std::size_t at = text.find(word); at != text.npos)
            return set_printed_reason(std::string_view(text).substr(at + word.size()), event);
}

// Formats whose arguments have known meanings: the emulator's and those of behaviours before 21.
void read_format(const TermReader& terms, const Element& format, const Element& arguments, LogEvent& event) {
    event.format = format;
    event.args = terms.list(arguments, 32);
    std::string text = terms.text(format, 400).value_or("");
    const std::size_t count = event.args.size();
    if ((text == "~s~n" || text == "~ts~n") && count == 1) text = terms.text(event.args[0], 16'384).value_or("");
    if (event.args.size() <= 1) read_printed(text, event);
    if (text.starts_with("Error in process") && count >= 2) {  // erts: beam_common.c terminate_proc, send_error_term
        event.kind = LogKind::process_error;
        if (event.args[0].kind == ElementKind::pid) event.pid = event.args[0].pid;
        set_reason(terms, event.args.back(), event);
    } else if (text.find("terminating") != std::string::npos && text.starts_with("**") && count >= 4) {
        event.kind = LogKind::process_error;  // gen_server, gen_fsm, gen_event, gen_statem before 21
        set_name(terms, event.args[0], event);
        set_reason(terms, event.args.back(), event);
    }
}

bool read_legacy(const TermReader& terms, const std::vector<Element>& parts, LogEvent& event) {
    const auto body = terms.tuple(parts[2], 3);
    event.level = *legacy_level(parts[0]);
    if (body[0].kind == ElementKind::pid) event.pid = body[0].pid;
    if (parts[0].text.ends_with("report")) read_report(terms, body[2], event);
    else read_format(terms, body[1], body[2], event);
    return true;
}

// crash_reason of Elixir's metadata is {Exception, Stack}.
bool read_elixir(const TermReader& terms, const std::vector<Element>& parts, LogEvent& event) {
    const auto body = terms.tuple(parts[2], 4);
    event.level = level_of(parts[0]);
    event.format = body[1];
    event.time = local_time(terms, body[2], event.order);
    if (const Element pid = terms.get(body[3], "pid"); pid.kind == ElementKind::pid) event.pid = pid.pid;
    if (const Element module = terms.get(body[3], "module"); TermReader::is_atom(module)) event.module = module.text;
    set_name(terms, terms.get(body[3], "registered_name"), event);
    if (const Element reason = terms.get(body[3], "crash_reason"); reason.kind != ElementKind::unknown) {
        event.kind = LogKind::process_error;
        set_reason(terms, reason, event);
    }
    return true;
}

void set_time(std::int64_t microseconds, LogEvent& event) {
    event.order = static_cast<std::uint64_t>(microseconds);
    const auto seconds = static_cast<std::time_t>(microseconds / 1'000'000);
    std::tm utc{};
    if (gmtime_r(&seconds, &utc) != nullptr)
        event.time = fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                                 utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

void read_meta(const TermReader& terms, const Element& meta, LogEvent& event) {
    if (const Element pid = terms.get(meta, "pid"); !event.pid.has() && pid.kind == ElementKind::pid)
        event.pid = pid.pid;
    if (const auto mfa = terms.tuple(terms.get(meta, "mfa"), 3); event.module.empty() && !mfa.empty())
        event.module = mfa[0].text;
    if (const auto time = terms.number(terms.get(meta, "time")); time && *time > 0) set_time(*time, event);
    if (const Element reason = terms.get(meta, "crash_reason");
        event.reason.kind == ElementKind::unknown && reason.kind != ElementKind::unknown) {
        event.kind = LogKind::process_error;
        set_reason(terms, reason, event);
    }
}

bool read_message(const TermReader& terms, const Element& term, LogEvent& event) {
    const auto message = terms.tuple(term, 2);
    if (message.empty()) return false;
    if (TermReader::is(message[0], "report")) read_report(terms, message[1], event);
    else if (TermReader::is(message[0], "string")) event.format = message[1];
    else read_format(terms, message[0], message[1], event);
    return true;
}

bool read_event_map(const TermReader& terms, const Element& term, LogEvent& event) {
    event.level = level_of(terms.get(term, "level"));
    if (!read_message(terms, terms.get(term, "msg"), event)) return false;
    const Element meta = terms.get(term, "meta");
    read_meta(terms, terms.is_map(meta) ? meta : term, event);
    return true;
}

// The level, the message, the time and the metadata of a tuple, wherever in it they stand.
bool read_kept(const TermReader& terms, const Element& term, LogEvent& event) {
    constexpr std::int64_t least_time = 100'000'000'000'000;  // microseconds, as logger counts them: 1973
    Element meta;
    std::int64_t time = 0;
    for (const Element& part : terms.tuple(term)) {
        if (const LogLevel level = level_of(part); level != LogLevel::none) event.level = level;
        else if (is_message(terms, part)) read_message(terms, part, event);
        else if (terms.is_map(part)) meta = part;
        else if (const auto number = terms.number(part); number && *number >= least_time) time = *number;
    }
    if (time != 0) set_time(time, event);
    if (meta.kind != ElementKind::unknown) read_meta(terms, meta, event);
    return true;
}

bool read_bare_report(const TermReader& terms, const Element& term, LogEvent& event) {
    read_report(terms, term, event);
    event.level = event.kind == LogKind::progress ? LogLevel::info : LogLevel::error;
    return event.kind != LogKind::message;
}

bool read_forwarded(const TermReader& terms, const std::vector<Element>& parts, LogEvent& event) {
    event.level = level_of(parts[1]);
    if (parts.size() == 5) read_format(terms, parts[2], parts[3], event);
    else if (terms.text(parts[2], 8)) event.format = parts[2];
    else read_report(terms, parts[2], event);
    read_meta(terms, parts.back(), event);
    return true;
}

// {lager_msg, Destinations, Metadata, Severity, {Date,Time}, Timestamp, Message} (lager_msg.erl)
bool read_lager(const TermReader& terms, const std::vector<Element>& parts, LogEvent& event) {
    event.level = level_of(parts[3]);
    if (const Element pid = terms.get(parts[2], "pid"); pid.kind == ElementKind::pid) event.pid = pid.pid;
    if (const Element module = terms.get(parts[2], "module"); TermReader::is_atom(module)) event.module = module.text;
    if (const auto text = terms.tuple(parts[4], 2); !text.empty())
        event.time = terms.text(text[0], 40).value_or("") + " " + terms.text(text[1], 40).value_or("");
    event.format = parts.back();
    return true;
}

bool read_exit(const TermReader& terms, const Element& term, LogEvent& event) {
    event.kind = LogKind::exit_message;
    const bool exit = !terms.tagged(term, "EXIT", 3).empty();
    const auto parts = terms.tuple(term);
    if (const Element& who = parts[exit ? 1 : 3]; who.kind == ElementKind::pid) event.pid = who.pid;
    set_reason(terms, parts[exit ? 2 : 4], event);
    return true;
}

bool read_text(const TermReader& terms, const std::vector<Element>& parts, LogEvent& event) {
    event.kind = LogKind::output;
    event.format = parts.back();
    read_formatted_report(terms.text(parts.back(), 32'768).value_or(""), event);
    return true;
}

bool read_failed_application(const TermReader& terms, const std::vector<Element>& parts, LogEvent& event) {
    event.kind = LogKind::application_end;
    event.level = LogLevel::error;
    event.subject = parts[1];
    set_reason(terms, terms.tagged(parts[2], "error", 2)[1], event);
    return true;
}

// {put_chars, Encoding, Text}, {put_chars, Encoding, Module, Function, Args}, {requests, [...]}
bool read_output(const TermReader& terms, const Element& term, LogEvent& event) {
    const auto request = terms.tuple(term, 4);
    event.kind = LogKind::output;
    event.pid = request[1].pid;
    auto output = terms.tuple(request[3]);
    if (TermReader::is(output[0], "requests"))
        if (const auto all = terms.list(output[1], 1); !all.empty()) output = terms.tuple(all[0]);
    if (output.size() == 3 || output.size() == 2) {
        event.format = output.back();
        read_formatted_report(terms.text(event.format, 32'768).value_or(""), event);
    } else if (output.size() >= 4) {
        const auto args = terms.list(output.back(), 2);
        if (!args.empty()) event.format = args[0];
        if (args.size() == 2 && TermReader::is(output[output.size() - 2], "format"))
            event.args = terms.list(args[1], 32);
    }
    return event.format.kind != ElementKind::unknown;
}

}  // namespace

std::string_view name_of(LogLevel level) {
    if (level == LogLevel::none) return {};
    for (const auto& [name, each] : level_names)
        if (each == level) return name;
    return {};
}

std::string_view name_of(LogKind kind) {
    switch (kind) {
        case LogKind::message: return "message";
        case LogKind::crash_report: return "crash_report";
        case LogKind::supervisor_report: return "supervisor_report";
        case LogKind::progress: return "progress";
        case LogKind::application_end: return "application_end";
        case LogKind::process_error: return "process_error";
        case LogKind::exit_message: return "exit_message";
        case LogKind::output: break;
    }
    return "output";
}

bool is_orderly(const TermReader& terms, const Element& reason) {
    if (TermReader::is_one_of(reason, {"normal", "shutdown", "noproc", "noconnection"})) return true;
    const auto shutdown = terms.tagged(reason, "shutdown", 2);
    return !shutdown.empty() && terms.tagged(shutdown[1], "failed_to_start_child", 3).empty();
}

std::vector<LogFrame> frames_of(const TermReader& terms, const Element& list) {
    std::vector<LogFrame> frames;
    for (const Element& entry : terms.list(list, 64)) {
        const auto parts = terms.tuple(entry);
        const bool function =
            (parts.size() == 3 || parts.size() == 4) && TermReader::is_atom(parts[0]) && TermReader::is_atom(parts[1]);
        if (!function) {
            if (frames.empty()) return {};
            continue;
        }
        LogFrame frame{std::string(parts[0].text), std::string(parts[1].text), {}, 0, 0, false, {}, {}};
        if (const auto arity = terms.number(parts[2]); arity && *arity >= 0 && *arity < 256)
            frame.arity = static_cast<std::uint32_t>(*arity);
        else if (terms.is_list(parts[2]))
            frame.arity = static_cast<std::uint32_t>(terms.list(parts[2], 256).size()), frame.arguments = parts[2],
            frame.cut = !terms.is_proper(parts[2]);
        else if (parts[2].kind == ElementKind::unknown) frame.cut = true;
        // arguments that are all texts, printed as one without quotes (init.erl up to 25): {shop,open,abc,[...]}
        else if (TermReader::is_atom(parts[2]) && parts.size() == 4 && terms.is_list(parts[3])) frame.cut = true;
        else return {};
        if (parts.size() == 4) {
            frame.error_cause = terms.get(parts[3], {"error_info", "cause"});
            frame.file = terms.text(terms.get(parts[3], "file"), 1000).value_or("");
            if (const auto line = terms.number(terms.get(parts[3], "line")); line && *line > 0 && *line < 100'000'000)
                frame.line = static_cast<std::uint32_t>(*line);
        }
        frames.push_back(std::move(frame));
    }
    return frames;
}

Element split_reason(const TermReader& terms, const Element& reason, std::vector<LogFrame>& stack) {
    const auto pair = terms.tuple(reason, 2);
    if (pair.empty()) return reason;
    std::vector<LogFrame> frames = frames_of(terms, pair[1]);
    if (frames.empty()) return reason;
    stack = std::move(frames);
    return pair[0];
}

std::string local_time(const TermReader& terms, const Element& date_and_time, std::uint64_t& order) {
    const auto both = terms.tuple(date_and_time, 2);
    if (both.empty()) return {};
    const auto date = terms.tuple(both[0], 3);
    const auto time = terms.tuple(both[1]);
    if (date.empty() || time.size() < 3 || time.size() > 4) return {};
    std::array<std::int64_t, 6> numbers{};
    constexpr std::array<std::int64_t, 6> limits{9999, 12, 31, 23, 59, 60};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto number = terms.number(i < 3 ? date[i] : time[i - 3]);
        if (!number || *number < 0 || *number > limits[i]) return {};
        numbers[i] = *number;
    }
    order = 0;
    for (const std::int64_t number : numbers) order = order * 100 + static_cast<std::uint64_t>(number);
    return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", numbers[0], numbers[1], numbers[2], numbers[3],
                       numbers[4], numbers[5]);
}

// Every message of a queue is asked: these names are not made in each call.
constexpr std::string_view pairs_that_wrap[] = {"notify", "sync_notify", "$gen_cast", "$olp_load", "log", "async"};
constexpr std::string_view triples_that_wrap[] = {"$gen_call", "notify_ack"};
constexpr std::string_view triples_of_events[] = {"EXIT", "put_chars", "application_started"};

bool may_wrap_event(const Element& first, std::uint64_t arity) {
    return (arity == 2 && TermReader::is_one_of(first, pairs_that_wrap)) ||
           (arity == 3 && (first.kind == ElementKind::pid || TermReader::is_one_of(first, triples_that_wrap)));
}

Element unwrap_message(const TermReader& terms, const Element& message) {
    Element inner = message;
    for (int layer = 0; layer < 6; ++layer) {
        const auto begin = terms.begin_of(inner);
        if (!begin || !may_wrap_event(begin->first, begin->arity) ||
            (may_be_event(begin->first, begin->arity) && is_event(terms, inner)))
            break;
        inner = terms.tuple(inner, static_cast<std::size_t>(begin->arity)).back();
    }
    return inner;
}

bool may_be_event(const Element& first, std::uint64_t arity) {
    if (!TermReader::is_atom(first)) return false;
    switch (arity) {
        case 2: return first.text == "log";
        case 3: return TermReader::is_one_of(first, triples_of_events) || legacy_level(first) || is_level(first);
        case 4: return first.text == "log" || first.text == "io_request";
        case 5: return first.text == "log" || first.text == "DOWN";
        case 7: return first.text == "lager_msg";
        default: return false;
    }
}

bool is_event(const TermReader& terms, const Element& term) {
    if (terms.is_map(term)) return is_event_map(terms, term);
    // Hardly any tuple begins as an event does: all of it is read of those that do.
    const auto begin = terms.begin_of(term);
    if (!begin || !may_be_event(begin->first, begin->arity)) return false;
    const auto parts = terms.tuple(term);
    switch (parts.size()) {
        case 2: return is_text(terms, parts);
        case 3:
            return is_legacy(terms, parts) || is_elixir(terms, parts) || is_exit(terms, term) ||
                   is_text(terms, parts) || is_failed_application(terms, parts);
        case 4: return is_forwarded(terms, parts) || is_output(terms, term);
        case 5: return is_forwarded(terms, parts) || is_exit(terms, term);
        case 7: return TermReader::is(parts[0], "lager_msg");
        default: return false;
    }
}

bool may_be_level(const Element& element) { return is_level(element); }

bool is_kept_event(const TermReader& terms, const Element& term) {
    const auto parts = terms.tuple(term);
    return parts.size() >= 3 && parts.size() <= 6 && std::ranges::any_of(parts, is_level) &&
           std::ranges::any_of(parts, [&](const Element& part) { return is_message(terms, part); });
}

bool is_bare_report(const TermReader& terms, const Element& term) {
    if (!terms.is_map(term)) return false;
    const auto label = terms.tuple(terms.get(term, "label"), 2);
    return !label.empty() && TermReader::is_atom(label[0]) &&
           (terms.has_key(term, "report") || terms.has_key(term, "reason"));
}

Element report_within(const TermReader& terms, const Element& event) {
    const auto of_message = [&](const Element& message) {
        const auto report = terms.tagged(message, "report", 2);
        return report.empty() ? Element() : report[1];
    };
    if (terms.is_map(event)) return of_message(terms.get(event, "msg"));
    const auto parts = terms.tuple(event);
    if (is_forwarded(terms, parts)) return parts[2];
    if (is_legacy(terms, parts)) return terms.tuple(parts[2], 3)[2];
    for (const Element& part : parts)
        if (const Element report = of_message(part); report.kind != ElementKind::unknown) return report;
    return {};
}

bool read_event(const TermReader& terms, const Element& term, LogEvent& event) {
    if (!is_event(terms, term)) {
        if (is_kept_event(terms, term)) return read_kept(terms, term, event);
        return is_bare_report(terms, term) && read_bare_report(terms, term, event);
    }
    if (terms.is_map(term)) return read_event_map(terms, term, event);
    const auto parts = terms.tuple(term);
    if (is_exit(terms, term)) return read_exit(terms, term, event);
    if (parts.size() == 7) return read_lager(terms, parts, event);
    if (is_forwarded(terms, parts)) return read_forwarded(terms, parts, event);
    if (parts.size() == 4) return read_output(terms, term, event);
    if (is_text(terms, parts)) return read_text(terms, parts, event);
    if (is_failed_application(terms, parts)) return read_failed_application(terms, parts, event);
    if (is_elixir(terms, parts)) return read_elixir(terms, parts, event);
    return read_legacy(terms, parts, event);
}

}  // namespace beamheap::analyses
