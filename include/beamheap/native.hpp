// SPDX-License-Identifier: Apache-2.0
// What the operating system's threads of a VM were doing when its image was taken: native frames, and the Erlang
// process that each worked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "beamheap/ids.hpp"

namespace beamheap {

struct NativeFrame {
    std::uint64_t address = 0;
    std::string function;                  ///< native function; empty where the file is stripped of its name
    std::uint64_t offset = 0;              ///< bytes behind the function's start, else behind the file's load address
    std::string file;                      ///< "beam.smp", "libc.so.6"; empty in compiled Erlang code
    FunctionId erlang = FunctionId::none;  ///< compiled Erlang code: the function
    bool jit = false;                      ///< code of no file: what the JIT wrote; no frame comes behind it
};

struct NativeThread {
    std::uint32_t id = 0;             ///< of the kernel
    std::string role;                 ///< "scheduler:1", "dirty_io_scheduler:2"; empty: none of the schedulers
    std::uint32_t signal = 0;         ///< that it was taking, 0: none
    ProcId process = ProcId::none;    ///< whom its scheduler had taken on
    std::vector<NativeFrame> frames;  ///< youngest first
    std::string end;  ///< why frames are missing behind the last one; empty at a stack's end or in JIT code
};

struct NativeThreads {
    std::vector<NativeThread> threads;  ///< in the core's order: the faulting one first
    std::vector<std::string> missing;   ///< files whose code can't be unwound, each with the reason
};

}  // namespace beamheap
