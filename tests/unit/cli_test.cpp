// SPDX-License-Identifier: Apache-2.0
// The command line: how it is read, what it answers to mistakes, exit codes, and what goes to which stream.
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "cli/console/terminal.hpp"
#include "cli/frame/command_line/option_table.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/help.hpp"
#include "cli/frame/inputs.hpp"
#include "cli/options/options.hpp"
#include "support/places.hpp"

using namespace beamheap;
using namespace beamheap::cli;

namespace {

Result<Options> parsed(std::vector<std::string> words) {
    words.insert(words.begin(), "beamheap");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    return parse_options(static_cast<int>(arguments.size()), arguments.data());
}
Options good(std::vector<std::string> words) {
    const auto options = parsed(std::move(words));
    if (!options) FAIL(options.error().message);
    return *options;
}
std::string mistake(std::vector<std::string> words) {
    const auto options = parsed(std::move(words));
    return options ? "none" : options.error().message + " | " + options.error().advice;
}

struct Ran {
    int code = -1;
    std::string out, err;
};
std::string slurp(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}
// Runs the program by a shell, so that redirections and pipes are real.
Ran shell(const std::string& command) {
    std::array<char, 32> folder{"/tmp/beamheap-cli.XXXXXX"};
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    const std::string base = folder.data();
    const std::string line =
        "cd " + test::source_dir() + "; { " + command + "; } >" + base + "/out 2>" + base + "/err </dev/null";
    const int status = std::system(("bash -c '" + line + "'").c_str());
    Ran ran{WIFEXITED(status) ? WEXITSTATUS(status) : -1, slurp(base + "/out"), slurp(base + "/err")};
    static_cast<void>(std::system(("rm -r " + base).c_str()));
    return ran;
}
/// For a text between double quotes.
std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}
const std::string program = test::built_program();
const std::string dump = "fixtures/healthy.dump";

class Environment {
public:
    Environment(std::initializer_list<std::pair<const char*, const char*>> values) {
        for (const char* name : {"NO_COLOR", "CLICOLOR_FORCE", "TERM"}) ::unsetenv(name);
        for (const auto& [name, value] : values) ::setenv(name, value, 1);
    }
};

}  // namespace

TEST_CASE("a verb, or an input alone", "[cli]") {
    CHECK(good({"top", "x.dump"}).verb == "top");
    CHECK(good({"top", "x.dump"}).inputs == std::vector<std::string>{"x.dump"});
    CHECK(good({"x.dump"}).verb == "analyze");
    CHECK(good({"-"}).inputs == std::vector<std::string>{"-"});
    CHECK(good({"--json", "x.dump"}).format == "json");
    CHECK(good({"proc", "x.dump", "<0.1.2>"}).inputs[1] == "<0.1.2>");
    CHECK(good({}).help);
    CHECK(good({"--version"}).version);
    CHECK_FALSE(good({"--version"}).help);
    CHECK(good({"help", "top"}).verb == "top");
    CHECK(good({"help", "top"}).help);
}

TEST_CASE("options are read wherever they stand", "[cli]") {
    const Options options =
        good({"top", "--by", "msgq", "x.dump", "-n", "7", "--columns", "pid,name", "--asc", "--redact=values",
              "--color", "never", "-q", "--procs", "msgq>1000", "--threads", "3", "--syntax", "elixir"});
    CHECK(options.by == "msgq");
    CHECK(options.top == std::size_t{7});
    CHECK(options.columns == std::vector<std::string>{"pid", "name"});
    CHECK(options.descending == false);
    CHECK(options.redact == present::RedactLevel::values);
    CHECK(options.color == When::never);
    CHECK(options.quiet);
    CHECK(options.procs == "msgq>1000");
    CHECK(options.threads == 3);
    CHECK(options.syntax == present::Syntax::elixir);
    CHECK(good({"top", "x.dump", "-n0"}).top == std::size_t{0});
    CHECK(good({"top", "x.dump", "-n", "1", "-n", "2"}).top == std::size_t{2});
    CHECK_FALSE(good({"top", "x.dump", "--syntax", "auto"}).syntax);
    CHECK(good({"top", "--", "-odd-name.dump"}).inputs == std::vector<std::string>{"-odd-name.dump"});
}

TEST_CASE("mistakes are answered with what was probably meant", "[cli]") {
    CHECK(mistake({"tpo", "x.dump"}).find("there is no verb 'tpo'") == 0);
    CHECK(mistake({"tpo", "x.dump"}).find("did you mean top?") != std::string::npos);
    CHECK(mistake({"analyse", "x.dump"}).find("did you mean analyze?") != std::string::npos);
    CHECK(mistake({"stakcs"}).find("did you mean stacks?") != std::string::npos);
    CHECK(mistake({"top", "x.dump", "--colums", "pid"}).find("there is no option --colums | did you mean --columns") ==
          0);
    CHECK(mistake({"top", "x.dump", "--format", "jsno"}).find("did you mean json") != std::string::npos);
    CHECK(mistake({"top", "x.dump", "--redact", "all"}).find("choose one of: none secrets values full") !=
          std::string::npos);
    CHECK(mistake({"top", "x.dump", "-n", "many"}) == "-n: 'many' is not a number | ");
    CHECK(mistake({"top", "x.dump", "-n", "-3"}).find("is not a number") != std::string::npos);
    CHECK(mistake({"ets", "x.dump", "--by", "memory"}).find("ets takes no --by") == 0);
    CHECK(mistake({"top", "x.dump", "-n"}) == "--top needs a value | ");
    CHECK(mistake({"top", "x.dump", "--threads", "0"}) != "none");
}

TEST_CASE("NO_COLOR beats CLICOLOR_FORCE beats the terminal", "[cli]") {
    {
        const Environment terminal{{"TERM", "xterm"}};
        CHECK(wants_color(When::automatic, true));
        CHECK_FALSE(wants_color(When::automatic, false));
        CHECK(wants_color(When::always, false));
        CHECK_FALSE(wants_color(When::never, true));
    }
    {
        const Environment dumb{{"TERM", "dumb"}};
        CHECK_FALSE(wants_color(When::automatic, true));
    }
    {
        const Environment forced{{"CLICOLOR_FORCE", "1"}};
        CHECK(wants_color(When::automatic, false));
    }
    {
        const Environment both{{"CLICOLOR_FORCE", "1"}, {"NO_COLOR", "1"}, {"TERM", "xterm"}};
        CHECK_FALSE(wants_color(When::automatic, true));
        CHECK(wants_color(When::always, true));
    }
}

TEST_CASE("progress tells share, rate and time left", "[cli]") {
    CHECK(ProgressLine::describe(512u << 20, 2048u << 20, 1) == "25 %  512 MiB of 2.0 GiB  512 MiB/s  3.0 s left");
    CHECK(ProgressLine::describe(512u << 20, 0, 2) == "512 MiB  256 MiB/s");
    CHECK(ProgressLine::describe(0, 100, 0) == "0 %  0 B of 100 B");
    CHECK(ProgressLine::describe(100, 100, 1) == "100 %  100 B of 100 B  100 B/s");
}

TEST_CASE("every verb and option is in the help and in the completions", "[cli]") {
    const std::string help = help_text();
    const std::array completions{completion_script("bash"), completion_script("zsh"), completion_script("fish")};
    for (const cli::Command* command : commands()) {
        CAPTURE(command->name);
        CHECK(find_command(command->name) == command);
        CHECK(help.find("  " + std::string(command->name) + " ") != std::string::npos);
        const std::string own = help_text(*command);
        CHECK(own.find("usage: beamheap " + std::string(command->name) + " " + command->usage()) == 0);
        const auto tells = [&own](std::string_view option) {  // --for is not in "--format"
            for (const char behind : {' ', ',', '\n'})
                if (own.find("  " + std::string(option) + behind) != std::string::npos) return true;
            return false;
        };
        for (const OptionRow& row : option_table())
            CHECK(tells(row.names.substr(0, row.names.find(','))) == takes(*command, row));
        for (const std::string& script : completions) CHECK(script.find(command->name) != std::string::npos);
        // What options a verb names exist.
        for (const std::string_view name : split(command->options, ' '))
            CHECK(std::ranges::any_of(option_table(), [=](const OptionRow& row) {
                return row.long_name() == name && row.scope == Scope::named;
            }));
    }
    for (const OptionRow& row : option_table()) CHECK_FALSE(takers(row).empty());
    CHECK(completion_script("tcsh").empty());
}

TEST_CASE("an option changes what it is for, and says so to itself alone", "[cli]") {
    for (const OptionRow& row : option_table()) {
        CAPTURE(row.names);
        std::string value = row.argument == "N" || row.argument.starts_with("N|") ? "7"
                            : row.argument.empty()                                ? ""
                                                                                  : "text";
        for (const std::string_view word : split(row.values, ' '))
            if (word != row.preset) value = word;
        Options options;
        if (row.names.find("--stable-salt") != std::string_view::npos)  // it reads the file at once
            value = test::source_dir() + "/fixtures/make";
        REQUIRE(row.set(options, value));
        CHECK_FALSE(options == Options{});
    }
}

TEST_CASE("what the shell was started with holds until a line says otherwise", "[cli]") {
    const Options shell = good({"shell", "x.dump", "--redact", "none", "--json", "-n", "3", "--exe", "beam"});
    const auto line = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "beamheap");
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        return *parse_options(static_cast<int>(arguments.size()), arguments.data(), &shell);
    };
    CHECK(line({"top", "x.dump"}).redact == present::RedactLevel::none);
    CHECK(line({"top", "x.dump"}).format == "json");
    CHECK(line({"top", "x.dump"}).top == std::size_t{3});
    CHECK(line({"top", "x.dump"}).verb == "top");
    CHECK(line({"top", "x.dump", "--redact", "secrets"}).redact == present::RedactLevel::secrets);
    CHECK(line({"top", "x.dump", "--format", "table", "-n", "0"}).format == "table");
    CHECK(line({"explain"}).top == std::size_t{3});  // harmless where a verb has no use for it
    CHECK(mistake({"shell", "x.dump", "--columns", "pid"}).find("shell takes no --columns") == 0);
    CHECK(mistake({"shell", "x.dump", "--by", "memory"}).find("shell takes no --by") == 0);
}

TEST_CASE("the arguments of a verb", "[cli]") {
    const auto usage = [](std::string_view verb) { return find_command(verb)->usage(); };
    CHECK(usage("proc") == "INPUT PID");
    CHECK(usage("tree") == "INPUT [PID]");
    CHECK(usage("stacks") == "INPUT...");
    CHECK(find_command("tree")->least() == 1);
    CHECK(find_command("tree")->most() == 2);
    CHECK(find_command("explain")->least() == 0);
    CHECK(find_command("check")->most() > 1000);
    CHECK(find_command("proc")->takes_input());
    CHECK_FALSE(find_command("check")->takes_input());
    CHECK_FALSE(find_command("explain")->takes_input());
    CHECK_FALSE(find_command("core")->takes_input());
}

TEST_CASE("the bash completion completes", "[cli]") {
    const auto complete = [](const std::string& words) {
        return shell(program +
                     " completion bash >/tmp/bh-complete.$$; source /tmp/bh-complete.$$; rm /tmp/bh-complete.$$; "
                     "COMP_WORDS=(" +
                     words + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _beamheap; echo \"${COMPREPLY[*]}\"")
            .out;
    };
    CHECK(complete("beamheap sch").find("schedulers") == 0);
    CHECK(complete("beamheap top x --for").find("--format") == 0);
    CHECK(complete("beamheap top x --format nd") == "ndjson\n");
    CHECK(complete("beamheap ets x --b") == "\n");
    CHECK(complete("beamheap completion z") == "zsh\n");
}

TEST_CASE("exit codes", "[cli]") {
    CHECK(shell(program + " --version").code == 0);
    CHECK(shell(program + " top " + dump).code == 0);
    CHECK(shell(program + " " + dump).code == 0);
    CHECK(shell(program + " tpo " + dump).code == 2);
    CHECK(shell(program + " top " + dump + " --columns nothing").code == 2);
    CHECK(shell(program + " proc " + dump + " 0.4711.0").code == 2);
    CHECK(shell(program + " top /does/not/exist").code == 3);
    CHECK(shell(program + " top CMakeLists.txt").code == 3);
    CHECK(shell(program + " top /").code == 3);
    CHECK(shell(program + " top fixtures/broken/cut_in_heap.dump").code == 0);
    CHECK(shell(program + " top fixtures/broken/cut_in_heap.dump --strict").code == 4);
    CHECK(shell(program + " analyze " + dump + " --strict").code == 0);
}

TEST_CASE("data goes to standard output, everything else to standard error", "[cli]") {
    const Ran missing = shell(program + " top /does/not/exist");
    CHECK(missing.out.empty());
    CHECK(missing.err.find("beamheap: ") == 0);
    const Ran cut = shell(program + " analyze fixtures/broken/cut_in_heap.dump");
    CHECK(cut.err.find("warning: ") == 0);
    CHECK(cut.out.find("warning: ") == std::string::npos);
    CHECK(shell(program + " analyze fixtures/broken/cut_in_heap.dump -q").err.empty());
    CHECK(shell(program + " top fixtures/zoo.dump.zst").err.empty());  // has a forged section: odd, nothing is lost
    CHECK(shell(program + " top fixtures/zoo.dump.zst -v").err.find("note: ") != std::string::npos);
    const Ran json = shell(program + " analyze fixtures/broken/cut_in_heap.dump --json");
    CHECK(json.err.empty());
    CHECK(json.out.find("\"name\":\"truncated\"") != std::string::npos);
    CHECK(shell(program + " top " + dump + " --progress always").err.find("iB/s\n") != std::string::npos);
    CHECK(shell(program + " top " + dump).err.empty());
    CHECK(shell(program + " top " + dump + " --color always").out.find("\x1b[1m") != std::string::npos);
    CHECK(shell(program + " top " + dump + " --json --color always").out.find('\x1b') == std::string::npos);
}

TEST_CASE("a closed pipe is quiet, a full disk is not", "[cli]") {
    const Ran closed = shell("(" + program + " top " + dump + " -n 0 --json; echo $? >&2) | true");
    CHECK(closed.err == "0\n");
    const Ran full = shell(program + " top " + dump + " >/dev/full");
    CHECK(full.code == 5);
    CHECK(full.err.find("standard output") != std::string::npos);
}

TEST_CASE("an interrupt ends with 130", "[cli]") {
    std::array<int, 2> pipe_ends{};
    REQUIRE(::pipe(pipe_ends.data()) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::signal(SIGINT, SIG_DFL);
        ::dup2(pipe_ends[0], STDIN_FILENO);
        ::execl(program.c_str(), program.c_str(), "top", "-", nullptr);
        ::_exit(99);
    }
    // It reads a pipe that gives nothing; once its handler stands (bit 2 of SigCgt) it may be interrupted.
    bool ready = false;
    for (int tries = 0; tries < 1000 && !ready; ++tries) {
        const std::string place = "/proc/" + std::to_string(child);
        const bool started = slurp(place + "/cmdline").starts_with(program);
        const std::string status = started ? slurp(place + "/status") : std::string();
        const std::size_t caught = status.find("SigCgt:");
        if (caught != status.npos) ready = (std::stoull(status.substr(caught + 7, 20), nullptr, 16) & 2) != 0;
        if (!ready) ::usleep(10'000);
    }
    CHECK(ready);
    ::kill(child, SIGINT);
    int status = 0;
    ::waitpid(child, &status, 0);
    ::close(pipe_ends[0]);
    ::close(pipe_ends[1]);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 130);
}

TEST_CASE("whom a process is linked to is told by name, whose labels are values", "[cli]") {
    std::array<char, 64> folder{"/tmp/beamheap-links.XXXXXX"};
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    const std::string path = std::string(folder.data()) + "/linked.dump";
    std::ofstream(path)
        << "=erl_crash_dump:0.5\nMon Nov  2 10:00:00 2026\nSlogan: gone\nSystem version: Erlang/OTP 27 "
           "[erts-15.0] [source] [64-bit] [smp:1:1]\nTaints: (none)\nAtoms: 10\n=memory\ntotal: 1000\n"
           "=proc:<0.50.0>\nState: Waiting\nName: carts\nMessage queue length: 0\nLink list: [<0.51.0>]\n"
           "Memory: 1000\n=proc:<0.51.0>\nState: Waiting\nMessage queue length: 0\n"
           "Link list: [<0.50.0>]\nMemory: 1000\n=proc_dictionary:<0.51.0>\nH77770\n=proc_heap:<0.51.0>\n"
           "77770:t2:AE:$process_label,H77778\n77778:t2:A4:cart,H77788\n77788:Yh5:YWxpY2U=\n=end\n";
    const auto told = [&](const std::string& options) {
        const std::string out = shell(program + " proc " + path + " carts --no-pager " + options).out;
        const std::size_t at = out.find("Links\n");
        return at == out.npos ? out : out.substr(at, out.find("\n", at + 6) - at);
    };
    CHECK(told("") == "Links\n{cart,<<\"alice\">>} <0.51.0>");
    const std::string hidden = told("--redact values");
    CHECK(hidden.starts_with("Links\n{cart,<<5 bytes #"));
    CHECK(hidden.ends_with("<0.51.0>"));
    CHECK(told("--json").find("\"links\":[\"<0.51.0>\"]") != std::string::npos);
    CHECK(told("--json").find("alice\"") == std::string::npos);
    std::filesystem::remove_all(folder.data());
}

TEST_CASE("equal input gives equal bytes, whatever the number of threads", "[cli]") {
    for (const char* verb : {"analyze", "top", "stacks", "ets", "ports", "timers", "atoms", "alloc", "schedulers",
                             "nodes", "modules", "tree", "doctor"}) {
        const std::string command = program + " " + verb + " " + dump + " --json";
        const Ran first = shell(command);
        CHECK(first.code == 0);
        CHECK_FALSE(first.out.empty());
        CHECK(first.out == shell(command + " --threads 1").out);
    }
}

TEST_CASE("the shell answers what the verbs answer, from a file and from what can't be read twice", "[cli]") {
    for (const std::string& input : {dump, std::string("fixtures/zoo.dump.zst")}) {
        for (const char* question :
             {"analyze --full -n 3", "top --by live -n 5 --columns pid,msgq_len,live_words --format tsv", "proc init",
              "heap init", "stacks -n 2", "msgs init", "binaries --format csv", "profile", "ets", "tree",
              "top --procs \"live>100\" -n 3 --format csv --columns pid,live_words"}) {
            std::string direct = question;
            direct.insert(std::min(direct.find(' '), direct.size()), " " + input);
            const Ran one = shell(program + " " + direct);
            const Ran other = shell(program + " shell " + input + " <<<\"" + escaped(question) + "\"");
            INFO(direct);
            CHECK(one.code == 0);
            CHECK_FALSE(one.out.empty());
            CHECK(other.code == 0);
            CHECK(other.out == one.out);
        }
    }
    const Ran wrong = shell("printf \"tpo\\nshell x\\n\\ntop --wat\\nproc 0.4711.0\\nheap \\\"x\\nquit\\nwat\" | " +
                            program + " shell " + dump);
    CHECK(wrong.code == 0);
    CHECK(wrong.out.empty());
    for (const char* sentence : {"no verb \'tpo\'", "no verb \'shell\'", "--wat", "0.4711.0", "quote"}) {
        INFO(sentence << " in " << wrong.err);
        CHECK(wrong.err.find(sentence) != std::string::npos);
    }
    CHECK(wrong.err.find("\'wat\'") == std::string::npos);  // `quit` has ended it
    CHECK(shell("echo top | " + program + " shell -").code == 2);
    CHECK(shell("echo help | " + program + " shell " + dump).out.find("  heap ") != std::string::npos);
    // the same but for the input, which a session has
    std::string help = shell(program + " heap --help").out;
    const std::string usage = "usage: beamheap heap INPUT PID";
    REQUIRE(help.starts_with(usage));
    help.replace(0, usage.size(), "usage: heap PID");
    CHECK(shell("echo help heap | " + program + " shell " + dump).out == help);
}

namespace {

/// A file of a tarball: the header with its sum, and the content in blocks of 512 bytes.
std::string tar_member(const std::string& name, const std::string& content) {
    std::string head(512, '\0');
    const auto put = [&head](std::size_t at, const std::string& text) { head.replace(at, text.size(), text); };
    const auto octal = [](std::uint64_t n, int digits) {
        std::string text;
        for (; digits-- > 0; n /= 8) text.insert(text.begin(), static_cast<char>('0' + n % 8));
        return text;
    };
    put(0, name);
    put(100, "0000644");
    put(124, octal(content.size(), 11));
    put(136, octal(0, 11));
    put(148, "        ");
    put(156, "0");
    put(257, std::string("ustar\0"
                         "00",
                         8));
    std::uint64_t sum = 0;
    for (const char c : head) sum += static_cast<unsigned char>(c);
    put(148, octal(sum, 6) + std::string("\0 ", 2));
    return head + content + std::string((512 - content.size() % 512) % 512, '\0');
}

/// A dump with a binary of random bytes, which nothing makes smaller.
std::string incompressible_dump() {
    std::string text =
        "=erl_crash_dump:0.5\nSun Nov 22 10:00:00 2026\nSlogan: boom\nSystem version: Erlang/OTP 25 [erts-13.1] "
        "[64-bit]\n"
        "Atoms: 10\n=proc:<0.1.0>\nState: Waiting\n=binary:7F0000001000\n200000:";
    std::mt19937 random(3);
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (std::size_t i = 0; i < (0x200000 + 2) / 3 * 4; ++i) text += digits[random() % digits.size()];
    return text + "\n=end\n";
}

/// Bytes that this process has read by calls of the system; 0 where it does not say.
std::uint64_t bytes_read() {
    std::ifstream io("/proc/self/io");
    std::string key;
    std::uint64_t value = 0;
    while (io >> key >> value)
        if (key == "rchar:") return value;
    return 0;
}

std::string tarball(const std::string& content) {
    std::string path = "/tmp/beamheap-test-XXXXXX";
    const int file = mkstemp(path.data());
    REQUIRE(file >= 0);
    const gzFile out = gzdopen(file, "wb1");
    REQUIRE(gzwrite(out, content.data(), static_cast<unsigned>(content.size())) == static_cast<int>(content.size()));
    REQUIRE(gzclose(out) == Z_OK);
    return path;
}

}  // namespace

TEST_CASE("an archive with one dump is decompressed once, one with two is told as that", "[cli]") {
    const std::string dump = tar_member("oom.dump", incompressible_dump()), end(1024, '\0');
    LoadPlan whole;
    whole.to_the_end = true;
    const std::string one = tarball(tar_member("notes", "none") + dump + tar_member("more", "x") + end);
    const std::uint64_t before = bytes_read();
    auto artifact = open_input(one, {});
    REQUIRE(artifact);
    REQUIRE((*artifact)->load(whole));
    const std::uint64_t read = bytes_read() - before;
    CHECK((*artifact)->snapshot().processes.size() == 1);
    CHECK((*artifact)->snapshot().source.complete == true);
    CHECK((*artifact)->snapshot().source.path == one + "!/oom.dump");
    CHECK(read < 3 * std::uint64_t{0x200000} / 2);
    const std::string two = tarball(dump + tar_member("old.dump", incompressible_dump()) + end);
    auto first = open_input(two, {});
    REQUIRE(first);
    const Status status = (*first)->load(LoadPlan());
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::not_recognised);
    CHECK(status.error().message == two + ": is an archive that holds 2 crash dumps or cores");
    CHECK(status.error().advice.find("oom.dump' '" + two + "!/old.dump") != std::string::npos);
    const std::string none = tarball(tar_member("notes", "none") + end);
    CHECK_FALSE(open_input(none, {}));
    for (const std::string& path : {one, two, none}) unlink(path.c_str());
}
