// SPDX-License-Identifier: Apache-2.0
#include "analyses/code/lines.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "erlang/vm_calls.hpp"
#include "model/otp_release.hpp"

namespace beamheap::analyses {
namespace {

constexpr unsigned most_tail_calls = 6;
constexpr std::size_t most_asked_of_a_call = 200;  // functions, on the way of tail calls
constexpr std::size_t most_lines = 8;              // more of them tell nothing
constexpr std::uint32_t beside_sizes = 32;         // bytes: a function's header, and what stands between functions
constexpr std::size_t least_known = 8;             // places, before sizes are believed
constexpr unsigned first_measured = 23, first_measured_jit = 25, last_measured = 29;  // releases

// A place in code that stacks show.
struct Place {
    FunctionId function = FunctionId::none;
    std::uint32_t offset = 0;
    std::uint32_t registers = FramePlace::unknown;
    std::uint64_t catches = 0;
    bool returned_to = false;           // it is a return address, of some stack
    bool goes_on = false;               // it is where a process goes on: in a receive, or ...
    bool entered = false;               // ... where the function begins
    bool waited = false;                // and one of those waits
    std::vector<FunctionId> callees{};  // functions of the frames above it
    std::vector<const CodeSite*> sites{};
    const CodeModule* module = nullptr;
    const CodeFunction* code = nullptr;
};

std::uint64_t key_of(FunctionId function, std::uint32_t offset) {
    return static_cast<std::uint64_t>(index_of(function)) << 32 | offset;
}

bool at_work(ProcessState state) {
    return state != ProcessState::waiting && state != ProcessState::runnable && state != ProcessState::suspended;
}

class LineSearch {
public:
    LineSearch(const Snapshot& snapshot, CodeSource& code) : snapshot_(snapshot), code_(code) {}

    FoundLines run() {
        gather();
        expect();
        for (Place& place : places_) find_code(place);
        for (Place& place : places_) find_sites(place);
        by_size();
        by_order();
        for (Place& place : places_) add(place);
        for (auto& [name, use] : uses_) result_.modules.push_back(std::move(use));
        return std::move(result_);
    }

private:
    Place& place_of(FunctionId function, std::uint32_t offset) {
        const auto [at, added] = numbers_.try_emplace(key_of(function, offset), places_.size());
        if (added) {
            Place& place = places_.emplace_back();
            place.function = function;
            place.offset = offset;
        }
        return places_[at->second];
    }

    void gather() {
        std::set<std::tuple<StackId, std::uint32_t, ProcessState, bool>> seen;
        for (const Process& process : snapshot_.processes) {
            if (process.stack == StackId::none) continue;
            const bool works = at_work(process.state);
            const bool enters = process.arity != 0;
            if (!seen.insert({process.stack, process.frames_before_returns, process.state, enters}).second) continue;
            gather(process, works, enters);
        }
        for (const Scheduler& scheduler : snapshot_.schedulers) gather(scheduler);
        for (const FramePlace& known : snapshot_.frame_places) {
            const auto at = numbers_.find(key_of(known.function, known.offset));
            if (at == numbers_.end()) continue;
            Place& place = places_[at->second];
            place.registers = known.registers;
            place.catches = known.catches;
        }
        result_.places = places_.size();
    }

    static void add_callee(Place& place, FunctionId callee) {
        if (callee == FunctionId::none) return;
        if (std::find(place.callees.begin(), place.callees.end(), callee) == place.callees.end())
            place.callees.push_back(callee);
    }

    void gather(const Process& process, bool works, bool enters) {
        const std::span<const Frame> frames = snapshot_.stacks[process.stack];
        for (std::size_t i = 0; i < frames.size(); ++i) {
            if (frames[i].function == FunctionId::none || frames[i].line != 0) continue;
            Place& place = place_of(frames[i].function, frames[i].offset);
            if (i == 0 && process.frames_before_returns != 0) {
                // Where who is at work went on the last time tells nothing of what it does; others may wait there.
                if (!works) (enters ? place.entered : place.goes_on) = true;
                place.waited = place.waited || process.state == ProcessState::waiting;
                continue;
            }
            place.returned_to = true;
            // Of who is at work the VM has not noted what it is in.
            const bool first = i == process.frames_before_returns || i == 0;
            if (first && works) continue;
            const FunctionId callee = i == 0 ? process.current_function : frames[i - 1].function;
            add_callee(place, callee);
        }
    }

    // Of the process that it ran: where its calls go back to, but for what it was in.
    void gather(const Scheduler& scheduler) {
        if (scheduler.stack == StackId::none) return;
        const std::span<const Frame> frames = snapshot_.stacks[scheduler.stack];
        for (std::size_t i = 1; i < frames.size(); ++i) {
            if (frames[i].function == FunctionId::none || frames[i].line != 0) continue;
            Place& place = place_of(frames[i].function, frames[i].offset);
            place.returned_to = true;
            if (i > 1) add_callee(place, frames[i - 1].function);
        }
    }

    std::string_view text(TextId id) const { return snapshot_.text(id); }

    void expect() {
        std::set<std::string_view> names;
        for (const Place& place : places_) names.insert(text(snapshot_.functions[place.function].module));
        code_.expect({names.begin(), names.end()});
    }

    const CodeModule* module_of(std::string_view name) { return code_.find(snapshot_, name).module; }

    void find_code(Place& place) {
        const Function& function = snapshot_.functions[place.function];
        const std::string name(text(function.module));
        const CodeSource::Found& found = code_.find(snapshot_, name);
        ModuleUse& use = uses_[name];
        use.name = name;
        use.match = found.match;
        ++use.places;
        place.module = found.module;
        if (found.module != nullptr && found.module->has_lines)
            place.code = found.module->find(text(function.name), function.arity);
        if (place.code != nullptr && is_own(*place.module, *place.code)) place.code = nullptr;
    }

    // A function of the VM's, whose body only says that it is one.
    static bool is_own(const CodeModule& module, const CodeFunction& function) {
        for (std::uint32_t i = 0; i < function.tails; ++i) {
            const std::uint32_t number = module.tails[function.first_tail + i];
            if (number == CodeModule::any_callee) continue;
            const CodeFunctionName& callee = module.callees[number];
            if (vm_calls::stands_for_native(module.atoms[callee.module], module.atoms[callee.name])) return true;
        }
        return false;
    }

    void find_sites(Place& place) {
        if (place.code == nullptr) return;
        const auto sites = std::span(place.module->sites).subspan(place.code->first_site, place.code->sites);
        // Who sleeps in erlang:hibernate/0 goes on behind that call, and not in a receive.
        const bool sleeps = std::any_of(sites.begin(), sites.end(), [&](const CodeSite& site) {
            return sleeps_in_place(*place.module, site.callee);
        });
        for (const CodeSite& site : sites) {
            const bool call = site.kind == CodeSite::Kind::call;
            const bool sleeps_here =
                sleeps && call && (place.goes_on || place.entered) && sleeps_in_place(*place.module, site.callee);
            if (!sleeps_here && (call ? !place.returned_to : !place.goes_on || sleeps)) continue;
            if (!fits(place, site)) continue;
            place.sites.push_back(&site);
        }
        if (place.returned_to && !place.callees.empty()) keep_callers(place);
    }

    static bool sleeps_in_place(const CodeModule& module, std::uint32_t callee) {
        if (callee == CodeModule::any_callee) return false;
        const CodeFunctionName& called = module.callees[callee];
        return vm_calls::sleeps_in_place(module.atoms[called.module], module.atoms[called.name], called.arity);
    }

    bool fits(const Place& place, const CodeSite& site) const {
        const bool call = site.kind == CodeSite::Kind::call;
        if (call && site.registers == CodeSite::no_frame) return false;
        if (place.registers == FramePlace::unknown || site.registers == CodeSite::unknown_frame) return true;
        const std::uint32_t registers = site.registers == CodeSite::no_frame ? 0 : site.registers;
        if (registers == place.registers && (call || site.catches == place.catches))
            return site.catches == place.catches;
        // On top of the youngest frame an interpreter may keep one word for the next return address.
        return !call && !snapshot_.source.jit.value_or(false) &&
               (registers + 1 == place.registers || registers == place.registers);
    }

    // First what is known without looking into other modules; these only where lines are left to choose from.
    void keep_callers(Place& place) {
        keep(place, false);
        if (lines_of(place).size() > 1) keep(place, true);
    }
    void keep(Place& place, bool look_further) {
        std::erase_if(place.sites, [&](const CodeSite* site) {
            return site->kind == CodeSite::Kind::call &&
                   !std::all_of(place.callees.begin(), place.callees.end(), [&](FunctionId callee) {
                       return may_reach(*place.module, site->callee, callee, look_further);
                   });
        });
    }

    // What a call may lead to without a frame of its own.
    bool may_reach(const CodeModule& module, std::uint32_t called, FunctionId target, bool look_further) {
        const Function& wanted = snapshot_.functions[target];
        const std::string_view in = text(wanted.module), name = text(wanted.name);
        // What the VM calls for a function that is not loaded.
        if (vm_calls::loads_code(in)) return true;
        struct Step {
            const CodeModule* module;
            std::uint32_t callee;
            unsigned depth;
        };
        std::vector<Step> open{{&module, called, 0}};
        std::set<std::pair<const CodeModule*, std::uint32_t>> asked;
        while (!open.empty()) {
            const Step step = open.back();
            open.pop_back();
            if (step.callee == CodeModule::any_callee || asked.size() > most_asked_of_a_call) return true;
            const CodeFunctionName& callee = step.module->callees[step.callee];
            const std::string_view callee_module = step.module->atoms[callee.module];
            const std::string_view callee_name = step.module->atoms[callee.name];
            if (callee.arity == wanted.arity && callee_name == name && callee_module == in) return true;
            if (vm_calls::leads_anywhere(callee_module, callee_name)) return true;
            if (!asked.insert({step.module, step.callee}).second) continue;
            const bool own = callee_module == step.module->name;
            if (!own && !look_further) return true;
            const CodeModule* const next = own ? step.module : module_of(callee_module);
            if (next == nullptr) return true;
            const CodeFunction* const function = next->find(callee_name, callee.arity);
            if (function == nullptr || is_own(*next, *function)) return true;
            if (step.depth == most_tail_calls && function->tails != 0) return true;
            for (std::uint32_t i = 0; i < function->tails; ++i)
                open.push_back({next, next->tails[function->first_tail + i], step.depth + 1});
        }
        return false;
    }

    // What runs the code, where the bounds of its sizes were measured. A dump does not say for which machine its JIT
    // wrote.
    std::optional<std::size_t> machine() const {
        const std::uint32_t release = major_of_release(snapshot_.source.otp_release);
        if (release < first_measured || release > last_measured || snapshot_.source.word_size != 8) return std::nullopt;
        const bool jit = snapshot_.source.jit.value_or(false);
        if (!jit) return static_cast<std::size_t>(CodeSite::Machine::interpreter);
        if (release < first_measured_jit || !snapshot_.source.unaligned_code) return std::nullopt;
        return static_cast<std::size_t>(CodeSite::Machine::jit);
    }

    static bool is_near(const CodeSite::Size& size, std::uint32_t offset) {
        const std::uint64_t least = size.least - size.least / 16, most = std::uint64_t{size.most} + size.most / 16;
        return least <= std::uint64_t{offset} + beside_sizes && offset <= most + beside_sizes;
    }

    // Bounds hold of this VM's code where they hold of each place that is known: enough of them, and not one outside.
    void by_size() {
        const std::optional<std::size_t> at = machine();
        if (!at) return;
        std::size_t known = 0;
        for (const Place& place : places_) {
            if (place.sites.size() != 1 || place.entered) continue;
            ++known;
            if (!is_near(place.sites.front()->sizes[*at], place.offset)) return;
        }
        if (known < least_known) return;
        for (Place& place : places_) {
            const auto near = [&](const CodeSite& site) { return is_near(site.sizes[*at], place.offset); };
            // Where none is left, something else is not as it was thought to be.
            if (std::any_of(place.sites.begin(), place.sites.end(), [&](const CodeSite* site) { return near(*site); }))
                narrow(place, near);
        }
    }

    // In one function what is further on in the machine's code is further on in the module's.
    void by_order() {
        std::map<FunctionId, std::vector<Place*>> functions;
        for (Place& place : places_)
            if (place.code != nullptr) functions[place.function].push_back(&place);
        for (auto& [function, places] : functions) {
            std::sort(places.begin(), places.end(),
                      [](const Place* a, const Place* b) { return a->offset < b->offset; });
            for (std::size_t i = 1; i < places.size(); ++i) {
                if (places[i - 1]->sites.empty() || !is_plain(*places[i - 1]) || !is_plain(*places[i])) continue;
                const auto least = first_of(*places[i - 1]);
                const bool equal = places[i - 1]->returned_to != places[i]->returned_to;
                narrow(*places[i], [&](const CodeSite& site) {
                    return site.instruction > least || (equal && site.instruction == least);
                });
            }
            for (std::size_t i = places.size(); i-- > 1;) {
                if (places[i]->sites.empty() || !is_plain(*places[i - 1]) || !is_plain(*places[i])) continue;
                const auto most = last_of(*places[i]);
                const bool equal = places[i - 1]->returned_to != places[i]->returned_to;
                narrow(*places[i - 1], [&](const CodeSite& site) {
                    return site.instruction < most || (equal && site.instruction == most);
                });
            }
        }
    }
    static bool is_plain(const Place& place) { return place.returned_to ? !place.goes_on : place.goes_on; }
    static std::uint32_t first_of(const Place& place) {
        std::uint32_t least = ~std::uint32_t{0};
        for (const CodeSite* site : place.sites) least = std::min(least, site->instruction);
        return least;
    }
    static std::uint32_t last_of(const Place& place) {
        std::uint32_t most = 0;
        for (const CodeSite* site : place.sites) most = std::max(most, site->instruction);
        return most;
    }
    template <class Allowed>
    static void narrow(Place& place, Allowed&& allowed) {
        std::erase_if(place.sites, [&](const CodeSite* site) { return !allowed(*site); });
    }

    // Whoever is to enter a function has no frame of it yet.
    bool may_begin(const Place& place) const {
        const bool interpreter = !snapshot_.source.jit.value_or(false);
        return place.registers == FramePlace::unknown || place.registers <= (interpreter ? 1u : 0u);
    }

    std::set<SourcePlace> lines_of(const Place& place) const {
        std::set<SourcePlace> lines;
        for (const CodeSite* site : place.sites) {
            lines.insert(site->place);
            if (site->other.line != 0) lines.insert(site->other);
        }
        if (place.entered && may_begin(place)) lines.insert(place.code->entry);
        // Who was put off before it had begun looks as one that got a message, where the function has no arguments.
        if (place.goes_on && !place.waited && place.code->arity == 0 && may_begin(place))
            lines.insert(place.code->entry);
        return lines;
    }

    void add(const Place& place) {
        if (place.code == nullptr) return;
        add_head(place);
        const std::set<SourcePlace> lines = lines_of(place);
        if (lines.empty() || lines.size() > most_lines) return;
        std::vector<std::uint32_t> told;
        const std::uint32_t file = lines.rbegin()->file;
        for (const SourcePlace& line : lines) {
            if (line.line == 0 && lines.size() == 1) return;
            if (line.line != 0 && line.file != file) return;
            if (line.line != 0) told.push_back(line.line);
        }
        // One of them is no line: then it is not known to be the other.
        if (told.empty() || (told.size() == 1 && lines.size() != 1)) return;
        if (file >= place.module->files.size()) return;
        (told.size() == 1 ? result_.found : result_.several) += 1;
        result_.lines.add(place.function, place.offset, place.module->files[file], std::move(told));
    }

    void add_head(const Place& place) {
        const SourcePlace& head = place.code->head;
        if (head.line != 0 && head.file < place.module->files.size())
            result_.lines.add_head(place.function, place.module->files[head.file], head.line);
    }

    const Snapshot& snapshot_;
    CodeSource& code_;
    std::vector<Place> places_;
    std::unordered_map<std::uint64_t, std::size_t> numbers_;  // in places_
    std::map<std::string, ModuleUse> uses_;
    FoundLines result_;
};

}  // namespace

FoundLines find_lines(const Snapshot& snapshot, CodeSource& code) { return LineSearch(snapshot, code).run(); }

}  // namespace beamheap::analyses
