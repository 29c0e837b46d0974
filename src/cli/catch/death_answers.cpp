// SPDX-License-Identifier: Apache-2.0
#include "cli/catch/death_answers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "bytes/clock.hpp"
#include "cli/console/terminal.hpp"
#include "cli/frame/commands.hpp"
#include "present/render.hpp"
#include "present/sanitise.hpp"

namespace beamheap::cli {
namespace {

constexpr std::int64_t ns_in_second = 1'000'000'000;
constexpr std::int64_t program_seconds = 600;  // that --exec may take
constexpr std::size_t longest_told = 4096;

// What the process that answers first says of its input beside the answer: the node's name, then the sentence.
struct Told {
    std::string node, sentence;
};

std::string text_of(const present::Document& document, const present::Redactor& redactor, std::string_view member,
                    std::string_view key) {
    for (const present::Member& each : document.members) {
        if (each.key != member) continue;
        const auto* value = std::get_if<present::Value>(&each.body);
        const auto* object =
            value == nullptr ? nullptr : std::get_if<std::shared_ptr<const present::Object>>(&value->data());
        if (object == nullptr) continue;
        for (const auto& [name, held] : **object)
            if (const auto* text = std::get_if<std::string>(&held.data()); name == key && text != nullptr)
                return redactor.apply(*text, present::Content::name);
    }
    return {};
}

Told told_by(const present::Document& document, const present::RenderOptions& options) {
    const present::Redactor redactor(options.redact);
    Told told;
    if (redactor.level() != present::RedactLevel::full) told.node = text_of(document, redactor, "node", "name");
    if (!document.lead.empty()) told.sentence = redactor.apply(document.lead.front());
    return told;
}

std::string read_all(int pipe) {
    std::string text(longest_told, '\0');
    std::size_t filled = 0;
    while (filled < text.size()) {
        const ssize_t got = ::read(pipe, text.data() + filled, text.size() - filled);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        filled += static_cast<std::size_t>(got);
    }
    text.resize(filled);
    return text;
}

// To the disk itself: what is said to be written is there after the machine's end, too. 0, or errno; a file system that
// has no such call says nothing of what it keeps.
int to_disk(int descriptor) {
    return ::fdatasync(descriptor) == 0 || errno == EINVAL || errno == EROFS || errno == EINTR ? 0 : errno;
}

}  // namespace

void tell(std::string_view text, bool to_system_log) {
    const std::string safe = present::safe_text(text);
    FileSink(STDERR_FILENO).write(fmt::format("beamheap: {}\n", safe));
    if (to_system_log) ::syslog(LOG_DAEMON | LOG_CRIT, "%s", safe.c_str());
}

int in_a_process(std::int64_t until_ns, const std::function<int()>& what) {
    const pid_t pid = ::fork();
    if (pid < 0) return 128;
    if (pid == 0) ::_exit(what());
    for (;;) {
        int status = 0;
        const pid_t ended = ::waitpid(pid, &status, WNOHANG);
        if (ended == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (ended < 0 && errno != EINTR) return 128;
        if (static_cast<std::int64_t>(bytes::monotonic_ns()) >= until_ns) ::kill(pid, SIGKILL);
        ::poll(nullptr, 0, 5);
    }
}

// As a file is made: values of the node are hidden unless somebody said otherwise.
Options DeathAnswers::options_of(std::string_view verb) const {
    Options options = options_;
    options.verb = verb;
    options.inputs = {request_.input};
    options.shown_as = request_.shown;
    options.died_of = request_.signal;
    options.cut_by = request_.cut;
    if (!options.redact_chosen) options.redact = present::RedactLevel::values;
    options.redact_chosen = true;
    options.format = verb == "html" ? "table" : "json";
    options.output.clear();
    options.given.clear();
    options.no_pager = options.quiet = true;
    options.progress = When::never;
    return options;
}

bool DeathAnswers::put(OutputFile& file, std::string_view ending) {
    std::string path = folder_.path(name_ + std::string(ending));
    (void)folder_.make_room(0, request_.time);
    file.move_to(path);
    if (const Status flushed = file.flush(); !flushed) {
        tell(flushed.error().message, request_.system_log);
        return false;
    }
    if (const int error = to_disk(file.descriptor()); error != 0) {
        tell(fmt::format("{}: can't be written: {}", path, std::strerror(error)), request_.system_log);
        return false;
    }
    if (const Status named = file.finish(); !named) {
        tell(named.error().message, request_.system_log);
        return false;
    }
    files_.push_back(std::move(path));
    return true;
}

bool DeathAnswers::first() {
    name_ = request_.time + "-node";
    auto json = OutputFile::create(folder_.path(name_ + ".json"), false);
    int ends[2];
    if (!json || ::pipe2(ends, O_CLOEXEC) != 0) {
        tell(json ? "the system gives no more pipes" : json.error().message, request_.system_log);
        return false;
    }
    const Options options = options_of("analyze");
    const AnswerTaker take = [&](const present::Document& document, const present::RenderOptions& render) -> Status {
        FileSink file(json->descriptor());
        BH_CHECK(present::render(document, render, file));
        file.flush();
        if (file.error() != 0)
            return Error{ErrorCode::resource_limit,
                         fmt::format("the answer can't be written: {}", std::strerror(file.error())),
                         {}};
        const Told told = told_by(document, render);
        std::string line = told.node.substr(0, 255) + '\0' + told.sentence;
        (void)write_all(ends[1], line.substr(0, longest_told));
        return ok();
    };
    const int code = in_a_process(request_.until_ns, [&] { return run_alone(options, &take); });
    ::close(ends[1]);
    const std::string line = read_all(ends[0]);
    ::close(ends[0]);
    const std::size_t end = std::min(line.find('\0'), line.size());
    const std::string node = line.substr(0, end);
    name_ = request_.time + '-' + in_file_names(node);
    std::string sentence = node.empty() ? "a node died" : fmt::format("{} died", node);
    if (!request_.how.empty()) sentence += ' ' + request_.how;
    if (end < line.size()) sentence += ": " + line.substr(end + 1);
    if (sentence.ends_with('.')) sentence.pop_back();  // more follows
    if (!request_.cut.empty()) sentence += fmt::format(" (this is partial: {})", request_.cut);
    if (code != 0 && line.empty()) {
        const bool late =
            code == 128 + SIGKILL && static_cast<std::int64_t>(bytes::monotonic_ns()) >= request_.until_ns;
        sentence += late ? ": no answer by the deadline" : fmt::format(": no answer (exit code {})", code);
    }
    const bool written = code == 0 && put(*json, ".json");
    tell(written ? fmt::format("{}; {}", sentence, files_.back()) : sentence, request_.system_log);
    put_before();
    return written;
}

void DeathAnswers::put_before() {
    if (!request_.before.sentence.empty())
        tell(fmt::format("before it died: {}", request_.before.sentence), request_.system_log);
    if (request_.before.json.empty()) return;
    auto file = OutputFile::create(folder_.path(name_ + ".watch.json"), false);
    if (!file) return tell(file.error().message, request_.system_log);
    if (const int failed = write_all(file->descriptor(), request_.before.json); failed != 0)
        return tell(fmt::format("{}.watch.json: {}", name_, std::strerror(failed)), request_.system_log);
    (void)put(*file, ".watch.json");
}

void DeathAnswers::answer(std::string_view verb, std::string_view ending) {
    if (!folder_.make_room(0, request_.time)) {
        tell(fmt::format("{}: no room for {}{}", folder_.folder(), name_, ending), request_.system_log);
        return;
    }
    const std::string path = folder_.path(name_ + std::string(ending));
    Options options = options_of(verb);
    if (verb == "html") options.output = path;
    else options.inputs.push_back(path);
    const int code = in_a_process(request_.until_ns, [&] {
        const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
        ::dup2(nowhere, STDOUT_FILENO);  // export says there what it has written
        return run_alone(options);
    });
    if (code == 0) files_.push_back(path);
    else tell(fmt::format("{} was not written (exit code {})", path, code), request_.system_log);
}

void DeathAnswers::others() {
    answer("html", ".html");
    answer("export", ".sqlite");
}

void DeathAnswers::keep(OutputFile file, std::string_view ending) { (void)put(file, ending); }

bool DeathAnswers::finish() {
    if (files_.empty()) return false;
    tell(fmt::format("written: {}", fmt::join(files_, " ")), request_.system_log);
    if (options_.execute.empty()) return true;
    const std::int64_t until = static_cast<std::int64_t>(bytes::monotonic_ns()) + program_seconds * ns_in_second;
    const int code = in_a_process(until, [&] {
        std::vector<char*> words{const_cast<char*>(options_.execute.c_str())};
        for (std::string& file : files_) words.push_back(file.data());
        words.push_back(nullptr);
        for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGXFSZ}) ::signal(signal, SIG_DFL);
        ::execvp(words[0], words.data());
        tell(fmt::format("{}: {}", options_.execute, std::strerror(errno)));
        return 127;
    });
    if (code != 0) tell(fmt::format("{}: exit code {}", options_.execute, code), request_.system_log);
    return true;
}

}  // namespace beamheap::cli
