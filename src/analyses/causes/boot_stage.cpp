#include "analyses/causes/boot_stage.hpp"

#include <algorithm>
#include <vector>

namespace beamheap::analyses {
namespace {

bool has_process(const Snapshot& snapshot, std::string_view name) {
    return std::ranges::any_of(snapshot.processes,
                               [&](const Process& process) { return snapshot.text(process.name) == name; });
}

// The last modules, oldest first. Nothing where a release loaded all of its modules at once, in the order of their names.
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

}  // namespace

Sentence boot_stage(const Snapshot& snapshot) {
    // The application controller is among the first processes that the boot script starts, kernel_sup follows, and the
    // last of kernel are the terminal's processes and kernel_safe_sup; then come -s, -run and -eval.
    const bool controller = has_process(snapshot, "application_controller");
    const bool kernel = has_process(snapshot, "kernel_sup");
    const bool up = has_process(snapshot, "kernel_safe_sup");
    if (up && !has_process(snapshot, "user") && !has_process(snapshot, "standard_error"))
        return Sentence("The node stopped at the end of its start, and why is lost: it had no terminal or standard output (no process user)");
    Sentence text = !controller ? Sentence("The node stopped while it loaded its first modules")
                    : !kernel   ? Sentence("The node stopped before its kernel application started")
                    : !up       ? Sentence("The node stopped while its kernel application started")
                                : Sentence("What the boot script, -s, -run or -eval called failed");
    text.say(", and the dump does not hold why");
    const std::vector<Sentence> modules = last_modules(snapshot);
    if (!modules.empty()) text.say("; loaded last: {}", joined(modules, ", "));
    return text;
}

}  // namespace beamheap::analyses
