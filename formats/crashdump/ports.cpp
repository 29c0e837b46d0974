// SPDX-License-Identifier: Apache-2.0
// =port:#Port<0.N>. Written by print_port_info() in erts/emulator/beam/io.c.
#include "formats/crashdump/fields.hpp"
#include "formats/crashdump/readers.hpp"

namespace beamheap::crashdump {
namespace {

// "<0.1.0><0.2.0>", no separator.
void read_pids(std::string_view value, std::vector<Pid>& out) {
    while (const auto pid = take_pid(value)) out.push_back(*pid);
}
void read_connected(Loader&, Port& port, std::string_view value, std::uint64_t) {
    if (const auto pid = parse_pid(value)) port.connected = *pid;
}
void read_links(Loader&, Port& port, std::string_view value, std::uint64_t) { read_pids(value, port.links); }
void read_suspended(Loader&, Port& port, std::string_view value, std::uint64_t) { read_pids(value, port.suspended); }
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
    {"State: ", {}, &Port::state},
    {"Task Flags: ", {}, &Port::task_flags},
    {"Slot: ", &Port::slot},
    {"Connected: ", {}, {}, read_connected},
    {"Links: ", {}, {}, read_links},
    {"Monitors: ", {}, {}, read_monitors},
    {"Suspended: ", {}, {}, read_suspended},
    {"Registered as: ", {}, {}, read_registered},
    {"Port is UNIX fd not opened by emulator: ", {}, {}, read_kind<fd>},
    {"Port controls external process: ", {}, {}, read_kind<external>},
    {"Port controls forker process: ", {}, {}, read_kind<forker>},
    {"Port controls linked-in driver: ", {}, {}, read_kind<driver>},
    {"Port is a file: ", {}, {}, read_kind<file>},
    {"Input: ", &Port::input_bytes},
    {"Output: ", &Port::output_bytes},
    {"Queue: ", &Port::queue_bytes},
    {"Port Data: ", {}, &Port::data},
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
