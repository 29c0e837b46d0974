#include "analyses/causes/cause.hpp"

#include <algorithm>
#include <array>

#include "analyses/logs/log_forms.hpp"

namespace beamheap::analyses {
namespace {

/// Edit distance (Levenshtein) of two names, no further than 3.
std::size_t distance(std::string_view a, std::string_view b) {
    constexpr std::size_t far = 3;
    if (a.size() > b.size() + 2 || b.size() > a.size() + 2) return far;
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t corner = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, corner + (a[i - 1] == b[j - 1] ? 0 : 1)});
            corner = above;
        }
    }
    return std::min(row[b.size()], far);
}

struct Posix {
    std::string_view atom;
    CauseKind kind;
    Ours means;
};
constexpr std::array<Posix, 15> posix_errors{{
    {"eaddrinuse", CauseKind::port_taken, "is in use"},
    {"eaddrnotavail", CauseKind::refused, "this machine does not have that address"},
    {"enoent", CauseKind::no_file, "a file, folder or program does not exist"},
    {"enotdir", CauseKind::no_file, "a part of a path is no folder"},
    {"eacces", CauseKind::no_file, "the operating system denied permission"},
    {"eperm", CauseKind::no_file, "the operating system did not permit it"},
    {"erofs", CauseKind::no_file, "the file system is read-only"},
    {"enospc", CauseKind::no_file, "the disk is full"},
    {"emfile", CauseKind::no_file, "there is no file descriptor left"},
    {"econnrefused", CauseKind::refused, "a service refused the connection"},
    {"ehostunreach", CauseKind::refused, "another machine can't be reached"},
    {"etimedout", CauseKind::refused, "another machine did not answer"},
    {"nxdomain", CauseKind::refused, "a host name does not resolve"},
    {"epipe", CauseKind::no_output, "the reader of its output is gone"},
    {"einval", CauseKind::bad_value, "the operating system was given a wrong argument"},
}};

class Explainer {
public:
    Explainer(const Snapshot& snapshot, const Failure& failure, std::span<const LogEvent> events)
        : snapshot_(snapshot), failure_(failure), t_(*failure.term), events_(events) {}

    Cause run() {
        // The first that knows the reason says it.
        const bool known = text() || distribution() || undefined() || output_gone() || code() || application() ||
                           registered() || table() || returned() || exception() || posix() || value();
        if (!known && says_nothing(failure_.reason)) {
            cause_.kind = CauseKind::none;
        } else if (!known) {
            cause_.what = sentence("{}", printed(failure_.reason));
            where();
        }
        return std::move(cause_);
    }

private:
    // What a slogan printed to a depth has left: `_`, {_}, {{_},[_]}.
    bool says_nothing(const Element& reason) const {
        std::vector<Element> left{reason};
        for (std::size_t i = 0; i < left.size() && i < 40; ++i) {
            if (left[i].kind == ElementKind::unknown || left[i].kind == ElementKind::nil) continue;
            if (!t_.is_kind(left[i], TermKind::tuple) && !t_.is_kind(left[i], TermKind::cons)) return false;
            ElementCursor cursor = failure_.term->elements(left[i].id);
            for (Element element; left.size() < 60 && failure_.term->next(cursor, element);) left.push_back(element);
        }
        return true;
    }
    PrintedTerm printed(const Element& term) const { return {failure_.term, term, 120}; }

    void hint(Sentence sentence) { cause_.hints.push_back(std::move(sentence)); }
    void hint(Ours words) { cause_.hints.emplace_back(words); }

    // ", in m:f/a (file, line n)"
    void where() {
        if (!failure_.stack.empty()) cause_.what.say(", in {}", place(failure_.stack.front()));
    }
    static Sentence place(const LogFrame& frame) {
        Sentence text = sentence("{}", FunctionName{frame.module, frame.function, frame.arity});
        if (!frame.file.empty() && frame.line != 0) {
            const std::size_t slash = frame.file.rfind('/');
            text.say(" ({}:{})", InputText{slash == std::string::npos ? frame.file : frame.file.substr(slash + 1)},
                     Amount{frame.line, AmountUnit::plain});
        }
        return text;
    }
    // The youngest frame that is not of OTP's own helpers: where the code of the application is.
    const LogFrame* own_frame() const {
        for (const LogFrame& frame : failure_.stack)
            if (!is_library(frame.module)) return &frame;
        return nullptr;
    }
    static bool is_library(std::string_view module) {
        constexpr std::array<std::string_view, 22> modules{
            "erlang", "lists", "maps", "ets", "proplists", "gen_server", "gen", "gen_statem", "gen_event", "proc_lib", "supervisor", "io",
            "file", "init", "erl_eval", "application_master", "gen_tcp", "string", "binary", "unicode", "io_lib", "dict"};
        return std::ranges::find(modules, module) != modules.end();
    }

    // Reasons that are texts of their own.
    bool text() {
        const auto text = t_.text(failure_.reason, 2000);
        if (!text || text->empty() || failure_.reason.kind == ElementKind::nil) return false;
        if (text->find(".erlang.cookie") != std::string::npos || text->find("cookie file") != std::string::npos) {
            cause_.kind = CauseKind::cookie;
            cause_.what = sentence("the cookie file can't be used: {}", InputText{*text, InputText::Holds::vm});
            hint("It must belong to the user that runs the node and be readable by that user alone (chmod 400); that "
                 "user's home folder must exist.");
            return true;
        }
        cause_.what = sentence("{}", InputText{*text, InputText::Holds::message});
        if (text->starts_with("error in config file")) {
            cause_.kind = CauseKind::bad_code;
            hint("Check the file with file:consult/1: it names the line.");
        }
        return true;
    }

    // {'EXIT', nodistribution}: why stands in a message that net_kernel logged.
    bool distribution() {
        if (const auto p = t_.tagged(failure_.reason, "dist_port_already_used", 4); !p.empty()) {
            cause_.kind = CauseKind::port_taken;
            cause_.what = sentence("port {} of the distribution is in use, most likely by {}@{}, which runs already",
                                   PrintedTerm{failure_.term, p[1], 20}, plain(p[2]), plain(p[3]));
            hint("Stop the other node, or give this one another name and port.");
            return true;
        }
        if (!TermReader::is(failure_.reason, "nodistribution")) return false;
        for (const LogEvent& event : events_) {
            if (event.format.kind == ElementKind::unknown) continue;
            const TermReader e(*event.term);
            const std::string format = e.text(event.format, 400).value_or("");
            if (format.find("seems to be in use") != std::string::npos && !event.args.empty())
                return name_taken(sentence("{}", InputText{name_in(event), InputText::Holds::name}));
            if (format.find("register error") != std::string::npos && holds(event, "duplicate_name")) return name_taken(node_name());
            if (format.find("register/listen error") != std::string::npos || format.find("register error") != std::string::npos) {
                cause_.kind = CauseKind::refused;
                cause_.what = sentence("epmd could not register {}", node_name());
                hint("See whether epmd runs and port 4369 can be reached: epmd -names");
                return true;
            }
            for (const bool is_long : {true, false})
                if (format.find(is_long ? "set long node name" : "set short node name") != std::string::npos) {
                    cause_.kind = CauseKind::bad_name;
                    cause_.what = is_long ? sentence("{} is no long node name, or this host has no full name", node_name())
                                          : sentence("{} is no short node name, or the host's name is not known", node_name());
                    hint("-name needs a host with a dot (or an address), -sname one without; the host's name must resolve.");
                    return true;
                }
        }
        cause_.kind = CauseKind::name_taken;
        cause_.what = sentence("distribution did not start for {}: the name is taken, epmd can't be reached, or the host's name does not "
                               "resolve", node_name());
        return true;
    }
    bool name_taken(Sentence name) {
        cause_.kind = CauseKind::name_taken;
        cause_.what = sentence("the node name {} is already in use", name);
        hint("Another node of this name runs on this machine, or epmd has not yet noticed its end: epmd -names; stop it, or choose "
             "another name.");
        return true;
    }
    // The last argument of "the name ~s seems to be in use" that is a name.
    static std::string name_in(const LogEvent& event) {
        const TermReader e(*event.term);
        std::string name;
        for (const Element& arg : event.args)
            if (TermReader::is_atom(arg))
                name = arg.text;
            else if (const auto text = e.text(arg, 255); text && text->find('@') != std::string::npos)
                name = *text;
        // ... or in the format itself: "Protocol: ~p: the name " ++ Name ++ " seems to be in use ..."
        constexpr std::string_view before = "the name ", after = " seems";
        const std::string format = e.text(event.format, 400).value_or("");
        const std::size_t begin = format.find(before), end = format.find(after);
        if (name.empty() && begin != std::string::npos && end != std::string::npos && begin + before.size() < end)
            name = format.substr(begin + before.size(), end - begin - before.size());
        return name;
    }
    static bool holds(const LogEvent& event, std::string_view atom) {
        std::vector<Element> left{event.term->term()};
        OwnedTerm& source = *event.term;
        for (std::size_t i = 0; i < left.size() && i < 2000; ++i) {
            if (TermReader::is(left[i], atom)) return true;
            if (left[i].kind != ElementKind::object) continue;
            ElementCursor cursor = source.elements(left[i].id);
            for (Element element; source.next(cursor, element);) left.push_back(element);
        }
        return false;
    }
    // As net_kernel was started with it: {net_kernel,start_link,[['x@host',longnames|_]]} in a supervisor's report.
    Sentence node_name() const {
        for (const LogEvent& event : events_) {
            if (event.kind != LogKind::supervisor_report) continue;
            const TermReader e(*event.term);
            const Element inner = e.get(event.report, "report");
            const Element call = e.get(inner.kind == ElementKind::unknown ? event.report : inner, {"offender", "mfargs"});
            const auto mfa = e.tuple(call, 3);
            if (mfa.empty() || !TermReader::is(mfa[0], "net_kernel")) continue;
            const auto arguments = e.list(mfa[2], 4);
            if (arguments.empty()) continue;
            if (const auto names = e.list(arguments[0], 2); !names.empty() && TermReader::is_atom(names[0]))
                return sentence("{}", InputText{std::string(names[0].text), InputText::Holds::name});
            if (const Element name = e.get(arguments[0], "name"); TermReader::is_atom(name))
                return sentence("{}", InputText{std::string(name.text), InputText::Holds::name});
        }
        return Sentence("that was given");
    }

    // undef: whose module is missing, can't be loaded, or has no such function.
    bool undefined() {
        if (!TermReader::is(failure_.reason, "undef") || failure_.stack.empty()) return false;
        const LogFrame& called = failure_.stack.front();
        cause_.kind = CauseKind::no_function;
        const FunctionName function{called.module, called.function, called.arity};
        if (bad_module(called.module)) return true;
        const bool loaded = std::ranges::any_of(
            snapshot_.modules, [&](const Module& module) { return snapshot_.text(module.name) == called.module; });
        const std::string_view near = loaded ? std::string_view{} : similar_module(called.module);
        cause_.what = sentence("{} does not exist", function);
        if (!near.empty()) cause_.what.say(" (is {} meant?)", Atom{std::string(near), false});
        if (failure_.stack.size() > 1 && failure_.stack[1].module != "init")
            cause_.what.say(", called in {}", place(failure_.stack[1]));
        if (loaded)
            hint(sentence("Module {} is loaded and exports no such function: look for another version of it, a wrong number of arguments, or a "
                          "misspelt name.", Atom{called.module, false}));
        else
            hint(sentence("Module {} is missing from the code path (-pa, the release), or its name is misspelt.",
                          Atom{called.module, false}));
        return true;
    }
    std::string_view similar_module(std::string_view name) const {
        std::string_view best;
        std::size_t nearest = name.size() < 5 ? 2 : 3;
        for (const Module& module : snapshot_.modules) {
            const std::string_view other = snapshot_.text(module.name);
            if (const std::size_t d = distance(name, other); d < nearest) {
                nearest = d;
                best = other;
            }
        }
        if (!best.empty()) return best;
        // Modules that programs call most, which need not be loaded yet.
        constexpr std::array<std::string_view, 16> usual{"proplists", "lists", "maps", "string", "binary", "gen_server", "application", "io_lib",
                                                         "filename", "filelib", "timer", "calendar", "crypto", "base64", "httpc", "mnesia"};
        for (const std::string_view other : usual)
            if (distance(name, other) < (name.size() < 5 ? 2u : 3u)) return other;
        return {};
    }
    // The code server says why a module that is there was not loaded: "Loading of ~ts failed: ~p", and the emulator's
    // "Error loading module ~p: This BEAM file was compiled for a later version ..." (beam_load.c).
    bool bad_module(std::string_view module) {
        const std::string file = std::string(module) + ".beam";
        std::string said;
        bool found = false;
        for (const LogEvent& event : events_) {
            if (event.format.kind == ElementKind::unknown) continue;
            const TermReader e(*event.term);
            std::string text = e.text(event.format, 2000).value_or("");
            for (const Element& arg : event.args) text += ' ' + e.text(arg, 2000).value_or(std::string(arg.text));
            if (text.find("Loading of") != std::string::npos && text.find(file) != std::string::npos) found = true;
            const std::size_t at = text.find("Error loading module " + std::string(module));
            if (at == std::string::npos) continue;
            found = true;
            const std::size_t line = text.find('\n', at);
            if (line != std::string::npos) said = text.substr(text.find_first_not_of(" \n", line));
            said = said.substr(0, said.find('\n'));
            while (said.ends_with('.')) said.pop_back();
        }
        if (!found) return false;
        cause_.kind = CauseKind::bad_module;
        cause_.what = sentence("module {} can't be loaded", Atom{std::string(module), false});
        if (!said.empty()) cause_.what.say(": {}", InputText{said, InputText::Holds::vm});
        hint("Compile it anew with this release of OTP; a file that was copied in part or for another release does not load.");
        return true;
    }

    // A write to standard output or error that fails: what it was about to say is the cause, of which this is the end.
    bool output_gone() {
        const bool io = !failure_.stack.empty() && failure_.stack.front().module == "io";
        if (!io || !TermReader::is_one_of(failure_.reason, {"badarg", "terminated", "epipe", "eio", "enotsup"})) return false;
        const auto arguments = t_.list(failure_.stack.front().arguments, 4);
        // What is given to ~ must be a list: then it is the caller's mistake.
        const std::string_view function = failure_.stack.front().function;
        if ((function == "format" || function == "fwrite") && !arguments.empty() &&
            arguments.back().kind != ElementKind::unknown && !t_.is_list(arguments.back()))
            return false;
        cause_.kind = CauseKind::no_output;
        cause_.what = Sentence("its standard output or error is gone");
        for (auto argument = arguments.rbegin(); argument != arguments.rend(); ++argument)
            if (const auto text = t_.text(*argument, 2000); text && text->size() > 3) {
                cause_.what.say("; it was about to say: {}", InputText{first_lines(*text), InputText::Holds::message});
                break;
            }
        hint("Start it with a terminal, or with its output going to a file: who started it has closed its end.");
        return true;
    }
    static std::string first_lines(const std::string& text) {
        std::string lines;
        bool blank = true;  // before the first word, or after one
        for (const char c : text) {
            const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
            if (!space && blank && !lines.empty()) lines += ' ';
            if (!space) lines += c;
            blank = space;
            if (lines.size() >= 120) return lines + "...";
        }
        while (lines.ends_with('.')) lines.pop_back();
        return lines;
    }

    // {Line, erl_parse, Message} of -eval, and Elixir's own.
    bool code() {
        auto p = t_.tuple(failure_.reason, 3);
        if (p.empty())
            if (const auto match = t_.tagged(failure_.reason, "badmatch", 2); !match.empty()) {
                const auto error = t_.tagged(match[1], "error", 2);
                if (!error.empty()) p = t_.tuple(error[1], 3);
            }
        if (p.empty() || !TermReader::is_one_of(p[1], {"erl_parse", "erl_scan"})) return false;
        cause_.kind = CauseKind::bad_code;
        const auto text = t_.text(p[2], 200);
        cause_.what = text ? sentence("what -eval was given is no Erlang: {}", InputText{*text, InputText::Holds::message})
                           : Sentence("what -eval was given is no Erlang: a syntax error");
        hint("Mind the shell's quotes around -eval, and the full stop at the end.");
        return true;
    }

    bool application() {
        if (const auto p = t_.tagged(failure_.reason, "not_started", 2); !p.empty()) {
            cause_.kind = CauseKind::no_application;
            cause_.what = sentence("application {} has to be started first", plain(p[1]));
            hint("Use application:ensure_all_started/1, or put it before this one in the release.");
            return true;
        }
        const auto p = t_.tuple(failure_.reason, 2);
        if (p.empty()) return false;
        const auto file = t_.text(p[1], 200);
        const auto why = t_.text(p[0], 200);
        if (!file || !why || !file->ends_with(".app")) return false;
        cause_.kind = CauseKind::no_application;
        cause_.what = sentence("application {} is not installed: {}", InputText{file->substr(0, file->size() - 4), InputText::Holds::name},
                               InputText{*why, InputText::Holds::vm});
        hint("It is missing from the code path (-pa, ERL_LIBS) or from the release.");
        return true;
    }

    // {noproc, {M, call, [Name|_]}} and {timeout, {M, call, [Name|_]}}
    bool registered() {
        const auto p = t_.tuple(failure_.reason, 2);
        if (p.empty() || !TermReader::is_one_of(p[0], {"noproc", "timeout"})) return false;
        const auto call = t_.tuple(p[1], 3);
        const auto arguments = call.empty() ? std::vector<Element>{} : t_.list(call[2], 3);
        if (arguments.empty()) return false;
        const bool timeout = TermReader::is(p[0], "timeout");
        cause_.kind = timeout ? CauseKind::timeout : CauseKind::not_registered;
        cause_.what = timeout ? sentence("a call of {} was not answered in time", printed(arguments[0]))
                      : TermReader::is_atom(arguments[0])
                          ? sentence("it called {}, and no process is registered under that name", plain(arguments[0]))
                          : sentence("it called {}, which is no process any more", printed(arguments[0]));
        where();
        return true;
    }

    // badarg of ets: with a name that is no table.
    bool table() {
        if (!TermReader::is(failure_.reason, "badarg") || failure_.stack.empty() || failure_.stack.front().module != "ets") return false;
        const auto arguments = t_.list(failure_.stack.front().arguments, 2);
        if (arguments.empty() || !TermReader::is_atom(arguments[0])) return false;
        const bool there = std::ranges::any_of(snapshot_.ets, [&](const EtsTable& table) {
            return snapshot_.text(table.name) == arguments[0].text;
        });
        if (there) return false;
        cause_.kind = CauseKind::no_table;
        cause_.what = sentence("the ETS table {} does not exist", plain(arguments[0]));
        if (const LogFrame* frame = own_frame()) cause_.what.say(", in {}", place(*frame));
        return true;
    }

    bool returned() {
        for (const std::string_view tag : {"bad_return_value", "bad_return"}) {
            const auto p = t_.tagged(failure_.reason, tag, 2);
            if (p.empty() || says_nothing(p[1])) continue;
            cause_.kind = CauseKind::bad_return;
            const auto inner = t_.tuple(p[1], 2);
            const auto mfa = inner.empty() ? std::vector<Element>{} : t_.tuple(inner[0], 3);
            if (!mfa.empty() && TermReader::is_atom(mfa[0]) && TermReader::is_atom(mfa[1]))
                cause_.what = sentence("{} returned {}", FunctionName{std::string(mfa[0].text), std::string(mfa[1].text),
                                                          static_cast<std::uint32_t>(t_.list(mfa[2], 255).size())},
                                       printed(inner[1]));
            else
                cause_.what = sentence("a callback returned or threw {}", printed(p[1]));
            return true;
        }
        return false;
    }

    // Elixir's exceptions say it themselves.
    bool exception() {
        if (!t_.is_map(failure_.reason)) return false;
        const Element type = t_.get(failure_.reason, "__struct__");
        if (!TermReader::is_atom(type)) return false;
        cause_.kind = CauseKind::bad_value;
        const auto message = t_.text(t_.get(failure_.reason, "message"), 300);
        if (message)
            cause_.what = sentence("{}: {}", Atom{std::string(type.text), false}, InputText{*message, InputText::Holds::message});
        else
            cause_.what = sentence("{}", printed(failure_.reason));
        where();
        return true;
    }

    // An error of the operating system, somewhere in a small reason, with the port, file or name beside it.
    bool posix() {
        std::vector<Element> left{failure_.reason};
        const Posix* error = nullptr;
        Element port, name;
        std::string file;
        for (std::size_t i = 0; i < left.size() && i < 40; ++i) {
            const Element& each = left[i];
            if (TermReader::is_atom(each)) {
                const auto found = std::ranges::find(posix_errors, each.text, &Posix::atom);
                if (found != posix_errors.end())
                    error = error == nullptr ? &*found : error;
                else if (name.kind == ElementKind::unknown && names_something(each.text))
                    name = each;
            } else if (each.kind == ElementKind::small && each.number > 0 && each.number < 65536) {
                if (port.kind == ElementKind::unknown) port = each;
            } else if (const auto text = t_.text(each, 500); text && text->size() > 2) {
                if (const Posix* said = said_error(*text)) error = error == nullptr ? said : error;
                if (file.empty() && text->find('/') != std::string::npos) file = *text;
                continue;
            }
            if (each.kind != ElementKind::object) continue;
            ElementCursor cursor = failure_.term->elements(each.id);
            for (Element element; left.size() < 60 && failure_.term->next(cursor, element);) left.push_back(element);
        }
        if (error == nullptr) return false;
        cause_.kind = error->kind;
        if (error->kind == CauseKind::port_taken) {
            cause_.what = port.kind == ElementKind::unknown ? Sentence("a port that it listens on")
                                                            : sentence("port {}", PrintedTerm{failure_.term, port, 10});
            if (name.kind != ElementKind::unknown) cause_.what.say(" of {}", plain(name));
            cause_.what.say(" {} (eaddrinuse)", sentence("{}", error->means));
            hint("Another copy of this node, or another program, listens there: ss -ltnp tells which.");
        } else {
            cause_.what = sentence("{} ({})", error->means, InputText{std::string(error->atom), InputText::Holds::vm});
            if (!file.empty()) cause_.what.say(": {}", InputText{file, InputText::Holds::message});
            if (const LogFrame* frame = own_frame()) cause_.what.say(", in {}", place(*frame));
        }
        return true;
    }
    // Not the words of reasons themselves: bad_generator, listen_error, failed_to_start_child.
    static bool names_something(std::string_view atom) {
        return atom.find("error") == atom.npos && atom.find("fail") == atom.npos && !atom.starts_with("bad");
    }
    // "Failed to start socket listener: Eaddrinuse": libraries of other languages print the error into a text.
    static const Posix* said_error(const std::string& text) {
        for (const Posix& error : posix_errors) {
            std::string capital(error.atom);
            capital[0] = 'E';
            if (error.atom.size() > 4 && (text.find(error.atom) != std::string::npos || text.find(capital) != std::string::npos)) return &error;
        }
        return nullptr;
    }

    // badarg, badmatch, function_clause and their kin, with the place.
    bool value() {
        if (failure_.stack.empty()) return false;
        const LogFrame& frame = failure_.stack.front();
        if (TermReader::is_one_of(failure_.reason, {"badarg", "function_clause", "badarith", "system_limit"})) {
            cause_.kind = CauseKind::bad_value;
            cause_.what = sentence("{} in {}", printed(failure_.reason), FunctionName{frame.module, frame.function, frame.arity});
            if (const auto arguments = t_.list(frame.arguments, 1); !arguments.empty())
                cause_.what.say(" of {}", PrintedTerm{failure_.term, frame.arguments, 80});
            if (const LogFrame* own = own_frame(); own != nullptr && own != &frame) cause_.what.say(", called in {}", place(*own));
            return true;
        }
        const auto p = t_.tuple(failure_.reason, 2);
        if (p.empty() || !TermReader::is_one_of(p[0], {"badmatch", "case_clause", "badkey", "badmap", "try_clause", "badfun", "badarity"}))
            return false;
        cause_.kind = CauseKind::bad_value;
        cause_.what = sentence("{} in {}", printed(failure_.reason), place(own_frame() != nullptr ? *own_frame() : frame));
        return true;
    }

    Sentence plain(const Element& term) const {
        if (TermReader::is_atom(term)) return sentence("{}", Atom{std::string(term.text), false});
        if (const auto text = t_.text(term, 255)) return sentence("{}", InputText{*text, InputText::Holds::name});
        return sentence("{}", printed(term));
    }

    const Snapshot& snapshot_;
    const Failure& failure_;
    TermReader t_;
    std::span<const LogEvent> events_;
    Cause cause_;
};

constexpr std::array<std::string_view, 18> kind_names{
    "unknown", "none",    "no_function",    "bad_module",     "bad_code", "port_taken", "name_taken", "bad_name",  "cookie",
    "no_file", "refused", "not_registered", "no_application", "no_table", "bad_value",  "bad_return", "no_output", "timeout"};

}  // namespace

std::string_view name_of(CauseKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

Cause cause_of(const Snapshot& snapshot, const Failure& failure, std::span<const LogEvent> events) {
    return Explainer(snapshot, failure, events).run();
}

}  // namespace beamheap::analyses
