// SPDX-License-Identifier: Apache-2.0
// What modules of OTP, of Elixir and of libraries are to those whose stacks they stand on. A module is a row of
// modules.inc, which has all that is known of it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace beamheap::erlang {

enum class ModuleRole : std::uint8_t {
    library = 1,      ///< its frames tell how something was called, and not who called it
    tool = 2,         ///< works for whoever calls it: what it does tells less than for whom
    of_ports = 4,     ///< stands between a program and a port
    calling = 8,      ///< its functions are how a call is named: the youngest of its frames behind the receive
    no_process = 16,  ///< processes wait in it for the time, or for what is no process
    usual = 32,       ///< programs call it most: what a misspelt name may have meant
    everywhere = 64,  ///< on the stacks of processes of all kinds, whatever they do
};

struct ModuleRow {
    std::string_view name;
    std::uint8_t roles;
    constexpr bool has(ModuleRole role) const { return (roles & static_cast<std::uint8_t>(role)) != 0; }
};
/// All that are known, sorted by name.
std::span<const ModuleRow> known_modules();

/// Whether one of the behaviours of a module, with blanks between them, is that of a process which a supervisor may
/// start as a worker: gen_server, GenStage, ...
bool is_worker(std::string_view behaviours);

/// Whether a module's name begins with that of an application, as is usual: shop_tax, Elixir.Shop.Tax,
/// Elixir.ShopWeb.Endpoint of shop.
bool is_called_after(std::string_view module, std::string_view application);

bool has_role(std::string_view module, ModuleRole role);
/// Whose NIF resources are open files, each of which monitors the process that has opened it (prim_file_nif.c, since
/// OTP 21).
inline constexpr std::string_view module_of_files = "prim_file";
/// Whose NIF resources are each a file descriptor, and monitor the process that has it: prim_file's, and since OTP 22
/// prim_socket's.
inline bool is_of_descriptors(std::string_view module) {
    return module == module_of_files || module == "prim_socket" || module == "socket";
}
/// Drivers of which each port is a socket (inet_drv.c).
inline bool is_driver_of_sockets(std::string_view driver) {
    return driver == "tcp_inet" || driver == "udp_inet" || driver == "sctp_inet";
}
/// Whose State has a limit on restarts beside its children: neither is held against the other.
inline constexpr std::string_view module_of_supervisors = "supervisor";
/// Whose processes supervise, too.
inline constexpr std::string_view module_of_bridges = "supervisor_bridge";
/// Whether a module is called as supervisors are: shop_sup, Elixir.Shop.CartSupervisor, ranch_conns_sup.
constexpr bool is_called_supervisor(std::string_view module) {
    return module.find("supervisor") != module.npos || module.find("Supervisor") != module.npos ||
           module.ends_with("_sup");
}

/// Whether a module's frames tell how something was called: one of the role `library`, or of Elixir's own compiler and
/// configuration.
bool is_library(std::string_view module);
/// Whether a module is one of OTP's or Elixir's own, by its name: one of kernel or stdlib, a row of known_modules() or
/// one of the families of mnesia, ssl and inets. For inputs that do not tell where modules were compiled.
bool is_of_otp(std::string_view module);

}  // namespace beamheap::erlang
