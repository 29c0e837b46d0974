// SPDX-License-Identifier: Apache-2.0
// =scheduler:N, =dirty_cpu_scheduler:N, =dirty_io_scheduler:N and the dirty run queues: the instant of the crash,
// before the other schedulers were stopped. Written by erts_print_scheduler_info() in erl_process.c.
#include "formats/crashdump/fields.hpp"
#include "formats/crashdump/readers.hpp"

namespace beamheap::crashdump {
namespace {

using Row = Scheduler;

template <std::size_t Index>
void read_queue(Loader& loader, Row& row, std::string_view value, std::uint64_t offset) {
    row.run_queue[Index] = loader.number(value, offset);
}
void read_port_id(Loader&, Row& row, std::string_view value, std::uint64_t) {
    if (const auto port = take_port(value)) row.current_port = *port;
}
void read_process_pid(Loader&, Row& row, std::string_view value, std::uint64_t) {
    if (const auto pid = parse_pid(value)) row.current_process = *pid;
}
void read_process_state(Loader&, Row& row, std::string_view value, std::uint64_t) {
    row.process_state = value == "Running"     ? ProcessState::running
                        : value == "Garbing"   ? ProcessState::garbage_collecting
                        : value == "Exiting"   ? ProcessState::exiting
                        : value == "Waiting"   ? ProcessState::waiting
                        : value == "Scheduled" ? ProcessState::runnable
                        : value == "Suspended" ? ProcessState::suspended
                                               : ProcessState::unknown;
}
void read_pc(Loader& loader, Row&, std::string_view value, std::uint64_t) {
    const std::size_t bracket = value.find('(');
    if (bracket == std::string_view::npos) return;
    const Frame frame = read_frame(loader, value.substr(bracket + 1));
    if (frame.function != FunctionId::none) loader.frames.push_back(frame);
}
void read_nothing(Loader& loader, Row&, std::string_view value, std::uint64_t offset) {
    if (!value.empty()) loader.anomalies().add(Anomaly::bad_line, offset, value);
}

constexpr Field<Row> scheduler_fields[] = {
    {"Scheduler Sleep Info Flags: ", {}, &Row::sleep_flags},
    {"Scheduler Sleep Info Aux Work: ", {}, &Row::aux_work},
    {"Current Port: ", {}, {}, read_port_id},
    {"Run Queue Max Length: ", {}, {}, read_queue<0>},
    {"Run Queue High Length: ", {}, {}, read_queue<1>},
    {"Run Queue Normal Length: ", {}, {}, read_queue<2>},
    {"Run Queue Low Length: ", {}, {}, read_queue<3>},
    {"Run Queue Port Length: ", {}, {}, read_queue<4>},
    {"Run Queue Flags: ", {}, &Row::run_queue_flags},
    {"Current Process: ", {}, {}, read_process_pid},
    {"Current Process State: ", {}, {}, read_process_state},
    {"Current Process Internal State: ", {}, &Row::process_internal_state},
    {"Current Process Program counter: ", {}, {}, read_pc},
    {"Current Process CP: ", {}, {}, read_pc},
    {"Current Process Limited Stack Trace:", {}, {}, read_nothing},
};

constexpr Always queue_always[] = {{"Run Queue Max Length: "},    {"Run Queue High Length: "},
                                   {"Run Queue Normal Length: "}, {"Run Queue Low Length: "},
                                   {"Run Queue Port Length: "},   {"Run Queue Flags: "}};
constexpr Always sleep_always[] = {
    {"Scheduler Sleep Info Flags: "}, {"Scheduler Sleep Info Aux Work: "}, {"Current Process: "}};
// Of who runs there the four come together.
constexpr Always running_always[] = {{"Current Process State: "},
                                     {"Current Process Internal State: "},
                                     {"Current Process Program counter: "},
                                     {"Current Process Limited Stack Trace:"}};

void judge(Loader& loader, const Section& section, const Row& row, FieldOrder<Row>& order) {
    using Kind = Scheduler::Kind;
    if (row.crashed) return;
    const bool queue = row.kind == Kind::dirty_cpu_queue || row.kind == Kind::dirty_io_queue;
    if (queue || row.kind == Kind::normal) {
        for (const Always& field : queue_always)
            if (!order.has(field.key)) order.odd(field.key);
    }
    if (row.kind == Kind::normal && !order.has("Current Port: ")) order.odd("Current Port: ");
    if (row.current_process.has())
        for (const Always& field : running_always)
            if (!order.has(field.key)) order.odd(field.key);
    order.judge(loader, section, queue ? std::span<const Always>() : sleep_always);
}

void read(Loader& loader, const Section& section, std::string_view body, Scheduler::Kind kind) {
    FieldOrder<Row> order(scheduler_fields);
    Row row;
    row.kind = kind;
    row.id = static_cast<std::uint32_t>(parse_decimal(section.id).value_or(0));
    loader.frames.clear();
    FieldPlace place;
    read_lines(section, body, [&](std::string_view line, std::uint64_t offset) {
        loader.look_for_zeros(offset, line);
        if (const std::size_t crashed = line.find("** crashed **"); crashed != std::string_view::npos) {
            row.crashed = true;
            loader.anomalies().add(Anomaly::crashed_section, offset, line);
            return;
        }
        if (line.starts_with("0x")) {  // 0x...:SReturn addr 0x... (m:f/a + off), or "skipping N frames"
            if (const std::size_t bracket = line.find(" ("); bracket != std::string_view::npos) {
                const Frame frame = read_frame(loader, line.substr(bracket + 2));
                if (frame.function != FunctionId::none) loader.frames.push_back(frame);
            }
            return;
        }
        if (line.starts_with("Could not read from stack memory")) return;
        if (read_field(loader, std::span<const Field<Row>>(scheduler_fields), place, row, line, offset))
            order.found(place.hint);
        else loader.unknown_field(offset, line);
    });
    judge(loader, section, row, order);
    if (!loader.frames.empty()) row.stack = loader.snapshot.stacks.intern(loader.frames);
    loader.snapshot.schedulers.push_back(row);
}

}  // namespace

void read_scheduler(Loader& loader, const Section& section, std::string_view body) {
    read(loader, section, body, Scheduler::Kind::normal);
}
void read_dirty_cpu_scheduler(Loader& loader, const Section& section, std::string_view body) {
    read(loader, section, body, Scheduler::Kind::dirty_cpu);
}
void read_dirty_io_scheduler(Loader& loader, const Section& section, std::string_view body) {
    read(loader, section, body, Scheduler::Kind::dirty_io);
}
void read_dirty_cpu_queue(Loader& loader, const Section& section, std::string_view body) {
    read(loader, section, body, Scheduler::Kind::dirty_cpu_queue);
}
void read_dirty_io_queue(Loader& loader, const Section& section, std::string_view body) {
    read(loader, section, body, Scheduler::Kind::dirty_io_queue);
}

}  // namespace beamheap::crashdump
