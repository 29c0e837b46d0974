// SPDX-License-Identifier: Apache-2.0
// What an application of OTP usually ends of where nothing tells why it did.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

#include "erlang/ours.hpp"

namespace beamheap::erlang {

struct UsualCause {
    std::string_view application;
    Ours hint;
};

inline constexpr UsualCause usual_causes[] = {
    // memsup.erl, cpu_sup.erl, disksup.erl: each talks to a program that it starts, and ends with {port_died, _}.
    {"os_mon",
     "It runs programs (memsup, cpu_sup in priv/bin of os_mon; df for disksup), and ends when one of them can't be "
     "run: "
     "are they there, executable, and of this machine's kind?"},
    // mnesia_monitor.erl, mnesia_schema.erl: fatal/2 writes why, and stops the application in order.
    {"mnesia",
     "Mnesia stops so where its folder (`dir`) can't be used: schema.DAT or a log is damaged, or of another version, "
     "or "
     "its disk is full. It writes why into the node's log."},
};

/// The application whose callback module this is, as they are called most often: mnesia_app is mnesia's.
inline std::string_view application_of_callback(std::string_view module) {
    constexpr std::string_view end = "_app";
    return module.ends_with(end) ? module.substr(0, module.size() - end.size()) : module;
}

/// What an application usually ends of; nullptr: nothing is known of it.
inline const Ours* usual_cause_of(std::string_view application) {
    const auto* found = std::ranges::find(usual_causes, application, &UsualCause::application);
    return found == std::end(usual_causes) ? nullptr : &found->hint;
}

}  // namespace beamheap::erlang
