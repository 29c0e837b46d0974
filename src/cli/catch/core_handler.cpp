// SPDX-License-Identifier: Apache-2.0
#include "cli/catch/core_handler.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <optional>
#include <vector>

#include "analyses/base/number_format.hpp"
#include "bytes/clock.hpp"
#include "cli/catch/death_answers.hpp"
#include "cli/catch/death_folder.hpp"
#include "cli/catch/dump_pipe.hpp"
#include "cli/catch/recording.hpp"
#include "cli/live/sampling.hpp"
#include "formats/otp/running_vms.hpp"

namespace beamheap::cli {
namespace {

constexpr std::size_t signal_of_two = 1, signal_of_systemd = 3, words_of_systemd = 7;
constexpr double ns_each_second = 1e9;

std::optional<std::uint32_t> number_of(std::string_view word) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size() || value == 0) return std::nullopt;
    return value;
}

// By the file that it runs: beam.smp, beam.debug.smp; of a release that was replaced, "... (deleted)".
bool runs_a_vm(std::uint32_t pid) {
    std::array<char, 4096> name{};
    const ssize_t length = ::readlink(fmt::format("/proc/{}/exe", pid).c_str(), name.data(), name.size());
    if (length <= 0) return false;
    std::string_view path(name.data(), static_cast<std::size_t>(length));
    path.remove_prefix(path.rfind('/') + 1);
    return otp::named_as_vm(path);
}

// The kernel starts its handler with standard input alone: what is opened next would become standard output.
void open_standard_files() {
    for (int fd = ::open("/dev/null", O_RDWR); fd >= 0; fd = ::open("/dev/null", O_RDWR)) {
        if (fd <= STDERR_FILENO) continue;
        ::close(fd);
        return;
    }
}

Status hand_over(const Options& options) {
    if (options.otherwise.empty()) return ok();
    std::vector<char*> words{const_cast<char*>(options.otherwise.c_str())};
    for (const std::string& word : options.inputs) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    for (const int signal : {SIGPIPE, SIGXFSZ, SIGINT, SIGBUS}) ::signal(signal, SIG_DFL);
    ::execvp(words[0], words.data());
    return Error{ErrorCode::unreadable, fmt::format("{}: {}", options.otherwise, std::strerror(errno)), {}};
}

// One at a time: whoever comes while another death is answered about is let go. The lock goes with the process.
bool alone_in(const DeathFolder& folder) {
    const int fd = ::open(folder.folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 || ::flock(fd, LOCK_EX | LOCK_NB) == 0;
}

}  // namespace

Status catch_core(const Context& context) {
    open_standard_files();
    const Options& options = context.options();
    const std::optional<std::uint32_t> pid = number_of(options.inputs.front());
    const std::size_t at = options.inputs.size() >= words_of_systemd ? signal_of_systemd : signal_of_two;
    if (!pid || options.inputs.size() <= at)
        return Error{ErrorCode::usage, "catch: the pattern's words are PID SIGNAL, or those of systemd-coredump",
                     "kernel.core_pattern=|/usr/bin/beamheap catch -o DIR %P %s"};
    if (!runs_a_vm(*pid)) return hand_over(options);
    if (options.keep_what == "dump")
        return Error{ErrorCode::usage, "--keep dump: the kernel hands over core images", "--keep core"};
    BH_TRY(const double deadline, parse_seconds(options.deadline));
    BH_TRY(DeathFolder folder, death_folder(options));
    if (!alone_in(folder)) {
        tell(fmt::format("process {} died while another death is answered about: counted, and not kept", *pid), true);
        return ok();
    }
    const std::int64_t until =
        static_cast<std::int64_t>(bytes::monotonic_ns()) + static_cast<std::int64_t>(deadline * ns_each_second);
    const std::string time = folder.free_time(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count());
    const std::optional<std::uint32_t> signal = number_of(options.inputs[at]);
    const bool kept = options.keep_what == "core";
    DeathAnswers answers(
        options, folder,
        {.input = fmt::format("pid:{}", *pid),
         .shown = kept ? folder.path(time + "-{node}.core.zst") : fmt::format("pid:{}", *pid),
         .time = time,
         .how = !signal ? std::string()
                        : fmt::format("of signal {} ({})", *signal, ::strsignal(static_cast<int>(*signal))),
         .cut = {},
         .signal = signal.value_or(0),
         .system_log = true,
         .until_ns = until});
    const bool readable = answers.first();
    if (readable) answers.others();
    if (kept) {
        BH_TRY(OutputFile file, OutputFile::create(folder.path(time + "-node.core.zst"), false));
        const Recording image = record(STDIN_FILENO, until, folder, time, file.descriptor(), false);
        if (image.plain_bytes == 0) {
            tell(fmt::format("no image is kept: {}", image.cut.empty() ? "there is none" : image.cut), true);
        } else {
            answers.keep(std::move(file), ".core.zst");
            if (!image.cut.empty())
                tell(fmt::format("the image is partial: {}, after {}", image.cut,
                                 analyses::human_bytes(image.plain_bytes)),
                     true);
        }
    }
    if (!answers.finish() || !readable) return Error{ErrorCode::resource_limit, "", {}};
    return ok();
}

}  // namespace beamheap::cli
