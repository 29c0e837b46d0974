// SPDX-License-Identifier: Apache-2.0
#include "cli/live/perf_map.hpp"

#include <fmt/format.h>

#include "analyses/facts/needs.hpp"
#include "cli/console/output_file.hpp"
#include "cli/console/terminal.hpp"
#include "cli/live/sampling.hpp"
#include "formats/otp/sample_running.hpp"
#include "present/sanitise.hpp"

namespace beamheap::cli {

Status write_perf_map(const Context& context) {
    const Options& options = context.options();
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open({analyses::need::processes}));
    BH_TRY(const std::uint32_t pid, running_pid(artifact->snapshot()));
    const std::string path = options.output.empty() ? fmt::format("/tmp/perf-{}.map", pid) : options.output;
    BH_CHECK(may_write(path, options.overwrite));
    BH_TRY(const std::vector<otp::LoadedFunction> functions,
           otp::loaded_functions(pid, attach_options(context), artifact->snapshot()));
    const present::Names names = context.names(artifact->snapshot());
    std::string text;
    for (const otp::LoadedFunction& each : functions)
        text += fmt::format("{:x} {:x} {}\n", each.start, each.end - each.start,
                            present::safe_text(names.function(each.function)));
    BH_CHECK(write_file(path, text, options.overwrite));
    if (!options.quiet)
        say_beside(fmt::format(
            "beamheap: {}: names of {} functions as they are loaded now. Write it again after code was loaded.",
            path == "-" ? "standard output" : path, functions.size()));
    return ok();
}

}  // namespace beamheap::cli
