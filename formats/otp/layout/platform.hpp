// SPDX-License-Identifier: Apache-2.0
// What a processor and a C library change in the structures of a release: the tables are of x86-64 with glibc or musl,
// and others follow from them by two facts.
//
// The JIT keeps a frame pointer in Process on x86-64 alone, where Erlang code runs on the machine's stack. And
// pthread_mutex_t, which the structures of tables, ports, run queues, nodes and allocators hold, has 48 bytes with
// glibc on arm64 and 40 everywhere else. All other members have one size and alignment on both machines.
// Facts: erl_vm.h (ERLANG_FRAME_POINTERS), ethr_mutex.h, glibc bits/pthreadtypes-arch.h, musl bits/alltypes.h; the
// DWARF of builds of OTP 25 and 27 for arm64, and cores of 23, 25, 27 and 29.
#pragma once

#include "formats/otp/layout/layout.hpp"

namespace beamheap::otp {

enum class Platform : std::uint8_t {
    x86_64,  ///< with any C library
    arm64,   ///< with glibc
    arm64_musl,
};

/// " for arm64", ...: what is said behind a row's name; nothing of x86-64.
std::string_view platform_suffix(Platform platform);

/// The offsets that a build for `platform` has where one for x86-64 has `at`.
Offsets on_platform(Offsets at, Platform platform);
/// The row of a build for `platform`, proved by a VM where one of that platform was read as well.
Layout on_platform(Layout row, Platform platform);

}  // namespace beamheap::otp
