// SPDX-License-Identifier: Apache-2.0
#include "analyses/causes/boot_stage.hpp"

#include <algorithm>

#include "analyses/causes/called_names.hpp"
#include "analyses/causes/own_modules.hpp"
#include "erlang/command_line.hpp"
#include "erlang/functions.hpp"
#include "erlang/pattern.hpp"
#include "erlang/registered.hpp"
#include "erlang/term_reader.hpp"
#include "erlang/waiting_functions.hpp"

namespace beamheap::analyses {
namespace {

bool has_process(const Snapshot& snapshot, std::string_view name) {
    return std::ranges::any_of(snapshot.processes,
                               [&](const Process& process) { return snapshot.text(process.name) == name; });
}

bool any_prints(const Snapshot& snapshot) {
    return std::ranges::any_of(snapshot.processes, [&](const Process& process) {
        return process.name != TextId::none &&
               erlang::has_role(snapshot.text(process.name), erlang::RegisteredRole::prints);
    });
}

bool loads_on_demand(const Snapshot& snapshot) {
    return std::ranges::any_of(snapshot.modules, [&](const Module& module) {
        return erlang::has_role(snapshot.text(module.name), erlang::FunctionRole::loads_on_demand);
    });
}

// Folders of kernel are called kernel, kernel-8.5.3, or stand in an archive of that name.
bool leads_to_kernel(std::span<const std::string> path) {
    return std::ranges::any_of(path,
                               [](const std::string& folder) { return folder.find("kernel") != std::string::npos; });
}

// A name ends with .boot as the atom that init made of the file that it could not get (init.erl, get_boot/2), and
// nothing came after it but what old releases make of flags.
std::string_view boot_file_not_found(const Snapshot& snapshot) {
    constexpr std::size_t looked_at = 4;
    for (std::size_t i = 0; i < std::min(looked_at, snapshot.atoms.size()); ++i)
        if (const std::string_view name = snapshot.text(snapshot.atoms[i]); name.ends_with(".boot")) return name;
    return {};
}

// Every boot script names the progress `applications_loaded` (systools_make.erl), which makes it an atom.
bool has_read_script(const Snapshot& snapshot) {
    return snapshot.atoms.empty() || std::ranges::any_of(snapshot.atoms, [&](TextId atom) {
               return snapshot.text(atom) == "applications_loaded";
           });
}

// Whether -path replaced the script's code path: up to 18 an atom tells that it was not given. The path before any
// script is read is the current folder.
bool may_be_given(const Snapshot& snapshot, std::span<const std::string> path) {
    const bool initial = path.size() == 1 && path[0] == ".";
    return !initial &&
           std::ranges::none_of(snapshot.atoms, [&](TextId atom) { return snapshot.text(atom) == "no -path flag"; });
}

BootStage no_boot_file(std::string_view file) {
    BootStage stage;
    stage.told = sentence("The node did not start: the boot file can't be read: {}",
                          InputText{std::string(file.substr(0, 90)), InputText::Holds::message});
    stage.hints = {Sentence("Check -boot, RELEASE and ROOTDIR: -boot takes the path without .boot.")};
    return stage;
}

// What -s and -run were given, where it is not known why it failed: ": no module shop", " (shop, start)".
void tell_called(const CalledNames& called, std::span<const std::string> not_found, BootStage& stage) {
    constexpr std::size_t shown = 4, longest = 40;
    if (const std::string_view missing = called.missing(); !missing.empty()) {
        stage.told = sentence("-s or -run called {}, and no such module is on the code path, or it does not load",
                              Atom{std::string(missing), false});
        if (!not_found.empty())
            stage.told.say(": its folder {} does not exist",
                           InputText{not_found.front().substr(0, 50), InputText::Holds::message});
        stage.hints.front() =
            Sentence("Add its folder with -pa, and see that it is compiled; or its name is misspelt.");
        return;
    }
    std::vector<Sentence> names;
    std::size_t length = 0;
    for (const std::string_view name : called.names)
        if (names.size() < shown && (length += name.size() + 2) <= longest)
            names.push_back(sentence("{}", Atom{std::string(name), false}));
    if (called.among_flags || names.empty())
        stage.told = Sentence("What the boot script, -s, -run or -eval called failed, and the dump does not hold why");
    else
        stage.told =
            sentence("What -s or -run called failed ({}), and the dump does not hold why", joined(names, ", "));
}

BootStage no_kernel_in(std::span<const std::string> path) {
    constexpr std::size_t shown = 2, longest = 60;
    std::vector<Sentence> folders;
    for (const std::string& folder : path.first(std::min(path.size(), shown)))
        folders.push_back(sentence("{}", InputText{folder.substr(0, longest), InputText::Holds::message}));
    BootStage stage;
    stage.told = sentence("The node found no module to start with: its code path is {}", joined(folders, ", "));
    if (path.size() > shown) stage.told.say(" and {} more", Amount{path.size() - shown, AmountUnit::count});
    stage.told.say(", and kernel is not in it");
    stage.hints = {
        Sentence("-path replaces the path of the boot script; -pa and -pz add a folder to it."),
        Sentence("Without -path, the boot script (-boot) and ROOTDIR have to fit the installation of Erlang.")};
    return stage;
}

}  // namespace

BootStage boot_stage(const Snapshot& snapshot, std::span<const std::string> path,
                     std::span<const std::string> not_found) {
    // The application controller is among the first processes that the boot script starts, kernel_sup follows, and the
    // last of kernel are the terminal's processes and kernel_safe_sup; then come -s, -run and -eval.
    const bool controller = has_process(snapshot, erlang::registered::application_controller);
    const bool kernel = has_process(snapshot, erlang::registered::kernel_supervisor);
    const bool up = has_process(snapshot, erlang::registered::last_of_kernel);
    const bool nothing_loaded = !controller && !snapshot.modules.empty() && !loads_on_demand(snapshot);
    if (const std::string_view file = boot_file_not_found(snapshot); nothing_loaded && !file.empty())
        return no_boot_file(file);
    if (nothing_loaded && !path.empty() && !leads_to_kernel(path) && may_be_given(snapshot, path))
        return no_kernel_in(path);
    BootStage stage;
    stage.hints.push_back(
        Sentence("init prints the reason on standard output: the log of whatever started the node may have it."));
    stage.hints.push_back(up ? Sentence("Check what -s, -run, -eval and the boot script start.")
                             : Sentence("Check -boot, ROOTDIR and the code path: the boot file and the modules that it "
                                        "names must be there, and fit."));
    stage.hints.push_back(
        Sentence("If a node died and was restarted, this dump may have overwritten that of the first crash: see the "
                 "file's time."));
    if (up && !any_prints(snapshot)) {
        stage.told = Sentence(
            "The node stopped at the end of its start, and why is lost: it had no terminal or standard output (no "
            "process user)");
        stage.hints.front() =
            Sentence("To see the reason, start it with a terminal, or with its output going to a file.");
        return stage;
    }
    const CalledNames called = called_names(snapshot);
    stage.told = nothing_loaded && !has_read_script(snapshot)
                     ? Sentence("The node stopped before it had read its boot script")
                 : !controller ? Sentence("The node stopped while it loaded its first modules")
                 : !kernel     ? Sentence("The node stopped before its kernel application started")
                 : !up         ? Sentence("The node stopped while its kernel application started")
                               : Sentence("What the boot script, -s, -run or -eval called failed");
    stage.told.say(", and the dump does not hold why");
    if (up && !called.names.empty()) tell_called(called, not_found, stage);
    if (up && !called.missing().empty()) return stage;
    constexpr std::size_t shown = 3;
    const std::size_t longest = up && !called.names.empty() ? 36 : 60;  // so that a sentence has 155 letters
    std::vector<Sentence> modules;
    std::size_t length = 0;
    for (const std::string_view name : last_own_modules(snapshot, shown))
        if ((length += name.size()) <= longest) modules.push_back(sentence("{}", Atom{std::string(name), false}));
    if (!modules.empty()) stage.told.say("; loaded last: {}", joined(modules, ", "));
    return stage;
}

namespace {

// A list of nothing but texts, or of tuples that begin with one ({Folder, Cache} of code_server from 26 on); else
// empty.
std::vector<std::string> texts_of(const TermReader& reader, const Element& list) {
    constexpr std::size_t most_folders = 1'000, longest = 4'096;
    const std::vector<Element> folders = reader.list(list, most_folders);
    std::vector<std::string> path;
    for (const Element& folder : folders) {
        const auto begin = reader.begin_of(folder);
        auto text = reader.text(begin ? begin->first : folder, longest);
        if (text && !text->empty()) path.push_back(*std::move(text));
    }
    return path.size() == folders.size() ? path : std::vector<std::string>{};
}

// The first such list that is a slot of a process's stack, or an element of a tuple there.
std::vector<std::string> path_on_stack(Artifact& artifact, std::string_view name, bool in_tuple) {
    const ProcId process = artifact.snapshot().find_registered(name);
    if (process == ProcId::none) return {};
    const auto terms = artifact.terms(process);
    if (!terms) return {};
    TermSource& source = **terms;
    const TermReader reader(source);
    for (std::size_t i = 0; i < source.graph().roots().size(); ++i) {
        if (source.graph().roots()[i].kind != RootKind::stack) continue;
        const Element root = source.root(i);
        for (const Element& each : in_tuple ? reader.tuple(root) : std::vector<Element>{root})
            if (auto path = texts_of(reader, each); !path.empty()) return path;
    }
    return {};
}

}  // namespace

std::vector<std::string> loader_path(Artifact& artifact) {
    return path_on_stack(artifact, erlang::registered::first_loader, false);
}

bool is_embedded(Artifact& artifact) {
    constexpr std::size_t most_flags = 1'000, longest = 64;
    static constexpr erlang::Pattern mode("{mode, [Value | _]}");
    // Since 26 a persistent term has it, under the server's name. Before, code_server's state has it as an atom, and
    // init's flags as it was given, as long as the one has not ended and the other has not left its loop to halt.
    if (const auto all = artifact.persistent_terms(); all && all->terms != nullptr)
        for (const PersistentTerms::Entry& entry : all->entries)
            if (TermReader::is(entry.key, erlang::code_server))
                return TermReader::is(entry.value, erlang::mode_of_releases);
    for (const std::string_view keeper : {erlang::registered::init, erlang::code_server}) {
        const ProcId process = artifact.snapshot().find_registered(keeper);
        if (process == ProcId::none) continue;
        const auto terms = artifact.terms(process);
        if (!terms) continue;
        TermSource& source = **terms;
        const TermReader reader(source);
        for (std::size_t i = 0; i < source.graph().roots().size(); ++i) {
            if (source.graph().roots()[i].kind != RootKind::stack) continue;
            for (const Element& each : reader.tuple(source.root(i))) {
                if (TermReader::is(each, erlang::mode_of_releases)) return true;
                for (const Element& flag : reader.list(each, most_flags))
                    if (const erlang::Match match = mode.match(source, flag))
                        return reader.text(match["Value"], longest) == erlang::mode_of_releases;
            }
        }
    }
    return false;
}

std::vector<std::string> folders_not_found(Artifact& artifact, std::span<const std::string> loader_path) {
    const std::vector<std::string> found = path_on_stack(artifact, erlang::code_server, true);
    const auto is_in_both = [&](std::string_view folder) {
        while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
        return std::ranges::any_of(found, [folder](const std::string& other) {
            return other == folder || (other.ends_with(folder) && other[other.size() - folder.size() - 1] == '/');
        });
    };
    std::vector<std::string> missing;
    for (const std::string& folder : loader_path)
        if (!is_in_both(folder) && folder.find(".ez") == folder.npos) missing.push_back(folder);
    // Two paths that have nothing in common are not of one node's making.
    return missing.size() == loader_path.size() ? std::vector<std::string>{} : missing;
}

}  // namespace beamheap::analyses
