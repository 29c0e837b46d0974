// Code that is missing or does not load: boot scripts, modules, native libraries, and what -eval was given.
#include <algorithm>
#include <array>

#include "analyses/causes/explainer.hpp"

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

// The words of a report with its arguments, for looking something up in them.
std::string all_words(const LogEvent& event) {
    const TermReader e(*event.term);
    std::string text = e.text(event.format, 2000).value_or("");
    for (const Element& arg : event.args) text += ' ' + e.text(arg, 2000).value_or(std::string(arg.text));
    return text;
}

// "cannot open shared object file" of "Failed to load NIF library: '/x/y.so: cannot open shared object file: ...'"
std::string library_error(std::string_view text) {
    constexpr std::string_view before = "NIF library";
    if (const std::size_t at = text.find(before); at != text.npos) {
        text.remove_prefix(at + before.size());
        while (!text.empty() && (text.front() == ':' || text.front() == ' ' || text.front() == '\''))
            text.remove_prefix(1);
    }
    while (!text.empty() && (text.back() == '\'' || text.back() == '.' || text.back() == '"')) text.remove_suffix(1);
    return one_line(text, 90);
}

}  // namespace

// init's own reasons (init.erl, R10 to 29).
bool Explainer::boot() {
    if (const auto p = t_.tagged(failure_.reason, "load_failed", 2); !p.empty()) {
        cause_.kind = CauseKind::bad_specification;
        std::vector<Sentence> names;
        const auto modules = t_.list(p[1], 100);
        for (const Element& module : modules)
            if (TermReader::is_atom(module) && names.size() < 4) names.push_back(plain(module));
        if (names.empty()) return false;
        cause_.what = sentence("modules that the boot script names can't be loaded: {}", joined(names, ", "));
        if (modules.size() > names.size())
            cause_.what.say(" and {} more", Amount{modules.size() - names.size(), AmountUnit::count});
        hint("The code path (ROOTDIR, ERL_LIBS, -pa, the release's lib) does not lead to them.");
        return true;
    }
    if (const auto p = t_.tuple(failure_.reason, 2); !p.empty()) {
        const bool words =
            TermReader::is(p[0], "cannot get bootfile") || t_.text(p[0], 40).value_or("") == "cannot get bootfile";
        if (words) {
            cause_.kind = CauseKind::no_file;
            cause_.what = sentence("the boot file can't be read: {}", plain(p[1]));
            hint("Check -boot, RELEASE and ROOTDIR: -boot takes the path without .boot.");
            return true;
        }
    }
    if (TermReader::is(failure_.reason, "invalid_current_directory")) {
        cause_.kind = CauseKind::no_file;
        cause_.what =
            Sentence("its current directory does not exist, or this user can't read it (invalid_current_directory)");
        hint("Start it in a folder that exists: a unit's WorkingDirectory, a folder that a deployment has replaced.");
        return true;
    }
    if (TermReader::is_one_of(failure_.reason, {"terminating", "stopping"})) {
        cause_.kind = CauseKind::stopped;
        cause_.what = Sentence("it was told to stop while it was starting");
        hint("Something called init:stop, or the system sent SIGTERM: see what starts and watches the node.");
        return true;
    }
    const auto in_boot = [](const LogFrame& frame) { return frame.module == "init" && frame.function == "get_boot"; };
    if (TermReader::is(failure_.reason, "badarg") && std::ranges::any_of(failure_.stack, in_boot)) {
        cause_.kind = CauseKind::bad_specification;
        cause_.what = Sentence("the boot file (.boot) is damaged or empty");
        hint("Make it anew: systools:make_script/2, or the release's tool.");
        return true;
    }
    if (const auto p = t_.tagged(failure_.reason, "bad_environment_value", 2); !p.empty()) {
        cause_.kind = CauseKind::bad_specification;
        cause_.what = sentence("a value on the command line (-App Key Value) is no Erlang: {}", plain(p[1]));
        hint("Mind the shell's quotes: strings need their own, as in '\"text\"'.");
        return true;
    }
    return false;
}

// undef: whose module is missing, can't be loaded, or has no such function.
bool Explainer::undefined() {
    LogFrame called;
    if (TermReader::is(failure_.reason, "undef") && !failure_.stack.empty()) {
        called = failure_.stack.front();
    } else if (TermReader::is(t_.get(failure_.reason, "__struct__"), "Elixir.UndefinedFunctionError")) {
        called.module = t_.get(failure_.reason, "module").text;
        called.function = t_.get(failure_.reason, "function").text;
        called.arity = static_cast<std::uint32_t>(t_.number(t_.get(failure_.reason, "arity")).value_or(0));
        if (called.module.empty() || called.function.empty()) return false;
    } else {
        return false;
    }
    cause_.kind = CauseKind::no_function;
    // init itself raises it for a module of -s or -run that it could not load (init.erl, 26 and later).
    const bool by_init = called.module == "init" && (called.function == "start_it" || called.function == "start_em");
    if (by_init) {
        for (const std::string& module : modules_not_loaded())
            if (bad_module(module)) return true;
        cause_.what = Sentence("the module that -s or -run names does not exist");
        hint("It is missing from the code path (-pa, the release), or its name is misspelt.");
        return true;
    }
    if (bad_module(called.module)) return true;
    const bool loaded = std::ranges::any_of(
        snapshot_.modules, [&](const Module& module) { return snapshot_.text(module.name) == called.module; });
    const std::string_view near = loaded ? std::string_view{} : similar_module(called.module);
    cause_.what = sentence("{} does not exist", function(called));
    if (!near.empty()) cause_.what.say(" (is {} meant?)", Atom{std::string(near), false});
    called_by();
    if (loaded)
        hint(
            sentence("Module {} is loaded and exports no such function: look for another version of it, a wrong number "
                     "of arguments, or a misspelt name.",
                     Atom{called.module, false}));
    else
        hint(sentence("Module {} is missing from the code path (-pa, the release), or its name is misspelt.",
                      Atom{called.module, false}));
    return true;
}

std::string_view Explainer::similar_module(std::string_view name) const {
    std::string_view best;
    std::size_t nearest = name.size() < 5 ? 2 : 3;
    for (const Module& module : snapshot_.modules) {
        const std::string_view other = snapshot_.text(module.name);
        if (other == name) return {};
        if (const std::size_t d = distance(name, other); d < nearest) {
            nearest = d;
            best = other;
        }
    }
    if (!best.empty()) return best;
    // Modules that programs call most, which need not be loaded yet.
    constexpr std::array<std::string_view, 16> usual{
        "proplists", "lists",   "maps",  "string",   "binary", "gen_server", "application", "io_lib",
        "filename",  "filelib", "timer", "calendar", "crypto", "base64",     "httpc",       "mnesia"};
    for (const std::string_view other : usual)
        if (name != other && distance(name, other) < (name.size() < 5 ? 2u : 3u)) return other;
    return {};
}

// Modules that the emulator has said it could not load: "Error loading module NAME:".
std::vector<std::string> Explainer::modules_not_loaded() const {
    constexpr std::string_view before = "Error loading module ";
    std::vector<std::string> found;
    for (const LogEvent& event : events_) {
        if (event.format.kind == ElementKind::unknown) continue;
        const std::string text = all_words(event);
        const std::size_t at = text.find(before);
        if (at == std::string::npos) continue;
        const std::size_t end = text.find_first_of(": \n", at + before.size());
        found.push_back(text.substr(at + before.size(), end == std::string::npos ? end : end - at - before.size()));
    }
    return found;
}

// The code server says why a module that is there was not loaded: "Loading of ~ts failed: ~p", and the emulator's
// "Error loading module ~p: This BEAM file was compiled for a later version ..." (beam_load.c), and "The on_load
// function for module ~s returned: ~P" (code_server.erl).
bool Explainer::bad_module(std::string_view module) {
    const std::string file = std::string(module) + ".beam";
    std::string said;
    bool found = false;
    for (const LogEvent& event : events_) {
        if (event.format.kind == ElementKind::unknown) continue;
        const std::string text = all_words(event);
        if (text.find("Loading of") != std::string::npos && text.find(file) != std::string::npos) found = true;
        if (text.starts_with("The on_load function for module") && event.args.size() >= 2 &&
            event.args[0].text == module) {
            const TermReader e(*event.term);
            cause_.kind = CauseKind::no_library;
            cause_.what = sentence("module {} can't load its native library", Atom{std::string(module), false});
            const auto error = e.tagged(event.args[1], "error", 2);
            const auto pair = error.empty() ? std::vector<Element>{} : e.tuple(error[1], 2);
            if (const auto why = pair.empty() ? std::nullopt : e.text(pair[1], 1000))
                cause_.what.say(": {}", InputText{library_error(*why), InputText::Holds::message});
            hint(
                "The library was not built, is for another system or release of OTP, or one that it needs is missing: "
                "ldd FILE.so");
            return true;
        }
        const std::size_t at = text.find("Error loading module " + std::string(module));
        if (at == std::string::npos) continue;
        found = true;
        const std::size_t line = text.find('\n', at);
        const std::size_t why = line == std::string::npos ? line : text.find_first_not_of(" \n", line);
        if (why != std::string::npos) said = text.substr(why, text.find('\n', why) - why);
        while (said.ends_with('.')) said.pop_back();
    }
    if (!found) return false;
    cause_.kind = CauseKind::bad_module;
    cause_.what = sentence("module {} can't be loaded", Atom{std::string(module), false});
    if (!said.empty()) cause_.what.say(": {}", InputText{said, InputText::Holds::vm});
    hint(
        "Compile it anew with this release of OTP; a file that was copied in part or for another release does not "
        "load.");
    return true;
}

// {Line, erl_parse, Message} of -eval, of a file that is read with file:consult, and of a resource file.
bool Explainer::code() {
    auto p = t_.tuple(failure_.reason, 3);
    if (p.empty())
        if (const auto match = t_.tagged(failure_.reason, "badmatch", 2); !match.empty()) {
            const auto error = t_.tagged(match[1], "error", 2);
            if (!error.empty()) p = t_.tuple(error[1], 3);
        }
    if (const auto unbound = t_.tagged(failure_.reason, "unbound_var", 2);
        !unbound.empty() && TermReader::is_atom(unbound[1])) {
        cause_.kind = CauseKind::bad_code;
        cause_.what = sentence("what -eval was given has a variable without a value: {}", plain(unbound[1]));
        hint("Mind the shell's quotes around -eval: it may have taken parts of it for its own.");
        return true;
    }
    if (p.empty() || !TermReader::is_one_of(p[1], {"erl_parse", "erl_scan", "file_io_server", "file"})) return false;
    const bool by_init = failure_.stack.empty() || std::ranges::any_of(failure_.stack, [](const LogFrame& frame) {
                             return frame.module == "init" && frame.function == "start_it";
                         });
    const bool by_eval = by_init && (failure_.stack.empty() || failure_.stack.front().module == "init");
    cause_.kind = CauseKind::bad_code;
    const auto text = t_.text(p[2], 200);
    cause_.what =
        by_eval ? Sentence("what -eval was given is no Erlang") : Sentence("a file that it reads is no Erlang");
    if (!by_eval)
        if (const auto line = t_.number(t_.tuple(p[0], 2).empty() ? p[0] : t_.tuple(p[0], 2)[0]); line && *line > 0)
            cause_.what.say(", line {}", Amount{static_cast<std::uint64_t>(*line), AmountUnit::plain});
    if (text && p[2].kind != ElementKind::nil) cause_.what.say(": {}", InputText{*text, InputText::Holds::message});
    else cause_.what.say(": a syntax error");
    if (by_eval) {
        hint("Mind the shell's quotes around -eval, and the full stop at the end.");
    } else {
        hint("Check the file with file:consult/1: it names the line.");
        where();
    }
    return true;
}

// {load_failed, Text} and {bad_lib, Text} of erlang:load_nif, {on_load_function_failed, Module, Reason}
bool Explainer::native_library() {
    Element reason = failure_.reason;
    Sentence module;
    if (const auto p = t_.tagged(reason, "on_load_function_failed", 3); !p.empty() && TermReader::is_atom(p[1])) {
        module = sentence(" of {}", plain(p[1]));
        reason = p[2];
    } else if (const auto pair = t_.tagged(reason, "on_load_function_failed", 2);
               !pair.empty() && TermReader::is_atom(pair[1])) {
        module = sentence(" of {}", plain(pair[1]));
    }
    if (const auto p = t_.tagged(reason, "badmatch", 2); !p.empty()) reason = p[1];
    if (const auto p = t_.tagged(reason, "error", 2); !p.empty()) reason = p[1];
    const auto pair = t_.tuple(reason, 2);
    const bool by_load_nif =
        !pair.empty() && TermReader::is_one_of(pair[0], {"load_failed", "bad_lib", "load", "old_code", "upgrade"});
    if (module.empty() && !by_load_nif) return false;
    cause_.kind = CauseKind::no_library;
    cause_.what = sentence("a native library{} can't be loaded", module);
    if (by_load_nif)
        if (const auto text = t_.text(pair[1], 1000); text && pair[1].kind != ElementKind::nil)
            cause_.what.say(": {}", InputText{library_error(*text), InputText::Holds::message});
    hint("It was not built, is for another system or release of OTP, or one that it needs is missing: ldd FILE.so");
    where();
    return true;
}

}  // namespace beamheap::analyses
