#include "analyses/causes/boot_stage.hpp"

#include <algorithm>

#include "erlang/term_reader.hpp"

namespace beamheap::analyses {
namespace {

bool has_process(const Snapshot& snapshot, std::string_view name) {
    return std::ranges::any_of(snapshot.processes,
                               [&](const Process& process) { return snapshot.text(process.name) == name; });
}

// The last modules, oldest first. Nothing where a release loaded all of its modules at once, in the order of their
// names.
std::vector<Sentence> last_modules(const Snapshot& snapshot) {
    constexpr std::size_t shown = 3, looked_at = 8;
    const std::size_t count = snapshot.modules.size();
    if (count <= looked_at) return {};
    const auto name = [&](std::size_t back) { return snapshot.text(snapshot.modules[count - back].name); };
    bool sorted = true;
    for (std::size_t back = looked_at; back > 1; --back) sorted = sorted && name(back) < name(back - 1);
    std::vector<Sentence> names;
    std::size_t length = 0;
    for (std::size_t back = 1; back <= shown && !sorted && (length += name(back).size()) <= 60; ++back)
        names.insert(names.begin(), sentence("{}", Atom{std::string(name(back)), false}));
    return names;
}

bool has_module(const Snapshot& snapshot, std::string_view name) {
    return std::ranges::any_of(snapshot.modules,
                               [&](const Module& module) { return snapshot.text(module.name) == name; });
}

// Folders of kernel are called kernel, kernel-8.5.3, or stand in an archive of that name.
bool leads_to_kernel(std::span<const std::string> path) {
    return std::ranges::any_of(path,
                               [](const std::string& folder) { return folder.find("kernel") != std::string::npos; });
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

BootStage boot_stage(const Snapshot& snapshot, std::span<const std::string> path) {
    // The application controller is among the first processes that the boot script starts, kernel_sup follows, and the
    // last of kernel are the terminal's processes and kernel_safe_sup; then come -s, -run and -eval.
    const bool controller = has_process(snapshot, "application_controller");
    const bool kernel = has_process(snapshot, "kernel_sup");
    const bool up = has_process(snapshot, "kernel_safe_sup");
    if (!controller && !path.empty() && !snapshot.modules.empty() && !has_module(snapshot, "error_handler") &&
        !leads_to_kernel(path))
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
    if (up && !has_process(snapshot, "user") && !has_process(snapshot, "standard_error")) {
        stage.told = Sentence(
            "The node stopped at the end of its start, and why is lost: it had no terminal or standard output (no "
            "process user)");
        stage.hints.front() =
            Sentence("To see the reason, start it with a terminal, or with its output going to a file.");
        return stage;
    }
    stage.told = !controller ? Sentence("The node stopped while it loaded its first modules")
                 : !kernel   ? Sentence("The node stopped before its kernel application started")
                 : !up       ? Sentence("The node stopped while its kernel application started")
                             : Sentence("What the boot script, -s, -run or -eval called failed");
    stage.told.say(", and the dump does not hold why");
    const std::vector<Sentence> modules = last_modules(snapshot);
    if (!modules.empty()) stage.told.say("; loaded last: {}", joined(modules, ", "));
    return stage;
}

std::vector<std::string> loader_path(Artifact& artifact) {
    constexpr std::size_t most_folders = 1'000, longest = 4'096;
    const ProcId loader = artifact.snapshot().find_registered("erl_prim_loader");
    if (loader == ProcId::none) return {};
    const auto terms = artifact.terms(loader);
    if (!terms) return {};
    TermSource& source = **terms;
    const TermReader reader(source);
    for (std::size_t i = 0; i < source.graph().roots().size(); ++i) {
        if (source.graph().roots()[i].kind != RootKind::stack) continue;
        const std::vector<Element> folders = reader.list(source.root(i), most_folders);
        std::vector<std::string> path;
        for (const Element& folder : folders)
            if (auto text = reader.text(folder, longest); text && !text->empty()) path.push_back(*std::move(text));
        if (!path.empty() && path.size() == folders.size()) return path;
    }
    return {};
}

}  // namespace beamheap::analyses
