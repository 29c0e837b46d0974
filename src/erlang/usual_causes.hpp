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
};

/// What an application usually ends of; nullptr: nothing is known of it.
inline const Ours* usual_cause_of(std::string_view application) {
    const auto* found = std::ranges::find(usual_causes, application, &UsualCause::application);
    return found == std::end(usual_causes) ? nullptr : &found->hint;
}

}  // namespace beamheap::erlang
