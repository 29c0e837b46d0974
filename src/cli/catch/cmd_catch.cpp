// SPDX-License-Identifier: Apache-2.0
// catch: waits for nodes to die, and keeps an answer.
#include <fmt/format.h>

#include "cli/catch/core_handler.hpp"
#include "cli/catch/dump_pipe.hpp"
#include "cli/catch/setup.hpp"
#include "cli/frame/commands.hpp"

namespace beamheap::cli {

static Status cmd_catch(const Context& context) {
    const Options& options = context.options();
    if (!options.install.empty()) return print_setup(context);
    if (options.check_setup) return check_setup(context);
    if (options.pipe.empty() == options.inputs.empty())
        return Error{ErrorCode::usage, "catch: --pipe PATH, or the words of the kernel's pattern",
                     "beamheap catch --pipe /run/beamheap/dump.pipe -o /var/lib/beamheap"};
    return options.pipe.empty() ? catch_core(context) : catch_dumps(context);
}

BH_DEFINE_VERB(catch){
    .name = "catch",
    .arguments = {optional({"PID", ArgumentKind::topic}), repeated(optional({"WORD", ArgumentKind::topic}))},
    .options = "--output --pipe --once --keep --deadline --disk --free --else --exec --install --check",
    .summary = "waits for nodes to die, and keeps an answer in the place of a huge file",
    .details =
        "With --pipe it reads what VMs write to the pipe that ERL_CRASH_DUMP names; with the words %P %s it is the "
        "kernel's handler\n"
        "of core images (kernel.core_pattern). Of each death the first finding goes to standard error, and to DIR the "
        "JSON of\n"
        "analyze, the report and the tables as SQLite, redacted as files are; --keep adds the dump or the image, "
        "compressed, as it is.\n"
        "--install prints what sets it up, --check says what is missing.",
    .examples =
        "catch --pipe /run/beamheap/dump.pipe -o /var/lib/beamheap --keep dump\ncatch --install systemd\ncatch --check "
        "--pipe /run/beamheap/dump.pipe -o /var/lib/beamheap",
    .alone = true,
    .writes = true,
    .divided = true,
    .run = &cmd_catch,
};

}  // namespace beamheap::cli
