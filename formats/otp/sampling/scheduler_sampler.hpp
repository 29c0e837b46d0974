// SPDX-License-Identifier: Apache-2.0
// What both kinds of sampling share: the VM's threads, its code, and the way from a sample to a process and its stack.
#pragma once

#include <unordered_map>
#include <vector>

#include "bytes/clock.hpp"
#include "bytes/held_threads.hpp"
#include "bytes/sample_unwinder.hpp"
#include "formats/otp/sampling/interpreter.hpp"
#include "formats/otp/sampling/live_code.hpp"
#include "formats/otp/sampling/resolver.hpp"
#include "formats/otp/sampling/sampling.hpp"
#include "formats/otp/sampling/threads.hpp"

namespace beamheap::otp {

using bytes::monotonic_ns;

/// Nanoseconds since 1970, UTC.
std::int64_t unix_ns();

class SchedulerSampler {
public:
    /// Errors: not_held where nothing can be sampled: another machine's registers, no scheduler's thread found.
    static Result<std::unique_ptr<SchedulerSampler>> make(SamplingTarget target);

    const std::vector<SchedulerThread>& threads() const { return threads_; }
    std::vector<std::uint32_t> thread_ids() const;
    /// Learns the registers of an interpreter from what its threads do, for at most some seconds; nothing to be done
    /// under the JIT. With a holder by it, else by the kernel's events. Errors: those of ThreadSampler::open.
    Status learn(const std::function<bool()>& stop, bytes::ThreadHolder* holder = nullptr);
    void threads_stand(bool stand) { resolver_.threads_stand(stand); }
    /// Why no Erlang function can be told, a sentence; empty where they can.
    const std::string& no_erlang() const { return no_erlang_; }

    /// The process and Erlang stack behind a sample; native frames are in frames() then.
    ResolvedSample resolve(const bytes::ThreadSample& sample);
    /// The same of a thread that sleeps in C with this process in hand, of which stack pointer and program counter
    /// alone are known. Where the C frames can't be followed without the other registers, the first word above them
    /// that is an address of Erlang code is where that was called from (most likely: a word that was left there may be
    /// older), and the process's stack is as it is, since it stands.
    ResolvedSample resolve_held(const bytes::ThreadSample& sample, std::uint64_t process);
    const std::vector<bytes::UnwoundFrame>& frames() const { return frames_; }
    /// The native function of one of them, an index into natives().
    std::uint32_t native(const bytes::UnwoundFrame& frame);
    const std::vector<NativeFunction>& natives() const { return natives_; }
    std::vector<NativeFunction> take_natives() { return std::move(natives_); }
    /// The thread with this id: an index into threads(), or their number.
    std::size_t thread_of(std::uint32_t id) const;
    Pid pid(const SeenProcess& process) { return reader_.pid(process.id); }
    StackId stack(const std::vector<Frame>& frames) {
        return frames.empty() ? StackId::none : reader_.snapshot.stacks.intern(frames);
    }
    /// What the scheduler says is its process, now; 0: none.
    std::uint64_t current_process(std::size_t thread) const;
    SeenProcess see(std::uint64_t process) { return resolver_.see(process); }
    /// Where a process has the sum of its heap fragments, in words.
    std::uint64_t fragment_words_of(std::uint64_t process) const { return process + reader_.at.process_fragment_words; }
    /// That sum, now; false where it can't be read.
    bool fragment_words(std::uint64_t process, std::uint64_t& words) const;

    std::uint64_t code_reloads() const { return code_reloads_; }
    const std::vector<std::string>& missing() const { return unwinder_.missing(); }

private:
    explicit SchedulerSampler(SamplingTarget target);
    void learn_from(const bytes::ThreadSample& sample);
    const bytes::UnwoundFrame* interpreter_frame();
    ResolvedSample resolve_interpreted(const bytes::UnwoundFrame& frame);
    void refresh_code(const ResolvedSample& resolved);

    Reader& reader_;
    const bytes::RunningProcess& process_;
    LiveCode code_;
    bytes::SampleUnwinder unwinder_;
    SampleResolver resolver_;
    InterpreterRegisters registers_;
    std::vector<SchedulerThread> threads_;
    std::unordered_map<std::uint32_t, std::size_t> thread_index_;
    std::vector<bytes::UnwoundFrame> frames_;
    std::vector<NativeFunction> natives_;
    std::unordered_map<std::uint64_t, std::uint32_t> native_by_address_;
    std::unordered_map<std::string, std::uint32_t> native_by_name_;
    std::string no_erlang_;
    std::uint64_t code_reloads_ = 0, code_listed_ns_ = 0;
    bool jit_;
};

}  // namespace beamheap::otp
