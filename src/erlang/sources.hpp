// SPDX-License-Identifier: Apache-2.0
// Where a module comes from, by the path of its source that its compiler noted.
//
// All modules of one installation of OTP, and of Elixir, were built below one folder: what precedes the known path of
// one of its modules precedes those of all. A library of the program lies elsewhere. Builds that note no path
// (`deterministic`) tell nothing.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace beamheap::erlang {

struct KnownSource {
    std::string_view module, path;  ///< below the folder of the build
};
/// Modules that every node has loaded, and every node with Elixir.
inline constexpr std::array known_sources{
    KnownSource{"erts_internal", "/erts/preloaded/src/erts_internal.erl"},
    KnownSource{"init", "/erts/preloaded/src/init.erl"},
    KnownSource{"lists", "/lib/stdlib/src/lists.erl"},
    KnownSource{"gen_server", "/lib/stdlib/src/gen_server.erl"},
    KnownSource{"error_handler", "/lib/kernel/src/error_handler.erl"},
    // which each installation compiles for itself
    KnownSource{"hipe_unified_loader", "/lib/kernel/src/hipe_unified_loader.erl"},
    KnownSource{"Elixir.Kernel", "/lib/elixir/lib/kernel.ex"},
    KnownSource{"elixir", "/lib/elixir/src/elixir.erl"},
};
/// What follows the folder of a build.
inline constexpr std::array source_folders = std::to_array<std::string_view>({"/lib/", "/erts/"});

/// Modules that programs call of OTP's applications that are packaged, or left out of a build, by themselves; sorted.
struct PackagedModule {
    std::string_view module, application;
};
inline constexpr std::array packaged_modules{
    PackagedModule{"asn1ct", "asn1"},
    PackagedModule{"asn1rt_nif", "asn1"},
    PackagedModule{"cover", "tools"},
    PackagedModule{"cprof", "tools"},
    PackagedModule{"cpu_sup", "os_mon"},
    PackagedModule{"crypto", "crypto"},
    PackagedModule{"ct", "common_test"},
    PackagedModule{"dbg", "runtime_tools"},
    PackagedModule{"debugger", "debugger"},
    PackagedModule{"dialyzer", "dialyzer"},
    PackagedModule{"diameter", "diameter"},
    PackagedModule{"disksup", "os_mon"},
    PackagedModule{"edoc", "edoc"},
    PackagedModule{"eldap", "eldap"},
    PackagedModule{"eprof", "tools"},
    PackagedModule{"erl_syntax", "syntax_tools"},
    PackagedModule{"eunit", "eunit"},
    PackagedModule{"fprof", "tools"},
    PackagedModule{"ftp", "ftp"},
    PackagedModule{"httpc", "inets"},
    PackagedModule{"httpd", "inets"},
    PackagedModule{"inets", "inets"},
    PackagedModule{"lcnt", "tools"},
    PackagedModule{"leex", "parsetools"},
    PackagedModule{"megaco", "megaco"},
    PackagedModule{"memsup", "os_mon"},
    PackagedModule{"merl", "syntax_tools"},
    PackagedModule{"mnesia", "mnesia"},
    PackagedModule{"observer", "observer"},
    PackagedModule{"odbc", "odbc"},
    PackagedModule{"public_key", "public_key"},
    PackagedModule{"reltool", "reltool"},
    PackagedModule{"snmp", "snmp"},
    PackagedModule{"snmpa", "snmp"},
    PackagedModule{"snmpm", "snmp"},
    PackagedModule{"ssh", "ssh"},
    PackagedModule{"ssl", "ssl"},
    PackagedModule{"tftp", "tftp"},
    PackagedModule{"wx", "wx"},
    PackagedModule{"xmerl", "xmerl"},
    PackagedModule{"xmerl_scan", "xmerl"},
    PackagedModule{"xmerl_xpath", "xmerl"},
    PackagedModule{"xref", "tools"},
    PackagedModule{"yecc", "parsetools"},
};
static_assert(std::ranges::is_sorted(packaged_modules, {}, &PackagedModule::module));

/// Which of Elixir's applications that build, try and test projects, and that `mix release` leaves out (lib/mix,
/// lib/iex, lib/ex_unit of Elixir; Hex), a module is of; empty: of none.
constexpr std::string_view build_tool(std::string_view module) {
    struct Tool {
        std::string_view module, name;
    };
    constexpr Tool tools[] = {
        {"Elixir.Mix", "Mix"}, {"Elixir.IEx", "IEx"}, {"Elixir.ExUnit", "ExUnit"}, {"Elixir.Hex", "Hex"}};
    for (const Tool& tool : tools)
        if (module.starts_with(tool.module) &&
            (module.size() == tool.module.size() || module[tool.module.size()] == '.'))
            return tool.name;
    return {};
}

/// The application of such a module; empty: it is none.
constexpr std::string_view packaged_application(std::string_view module) {
    const auto* found = std::ranges::lower_bound(packaged_modules, module, {}, &PackagedModule::module);
    return found != packaged_modules.end() && found->module == module ? found->application : std::string_view{};
}

}  // namespace beamheap::erlang
