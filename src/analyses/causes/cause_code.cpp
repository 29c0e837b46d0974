// SPDX-License-Identifier: Apache-2.0
// Code that is missing or does not load.
#include <algorithm>

#include "analyses/causes/called_names.hpp"
#include "analyses/causes/explainer.hpp"
#include "analyses/causes/own_modules.hpp"
#include "erlang/command_line.hpp"
#include "erlang/core_modules.hpp"
#include "erlang/elixir_names.hpp"
#include "erlang/functions.hpp"
#include "erlang/modules.hpp"
#include "erlang/registered.hpp"
#include "erlang/sources.hpp"
#include "erlang/vm_calls.hpp"

namespace beamheap::analyses {

using erlang::FunctionRole;
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

// Whether what was given for a module is a path, or the name of a file.
bool is_file(std::string_view module) {
    return module.find('/') != module.npos || module.ends_with(".erl") || module.ends_with(".beam");
}

// The words of a report with its arguments, for looking something up in them.
std::string all_words(const LogEvent& event) {
    const TermReader e(*event.term);
    if (event.format.kind == ElementKind::unknown) {
        const Element inner = e.get(event.report, "report");  // of a report that logger has wrapped
        return e.text(inner.kind == ElementKind::unknown ? event.report : inner, 2000).value_or("");
    }
    std::string text = e.text(event.format, 2000).value_or("");
    for (const Element& arg : event.args) text += ' ' + e.text(arg, 2000).value_or(std::string(arg.text));
    return text;
}

}  // namespace

// Of kernel or stdlib, missed by a process that no application's start has ended: all have loaded some of these, so
// that it could be loaded while there was code_server to do it.
bool Explainer::without_loader(std::string_view module) const {
    return erlang::is_core_module(module) && failure_.application.empty() && failure_.children.empty() &&
           snapshot_.source.process_table_complete &&
           snapshot_.find_registered(vm_calls::keeper_of_code_path) == ProcId::none &&
           std::ranges::any_of(failure_.stack, [](const LogFrame& frame) {
               return erlang::has_role(frame.module, erlang::RegisteredRole::starts_node);
           });
}

// What helps where a function of a module does not exist: the module is `loaded`, `packaged` apart, `near` another
// name, or of a tool that builds.
void Explainer::hint_undefined(const std::string& module, bool loaded, std::string_view packaged, std::string_view near,
                               bool of_a_tool) {
    if (loaded && hides_library(module))
        hint(sentence("Rename module {}, or take it off the code path: it is loaded in the place of OTP's.",
                      Atom{module, false}));
    else if (loaded)
        hint(
            sentence("Module {} is loaded and exports no such function: look for another version of it, a wrong number "
                     "of arguments, or a misspelt name.",
                     Atom{module, false}));
    else if (of_a_tool)
        hint(
            "What builds a project is not there where it runs: read such a value when it is compiled (a module "
            "attribute, config.exs), and from Application.get_env/2 later.");
    else if (!packaged.empty())
        hint(sentence("Install {} of OTP (distributions package it apart), or add it to the release's applications.",
                      Atom{std::string(packaged), false}));
    else if (!near.empty())
        hint(
            sentence("If {} is meant, correct the name where it is called; else module {} is missing from the code "
                     "path (-pa, the release).",
                     Atom{std::string(near), false}, Atom{module, false}));
    else if (without_loader(module))
        hint(
            "Where a program ends processes that it does not know, code_server among them, no module is loaded any "
            "more, and the next function that is not loaded yet ends who calls it: look for who calls exit(Pid, kill). "
            "Else OTP is not whole.");
    else if (is_of_otp(module))
        hint(sentence("Module {} is a part of OTP or Elixir: what is installed is not whole, or not of that release.",
                      Atom{module, false}));
    else
        hint(sentence(
            "Module {} is missing from the code path (-pa, the release), its name is misspelt, or it is there and "
            "does not load (compiled by another release, damaged, without its NIF): the log has \"Loading of ... "
            "failed\" then.",
            Atom{module, false}));
}

// undef: whose module is missing, can't be loaded, or has no such function.
bool Explainer::undefined() {
    LogFrame called;
    if (TermReader::is(failure_.reason, "undef") && !failure_.stack.empty()) {
        called = failure_.stack.front();
    } else if (TermReader::is(t_.get(failure_.reason, "__struct__"), erlang::struct_of_undefined_function)) {
        called.module = t_.get(failure_.reason, "module").text;
        called.function = t_.get(failure_.reason, "function").text;
        called.arity = static_cast<std::uint32_t>(t_.number(t_.get(failure_.reason, "arity")).value_or(0));
        if (called.module.empty() || called.function.empty()) return false;
    } else {
        return false;
    }
    cause_.kind = CauseKind::no_function;
    // init itself raises it for a module of -s or -run that it could not load (init.erl, 26 and later).
    if (has_role(called.module, called.function, FunctionRole::calls_by_name)) {
        for (const std::string& module : modules_not_loaded())
            if (bad_module(module)) return true;
        for (const std::string_view module : called_names(snapshot_).without_module)
            if (bad_module(module)) return true;
        module_of_command_line();
        return true;
    }
    if (without_module(called)) return true;
    if (bad_module(called.module)) return true;
    if (refused_library(called.module) || accessed_struct(called)) return true;
    cause_.lost_arguments = has_lost_arguments(called);
    called.cut = called.cut || cause_.lost_arguments;
    const bool loaded = std::ranges::any_of(
        snapshot_.modules, [&](const Module& module) { return snapshot_.text(module.name) == called.module; });
    const std::string_view packaged = loaded ? std::string_view{} : erlang::packaged_application(called.module);
    const std::string_view tool = loaded ? std::string_view{} : erlang::build_tool(called.module);
    const std::string_view near =
        loaded || !tool.empty() || is_of_otp(called.module) ? std::string_view{} : similar_module(called.module);
    cause_.what = sentence("{} does not exist", function(called));
    if (loaded)
        cause_.what.say(hides_library(called.module) ? Form<0>(", and a module of the program's own hides that of OTP")
                                                     : Form<0>(", though its module is there"));
    if (!packaged.empty())
        cause_.what.say(": OTP's application {} is not on the code path", Atom{std::string(packaged), false});
    if (!tool.empty())
        cause_.what.say(": {} is not part of a release", InputText{std::string(tool), InputText::Holds::vm});
    if (!near.empty()) cause_.what.say(" (is {} meant?)", Atom{std::string(near), false});
    if (is_file(called.module)) cause_.what.say(": that is a file's name, not a module's");
    else if (!loaded && without_loader(called.module))
        cause_.aside = Sentence(" (not loaded, and code_server, which loads modules, is gone)"),
        cause_.aside_in_brief = Sentence(" (code_server is gone)");
    else if (!loaded && packaged.empty() && near.empty() && tool.empty())
        cause_.aside = Sentence(" (its module is missing, or does not load)"),
        cause_.aside_in_brief = Sentence(" (module not loaded)");
    called_by();
    hint_undefined(called.module, loaded, packaged, near, !tool.empty());
    return true;
}

// A module that is not loaded, and has had a native library loaded (the VM's list of such modules, "Taints", has it
// from the moment on at which the library was opened): its on_load failed, and the code path has led to it.
bool Explainer::refused_library(std::string_view module) {
    const auto is_module = [module](std::string_view name) { return name == module; };
    bool tainted = false;
    for (std::string_view left = snapshot_.node.taints; !left.empty();) {
        const std::size_t end = left.find_first_of(", ");
        tainted = tainted || is_module(left.substr(0, end));
        left.remove_prefix(end == left.npos ? left.size() : end + 1);
    }
    const bool loaded = std::ranges::any_of(snapshot_.modules,
                                            [&](const Module& each) { return is_module(snapshot_.text(each.name)); });
    if (!tainted || loaded || snapshot_.modules.empty()) return false;
    cause_.kind = CauseKind::no_library;
    cause_.what = sentence(
        "module {} is there and does not load, since its on_load function failed: {}", Atom{std::string(module), false},
        erlang::packaged_application(module).empty() ? Ours("its native library was opened, and refused")
                                                     : Ours("its native library was opened, and gave an error"));
    called_by();
    for (const erlang::LibraryRefusal& row : erlang::library_refusals())
        if (row.module == module) hint(row.means);
    hint(
        "The node's log has \"The on_load function for module ... returned\" with the reason: compiled for another "
        "release of OTP, or a library that it needs is missing or of another version (ldd FILE.so).");
    return true;
}

// settings[:port] of Elixir, where settings is a struct whose module has no such callbacks: Access calls them.
bool Explainer::accessed_struct(const LogFrame& called) {
    const bool by_access = failure_.stack.size() > 1 && erlang::is_access(failure_.stack[1].module);
    if (!by_access || !erlang::is_access_callback(called.function)) return false;
    cause_.kind = CauseKind::bad_value;
    cause_.what = sentence("a struct {} was read by [...], which structs do not have unless they implement Access",
                           Atom{called.module, false});
    called_by();
    hint(sentence("Read its fields as struct.field, or give {} the Access behaviour.", Atom{called.module, false}));
    return true;
}

// Whether a call may have had arguments that the text leaves out, so that their number is not known. What -s and -run
// name is called with names and strings, which are never left out.
bool Explainer::has_lost_arguments(const LogFrame& called) const {
    if (!failure_.leaves_out || called.arguments.kind != ElementKind::nil) return false;
    const auto& stack = failure_.stack;
    const bool by_name = stack.size() > 1 && has_role(stack[1].module, stack[1].function, FunctionRole::calls_by_name);
    const std::vector<std::string_view> names = called_names(snapshot_).names;
    const auto is_named = [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
    return !by_name || !is_named(called.module) || (called.function != "start" && !is_named(called.function));
}

// Whether a module is known to be OTP's (or Elixir's): its name is not misspelt then, whatever is missing.
bool Explainer::is_of_otp(std::string_view module) {
    const auto known = erlang::known_modules();
    return !erlang::packaged_application(module).empty() || erlang::is_core_module(module) ||
           std::ranges::find(known, module, &erlang::ModuleRow::name) != known.end();
}

// Whether a module that OTP has, too, comes from elsewhere: a file of that name in the program's own folders.
bool Explainer::hides_library(std::string_view module) const {
    const auto loaded = std::ranges::find_if(snapshot_.modules,
                                             [&](const Module& each) { return snapshot_.text(each.name) == module; });
    return is_of_otp(module) && loaded != snapshot_.modules.end() &&
           is_own_module(snapshot_, *loaded, build_folders(snapshot_));
}

// -s or -run named a module that could not be loaded, and init does not say which.
void Explainer::module_of_command_line() {
    constexpr std::size_t shown = 3;
    const std::vector<std::string_view> names = called_names(snapshot_).without_module;
    if (names.empty()) {
        cause_.what = Sentence("the module that -s or -run names does not exist");
    } else if (names.size() == 1) {
        cause_.what =
            sentence("module {} is not on the code path, or does not load", Atom{std::string(names.front()), false});
        if (is_file(names.front())) cause_.what.say(": that is a file's name, not a module's");
    } else {
        std::vector<Sentence> some;
        for (const std::string_view name : names)
            if (some.size() < shown) some.push_back(sentence("{}", Atom{std::string(name), false}));
        cause_.what = sentence("a module is not found, or does not load: one of {}", joined(some, ", "));
        if (names.size() > shown) cause_.what.say(" and {} more", Amount{names.size() - shown, AmountUnit::count});
    }
    hint(
        "It is missing from the code path (-pa, the release), its name is misspelt, or it is there and does not load: "
        "compiled by another release, or its on_load failed.");
}

// A call without a module, which erl_eval and the shell look for among their own functions.
bool Explainer::without_module(const LogFrame& called) {
    if (!erlang::has_role(called.module, FunctionRole::lacks_module)) return false;
    const Sentence name = sentence("{}/{}", Atom{called.function}, Amount{called.arity, AmountUnit::plain});
    if (erlang::has_role(called.module, FunctionRole::evaluates_text) && erlang::is_shell_command(called.function)) {
        cause_.what = sentence("{} is a command of the shell, which -eval does not know", name);
        hint("Commands of the shell are functions of module c: c:c(Module), c:l(Module), c:ls().");
    } else {
        cause_.what = sentence("function {} is called without a module, and does not exist", name);
        hint("Write Module:Function(...); mind the shell's quotes, which may have taken a part.");
    }
    return true;
}

std::string_view Explainer::similar_module(std::string_view name) const {
    // ledger_server beside ledger_app is a module of the same program, and logger_server is not.
    const std::string_view prefix = name.substr(0, std::min(name.find('_') + 1, name.size()));
    const bool of_family = !prefix.empty() && std::ranges::any_of(snapshot_.modules, [&](const Module& module) {
        const std::string_view other = snapshot_.text(module.name);
        return other != name && other.starts_with(prefix) && !erlang::is_library(other) && !is_of_otp(other);
    });
    std::string_view best;
    constexpr std::size_t short_name = 7;  // of which a second change makes another word: ranch, rand
    std::size_t nearest = name.size() < short_name ? 2 : 3;
    for (const Module& module : snapshot_.modules) {
        const std::string_view other = snapshot_.text(module.name);
        if (other == name) return {};
        if (of_family && !other.starts_with(prefix)) continue;
        if (const std::size_t d = distance(name, other); d < nearest) {
            nearest = d;
            best = other;
        }
    }
    if (!best.empty() || of_family) return best;
    for (const erlang::ModuleRow& other : erlang::known_modules())
        if (other.has(erlang::ModuleRole::usual) && name != other.name &&
            distance(name, other.name) < (name.size() < short_name ? 2u : 3u))
            return other.name;
    return {};
}

// Modules that the emulator has said it could not load: "Error loading module NAME:".
std::vector<std::string> Explainer::modules_not_loaded() const {
    // ... and init, from 26 on: "Error! Failed to load module 'NAME' because ..."
    constexpr std::string_view begins[] = {"Error loading module ", "Failed to load module '"};
    std::vector<std::string> found;
    for (const LogEvent& event : events_) {
        const std::string text = all_words(event);
        for (const std::string_view before : begins) {
            const std::size_t at = text.find(before);
            if (at == std::string::npos) continue;
            const std::size_t end = text.find_first_of(":' \n", at + before.size());
            found.push_back(text.substr(at + before.size(), end == std::string::npos ? end : end - at - before.size()));
        }
    }
    return found;
}

// What the on_load function of a module gave, in a report with its arguments, or printed: an error of erlang:load_nif/2
// (matched, with a stack, or as it is), or anything else.
void Explainer::on_load_failed(std::string_view module, const LogEvent& event, std::string_view text) {
    static constexpr erlang::Pattern of_nif(BH_NIF_ERROR);
    const TermReader e(*event.term);
    const Atom name{std::string(module), false};
    std::optional<std::string> why;
    Element reason;
    if (event.args.size() >= 2) {
        reason = event.args[1];
        // {Reason, Stack} of one that crashed
        if (const auto pair = e.tuple(reason, 2);
            !pair.empty() && pair[0].kind == ElementKind::object && !e.list(pair[1], 1).empty())
            reason = pair[0];
        Element error = reason;
        for (const std::string_view tag : {"badmatch", "error"})
            if (const auto pair = e.tagged(error, tag, 2); !pair.empty()) error = pair[1];
        if (const erlang::Match match = of_nif.match(*event.term, error))
            why = e.text(match["Text"], 1000).value_or("");
    } else if (const std::size_t at = text.find("NIF library"); at != text.npos) {
        why = text.substr(at, text.find('"', at) - at);
    }
    if (why) {
        cause_.kind = CauseKind::no_library;
        cause_.what = sentence("module {} can't load its native library", name);
        if (!why->empty()) cause_.what.say(": {}", InputText{library_error(*why), InputText::Holds::message});
        hint(
            "The library was not built, is for another system or release of OTP, or one that it needs is missing: "
            "ldd FILE.so");
        return;
    }
    cause_.kind = CauseKind::bad_module;
    cause_.what = sentence("module {} does not load, since its on_load function failed", name);
    if (event.args.size() >= 2) cause_.what.say(": {}", PrintedTerm{event.term, reason, 100});
    hint("Look at the function that -on_load names in that module: it has to return ok.");
}

// What code:load_file/1 and its like give back names no module; the report of it does: "Loading of DIR/shop.beam
// failed: badfile" (code_server.erl).
bool Explainer::not_loaded() {
    if (!TermReader::is(inside(), "badfile")) return false;
    constexpr std::string_view loading = "Loading of", suffix = ".beam";
    for (std::size_t i = events_.size(); i-- > 0;) {
        const std::string text = all_words(events_[i]);
        const std::size_t at = text.find(loading);
        const std::size_t end = at == text.npos ? at : text.find(suffix, at);
        if (end == text.npos) continue;
        const std::size_t begin = text.find_last_of("/ ", end) + 1;
        if (!bad_module(std::string_view(text).substr(begin, end - begin))) continue;
        called_by();
        return true;
    }
    return false;
}

// The code server says why a module that is there was not loaded: "Loading of ~ts failed: ~p", and the emulator's
// "Error loading module ~p: This BEAM file was compiled for a later version ..." (beam_load.c), and "The on_load
// function for module ~s returned: ~P" (code_server.erl).
bool Explainer::bad_module(std::string_view module) {
    const std::string file = std::string(module) + ".beam";
    std::string said, posix_error;
    std::optional<PrintedTerm> refusal;
    bool found = false;
    for (const LogEvent& event : events_) {
        const std::string text = all_words(event);
        if (text.find("Loading of") != std::string::npos && text.find(file) != std::string::npos) {
            found = true;
            if (!event.args.empty() && TermReader::is_atom(event.args.back())) posix_error = event.args.back().text;
            else if (!event.args.empty()) refusal = PrintedTerm{event.term, event.args.back(), 80};
        }
        // erl_prim_loader: "File operation error: emfile. Target: DIR/shop.beam. Function: get_file. ..."
        constexpr std::string_view failed = "File operation error: ";
        const std::size_t target = text.find(file + ". Function");
        if (text.starts_with(failed) && target != text.npos && (text[target - 1] == '/' || text[target - 1] == ' ')) {
            posix_error = text.substr(failed.size(), text.find('.') - failed.size());
            found = found || !meaning_of_posix(posix_error).empty();
        }
        if (text.find("on_load function for module " + std::string(module) + " returned") != text.npos ||
            (text.find("on_load function for module") != text.npos && event.args.size() >= 2 &&
             event.args[0].text == module)) {
            on_load_failed(module, event, text);
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
    if (const Ours means = meaning_of_posix(posix_error); said.empty() && !means.empty()) {
        cause_.what.say(": {} ({})", means, InputText{posix_error, InputText::Holds::vm});
        return true;
    }
    if (said.find("module name in object code") != said.npos) {
        cause_.what.say(": {}", InputText{said, InputText::Holds::vm});
        hint("The file was renamed, or copied over another: its name and that in its -module line have to be one.");
        return true;
    }
    if (!said.empty()) cause_.what.say(": {}", InputText{said, InputText::Holds::vm});
    else if (refusal) cause_.what.say(": {}, most likely of another release", *refusal);
    else if (!posix_error.empty())
        cause_.what.say(": its file is damaged, or was compiled by another release ({})",
                        InputText{posix_error, InputText::Holds::vm});
    for (const erlang::LoaderRefusal& refusal : erlang::loader_refusals())
        if (said.find(refusal.part) != said.npos) cause_.what.say(" ({})", refusal.means);
    hint(
        "Compile it anew with this release of OTP; a file that is empty, was copied in part or for another release "
        "does not load.");
    return true;
}

}  // namespace beamheap::analyses
