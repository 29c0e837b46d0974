// SPDX-License-Identifier: Apache-2.0
#include "cli/live/top_growth.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>

#include "analyses/base/number_format.hpp"
#include "analyses/facts/needs.hpp"
#include "analyses/processes/process_growth.hpp"
#include "bytes/clock.hpp"
#include "cli/console/terminal.hpp"
#include "cli/live/sampling.hpp"
#include "formats/format.hpp"
#include "present/describe.hpp"
#include "present/spelling.hpp"
#include "present/tables.hpp"
#include "present/units.hpp"

namespace beamheap::cli {
namespace {

constexpr double shortest_interval = 0.1;

struct Figure {
    std::string_view key, column;
    std::optional<std::int64_t> analyses::ProcessGrowth::*growth;
};
constexpr std::array figures{Figure{"reductions", "reductions_per_second", &analyses::ProcessGrowth::reductions},
                             Figure{"memory", "memory_growth_bytes", &analyses::ProcessGrowth::memory_bytes},
                             Figure{"msgq", "msgq_growth", &analyses::ProcessGrowth::messages}};

Result<const Figure*> figure_of(const std::string& by) {
    if (by.empty()) return &figures.front();
    for (const Figure& each : figures)
        if (by == each.key || by == each.column) return &each;
    return Error{ErrorCode::usage, fmt::format("top --every: of {} no growth is told", by),
                 "--by reductions, memory or msgq."};
}

class Intervals {
public:
    Intervals(const Context& context, double every, double total, const Figure& by)
        : context_(context), every_(every), total_(total), by_(by) {}

    Status run() {
        const StopBySignal stop;
        BH_TRY(std::shared_ptr<Artifact> before, open());
        if (!before->snapshot().source.live)
            return Error{ErrorCode::not_held,
                         fmt::format("{}: is of one instant, and --every asks for moments of a running VM",
                                     context_.argument(0)),
                         "Leave --every out; what grew between two files says beamheap diff A B."};
        const double begin = seconds();
        bool told = false;
        for (double next = begin + every_; total_ == 0 || next <= begin + total_ + every_ / 2;
             next = std::max(next + every_, seconds())) {
            while (seconds() < next && !StopBySignal::stopped())
                ::poll(nullptr, 0, static_cast<int>(std::clamp((next - seconds()) * 1000, 1.0, 200.0)));
            if (StopBySignal::stopped()) {
                if (one() && !told) return Error{ErrorCode::interrupted, "ended before the interval was over", {}};
                break;
            }
            auto after = open();
            if (!after || (*after)->snapshot().source.live->ended) {
                if (!told) return after ? Error{ErrorCode::unreadable, "the VM has ended", {}} : after.error();
                say_beside(after ? "the VM has ended" : after.error().message);
                break;
            }
            BH_CHECK(tell(*before, **after));
            told = true;
            before = std::move(*after);
            if (one() || context_.reader_gone() || (!context_.for_people() && context_.options().format != "json"))
                break;
        }
        return ok();
    }

private:
    // Who takes the answer, and who asks several questions, gets it when it ends.
    bool one() const { return context_.one_of_many() || !context_.printed(); }
    static double seconds() { return static_cast<double>(bytes::monotonic_ns()) * 1e-9; }

    Result<std::shared_ptr<Artifact>> open() const {
        LoadPlan plan{analyses::need::processes};
        if (labels()) plan |= analyses::need::labels;
        BH_CHECK(context_.plan_for_selector(plan));
        return context_.open(context_.argument(0), std::move(plan));
    }
    bool labels() const { return context_.for_people(); }

    Status tell(const Artifact& before, Artifact& after) {
        const Snapshot& s = after.snapshot();
        const LiveReading& then = *before.snapshot().source.live;
        const LiveReading& now = *s.source.live;
        const double apart = static_cast<double>(now.read_at_ms - then.read_at_ms) / 1000;
        BH_TRY(const std::vector<ProcId> selected, context_.selected(s));
        std::vector<analyses::ProcessGrowth> rows = analyses::process_growth(before.snapshot(), s, selected);
        std::erase_if(rows, [](const auto& each) {
            return std::ranges::all_of(figures, [&](const Figure& of) { return (each.*of.growth).value_or(0) == 0; });
        });
        std::ranges::stable_sort(rows, std::greater{},
                                 [this](const auto& each) { return (each.*by_.growth).value_or(0); });
        present::Document document = context_.document(s);
        const present::Names names = context_.names(s);
        document.lead.push_back(present::Text{}.add(
            now.halt != VmHalt::none
                ? fmt::format("{} The VM stands still.", present::time_text(now.read_at_ms).substr(11, 8))
                : fmt::format("{} Of {} processes {} worked or changed within {:.1f} s.",
                              present::time_text(now.read_at_ms).substr(11, 8), analyses::grouped(selected.size()),
                              analyses::grouped(rows.size()), apart)));
        document.members.push_back({.key = "seconds", .body = present::Value(apart), .in_text = false});
        document.members.push_back({.key = "growth", .body = present::process_growth_table(names, rows, apart)});
        document.primary = "growth";
        if (one() || context_.options().format != "json") return context_.print(document, s, {}, by_.column);
        return context_.print_line(document, s, by_.column);
    }

    const Context& context_;
    double every_, total_;
    const Figure& by_;
};

}  // namespace

Status top_growth(const Context& context) {
    const Options& options = context.options();
    BH_TRY(const double every, parse_seconds(options.every));
    if (every < shortest_interval) return Error{ErrorCode::usage, "--every: moments are at least 100ms apart", {}};
    double total = 0;
    if (!options.duration.empty()) {
        BH_TRY(total, parse_seconds(options.duration));
        if (total < every)
            return Error{ErrorCode::usage,
                         fmt::format("top: --for {} ends before the first interval of --every {} does",
                                     options.duration, options.every),
                         "--every 1s --for 1m"};
        if (total >= 2 * every && (context.one_of_many() || !context.printed()))
            return Error{
                ErrorCode::usage,
                fmt::format("top: here --every tells one interval, and --for {} asks for more", options.duration),
                "Leave --for out, or ask for one longer interval."};
    }
    if (!process_named(context.argument(0)))
        return Error{ErrorCode::not_held,
                     fmt::format("{}: is no running VM, and --every asks for moments of one", context.argument(0)),
                     "beamheap ps lists the VMs that run here."};
    BH_TRY(const Figure* const by, figure_of(options.by.empty() ? options.sort : options.by));
    Options inner = options;
    inner.by.clear(), inner.sort.clear();
    inner.no_pager = true;  // which would hold up the next interval until it is closed
    const Context with = context.with(inner);
    return Intervals(with, every, total, *by).run();
}

}  // namespace beamheap::cli
