// SPDX-License-Identifier: Apache-2.0
// What the verbs that sample a running VM share.
#pragma once

#include <functional>
#include <string_view>

#include "beamheap/error.hpp"
#include "beamheap/samples.hpp"
#include "cli/frame/context.hpp"

namespace beamheap::cli {

/// A length of time as people write it: "10" and "10s" are seconds, "500ms", "2m", "1h". Errors: usage.
Result<double> parse_seconds(std::string_view text, unsigned longest_days = 1);

/// While it stands, SIGINT and SIGTERM end the sampling and not the program: what was sampled until then is the answer.
/// One may stand within another, which a signal ends as well.
class StopBySignal {
public:
    StopBySignal();
    StopBySignal(const StopBySignal&) = delete;
    StopBySignal& operator=(const StopBySignal&) = delete;
    ~StopBySignal();
    static bool stopped();
};

/// The request that --hz and --for make; `hertz` and `seconds` are what holds without them.
Result<SampleRequest> sample_request(const Context& context, std::uint32_t hertz, double seconds);

/// The pid of the running VM that a loaded input is. Errors: not_held where it is none.
Result<std::uint32_t> running_pid(const Snapshot& snapshot);
/// When the samples of an answer were taken; `hertz` of CPU time, 0 where it is something else.
present::TimeSpan span_of(std::int64_t begin_ns, double seconds, std::uint32_t hertz);
OpenOptions attach_options(const Context& context);

}  // namespace beamheap::cli
