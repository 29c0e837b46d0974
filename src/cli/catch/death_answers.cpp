// SPDX-License-Identifier: Apache-2.0
#include "cli/catch/death_answers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "bytes/clock.hpp"
#include "bytes/descriptor.hpp"
#include "cli/console/terminal.hpp"
#include "cli/frame/commands.hpp"
#include "present/render.hpp"
#include "present/sanitise.hpp"

namespace beamheap::cli {
namespace {

constexpr std::int64_t ns_in_second = 1'000'000'000;
constexpr std::int64_t program_seconds = 600;  // that --exec may take
constexpr std::size_t longest_told = 4096, longest_sentence = 3072;
constexpr char is_whole = '+';                  // the smallest answer
constexpr std::uint64_t most_least = 64 << 10;  // bytes of the smallest answer
constexpr const char* too_late = "the deadline was reached";
constexpr std::size_t least_rows = 8;  // of its tables

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

// Without what is ranked and grouped: what happened, what of it is worth a word, and what the node was.
present::Document least_of(const present::Document& document) {
    constexpr std::array<std::string_view, 5> others{"top_msgq", "top_memory", "top_reductions", "groups",
                                                     "blown_terms"};
    present::Document least = document;
    std::erase_if(least.members,
                  [&](const present::Member& each) { return std::ranges::find(others, each.key) != others.end(); });
    present::Array left_out;
    for (const present::Member& each : document.members)
        if (std::ranges::find(others, each.key) != others.end()) left_out.emplace_back(each.key);
    least.members.push_back({.key = "left_out", .body = present::Value(std::move(left_out))});
    return least;
}

// Into a file of memory, which is written by who knows whether there is room. Errors: resource_limit.
Status render_to(int file, const present::Document& document, const present::RenderOptions& render) {
    FileSink sink(file);
    BH_CHECK(present::render(document, render, sink));
    sink.flush();
    if (sink.error() == 0) return ok();
    return Error{
        ErrorCode::resource_limit, fmt::format("the answer can't be written: {}", std::strerror(sink.error())), {}};
}

std::uint64_t size_of_open(int file) {
    struct stat status {};
    return ::fstat(file, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
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

std::optional<NotWritten> DeathAnswers::failed(std::string_view ending, int error) const {
    const std::string path = folder_.path(name_ + std::string(ending));
    tell(fmt::format("{}: can't be written: {}", path, std::strerror(error)), request_.system_log);
    return folder_.not_written(error);
}

std::optional<NotWritten> DeathAnswers::failed(const Error& error) const {
    tell(error.message, request_.system_log);
    return NotWritten{"it can't be written"};
}

// None: it is there.
std::optional<NotWritten> DeathAnswers::put(OutputFile& file, std::string_view ending) {
    std::string path = folder_.path(name_ + std::string(ending));
    (void)folder_.make_room(0, request_.time);
    file.move_to(path);
    if (const Status flushed = file.flush(); !flushed) return failed(flushed.error());
    if (const int error = to_disk(file.descriptor()); error != 0) return failed(ending, error);
    if (const Status named = file.finish(); !named) return failed(named.error());
    files_.push_back(std::move(path));
    return std::nullopt;
}

// What was made in memory gets its name when it is on the disk.
std::optional<NotWritten> DeathAnswers::put_text(int from, std::string_view ending) {
    auto file = OutputFile::create(folder_.path(name_ + std::string(ending)), false);
    if (!file) return failed(file.error());
    std::array<char, 64 << 10> piece;
    for (off_t at = 0;;) {
        const ssize_t got = ::pread(from, piece.data(), piece.size(), at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failed(ending, errno);
        if (got == 0) return put(*file, ending);
        at += got;
        const std::string_view bytes(piece.data(), static_cast<std::size_t>(got));
        if (const int error = write_all(file->descriptor(), bytes); error != 0) return failed(ending, error);
    }
}

// All of it where it was made (else `not_whole` says why not) and has room, else the smallest, where that has.
bool DeathAnswers::put_answer(int whole, int least, const NotWritten& not_whole) {
    std::optional<NotWritten> why = not_whole;
    if (const std::uint64_t bytes = size_of_open(whole); bytes != 0)
        why = folder_.make_room(bytes, request_.time) ? put_text(whole, ".json") : folder_.no_room();
    if (!why) return true;
    if (const std::uint64_t bytes = size_of_open(least); bytes != 0 && bytes <= most_least) {
        auto still = folder_.make_least_room(bytes, request_.time) ? put_text(least, ".json") : folder_.no_room();
        leave_out(still ? "the JSON" : "rankings and groups of the JSON", std::move(still ? still : why).value());
        return !still;
    }
    leave_out("the JSON", std::move(*why));
    return false;
}

// Whether a process with this exit code was ended because time was over.
bool DeathAnswers::late(int code) const {
    return code == 128 + SIGKILL && static_cast<std::int64_t>(bytes::monotonic_ns()) >= request_.until_ns;
}

bool DeathAnswers::first() {
    name_ = request_.time + "-node";
    const bytes::Descriptor whole(::memfd_create("answer", MFD_CLOEXEC)), least(::memfd_create("least", MFD_CLOEXEC));
    int ends[2];
    if (!whole || !least || ::pipe2(ends, O_CLOEXEC) != 0) {
        tell("a node died, and the system gives no more pipes and files: nothing is kept of it", request_.system_log);
        return false;
    }
    const Options options = options_of("analyze");
    const AnswerTaker take = [&](const present::Document& document, const present::RenderOptions& render) -> Status {
        const Told told = told_by(document, render);
        std::string line = told.node.substr(0, 255) + '\0' + told.sentence.substr(0, longest_sentence);
        std::replace(line.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(told.node.size(), 255) + 1),
                     line.end(), '\0', ' ');
        (void)write_all(ends[1], line + '\0');
        present::RenderOptions few = render;
        few.top = least_rows;
        BH_CHECK(render_to(least.get(), least_of(document), few));
        (void)write_all(ends[1], std::string_view(&is_whole, 1));
        return render_to(whole.get(), document, render);
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
    const std::size_t behind = std::min(line.find('\0', end + 1), line.size());
    if (end < line.size()) sentence += ": " + line.substr(end + 1, behind - end - 1);
    if (sentence.ends_with('.')) sentence.pop_back();  // more follows
    if (!request_.cut.empty()) sentence += fmt::format(" (this is partial: {})", request_.cut);
    if (code != 0 && line.empty())
        sentence += late(code) ? ": no answer by the deadline" : fmt::format(": no answer (exit code {})", code);
    const bool answered = !line.empty();
    const NotWritten not_whole{late(code) ? too_late : fmt::format("it could not be made (exit code {})", code)};
    const bool written =
        answered && put_answer(code == 0 ? whole.get() : -1, line.back() == is_whole ? least.get() : -1, not_whole);
    tell(written ? fmt::format("{}; {}", sentence, files_.back()) : sentence, request_.system_log);
    put_before();
    return answered;
}

void DeathAnswers::only_before(std::string_view node) {
    name_ = request_.time + '-' + in_file_names(node);
    put_before();
}

void DeathAnswers::put_before() {
    if (!request_.before.sentence.empty())
        tell(fmt::format("grew before it died: {}", request_.before.sentence), request_.system_log);
    if (request_.before.json.empty()) return;
    const std::uint64_t bytes = request_.before.json.size();
    if (!folder_.make_room(bytes, request_.time) &&
        (bytes > most_least || !folder_.make_least_room(bytes, request_.time)))
        return leave_out("what grew before", folder_.no_room());
    auto file = OutputFile::create(folder_.path(name_ + ".watch.json"), false);
    if (!file) return tell(file.error().message, request_.system_log);
    if (const int failed = write_all(file->descriptor(), request_.before.json); failed != 0)
        return tell(fmt::format("{}.watch.json: {}", name_, std::strerror(failed)), request_.system_log);
    (void)put(*file, ".watch.json");
}

void DeathAnswers::answer(std::string_view verb, std::string_view ending) {
    const std::string what = verb == "html" ? "the report" : "the tables";
    // Where a small one had no room, a large one is not tried.
    const auto full = std::ranges::find_if(left_out_, [](const LeftOut& each) { return each.why.no_room; });
    if (full != left_out_.end()) return leave_out(what, NotWritten(full->why));
    if (!folder_.make_room(0, request_.time)) return leave_out(what, folder_.no_room());
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
    else if (late(code)) leave_out(what, {too_late});
    else tell(fmt::format("{} was not written (exit code {})", path, code), request_.system_log);
}

void DeathAnswers::others() {
    answer("html", ".html");
    answer("export", ".sqlite");
}

void DeathAnswers::keep(OutputFile file, std::string_view ending) { (void)put(file, ending); }

bool DeathAnswers::finish() {
    while (!left_out_.empty()) {  // a line for each reason
        const std::string why = left_out_.front().why.why;
        std::vector<std::string> what;
        for (const LeftOut& each : left_out_)
            if (each.why.why == why) what.push_back(each.what);
        tell(fmt::format("{}: left out: {}: {}", name_, fmt::join(what, ", "), why), request_.system_log);
        std::erase_if(left_out_, [&](const LeftOut& each) { return each.why.why == why; });
    }
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
