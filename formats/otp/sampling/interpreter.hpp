// SPDX-License-Identifier: Apache-2.0
// Which registers an interpreting emulator keeps its state in.
//
// A C compiler chose them when it compiled process_main, so they differ from build to build and nothing in a stripped
// file tells. They can be learned from outside: in the frames of process_main, one register nearly always holds what
// the scheduler says is its process, another an address within that process's stack, a third an address of loaded code.
// A register counts only where it fits five times as often as any other, and in more than 30 of 100 frames: what is
// compared with is read a moment after the sample, so even the right one doesn't always fit. Addresses of code are
// operands, too (of jumps and calls), so of those half as often again, and in more than half of the frames, is enough.
// Where none stands out like that, as the compiler keeps the current instruction in several registers by turns, those
// that hold code often tell the function together: where they agree it is that one, as an instruction's operands are
// addresses of its own function, but for the instant of a call.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "beamheap/ids.hpp"
#include "bytes/sample_unwinder.hpp"
#include "formats/otp/sampling/resolver.hpp"

namespace beamheap::otp {

/// Where an interpreter is in Erlang code.
struct InterpretedCode {
    std::uint64_t address = 0;  ///< 0: no register tells
    bool sure = false;          ///< its function is the one that runs
};

class InterpreterRegisters {
public:
    /// Takes one frame of process_main into account. `current` is the process that the scheduler names; `is_code` tells
    /// whether an address is in loaded code.
    template <class IsCode>
    void learn(const bytes::UnwoundFrame& frame, const SeenProcess& current, IsCode&& is_code) {
        ++frames_;
        bool any_code = false;
        for (std::size_t i = 0; i < votes_.size(); ++i) {
            const auto value = frame[static_cast<bytes::X86>(i)];
            if (!value || i == static_cast<std::size_t>(bytes::X86::rsp) ||
                i == static_cast<std::size_t>(bytes::X86::rip))
                continue;
            votes_[i].process += current.address != 0 && *value == current.address;
            votes_[i].stack += current.address != 0 && current.top < *value && *value <= current.end && *value % 8 == 0;
            const bool code = is_code(*value);
            votes_[i].code += code;
            any_code = any_code || code;
        }
        coded_ += any_code;
    }
    std::uint64_t frames() const { return frames_; }
    std::optional<bytes::X86> process() const { return winner(&Votes::process, 10, 30); }
    std::optional<bytes::X86> stack() const { return winner(&Votes::stack, 10, 30); }
    std::optional<bytes::X86> code() const { return winner(&Votes::code, 3, 50); }
    /// Where it is at a frame: by the register for that, where one stands out, else by those that hold code at this
    /// instant. `function_at` gives the function of an address, FunctionId::none for what is no code.
    template <class FunctionAt>
    InterpretedCode place(const bytes::UnwoundFrame& frame, FunctionAt&& function_at) const {
        InterpretedCode found;
        if (const auto best = code()) {
            const std::uint64_t address = frame[*best].value_or(0);
            if (function_at(address) != FunctionId::none) return {address, true};
        }
        FunctionId function = FunctionId::none;
        for (const bytes::X86 candidate : code_candidates()) {
            const std::uint64_t address = frame[candidate].value_or(0);
            const FunctionId here = function_at(address);
            if (here == FunctionId::none) continue;
            if (found.address == 0) found = {address, true}, function = here;
            found.sure = found.sure && here == function;
        }
        return found;
    }
    /// Registers that often hold addresses of code, the one above first: what a compiler keeps elsewhere for a while,
    /// in a loop.
    std::vector<bytes::X86> code_candidates() const {
        std::vector<bytes::X86> all;
        for (std::size_t i = 0; i < votes_.size(); ++i)
            if (4 * votes_[i].code >= frames_ && frames_ != 0) all.push_back(static_cast<bytes::X86>(i));
        std::sort(all.begin(), all.end(), [this](bytes::X86 a, bytes::X86 b) {
            return votes_[static_cast<std::size_t>(a)].code > votes_[static_cast<std::size_t>(b)].code;
        });
        return all;
    }
    /// Whether functions can be told: by one register that stands out, or by some that hold code together.
    bool tells_functions() const {
        return process() && (code() || (2 * coded_ >= frames_ && !code_candidates().empty()));
    }

private:
    struct Votes {
        std::uint64_t process = 0, stack = 0, code = 0;
    };
    // `half_times`: how many times, in halves, it must fit as often as any other; `percent`: of all frames.
    std::optional<bytes::X86> winner(std::uint64_t Votes::*kind, std::uint64_t half_times,
                                     std::uint64_t percent) const {
        std::size_t best = 0;
        std::uint64_t most = 0, second = 0;
        for (std::size_t i = 0; i < votes_.size(); ++i) {
            const std::uint64_t count = votes_[i].*kind;
            if (count > most) second = most, most = count, best = i;
            else if (count > second) second = count;
        }
        if (most == 0 || 2 * most < half_times * second || 100 * most < percent * frames_) return std::nullopt;
        return static_cast<bytes::X86>(best);
    }
    std::array<Votes, bytes::ThreadSample::register_count> votes_{};
    std::uint64_t frames_ = 0;
    std::uint64_t coded_ = 0;  // frames in which any register held code
};

}  // namespace beamheap::otp
