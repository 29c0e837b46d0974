// SPDX-License-Identifier: Apache-2.0
// =port:#Port<0.N>. Written by print_port_info() in erts/emulator/beam/io.c.
#include "formats/crashdump/fields.hpp"
#include "formats/crashdump/readers.hpp"

namespace beamheap::crashdump {
namespace {

// "<0.1.0><0.2.0>", no separator.
void read_pids(Loader& loader, std::string_view value, std::uint64_t offset, std::vector<Pid>& out) {
    for (;;) {
        if (const auto pid = take_pid(value)) out.push_back(*pid);
        else if (!take_port(value)) break;  // up to R10 ports had links, too
    }
    if (!value.empty() && value != "[]") loader.anomalies().add(Anomaly::bad_line, offset, value);
}
void read_state(Loader& loader, Port& port, std::string_view value, std::uint64_t offset) {
    port.state = loader.text(value);
    const auto fits = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '|'; };
    if (!std::ranges::all_of(value, fits)) loader.anomalies().add(Anomaly::bad_line, offset, value);
}
void read_connected(Loader& loader, Port& port, std::string_view value, std::uint64_t offset) {
    if (const auto pid = parse_pid(value)) port.connected = *pid;
    else if (!take_port(value) && value != "[]")  // up to R10 ports could be, too
        loader.anomalies().add(Anomaly::bad_line, offset, value);
}
void read_links(Loader& loader, Port& port, std::string_view value, std::uint64_t offset) {
    read_pids(loader, value, offset, port.links);
}
void read_suspended(Loader& loader, Port& port, std::string_view value, std::uint64_t offset) {
    read_pids(loader, value, offset, port.suspended);
}
// "(<0.9.0>,#Ref<0.1.2.3>)(...)"
void read_monitors(Loader&, Port& port, std::string_view value, std::uint64_t) {
    while (value.starts_with("(")) {
        value.remove_prefix(1);
        const auto pid = take_pid(value);
        if (!pid) return;
        port.monitors.push_back(*pid);
        const std::size_t end = value.find(')');
        if (end == std::string_view::npos) return;
        value.remove_prefix(end + 1);
    }
}
void read_registered(Loader& loader, Port& port, std::string_view value, std::uint64_t) {
    port.name = loader.atom(value);
}

template <const char* const& Kind>
void read_kind(Loader& loader, Port& port, std::string_view value, std::uint64_t) {
    port.kind = loader.snapshot.texts.intern(Kind);
    port.driver = loader.text(value);
}
constexpr const char* fd = "fd";
constexpr const char* external = "external process";
constexpr const char* forker = "forker process";
constexpr const char* driver = "linked-in driver";
constexpr const char* file = "file";

constexpr Field<Port> port_fields[] = {
    {"State: ", {}, {}, read_state},
    {"Task Flags: ", {}, &Port::task_flags},
    {"Slot: ", &Port::slot},
    {"Connected: ", {}, {}, read_connected},
    {"Links: ", {}, {}, read_links},
    {"Monitors: ", {}, {}, read_monitors},
    {"Suspended: ", {}, {}, read_suspended},
    {"Registered as: ", {}, {}, read_registered, nullptr, false, true},
    {"Port is UNIX fd not opened by emulator: ", {}, {}, read_kind<fd>, nullptr, false, true},
    {"Port controls external process: ", {}, {}, read_kind<external>, nullptr, false, true},
    {"Port controls forker process: ", {}, {}, read_kind<forker>},
    {"Port controls linked-in driver: ", {}, {}, read_kind<driver>, nullptr, false, true},
    {"Port is a file: ", {}, {}, read_kind<file>, nullptr, false, true},
    {"Input: ", &Port::input_bytes},
    {"Output: ", &Port::output_bytes},
    {"Queue: ", &Port::queue_bytes},
    {"Port Data: ", {}, &Port::data, {}, nullptr, false, true},
};
// 20.3 has the first four, too.
constexpr Always port_always[] = {{"State: ", 21}, {"Input: ", 21}, {"Output: ", 21},
                                  {"Queue: ", 21}, {"Slot: "},      {"Connected: "}};

}  // namespace

void read_port(Loader& loader, const Section& section, std::string_view body) {
    Port port;
    std::string_view id = section.id;
    if (const auto name = take_port(id)) port.port = *name;
    else loader.anomalies().add(Anomaly::bad_line, section.offset, section.id);
    read_fields(loader, std::span<const Field<Port>>(port_fields), port, section, body, port_always);
    if (port.kind == TextId::none && loader.dialect.otp >= 11) {
        loader.losses.torn_section(section.offset, "=port:" + std::string(section.id) + " has no kind");
    }
    loader.snapshot.ports.push_back(std::move(port));
}

}  // namespace beamheap::crashdump
