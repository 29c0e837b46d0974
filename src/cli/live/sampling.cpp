// SPDX-License-Identifier: Apache-2.0
#include "cli/live/sampling.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <charconv>

#include "bytes/thread_samples.hpp"
#include "cli/console/terminal.hpp"

namespace beamheap::cli {
namespace {

volatile sig_atomic_t stop_asked = 0;
int standing = 0;  // objects of StopBySignal
struct sigaction before_interrupt {
}, before_end{};

void ask_to_stop(int) { stop_asked = 1; }

}  // namespace

Result<double> parse_seconds(std::string_view text, unsigned longest_days) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    const double factor = unit.empty() || unit == "s" ? 1
                          : unit == "ms"              ? 0.001
                          : unit == "m"               ? 60
                          : unit == "h"               ? 3600
                          : unit == "d"               ? 86400
                                                      : 0;
    if (error != std::errc{} || factor == 0 || !(value * factor > 0) || value * factor > 86400.0 * longest_days)
        return Error{ErrorCode::usage,
                     fmt::format("'{}' is no length of time up to {}", text,
                                 longest_days == 1 ? std::string("a day") : fmt::format("{} days", longest_days)),
                     "10s, 500ms, 2m, 1h."};
    return value * factor;
}

StopBySignal::StopBySignal() {
    if (is_guest() || standing++ != 0) return;
    stop_asked = 0;
    struct sigaction action {};
    action.sa_handler = &ask_to_stop;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGINT, &action, &before_interrupt);
    ::sigaction(SIGTERM, &action, &before_end);
}
StopBySignal::~StopBySignal() {
    if (is_guest() || --standing != 0) return;
    ::sigaction(SIGINT, &before_interrupt, nullptr);
    ::sigaction(SIGTERM, &before_end, nullptr);
}
bool StopBySignal::stopped() { return stop_asked != 0; }

Result<SampleRequest> sample_request(const Context& context, std::uint32_t hertz, double seconds) {
    const Options& options = context.options();
    SampleRequest request;
    request.hertz = options.hertz == 0 ? hertz : options.hertz;
    request.seconds = seconds;
    if (request.hertz > bytes::ThreadSampler::most_hertz)
        return Error{ErrorCode::usage,
                     fmt::format("--hz {}: at most {}", request.hertz, bytes::ThreadSampler::most_hertz),
                     "Above that the interrupts would hold the VM up."};
    if (!options.duration.empty() && options.every.empty()) {
        BH_TRY(request.seconds, parse_seconds(options.duration));
    }
    request.stop = &StopBySignal::stopped;
    return request;
}

Result<std::uint32_t> running_pid(const Snapshot& snapshot) {
    if (snapshot.source.live) return snapshot.source.live->pid;
    return Error{ErrorCode::not_held,
                 fmt::format("{}: an image of one instant, and only a running VM can be sampled", snapshot.source.path),
                 "Give the pid of a beam.smp in its place."};
}

present::TimeSpan span_of(std::int64_t begin_ns, double seconds, std::uint32_t hertz) {
    return {begin_ns, static_cast<std::uint64_t>(seconds * 1e9), hertz == 0 ? 0 : 1'000'000'000ull / hertz};
}

OpenOptions attach_options(const Context& context) {
    OpenOptions options;
    options.executable = context.options().executable;
    return options;
}

}  // namespace beamheap::cli
