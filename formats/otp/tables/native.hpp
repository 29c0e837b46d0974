// Threads of an image: which scheduler runs on which, and their native stacks.
//
// A thread's pthread_t is its fs base (glibc, x86-64), which a scheduler knows as its thread. Native code runs on the
// thread's own stack; under the JIT, Erlang code runs on the process's, so a native stack ends where Erlang code called.
#pragma once

#include "beamheap/native.hpp"
#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

struct ThreadRole {
    std::string name;             ///< as dumps name it: "scheduler:1"; empty where it is no scheduler
    std::uint64_t scheduler = 0;  ///< ErtsSchedulerData; 0 likewise
};
ThreadRole thread_role(Reader& reader, const bytes::CoreThread& thread);

/// Needs the processes in the reader's snapshot.
NativeThreads read_native_threads(Reader& reader);

}  // namespace beamheap::otp
