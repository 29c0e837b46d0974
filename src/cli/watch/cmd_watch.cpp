// SPDX-License-Identifier: Apache-2.0
// watch: what grows steadily in running VMs, and when it reaches its limit.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>

#include "bytes/clock.hpp"
#include "cli/catch/dump_pipe.hpp"
#include "cli/console/sandbox.hpp"
#include "cli/console/terminal.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/named_nodes.hpp"
#include "cli/live/sampling.hpp"
#include "cli/watch/metrics_listener.hpp"
#include "cli/watch/watch_condition.hpp"
#include "cli/watch/watch_output.hpp"
#include "cli/watch/watched_vm.hpp"
#include "formats/format.hpp"
#include "formats/otp/running_vms.hpp"
#include "present/describe.hpp"
#include "present/render.hpp"
#include "present/sanitise.hpp"
#include "present/spelling.hpp"
#include "present/units.hpp"

namespace beamheap::cli {
namespace {

constexpr double usual_seconds = 10, shortest_seconds = 0.1, seconds_between_looks = 60, seconds_until_next = 10;
constexpr unsigned longest_days = 366;  // of --for

double clock_seconds() { return static_cast<double>(bytes::monotonic_ns()) * 1e-9; }

class Watch {
public:
    explicit Watch(const Context& context) : context_(context) {}
    Status run();

private:
    Status prepare();
    Status prepare_for_death();
    Status find_vms();
    Status rounds();
    Status one_round(bool first);
    bool await_next(WatchedVm& vm);
    Status tell(const WatchedVm& vm, bool last) const;
    void write(const WatchedVm& vm);
    void remember(const WatchedVm& vm);
    present::Document document(const WatchedVm& vm, std::span<const present::ToldGrowth> rows, bool last) const;
    void wait_until(double time);
    std::string metrics() const;
    void say(std::string_view text) const {
        if (!context_.options().quiet) say_beside(text);
    }
    present::Redactor redactor(const Snapshot& snapshot) const {
        const Options& options = context_.options();
        return present::Redactor(present::redaction(options.redact, options.salt, snapshot, {}));
    }
    // As in all files: values are hidden unless somebody said otherwise.
    present::RedactOptions redaction_of_files(const Snapshot& snapshot) const {
        const Options& options = context_.options();
        return present::redaction(options.redact_chosen ? options.redact : present::RedactLevel::values, options.salt,
                                  snapshot, {});
    }

    const Context& context_;
    double every_ = usual_seconds, total_ = 0, looked_ = 0;
    WatchCondition until_;
    std::optional<MetricsListener> listener_;
    std::optional<LastWords> words_;
    std::optional<CatcherBeside> catcher_;  // of the VM's death
    std::vector<WatchOutput> outputs_;
    std::vector<std::unique_ptr<WatchedVm>> vms_;
    std::set<std::uint32_t> refused_;  // of --all: they can't be read, which was said
    std::uint64_t ended_ = 0;
    bool holds_ = false;
};

Status Watch::prepare() {
    const Options& options = context_.options();
    if (options.every_vm != options.inputs.empty())
        return Error{ErrorCode::usage,
                     options.every_vm ? "watch: --all is all VMs that run here, and here is one of them"
                                      : "watch needs a running VM",
                     "beamheap watch PID, beamheap watch NAME@HOST, or beamheap watch --all; beamheap ps lists them"};
    if (!options.every.empty()) {
        BH_TRY(every_, parse_seconds(options.every));
    }
    if (every_ < shortest_seconds) return Error{ErrorCode::usage, "--every: rounds are at least 100ms apart", {}};
    if (!options.duration.empty()) {
        BH_TRY(total_, parse_seconds(options.duration, longest_days));
    }
    if (!context_.for_people() && options.format != "json")
        return Error{ErrorCode::usage, fmt::format("watch does not write {}", options.format),
                     "--format table is a line for each finding, --format json an object a line."};
    BH_TRY(until_, parse_watch_condition(options.until));
    if (until_.kind != WatchCondition::Kind::never && total_ > 0 && total_ < every_ * GrowthTeller::first_told)
        return Error{ErrorCode::usage,
                     fmt::format("--for {}: too short for --until, since what grows is told after {} rounds at the "
                                 "earliest, one every {} s",
                                 options.duration, GrowthTeller::first_told, every_),
                     "A longer --for, or a shorter --every."};
    if (!options.every_vm && !process_named(context_.argument(0)))
        return Error{ErrorCode::not_held,
                     fmt::format("{}: is no running VM, and watch looks at one again and again", context_.argument(0)),
                     "beamheap ps lists the VMs that run here; what grew between two files says beamheap diff A B."};
    if (!options.listen.empty()) {
        BH_TRY(MetricsListener listener, MetricsListener::open(options.listen));
        listener_.emplace(std::move(listener));
    }
    for (const std::string& place : options.out) {
        BH_TRY(WatchOutput output, WatchOutput::open(place));
        outputs_.push_back(std::move(output));
    }
    if (!options.catch_in.empty()) BH_CHECK(prepare_for_death());
    if (sandbox_allowed())
        enter_sandbox({.other_processes = true, .files_anywhere = !outputs_.empty(), .answers = listener_.has_value()});
    else stay_outside("the process is for other runs as well");
    if (listener_) say(fmt::format("metrics stand at port {}, path /metrics", listener_->port()));
    return ok();
}

// Before this process gives up its rights: who answers about a death has its own way of doing so.
Status Watch::prepare_for_death() {
    Options options = context_.options();
    if (options.every_vm)
        return Error{ErrorCode::usage, "--catch is of one VM, and --all watches many",
                     "beamheap catch --pipe PATH -o DIR takes the dumps of all that ERL_CRASH_DUMP leads there."};
    const std::string& input = context_.argument(0);
    const RunningNode node = running_node(*process_named(input));
    if (!node.told && options.pipe.empty())
        return Error{ErrorCode::unreadable, fmt::format("{}: where it would write its dump can't be read", input),
                     "Ask as its user or as root, or say it: --pipe PATH."};
    if (node.told && !writes_dump(node))
        return Error{ErrorCode::usage,
                     fmt::format("{}: it writes no dump: ERL_CRASH_DUMP_SECONDS is {}", input,
                                 node.seconds.empty() ? "not set, and heart runs" : node.seconds),
                     "Start it with ERL_CRASH_DUMP_SECONDS=60, or with another number that is not 0."};
    if (options.pipe.empty()) options.pipe = dump_of(node);
    options.output = options.catch_in;
    for (std::string* ours : {&options.every, &options.duration, &options.until, &options.listen}) ours->clear();
    options.out.clear();  // those are the watch's
    BH_TRY(LastWords words, LastWords::make());
    words_.emplace(std::move(words));
    BH_TRY(CatcherBeside catcher, CatcherBeside::start(std::move(options), node, *words_));
    catcher_.emplace(std::move(catcher));
    return ok();
}

// With --all again and again: what is new is watched from then on.
Status Watch::find_vms() {
    looked_ = clock_seconds();
    if (!context_.options().every_vm) {
        if (vms_.empty()) {
            const std::string& input = context_.argument(0);
            vms_.push_back(std::make_unique<WatchedVm>(context_, input, *process_named(input)));
        }
        return ok();
    }
    for (const otp::VmOnMachine& vm : otp::running_vms()) {
        if (std::ranges::any_of(vms_, [&](const auto& each) { return each->pid() == vm.pid; })) continue;
        if (vm.problem) {
            if (refused_.insert(vm.pid).second) say(vm.problem->message);
            continue;
        }
        vms_.push_back(std::make_unique<WatchedVm>(context_, fmt::format("pid:{}", vm.pid), vm.pid));
    }
    return ok();
}

// What is new; the last time all that grows, which was told before.
std::vector<present::ToldGrowth> rows_of(const WatchedVm& vm, bool last) {
    std::vector<present::ToldGrowth> rows = vm.told();
    if (!last) return rows;
    std::erase_if(rows, [](const auto& each) { return each.change == present::GrowthChange::gone; });
    for (present::ToldGrowth& each : rows) each.change = present::GrowthChange::kept;
    return rows;
}

// `rows` must outlive it.
present::Document Watch::document(const WatchedVm& vm, std::span<const present::ToldGrowth> rows, bool last) const {
    present::Document document = context_.document(vm.snapshot());
    if (!vm.notice().empty() && !last)
        document.lead.push_back(present::Text{}.add(fmt::format("{}: {}.", vm.input(), vm.notice())));
    for (const present::ToldGrowth& told : rows)
        if (told.change != present::GrowthChange::kept || last)
            document.lead.push_back(present::growing_text(told, vm.syntax()));
    document.members.push_back(
        {.key = "watch",
         .body = present::Value(present::Object{
             {"rounds", vm.watch().rounds()},
             {"every_seconds", every_},
             {"last", last},
             {"halt", vm.halt() == VmHalt::none ? present::Value() : present::Value(name_of(vm.halt()))},
             {"stood_seconds", vm.watch().stood_seconds()},
             {"vms", vm.vms()},
             {"followed", static_cast<std::uint64_t>(vm.watch().series())},
             {"left_out", vm.watch().left_out()}})});
    document.members.push_back({.key = "rows", .body = present::growing_table(rows, vm.syntax())});
    document.primary = "rows";
    return document;
}

// What is new, as a line each; in JSON all that grows as one object, where something is new or it is the last one.
Status Watch::tell(const WatchedVm& vm, bool last) const {
    if (!vm.news() && !last) return ok();
    if (!context_.for_people()) return context_.print_line(document(vm, rows_of(vm, last), last), vm.snapshot());
    FileSink out(STDOUT_FILENO);
    const present::Redactor redactor = this->redactor(vm.snapshot());
    const std::string of_vm = context_.options().every_vm ? fmt::format("{} ", vm.input()) : std::string();
    const std::vector<present::ToldGrowth> rows = rows_of(vm, last);
    if (!vm.notice().empty() && !last)
        out.write(present::safe_text(fmt::format("{} {}: {}.", present::time_text(vm.at_ms()).substr(11, 8), vm.input(),
                                                 vm.notice())) +
                  "\n");
    for (const present::ToldGrowth& told : rows)
        if (last || told.change != present::GrowthChange::kept)
            out.write(present::safe_text(fmt::format("{} {}{}", present::time_text(vm.at_ms()).substr(11, 8), of_vm,
                                                     redactor.apply(present::growing_text(told, vm.syntax())))) +
                      "\n");
    if (last && rows.empty())
        out.write(fmt::format("{} {}{} rounds: {}.\n", present::time_text(vm.at_ms()).substr(11, 8), of_vm,
                              vm.watch().rounds(),
                              vm.watch().rounds() < analyses::least_points
                                  ? fmt::format("too few to tell what grows, which takes {}", analyses::least_points)
                                  : "nothing grows steadily"));
    out.flush();
    if (out.error() != 0)
        return Error{ErrorCode::resource_limit, fmt::format("standard output: {}", std::strerror(out.error())), {}};
    return out.closed() ? Status(Error{ErrorCode::interrupted, {}, {}}) : ok();
}

void Watch::write(const WatchedVm& vm) {
    if (outputs_.empty() || vm.halt() != VmHalt::none) return;
    const present::Redactor redactor(redaction_of_files(vm.snapshot()));
    for (WatchOutput& output : outputs_) {
        const Status added = output.add({vm.input(), vm.at_ms(), vm.watch(), vm.told(), vm.syntax()}, redactor);
        if (!added && !output.losing) say(added.error().message + "; this round is lost, the next one is tried");
        if (added && output.losing) say(fmt::format("{}: rounds are written again", output.place()));
        output.losing = !added;
    }
}

// For who answers about its death, which may come at any moment.
void Watch::remember(const WatchedVm& vm) {
    if (!words_) return;
    constexpr std::size_t most_told = 3, most_risen = 24;
    present::RenderOptions options;
    options.format = "json";
    options.redact = redaction_of_files(vm.snapshot());
    const present::Redactor redactor(options.redact);
    LastWords::Words words;
    std::size_t growing = 0;
    for (const present::ToldGrowth& told : vm.told()) {
        if (told.change == present::GrowthChange::gone || ++growing > most_told) continue;
        if (growing > 1) words.sentence += "; ";
        words.sentence += redactor.apply(present::growing_text(told, vm.syntax()));
        if (words.sentence.ends_with('.')) words.sentence.pop_back();
    }
    if (growing > most_told) words.sentence += fmt::format("; {} more", growing - most_told);
    const std::vector<analyses::Risen> risen = vm.watch().risen(most_risen);
    if (growing == 0) words.sentence = redactor.apply(present::risen_text(risen, vm.syntax()));
    present::StringSink sink;
    const std::vector<present::ToldGrowth> rows = rows_of(vm, true);
    present::Document all = document(vm, rows, true);
    all.members.push_back({.key = "last_hour", .body = present::risen_table(risen, vm.syntax())});
    if (present::render(all, options, sink)) words.json = sink.text();
    words.node = redactor.apply(vm.snapshot().text(vm.snapshot().node.name), present::Content::name);
    words_->put(words);
}

std::string Watch::metrics() const {
    std::vector<present::MeasuredVm> measured;
    for (const auto& vm : vms_) {
        if (!vm->read()) continue;
        const Snapshot& s = vm->snapshot();
        measured.push_back({vm->input(), std::string(s.text(s.node.name)), &vm->watch(), vm->told(), vm->system(),
                            redactor(s), vm->halt() != VmHalt::none});
    }
    return present::open_metrics(measured);
}

// Scrapers are answered meanwhile.
void Watch::wait_until(double time) {
    constexpr double longest = 0.2;  // until a signal is looked for
    for (double left = time - clock_seconds(); left > 0 && !StopBySignal::stopped(); left = time - clock_seconds()) {
        pollfd one{listener_ ? listener_->descriptor() : -1, POLLIN, 0};
        if (poll(&one, 1, static_cast<int>(std::min(left, longest) * 1000) + 1) > 0 && one.revents != 0)
            listener_->answer([this] { return metrics(); });
    }
}

// One that was named by its node's name may be started again. Who waits for the death of one waits for no other's.
bool Watch::await_next(WatchedVm& vm) {
    const std::string& name = context_.options().node_name;
    if (name.empty() || words_) return false;
    const double until = clock_seconds() + seconds_until_next;
    while (!StopBySignal::stopped()) {
        if (auto input = pid_of_node(name); input && *input != vm.input()) {
            vm.move_to(std::move(*input));
            return true;
        }
        if (clock_seconds() >= until) break;
        wait_until(clock_seconds() + shortest_seconds);
    }
    return false;
}

Status Watch::one_round(bool first) {
    for (std::size_t i = 0; i < vms_.size();) {
        WatchedVm& vm = *vms_[i];
        if (const Status read = vm.round(); !read) {
            if (first && !context_.options().every_vm) return read.error();
            const ErrorCode code = read.error().code;
            say(read.error().message);
            if (code == ErrorCode::unreadable || code == ErrorCode::not_recognised || code == ErrorCode::usage) {
                if (vm.read() && await_next(vm)) continue;
                if (vm.read()) BH_CHECK(tell(vm, true));
                refused_.erase(vm.pid());
                vms_.erase(vms_.begin() + static_cast<std::ptrdiff_t>(i));
                ++ended_;
                continue;
            }
        } else {
            if (vm.begins_to_leave_out())
                say(
                    fmt::format("{}: {} names, groups or tables are not followed one by one: of each kind those that "
                                "have most are, and their sums",
                                vm.input(), vm.watch().left_out()));
            BH_CHECK(tell(vm, false));
            write(vm);
            remember(vm);
            holds_ = holds_ || (vm.halt() == VmHalt::none && until_.holds(vm.growing()));
        }
        ++i;
    }
    return ok();
}

Status Watch::rounds() {
    const double begin = clock_seconds();
    double next = begin;
    for (bool first = true; !StopBySignal::stopped(); first = false) {
        if (first || (context_.options().every_vm && clock_seconds() - looked_ > seconds_between_looks))
            BH_CHECK(find_vms());
        BH_CHECK(one_round(first));
        if (holds_ || (vms_.empty() && !context_.options().every_vm)) break;
        next += every_;
        if (next < clock_seconds()) next = clock_seconds() + every_ / 10;  // a round took longer than that
        if (total_ > 0 && next - begin > total_) {
            wait_until(begin + total_);
            break;
        }
        wait_until(next);
    }
    if (words_ && vms_.empty()) words_->has_ended();
    if (catcher_ && !catcher_->end() && vms_.empty())
        say("it has ended, and wrote no dump: what grew before is all that there is to tell");
    for (const auto& vm : vms_)
        if (vm->read()) BH_CHECK(tell(*vm, true));
    if (!holds_) return ok();
    return Error{ErrorCode::findings, fmt::format("{}: it does", context_.options().until), {}};
}

Status Watch::run() {
    BH_CHECK(prepare());
    const StopBySignal stop;
    const Status done = rounds();
    if (!done && done.error().code == ErrorCode::interrupted && done.error().message.empty())
        return ok();  // nobody reads
    return done;
}

}  // namespace

static Status cmd_watch(const Context& context) { return Watch(context).run(); }

BH_DEFINE_VERB(watch){
    .name = "watch",
    .arguments = {optional(argument::input)},
    .options = "--every --for --all --out --until --listen --catch --pipe --keep --deadline --disk --free --exec",
    .summary = "what grows steadily in a running VM, since when, and when it reaches which limit",
    .details =
        "INPUT is the pid of a beam.smp, or the node's name. Its tables are read every 10 s (--every); what grows "
        "over at least 60 rounds is told,\n"
        "a line each: by what rate, since when, and when the limit of memory, processes, ports, atoms or files is "
        "reached. What goes up and\n"
        "down with collections, fills to a bound, or comes in bursts is not. Of a process that grows the heap is "
        "looked into once.\n"
        "--until 'grows(memory)' ends with exit code 1 when that is so; --out FILE.sqlite or FOLDER keeps the "
        "rounds; --listen 127.0.0.1:9187\n"
        "is for Prometheus. --catch DIR also answers about its death: the place where it would write its dump "
        "becomes a pipe, as `catch` has it.\n"
        "SIGINT and SIGTERM end it, as --for and the VM's end do.",
    .examples =
        "watch 4711\nwatch shop@host --every 5s --for 1h\nwatch 4711 --format json\nwatch 4711 --until 'grows(memory)' "
        "--for 30m\nwatch --all --listen 127.0.0.1:9187\nwatch 4711 --out rounds.sqlite\nwatch 4711 --catch "
        "/var/lib/beamheap --keep dump",
    .alone = true,
    .divided = true,
    .run = &cmd_watch,
};

}  // namespace beamheap::cli
