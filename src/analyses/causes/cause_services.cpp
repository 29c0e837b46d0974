// What a node needs of others to start: its name, its output, applications, tables, files and ports.
#include <algorithm>
#include <array>

#include "analyses/causes/explainer.hpp"

namespace beamheap::analyses {
namespace {

struct Posix {
    std::string_view atom;
    CauseKind kind;
    Ours means;
};
constexpr std::array<Posix, 21> posix_errors{{
    {"eaddrinuse", CauseKind::port_taken, "is in use"},
    {"eaddrnotavail", CauseKind::refused, "this machine does not have that address"},
    {"enoent", CauseKind::no_file, "a file, folder or program does not exist"},
    {"enotdir", CauseKind::no_file, "a part of a path is no folder"},
    {"eisdir", CauseKind::no_file, "a folder stands where a file is expected"},
    {"eacces", CauseKind::no_file, "the operating system denied permission"},
    {"eperm", CauseKind::no_file, "the operating system did not permit it"},
    {"erofs", CauseKind::no_file, "the file system is read-only"},
    {"enospc", CauseKind::no_file, "the disk is full"},
    {"efbig", CauseKind::no_file, "the file may not grow further"},
    {"edquot", CauseKind::no_file, "the disk quota is used up"},
    {"eio", CauseKind::no_file, "the device has failed"},
    {"emfile", CauseKind::no_file, "there is no file descriptor left"},
    {"enomem", CauseKind::no_file, "the operating system has no memory left"},
    {"econnrefused", CauseKind::refused, "a service refused the connection"},
    {"ehostunreach", CauseKind::refused, "another machine can't be reached"},
    {"etimedout", CauseKind::refused, "another machine did not answer"},
    {"nxdomain", CauseKind::refused, "a host name does not resolve"},
    {"epmd_error", CauseKind::refused, "epmd can't be reached"},
    {"epipe", CauseKind::no_output, "the reader of its output is gone"},
    {"einval", CauseKind::bad_value, "the operating system was given a wrong argument"},
}};

// "Failed to start socket listener: Eaddrinuse": libraries of other languages print the error into a text.
const Posix* said_error(const std::string& text) {
    for (const Posix& error : posix_errors) {
        std::string capital(error.atom);
        capital[0] = 'E';
        if (error.atom.size() > 4 &&
            (text.find(error.atom) != std::string::npos || text.find(capital) != std::string::npos))
            return &error;
    }
    return nullptr;
}

// Not the words of reasons themselves: bad_generator, listen_error, failed_to_start_child.
bool names_something(std::string_view atom) {
    return atom.find("error") == atom.npos && atom.find("fail") == atom.npos && !atom.starts_with("bad") &&
           atom != "undefined" && atom != "true" && atom != "false" && atom != "child" && atom != "listen";
}

// The last argument of "the name ~s seems to be in use" that is a name.
std::string name_in(const LogEvent& event) {
    const TermReader e(*event.term);
    std::string name;
    for (const Element& arg : event.args)
        if (TermReader::is_atom(arg)) name = arg.text;
        else if (const auto text = e.text(arg, 255); text && text->find('@') != std::string::npos) name = *text;
    // ... or in the format itself: "Protocol: ~p: the name " ++ Name ++ " seems to be in use ..."
    constexpr std::string_view before = "the name ", after = " seems";
    const std::string format = e.text(event.format, 400).value_or("");
    const std::size_t begin = format.find(before), end = format.find(after);
    if (name.empty() && begin != std::string::npos && end != std::string::npos && begin + before.size() < end)
        name = format.substr(begin + before.size(), end - begin - before.size());
    return name;
}

struct KnownText {
    std::string_view begins;
    CauseKind kind;
    Ours hint;
};
// Reasons that are texts of OTP's own: application_controller.erl, init.erl, reltool_server.erl and reltool_target.erl.
constexpr std::array<KnownText, 11> known_texts{{
    {"error in config file", CauseKind::bad_code, "Check the file with file:consult/1: it names the line."},
    {"invalid config data", CauseKind::bad_specification,
     "The configuration file, or -App Key Value on the command line, has a setting of a wrong form."},
    {"badly formatted environment", CauseKind::bad_specification, "Mind the shell's quotes: values are Erlang terms."},
    {"Missing rel", CauseKind::bad_specification,
     "The release's specification (reltool.config) names a release in boot_rel that no {rel, ...} defines."},
    {"Release ", CauseKind::bad_specification,
     "The release's specification (reltool.config) names an application that lib_dirs do not lead to, or that was not "
     "compiled."},
    {"Illegal option", CauseKind::bad_specification,
     "The release's specification (reltool.config) has a wrong option."},
    {"Illegal library", CauseKind::no_file, "Check lib_dirs in the release's specification (reltool.config)."},
    {"Illegal ", CauseKind::bad_specification, "Check the release's specification (reltool.config)."},
    {"Module ", CauseKind::bad_specification, "Check the release's specification (reltool.config)."},
    {"Application ", CauseKind::bad_specification, "Check the release's specification (reltool.config)."},
    {"Undefined application", CauseKind::no_application, "Check the release's specification and its lib_dirs."},
}};

}  // namespace

Ours meaning_of_posix(std::string_view atom) {
    const auto found = std::ranges::find(posix_errors, atom, &Posix::atom);
    return found == posix_errors.end() ? Ours("") : found->means;
}

// Reasons that are texts of their own.
bool Explainer::text() {
    const auto text = t_.text(failure_.reason, 2000);
    if (!text || text->empty() || failure_.reason.kind == ElementKind::nil) return false;
    if (text->find(".erlang.cookie") != std::string::npos || text->find("cookie file") != std::string::npos) {
        cause_.kind = CauseKind::cookie;
        cause_.what = sentence("the cookie file can't be used: {}", InputText{one_line(*text), InputText::Holds::vm});
        hint(
            "It must belong to the user that runs the node and be readable by that user alone (chmod 400); that user's "
            "home folder must exist.");
        return true;
    }
    // {error,"Bad environment variable: ~tp  Application: ~p"} (application_controller.erl), printed without its quotes
    if (constexpr std::string_view before = "Bad environment variable: "; text->find(before) != std::string::npos) {
        std::string value = text->substr(text->find(before) + before.size());
        while (value.ends_with('}')) value.pop_back();
        cause_.kind = CauseKind::bad_specification;
        cause_.what = sentence("a value on the command line (-App Key Value) is no Erlang: {}",
                               InputText{one_line(value), InputText::Holds::message});
        hint("Mind the shell's quotes, also those of vm.args: strings need their own, as in '\"text\"'.");
        return true;
    }
    cause_.kind = CauseKind::message;
    cause_.what = sentence("{}", InputText{one_line(*text, 130), InputText::Holds::message});
    for (const KnownText& known : known_texts)
        if (text->starts_with(known.begins)) {
            cause_.kind = known.kind;
            hint(known.hint);
            break;
        }
    where();
    return true;
}

// {'EXIT', nodistribution}: why stands in a message that net_kernel logged.
bool Explainer::distribution() {
    if (const auto p = t_.tagged(failure_.reason, "dist_port_already_used", 4); !p.empty()) {
        cause_.kind = CauseKind::port_taken;
        cause_.what = sentence("port {} of the distribution is in use, most likely by {}@{}, which runs already",
                               PrintedTerm{failure_.term, p[1], 20}, plain(p[2]), plain(p[3]));
        hint("Stop the other node, or give this one another name and port.");
        return true;
    }
    if (const auto p = t_.tagged(failure_.reason, "duplicate_node_name", 3); !p.empty())
        return name_taken(sentence("{}@{}", plain(p[1]), plain(p[2])));
    if (const auto p = t_.tagged(failure_.reason, "epmd_error", 3); !p.empty()) {
        cause_.kind = CauseKind::refused;
        cause_.what = sentence("epmd on {} can't be reached: {}", plain(p[1]), plain(p[2]));
        hint("See whether that name resolves, epmd runs there and port 4369 can be reached: epmd -names");
        return true;
    }
    if (!TermReader::is(failure_.reason, "nodistribution")) return false;
    for (const LogEvent& event : events_) {
        if (event.format.kind == ElementKind::unknown) continue;
        const TermReader e(*event.term);
        const std::string format = e.text(event.format, 400).value_or("");
        const auto says = [&](std::string_view words) { return format.find(words) != std::string::npos; };
        if (says("seems to be in use") && !event.args.empty())
            return name_taken(sentence("{}", InputText{name_in(event), InputText::Holds::name}));
        if (says("register error") && has_atom(*event.term, "duplicate_name"))
            return name_taken(node_name("that was given"));
        if (says("register/listen error") || says("register error")) {
            cause_.kind = CauseKind::refused;
            if (has_atom(*event.term, "eaddrinuse"))
                cause_.kind = CauseKind::port_taken,
                cause_.what = sentence("the port on which {} takes other nodes is in use", node_name("it"));
            else cause_.what = sentence("epmd could not register {}", node_name("the node"));
            hint("See whether epmd runs and port 4369 can be reached: epmd -names");
            return true;
        }
        if (says("not supported") || says("Invalid distribution") || says("Could not start distribution")) {
            cause_.kind = CauseKind::bad_name;
            cause_.what =
                sentence("the distribution that -proto_dist names does not work for {}", node_name("this node"));
            return true;
        }
        for (const bool is_long : {true, false})
            if (says(is_long ? "set long node name" : "set short node name")) {
                cause_.kind = CauseKind::bad_name;
                cause_.what = is_long ? sentence("{} is no long node name, or this host has no full name",
                                                 node_name("what -name was given"))
                                      : sentence("{} is no short node name, or the host's name is not known",
                                                 node_name("what -sname was given"));
                hint(
                    "-name needs a host with a dot (or an address), -sname one without; the host's name must resolve.");
                return true;
            }
    }
    cause_.kind = CauseKind::name_taken;
    cause_.what = sentence(
        "distribution did not start for {}: the name is taken, epmd can't be reached, or the host's name does not "
        "resolve",
        node_name("this node"));
    hint("See whether another node has the name, and epmd answers: epmd -names");
    return true;
}

bool Explainer::name_taken(Sentence name) {
    cause_.kind = CauseKind::name_taken;
    cause_.what = sentence("the node name {} is already in use", name);
    hint(
        "Another node of this name runs on this machine, or epmd has not yet noticed its end: epmd -names; stop it, or "
        "choose another name.");
    return true;
}

// As net_kernel was started with it: {net_kernel,start_link,[['x@host',longnames|_]]} in a supervisor's report; else
// the only atom that can be one, or these words of ours.
Sentence Explainer::node_name(Ours otherwise) const {
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
    std::string_view only;
    for (const TextId atom : snapshot_.atoms) {
        const std::string_view name = snapshot_.text(atom);
        const std::size_t at = name.find('@');
        const bool node = at != name.npos && at != 0 && at + 1 < name.size() && name.find('@', at + 1) == name.npos &&
                          name != "nonode@nohost" && name.find_first_of(" /~") == name.npos &&
                          name.find_first_not_of("0123456789", at + 1) != name.npos;  // variables of Elixir: _x@1
        if (!node) continue;
        if (!only.empty()) return Sentence(otherwise);
        only = name;
    }
    return only.empty() ? Sentence(otherwise) : sentence("{}", InputText{std::string(only), InputText::Holds::name});
}

// The terminal: user_drv and prim_tty could not have it.
bool Explainer::terminal() {
    const bool tty = !failure_.stack.empty() &&
                     (failure_.stack.front().module == "prim_tty" || failure_.stack.front().module == "user_drv");
    if (TermReader::is(failure_.reason, "nouser")) {
        cause_.kind = CauseKind::no_output;
        cause_.what = Sentence("it could not get its terminal (nouser)");
    } else if (const auto match = t_.tuple(failure_.reason, 2); tty && !match.empty()) {
        cause_.kind = CauseKind::no_output;
        cause_.what = Sentence("it could not get its terminal");
        const auto error = t_.tagged(match[1], "error", 2);
        const auto pair = error.empty() ? std::vector<Element>{} : t_.tuple(error[1], 2);
        if (!pair.empty())
            cause_.what.say(": {}: {}", plain(pair[0]),
                            InputText{one_line(t_.text(pair[1], 200).value_or(std::string(pair[1].text)), 60),
                                      InputText::Holds::message});
        else cause_.what.say(": {}", printed(failure_.reason));
        where();
    } else {
        return false;
    }
    hint("Start it with a working terminal, or with -noinput (-noshell): a service has none.");
    return true;
}

// A write to standard output or error that fails: what it was about to say is the cause, of which this is the end.
bool Explainer::output_gone() {
    const bool io = !failure_.stack.empty() && failure_.stack.front().module == "io";
    if (!io || !TermReader::is_one_of(failure_.reason, {"badarg", "terminated", "epipe", "eio", "enotsup", "einval"}))
        return false;
    const auto arguments = t_.list(failure_.stack.front().arguments, 4);
    // badarg is also the caller's own mistake: arguments that do not fit the format, bytes that are no text. It is not
    // where the device is a name that nobody has, or a process that is gone.
    if (TermReader::is(failure_.reason, "badarg")) {
        const std::string_view function = failure_.stack.front().function;
        if ((function == "format" || function == "fwrite") && !arguments.empty() &&
            arguments.back().kind != ElementKind::unknown && !t_.is_list(arguments.back()))
            return false;
        const bool device = !arguments.empty() && TermReader::is_atom(arguments[0]);
        const bool process = !arguments.empty() && arguments[0].kind == ElementKind::pid;
        const bool gone =
            process && snapshot_.processes.size() > 10 && snapshot_.find(arguments[0].pid) == ProcId::none;
        if (!device && !gone) return false;
    }
    cause_.kind = CauseKind::no_output;
    cause_.what = Sentence("its standard output or error is gone");
    for (auto argument = arguments.rbegin(); argument != arguments.rend(); ++argument)
        if (const auto text = t_.text(*argument, 2000); text && text->size() > 3) {
            // Elixir's: "** (EXIT from #PID<0.91.0>) an exception was raised:\n    ** (ArgumentError) ..."
            constexpr std::string_view raised = "an exception was raised:";
            const std::size_t at = text->find(raised);
            cause_.what.say(
                "; it was about to say: {}",
                InputText{one_line(std::string_view(*text).substr(at == text->npos ? 0 : at + raised.size()), 80),
                          InputText::Holds::message});
            break;
        }
    hint("Start it with a terminal, or with its output going to a file: who started it has closed its end.");
    return true;
}

bool Explainer::application() {
    if (const auto p = t_.tagged(failure_.reason, "not_started", 2); !p.empty()) {
        cause_.kind = CauseKind::no_application;
        cause_.what = sentence("application {} has to be started first", plain(p[1]));
        hint("Use application:ensure_all_started/1, or put it before this one in the release.");
        return true;
    }
    if (const auto p = t_.tagged(failure_.reason, "not_loaded", 2); !p.empty()) {
        cause_.kind = CauseKind::no_application;
        cause_.what =
            sentence("application {} is not loaded: its .app file is missing, or has another name inside", plain(p[1]));
        return true;
    }
    const auto p = t_.tuple(failure_.reason, 2);
    if (p.empty()) return false;
    const auto file = t_.text(p[1], 200);
    const auto why = t_.text(p[0], 200);
    if (!file || !why || !file->ends_with(".app")) return false;
    cause_.kind = CauseKind::no_application;
    const InputText name{file->substr(0, file->size() - 4), InputText::Holds::name};
    if (why->find(": ") != std::string::npos ||
        why->find("bad") != std::string::npos) {  // "1: syntax error before: '.'"
        cause_.kind = CauseKind::bad_code;
        cause_.what =
            sentence("the resource file {}.app is wrong: {}", name, InputText{one_line(*why), InputText::Holds::vm});
        hint("Check the file with file:consult/1: it names the line.");
        return true;
    }
    cause_.what = sentence("application {} is not installed: {}", name, InputText{*why, InputText::Holds::vm});
    hint("It is missing from the code path (-pa, ERL_LIBS) or from the release.");
    return true;
}

// {noproc, {M, call, [Name|_]}} and {timeout, {M, call, [Name|_]}}
bool Explainer::registered() {
    if (const auto p = t_.tagged(failure_.reason, "already_started", 2); !p.empty()) {
        cause_.kind = CauseKind::bad_value;
        cause_.what = sentence("what it was to start is running already: {}", plain(p[1]));
        where();
        return true;
    }
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
bool Explainer::table() {
    if (!TermReader::is(failure_.reason, "badarg") || failure_.stack.empty() || failure_.stack.front().module != "ets")
        return false;
    const auto arguments = t_.list(failure_.stack.front().arguments, 2);
    if (arguments.empty() || !TermReader::is_atom(arguments[0])) return false;
    const bool there = std::ranges::any_of(
        snapshot_.ets, [&](const EtsTable& table) { return snapshot_.text(table.name) == arguments[0].text; });
    if (there) return false;
    cause_.kind = CauseKind::no_table;
    cause_.what = sentence("the ETS table {} does not exist", plain(arguments[0]));
    where();
    return true;
}

// {aborted, {no_exists, Table}}, {timeout, [Table]}, {timeout_waiting_for_tables, ...}: mnesia's reasons, bare or
// matched.
bool Explainer::mnesia() {
    Element reason = failure_.reason;
    for (const std::string_view tag : {"badmatch", "case_clause", "error", "aborted"})
        if (const auto p = t_.tagged(reason, tag, 2); !p.empty()) reason = p[1];
    if (const auto p = t_.tagged(reason, "no_exists", 2); !p.empty()) {
        const auto parts = t_.list(p[1], 1);
        cause_.kind = CauseKind::no_table;
        cause_.what =
            sentence("the mnesia table {} does not exist on this node", plain(parts.empty() ? p[1] : parts[0]));
        hint("Create it, or load its schema, before it is used: mnesia:create_table/2, mnesia:wait_for_tables/2.");
    } else if (const auto late = t_.tuple(reason);
               !late.empty() && TermReader::is_one_of(late[0], {"timeout", "timeout_waiting_for_tables"})) {
        const auto names = late.size() < 2 ? std::vector<Element>{} : t_.list(late.back(), 100);
        if (names.empty() || !TermReader::is_atom(names[0])) return false;
        cause_.kind = CauseKind::timeout;
        cause_.what = sentence("mnesia tables were not there in time: {}", plain(names[0]));
        if (names.size() > 1) cause_.what.say(" and {} more", Amount{names.size() - 1, AmountUnit::count});
        hint("Another node of the cluster has to start first, or the tables do not exist in this schema.");
    } else {
        return false;
    }
    where();
    return true;
}

// {options, What} of ssl's functions (ssl.erl), {tls_alert, {Name, Text}} of a handshake, and ranch's no_cert.
bool Explainer::tls() {
    if (TermReader::is(failure_.reason, "no_cert")) {
        cause_.kind = CauseKind::bad_specification;
        cause_.what = Sentence("a TLS listener was given no certificate (no_cert)");
        hint("Give it certfile and keyfile, certs_keys or sni_fun.");
    } else if (const auto p = t_.tagged(failure_.reason, "tls_alert", 2); !p.empty()) {
        cause_.kind = CauseKind::refused;
        const auto alert = t_.tuple(p[1], 2);
        const auto text = alert.empty() ? t_.text(p[1], 400) : t_.text(alert[1], 400);
        cause_.what = Sentence("a TLS connection failed");
        if (!alert.empty() && TermReader::is_atom(alert[0])) cause_.what.say(": {}", plain(alert[0]));
        // "TLS client: In state hello at tls_record.erl:564 generated CLIENT ALERT: Fatal - Unexpected Message\n ..."
        constexpr std::string_view before = "ALERT: ";
        if (const std::size_t at = text ? text->find(before) : std::string::npos; at != std::string::npos)
            cause_.what.say(" ({})", InputText{one_line(std::string_view(*text).substr(at + before.size()), 70),
                                               InputText::Holds::message});
    } else if (const auto wrong = t_.tagged(failure_.reason, "options", 2); !wrong.empty()) {
        if (posix()) return true;
        cause_.kind = CauseKind::bad_specification;
        cause_.what = says_nothing(wrong[1]) ? Sentence("an option of ssl is wrong, and the slogan leaves out which")
                                             : sentence("an option of ssl is wrong: {}", printed(wrong[1]));
    } else {
        return false;
    }
    where();
    return true;
}

// {application_terminated, App, shutdown}: nothing but its top supervisor ends an application so that has run
// (supervisor.erl).
bool Explainer::gave_up() {
    if (!failure_.exited || !TermReader::is(failure_.reason, "shutdown")) return false;
    cause_.kind = CauseKind::unknown;  // what its children ended of is the cause, where a report tells it
    cause_.what =
        Sentence("its top supervisor gave up, since children of it failed more often than it allows (shutdown)");
    return true;
}

std::uint32_t Explainer::port_in_events() const {
    for (const LogEvent& event : events_) {
        if (!has_atom(*event.term, "eaddrinuse")) continue;
        const TermReader e(*event.term);
        std::vector<Element> left{event.term->term()};
        for (std::size_t i = 0; i < left.size() && i < 2000; ++i) {
            if (left[i].kind != ElementKind::object) continue;
            if (const auto p = e.tagged(left[i], "port", 2);
                !p.empty() && p[1].kind == ElementKind::small && p[1].number > 0 && p[1].number < 65536)
                return static_cast<std::uint32_t>(p[1].number);
            ElementCursor cursor = event.term->elements(left[i].id);
            for (Element element; event.term->next(cursor, element);) left.push_back(element);
        }
    }
    return 0;
}

// An error of the operating system, somewhere in a small reason, with the port, file or name beside it.
bool Explainer::posix() {
    std::vector<Element> left{failure_.reason};
    // Programs and files stand in the arguments of the call that failed: open_port({spawn, "x"}, _), 'System':cmd("x",
    // _).
    const bool bare = TermReader::is_atom(failure_.reason);
    if (bare && !failure_.stack.empty() && failure_.stack.front().arguments.kind != ElementKind::unknown)
        if (const auto arguments = t_.list(failure_.stack.front().arguments, 1); !arguments.empty())
            left.push_back(arguments[0]);
    const Posix* error = nullptr;
    Element port, name;
    std::string file, doing;
    for (std::size_t i = 0; i < left.size() && i < 40; ++i) {
        const Element& each = left[i];
        if (TermReader::is_atom(each)) {
            const auto found = std::ranges::find(posix_errors, each.text, &Posix::atom);
            if (found != posix_errors.end()) error = error == nullptr ? &*found : error;
            else if (name.kind == ElementKind::unknown && names_something(each.text)) name = each;
        } else if (each.kind == ElementKind::small && each.number > 0 && each.number < 65536) {
            if (port.kind == ElementKind::unknown) port = each;
        } else if (const auto text = t_.text(each, 500); text && text->size() > 2) {
            if (const Posix* said = said_error(*text)) error = error == nullptr ? said : error;
            const bool path = text->find('/') != std::string::npos;
            if (file.empty() && (bare || path)) file = *text;
            if (doing.empty() && !bare && !path && text->size() >= 10 && text->find(' ') != std::string::npos &&
                said_error(*text) == nullptr)
                doing = *text;  // {"Cannot create Mnesia dir", Dir, enoent}
            continue;
        }
        if (each.kind != ElementKind::object) continue;
        ElementCursor cursor = failure_.term->elements(each.id);
        for (Element element; left.size() < 60 && failure_.term->next(cursor, element);) left.push_back(element);
    }
    if (error == nullptr) return false;
    cause_.kind = error->kind;
    if (error->kind == CauseKind::port_taken) {
        const std::uint32_t told =
            port.kind == ElementKind::unknown ? port_in_events() : static_cast<std::uint32_t>(port.number);
        const bool named = name.kind != ElementKind::unknown;
        cause_.what = told != 0 ? sentence("port {}", Amount{told, AmountUnit::plain})
                      : named   ? Sentence("a port")
                                : Sentence("a port that it listens on");
        if (named) cause_.what.say(" of {}", plain(name));
        cause_.what.say(" {} (eaddrinuse)", sentence("{}", error->means));
        hint("Another copy of this node, or another program, listens there: ss -ltnp tells which.");
        if (bare && told == 0) where();
        return true;
    }
    if (!doing.empty()) cause_.what.say("{}: ", InputText{one_line(doing, 60), InputText::Holds::message});
    cause_.what.say("{} ({})", error->means, InputText{std::string(error->atom), InputText::Holds::vm});
    if (!file.empty()) cause_.what.say(": {}", InputText{one_line(file, 90), InputText::Holds::message});
    if (error->atom == "emfile") hint("Raise the limit of open files: ulimit -n, LimitNOFILE= of a unit.");
    where();
    return true;
}

}  // namespace beamheap::analyses
