// SPDX-License-Identifier: Apache-2.0
// Threads of an image: which scheduler runs on which, and their native stacks.
//
// A scheduler knows its thread by pthread_t, the address of the C library's structure for it. The thread pointer is
// that very address on x86-64; on arm64 it stands behind the structure, at a distance that is one for all threads of a
// process and differs between C libraries and their releases. A core may lack the thread pointer there (older debuggers
// and emulators write no NT_ARM_TLS): then the stack tells, for the structure stands at its upper end.
// Native code runs on the thread's own stack; under the JIT of x86-64, Erlang code runs on the process's, on arm64
// beside it: either way a native stack ends where Erlang code called.
#pragma once

#include "beamheap/native.hpp"
#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

struct ThreadRole {
    std::string name;                         ///< as dumps name it: "scheduler:1"; empty where it is no scheduler
    std::uint64_t scheduler = 0;              ///< ErtsSchedulerData; 0 likewise
    std::optional<CallingScheduler> calling;  ///< its kind and number; none likewise
};

/// Which thread is which scheduler's.
class ThreadRoles {
public:
    ThreadRoles(const Vm& vm, bytes::MemoryReader& memory);
    ThreadRole of(const bytes::CoreThread& thread) const;

private:
    struct Entry {
        std::uint64_t handle = 0;  // pthread_t
        ThreadRole role;
    };
    const Vm& vm_;
    std::vector<Entry> entries_;  // ascending handles
    std::uint64_t distance_ = 0;  // from a handle to the thread pointer
};

/// Needs the processes in the reader's snapshot.
NativeThreads read_native_threads(Reader& reader);

}  // namespace beamheap::otp
