// SPDX-License-Identifier: Apache-2.0
// What a node needs of others to start: its name, its output, applications, tables, files and ports.
#include <algorithm>
#include <optional>

#include "analyses/causes/explainer.hpp"
#include "analyses/logs/log_forms.hpp"
#include "erlang/error_words.hpp"
#include "erlang/functions.hpp"
#include "erlang/modules.hpp"
#include "erlang/servers.hpp"

namespace beamheap::analyses {

using erlang::FunctionRole;
namespace {

using erlang::PosixError;

constexpr std::string_view of_the_vm = "system_limit";

// "Failed to start socket listener: Eaddrinuse": libraries of other languages print the error into a text.
const PosixError* said_error(const std::string& text) {
    for (const PosixError& error : erlang::posix_errors()) {
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
           atom.find("listen") == atom.npos && atom.find("cannot") == atom.npos && atom.find("bind") == atom.npos &&
           atom.find("start") == atom.npos && atom != "undefined" && atom != "true" && atom != "false" &&
           atom != "child";
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

// Whether a name can't be a node's (net_kernel.erl, valid_name_head/1): nothing before the @, a second one, or other
// letters than it allows. Nothing is said of a name that is not known.
bool is_no_node_name(const Sentence& said) {
    const auto* text = said.parts().empty() ? nullptr : std::get_if<InputText>(&said.parts().front());
    if (text == nullptr) return false;
    const std::string_view name = text->text, head = name.substr(0, name.find('@'));
    const bool odd = std::ranges::any_of(head, [](char c) {
        return !(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && c != '-' && c != '_';
    });
    return head.empty() || odd || std::ranges::count(name, '@') > 1;
}

// What stands behind the @ of a name; nothing: no name is known, or it is given without a host.
std::optional<std::string_view> host_in(const Sentence& said) {
    const auto* text = said.parts().empty() ? nullptr : std::get_if<InputText>(&said.parts().front());
    if (text == nullptr) return std::nullopt;
    const std::size_t at = text->text.find('@');
    return at == std::string::npos ? std::nullopt : std::optional(std::string_view(text->text).substr(at + 1));
}

// Of a host that is given the dot decides; else the machine's own name is asked for (net_kernel.erl,
// create_hostpart/2).
Sentence wrong_kind_of_name(bool is_long, const Sentence& name) {
    const auto host = host_in(name);
    const bool dot = host && host->find('.') != host->npos;
    if (host && dot != is_long)
        return sentence(is_long ? Form<1>("{} is no long node name: its host has no dot")
                                : Form<1>("{} is no short node name: its host has a dot"),
                        name);
    return sentence(is_long ? Form<1>("{} is no long node name, or this host has no full name")
                            : Form<1>("{} is no short node name, or the host's name is not known"),
                    name);
}

bool lacks_host(const Sentence& said) {
    const auto* text = said.parts().empty() ? nullptr : std::get_if<InputText>(&said.parts().front());
    return text != nullptr && text->text.size() > 1 && text->text.find('@') == text->text.size() - 1;
}

const PosixError* known_error(std::string_view atom) {
    const auto found = std::ranges::find(erlang::posix_errors(), atom, &PosixError::atom);
    return found == erlang::posix_errors().end() ? nullptr : &*found;
}

}  // namespace

Ours meaning_of_posix(std::string_view atom) {
    const PosixError* error = known_error(atom);
    return error == nullptr ? Ours("") : error->means;
}

// {'EXIT', nodistribution}: why stands in a message that net_kernel logged.
bool Explainer::distribution() {
    if (!TermReader::is(failure_.reason, "nodistribution")) return false;
    if (lacks_host(node_name(""))) {
        cause_.kind = CauseKind::bad_name;
        cause_.what = sentence("the node's name {} has no host behind its @", node_name(""));
        hint("A variable that is empty most often: -name NAME@$HOST. -name needs a host with a dot, or an address.");
        return true;
    }
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
        if (says("Invalid node name") || says("invalid node name")) {
            cause_.kind = CauseKind::bad_name;
            cause_.what = sentence("{} is no name that a node can have", node_name("what -name or -sname was given"));
            hint("A name is NAME or NAME@HOST, of letters, digits, '-' and '_'.");
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
                cause_.what = wrong_kind_of_name(
                    is_long, is_long ? node_name("what -name was given") : node_name("what -sname was given"));
                hint(
                    "-name needs a host with a dot (or an address), -sname one without; the host's name must resolve.");
                return true;
            }
    }
    if (is_no_node_name(node_name(""))) {
        cause_.kind = CauseKind::bad_name;
        cause_.what = sentence("{} is no name that a node can have", node_name("what -name or -sname was given"));
        hint("A name is NAME or NAME@HOST, of letters, digits, '-' and '_'.");
        return true;
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
        if (mfa.empty() || !TermReader::is_atom(mfa[0]) ||
            !erlang::has_role(mfa[0].text, FunctionRole::starts_distribution))
            continue;
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

// A write to standard output or error that fails: what it was about to say is the cause, of which this is the end.
bool Explainer::output_gone() {
    const bool io =
        !failure_.stack.empty() && erlang::has_role(failure_.stack.front().module, FunctionRole::writes_output);
    if (!io || !TermReader::is_one_of(failure_.reason, {"badarg", "terminated", "epipe", "eio", "enotsup", "einval"}))
        return false;
    const auto arguments = t_.list(failure_.stack.front().arguments, 4);
    // badarg is also the caller's own mistake: arguments that do not fit the format, bytes that are no text. It is not
    // where the device is a name that nobody has, or a process that is gone.
    if (TermReader::is(failure_.reason, "badarg")) {
        if (prints_no_list(failure_.stack.front())) return false;
        const bool device = !arguments.empty() && TermReader::is_atom(arguments[0]);
        const bool process = !arguments.empty() && arguments[0].kind == ElementKind::pid;
        const bool gone =
            process && snapshot_.processes.size() > 10 && snapshot_.find(arguments[0].pid) == ProcId::none;
        if (!device && !gone) return false;
    }
    cause_.kind = CauseKind::no_output;
    // {device, Why} (erl_stdlib_errors.erl): what the device itself answered.
    const auto device = t_.tagged(failure_.stack.front().error_cause, "device", 2);
    const PosixError* why = device.empty() || !TermReader::is_atom(device[1]) ? nullptr : known_error(device[1].text);
    if (why != nullptr && why->kind == CauseKind::no_file)
        cause_.what = sentence("its output could not be written: {} ({})", why->means,
                               InputText{std::string(why->atom), InputText::Holds::vm});
    else cause_.what = Sentence("its standard output or error is gone");
    for (auto argument = arguments.rbegin(); argument != arguments.rend(); ++argument)
        if (const auto text = t_.text(*argument, 2000); text && text->size() > 3) {
            // Elixir's: "** (EXIT from #PID<0.91.0>) an exception was raised:\n    ** (ArgumentError) ..."
            constexpr std::string_view raised = "an exception was raised:";
            const std::size_t at = text->find(raised);
            const InputText said{
                one_line(std::string_view(*text).substr(at == text->npos ? 0 : at + raised.size()), 300),
                InputText::Holds::message};
            // What it was to say is the cause where it is about an error; that it could not is what came of it.
            if (erlang::tells_failed_write(*text))
                cause_.what.add(Ours("; what it was about to say is that it could not write before"));
            else if (why == nullptr && erlang::has_error_word(said.text))
                cause_.what = sentence("{} (it could not print that: its standard output or error is gone)", said);
            else cause_.what.say("; it was about to say: {}", said);
            break;
        }
    hint("Start it with a terminal, or with its output going to a file: who started it has closed its end.");
    return true;
}

// badarg of ets: with a name that is no table.
bool Explainer::table() {
    if (!TermReader::is(failure_.reason, "badarg") || failure_.stack.empty() ||
        !erlang::has_role(failure_.stack.front().module, FunctionRole::of_tables))
        return false;
    const auto arguments = t_.list(failure_.stack.front().arguments, 2);
    if (arguments.empty() || !TermReader::is_atom(arguments[0])) return false;
    const bool there = std::ranges::any_of(
        snapshot_.ets, [&](const EtsTable& table) { return snapshot_.text(table.name) == arguments[0].text; });
    const bool makes =
        erlang::has_role(failure_.stack.front().module, failure_.stack.front().function, FunctionRole::makes_table);
    if (there && !makes) return false;
    if (makes) {  // its owner, who ended with this error, had it
        cause_.kind = CauseKind::bad_value;
        cause_.what = sentence("an ETS table named {} exists already", plain(arguments[0]));
        // `cause` of its error_info (erl_stdlib_errors.erl, 24 and later)
        if (!TermReader::is(failure_.stack.front().error_cause, "already_exists"))
            cause_.what.say(", or its options are wrong");
        where();
        return true;
    }
    cause_.kind = CauseKind::no_table;
    cause_.what = sentence("the ETS table {} does not exist", plain(arguments[0]));
    where();
    return true;
}

// badarg of what sends to a name that nobody has, and of what registers one that somebody has.
bool Explainer::names_of_processes() {
    if (!TermReader::is(failure_.reason, "badarg") || failure_.stack.empty()) return false;
    const LogFrame& frame = failure_.stack.front();
    const auto arguments = t_.list(frame.arguments, 3);
    if (!erlang::has_role(frame.module, FunctionRole::of_vm) || arguments.size() < 2 ||
        !TermReader::is_atom(arguments[0]) || snapshot_.processes.empty())
        return false;
    const ProcId holder = snapshot_.find_registered(arguments[0].text);
    const bool sends = erlang::has_role(frame.module, frame.function, FunctionRole::sends);
    if (sends && holder == ProcId::none) {
        // Kernel's own processes are gone where the node goes down, which has another cause.
        cause_.follows = erlang::is_kernel_server(arguments[0].text);
        cause_.kind = cause_.follows ? CauseKind::bad_value : CauseKind::not_registered;
        cause_.what =
            sentence("it sent a message to {}, and no process is registered under that name", plain(arguments[0]));
    } else if (erlang::has_role(frame.module, frame.function, FunctionRole::registers_name) &&
               (holder != ProcId::none || TermReader::is(frame.error_cause, "registered_name"))) {
        cause_.kind = CauseKind::bad_value;
        cause_.what = sentence("the name {} is registered already", plain(arguments[0]));
    } else {
        return false;
    }
    called_by();
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

// Sockets that the node itself has open when an address is in use: two applications with one port fail so, too.
void Explainer::own_sockets() {
    constexpr std::size_t most = 3;
    std::vector<Sentence> held;
    std::size_t sockets = 0;
    for (const Port& port : snapshot_.ports) {
        if (!erlang::is_driver_of_sockets(snapshot_.text(port.driver))) continue;
        if (++sockets > most) continue;
        held.push_back(sentence("{} has {}", AnyProcess{port.connected}, port.port));
    }
    if (held.empty()) return;
    if (sockets > most) held.push_back(sentence("{} more", Amount{sockets - most, AmountUnit::count}));
    hint(sentence("The node has sockets itself, one of which may be the one that listens there: {}.",
                  joined(held, ", ")));
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
    const PosixError* error = nullptr;
    Element port, name;
    std::string file, doing, words;  // words: that hold the error
    for (std::size_t i = 0; i < left.size() && i < 40; ++i) {
        const Element& each = left[i];
        if (TermReader::is_atom(each)) {
            if (const PosixError* found = known_error(each.text)) error = error == nullptr ? found : error;
            else if (name.kind == ElementKind::unknown && names_something(each.text)) name = each;
        } else if (each.kind == ElementKind::small && each.number > 0 && each.number < 65536) {
            if (port.kind == ElementKind::unknown) port = each;
        } else if (const auto text = t_.text(each, 500); text && text->size() > 2) {
            if (const PosixError* said = said_error(*text); said != nullptr && error == nullptr)
                error = said, words = *text;
            const bool path = text->find('/') != std::string::npos;
            if (file.empty() && (bare || path)) file = *text;
            if (doing.empty() && !bare && !path && text->size() >= 10 && text->find(' ') != std::string::npos &&
                said_error(*text) == nullptr)
                doing = *text;  // {"Cannot create Mnesia dir", Dir, enoent}
            continue;
        }
        if (each.kind != ElementKind::object) continue;
        if (!frames_of(t_, each).empty()) continue;  // the files of a stack are sources
        ElementCursor cursor = failure_.term->elements(each.id);
        for (Element element; left.size() < 60 && failure_.term->next(cursor, element);) left.push_back(element);
    }
    if (error == nullptr || (bare && error->atom == of_the_vm)) return false;
    cause_.kind = error->kind;
    if (error->kind == CauseKind::port_taken) {
        const std::uint32_t told =
            port.kind == ElementKind::unknown ? port_in_events() : static_cast<std::uint32_t>(port.number);
        const bool named = name.kind != ElementKind::unknown;
        // {cannot_listen, "/run/shop.sock", eaddrinuse}: the address of a socket of the file system.
        if (told == 0 && file.starts_with('/')) {
            cause_.what = sentence("unix socket {} {} (eaddrinuse)",
                                   InputText{path_text(file), InputText::Holds::message}, error->means);
            hint(
                "Another program listens there (ss -lxp tells which), or the file is left over from an earlier run: "
                "delete it before it is listened on.");
            return true;
        }
        cause_.what = told != 0 ? sentence("port {}", Amount{told, AmountUnit::plain})
                      : named   ? Sentence("a port")
                                : Sentence("a port that it listens on");
        if (named) cause_.what.say(" of {}", plain(name));
        cause_.what.say(" {} (eaddrinuse)", sentence("{}", error->means));
        // {failed_to_start, "ssl:default(0.0.0.0:18883) : eaddrinuse"}
        if (told == 0 && words.find_first_of("0123456789") != words.npos)
            cause_.what.say(": {}", InputText{one_line(words, 60), InputText::Holds::message});
        own_sockets();
        hint("Another copy of this node, or another program, listens there: ss -ltnp tells which.");
        if (bare && told == 0) where();
        return true;
    }
    if (!doing.empty()) cause_.what.say("{}: ", InputText{one_line(doing, 60), InputText::Holds::message});
    cause_.what.say("{} ({})", error->means, InputText{std::string(error->atom), InputText::Holds::vm});
    if (!file.empty())
        cause_.what.say(": {}",
                        InputText{file.starts_with('/') && file.find(": ") == std::string::npos ? path_text(file)
                                                                                                : one_line(file, 90),
                                  InputText::Holds::message});
    // The program's own words around it: {db, {econnrefused, "db1", 5432}}.
    else if (doing.empty() && inside().kind == ElementKind::object) cause_.what.say(": {}", printed(inside()));
    if (error->atom == of_the_vm && snapshot_.node.port_limit.has() && snapshot_.node.process_limit.has())
        cause_.hints.push_back(
            sentence("What is open is gone with the failed start. The node allows {} ports (+Q: "
                     "sockets, files of the VM's own, programs) and {} processes (+P).",
                     Amount{*snapshot_.node.port_limit, AmountUnit::count},
                     Amount{*snapshot_.node.process_limit, AmountUnit::count}));
    if (error->atom == "emfile") hint("Raise the limit of open files: ulimit -n, LimitNOFILE= of a unit.");
    where();
    return true;
}

}  // namespace beamheap::analyses
