// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/sampling/resolver.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "formats/otp/layout/tagged_word.hpp"

namespace beamheap::otp {
namespace {

using bytes::load;
using bytes::X86;

constexpr std::uint64_t most_stack_bytes = 512u << 10;  // that are read of one process's stack
constexpr std::uint64_t near_words = 2000;              // that one call allocates while it is looked at
constexpr std::uint64_t longest_fragment = 1024;        // bytes of code
constexpr std::uint64_t pid_tag = 3, pid_tag_mask = 15;

}  // namespace

SeenProcess SampleResolver::see(std::uint64_t process) {
    SeenProcess seen;
    if (process == 0 || process % 8 != 0) return seen;
    const Offsets& at = layout_.at;
    std::vector<std::byte> row(at.process_size);
    if (memory_.read(process, row) != row.size()) return seen;
    const auto word = [&row](std::uint32_t offset) { return load<std::uint64_t>(row.data() + offset); };
    seen.id = word(0);
    if ((seen.id & pid_tag_mask) != pid_tag) return seen;
    seen.heap = word(at.process_heap);
    seen.top = word(at.process_htop);
    seen.stop = word(at.process_stop);
    seen.end = word(at.process_heap_end);
    seen.address = process;
    return seen;
}

// The frames in a stack's words, youngest first; true where the word was met at which every stack begins.
bool SampleResolver::walk(bytes::Bytes words, bool first_is_return, ResolvedSample& out) {
    const std::size_t count = words.size() / 8;
    for (std::size_t i = 0; i < count; ++i) {
        auto word = load<std::uint64_t>(words.data() + 8 * i);
        if (word == exit_stub_) return true;
        const bool must_be_code = i == 0 && first_is_return;
        if (!must_be_code && !is_header(word)) continue;
        if (!must_be_code && frame_pointers_ && i + 1 < count) {
            word = load<std::uint64_t>(words.data() + 8 * ++i);
            if (word == exit_stub_) return true;
        }
        const Frame frame = code_.frame(word, true);
        if (frame.function == FunctionId::none) {
            out.unknown_code = out.unknown_code || !must_be_code;
            continue;
        }
        if (out.frames.size() == most_sampled_frames) {
            out.cut = true;
            continue;
        }
        out.frames.push_back(frame);
    }
    return false;
}

// The stack of out.process from `top` to its end, as it is now.
bool SampleResolver::read_stack(std::uint64_t top, bool first_is_return, ResolvedSample& out) {
    const SeenProcess& p = out.process;
    if (top % 8 != 0 || top < p.heap || top > p.end) return false;
    buffer_.resize(std::min(p.end - top, most_stack_bytes));
    const std::size_t got = memory_.read(top, buffer_);
    if (walk({buffer_.data(), got}, first_is_return, out)) return true;
    out.cut = true;
    return p.end - top > got;
}

void SampleResolver::erlang_code(const bytes::ThreadSample& sample, ResolvedSample& out) {
    out.process = see(sample[X86::r13]);
    const Frame top = code_.frame(sample.program_counter(), false);
    out.by_code = top.function != FunctionId::none;
    if (out.by_code) out.frames.push_back(top);
    out.basis = SampleBasis::exact;
    out.stack_top = sample.stack_pointer();
    const auto keep = out.frames.size();
    if (walk(sample.stack, !out.by_code, out)) return;
    const SeenProcess& p = out.process;
    const std::uint64_t rsp = std::exchange(out.stack_top, 0);
    if (p.address == 0 || (p.heap <= rsp && rsp <= p.end)) {  // deeper than the copy
        out.stack_top = rsp;
        const bool too_many = out.cut;  // more frames than are kept, in the copy already
        out.cut = true;
        if (p.address == 0) return;
        const std::uint64_t behind = rsp + sample.stack.size();
        if (sample.stack.size() % 8 != 0 || behind < p.heap || behind > p.end) return;
        buffer_.resize(std::min(p.end - behind, most_stack_bytes));
        const std::size_t got = memory_.read(behind, buffer_);
        out.cut = too_many;
        if (!walk({buffer_.data(), got}, false, out)) out.cut = true;
        return;
    }
    // The code had switched to the thread's stack already, or not yet back.
    out.frames.resize(keep);
    out.unknown_code = false;
    out.basis = out.by_code || read_stack(p.stop, true, out) ? SampleBasis::approximate : SampleBasis::moved;
    if (out.by_code) read_stack(p.stop, false, out);
}

void SampleResolver::c_code(const bytes::UnwoundFrame& caller, ResolvedSample& out) {
    const auto process = caller[X86::r13];
    if (!process) return;
    out.process = see(*process);
    const SeenProcess& p = out.process;
    const Frame leaf = code_.frame(caller.address, true);
    out.by_code = leaf.function != FunctionId::none;
    if (p.address == 0) {
        // A process that ended since; where the code itself says who called, that much is sure.
        if (out.by_code) out.frames.push_back(leaf), out.basis = SampleBasis::approximate, out.cut = true;
        return;
    }
    if (out.by_code) out.frames.push_back(leaf);
    const std::uint64_t heap_top = caller[X86::r15].value_or(0);
    // A frame pointer is that of the fragment's own frame, the return address behind it: there still, as a rule, where
    // the process has gone on.
    const std::uint64_t saved = caller[X86::rbp].value_or(0) + (frame_pointers_ ? 8 : 0);
    const bool same_heap = p.heap <= heap_top && heap_top <= p.end;
    bool same_call = same_heap && heap_top <= p.top && p.top - heap_top <= 8 * near_words;
    std::uint64_t top = frame_pointers_ && !out.by_code ? behind_frame_pointer(p.stop) : p.stop;
    CallSite stored = CallSite::unknown;
    if (!out.by_code) {  // one of the two is left from an earlier call: which, the call itself tells
        Frame site;
        // Both are looked up before either is judged: where one fragment begins, another one ends.
        const std::uint64_t by_stop = return_at(top),
                            by_register = p.top <= saved && saved < p.end ? return_at(saved) : 0;
        stored = called_from(by_stop, caller.address, site);
        const CallSite in_register =
            stored == CallSite::same ? CallSite::other : called_from(by_register, caller.address, site);
        if (in_register == CallSite::same) top = saved;
        same_call =
            stored == CallSite::same || in_register == CallSite::same || (same_call && stored == CallSite::unknown);
        // What was looked at is the caller, whatever stands there by the time that the rest is read.
        if (stored == CallSite::same || in_register == CallSite::same) out.frames.push_back(site);
    }
    const bool caller_read = !out.by_code && !out.frames.empty();
    const bool followed = read_stack(caller_read ? top + 8 : top, !out.by_code && !caller_read, out);
    if (caller_read && !followed) {
        out.frames.resize(1);
        out.cut = true;
    } else if (out.frames.empty() || !followed) {
        out.cut = out.by_code;
        if (!out.by_code) out.frames.clear();
        out.basis = out.by_code ? SampleBasis::approximate : SampleBasis::moved;
        return;
    }
    same_call = same_call || stand_;
    const bool another_call = !out.by_code && !same_call && stored != CallSite::unknown;
    out.basis = same_call                                     ? SampleBasis::checked
                : (same_heap || out.by_code) && !another_call ? SampleBasis::approximate
                                                              : SampleBasis::moved;
    if (out.basis == SampleBasis::moved) out.frames.clear(), out.cut = false;
}

// With frame pointers every fragment begins with a frame of its own, whose pointer stands below the return address
// (asm: emit_enter_frame).
std::uint64_t SampleResolver::behind_frame_pointer(std::uint64_t top) {
    const auto is_return = [this](std::uint64_t at) {
        return code_.frame(word_at(at), true).function != FunctionId::none;
    };
    return !is_return(top) && is_return(top + 8) ? top + 8 : top;
}

// The return address that stands there, where its call goes being known from now on; 0: none does.
std::uint64_t SampleResolver::return_at(std::uint64_t place) {
    const std::uint64_t returns_to = place % 8 == 0 ? word_at(place) : 0;
    if (returns_to == 0 || code_.frame(returns_to, true).function == FunctionId::none) return 0;
    const auto [known, is_new] = call_targets_.try_emplace(returns_to, 0);
    if (is_new) {
        known->second = call_target(returns_to);
        called_.insert(known->second);
    }
    return returns_to;
}

// Whether a return address is one of a call of the fragment that has the code at `inside`.
SampleResolver::CallSite SampleResolver::called_from(std::uint64_t returns_to, std::uint64_t inside, Frame& site) {
    if (returns_to == 0) return CallSite::other;
    site = code_.frame(returns_to, true);
    const auto known = call_targets_.find(returns_to);
    if (known->second == 0) return CallSite::unknown;
    // Fragments stand close together: the code is in the last one that begins in front of it.
    const bool last = *std::prev(called_.upper_bound(std::max(inside, known->second))) == known->second;
    return last && known->second <= inside && inside - known->second < longest_fragment ? CallSite::same
                                                                                        : CallSite::other;
}

// Where the call goes that returns to this address; 0: its code can't be read. Calls are E8 and a distance, or, to what
// is too far off, FF 15 and the distance of the word with the address. Since OTP 26 they go to a jump at the end of the
// module, all of its own calls of a fragment to one.
std::uint64_t SampleResolver::call_target(std::uint64_t returns_to) const {
    std::byte code[6];
    if (memory_.read(returns_to - sizeof code, code) != sizeof code) return 0;
    std::uint64_t to = returns_to + static_cast<std::uint64_t>(std::int64_t{load<std::int32_t>(code + 2)});
    if (code[1] != std::byte{0xe8}) {
        if (code[0] != std::byte{0xff} || code[1] != std::byte{0x15}) return ~0ull;  // by a register: of a function
        to = word_at(to);
    }
    constexpr int most_jumps = 3;
    for (int i = 0; i < most_jumps && memory_.read(to, code) == sizeof code; ++i) {
        const std::size_t prefix = code[0] == std::byte{0x40} ? 1 : 0;  // one that only makes it longer
        if (code[prefix] == std::byte{0xe9} && prefix == 0)
            to += 5 + static_cast<std::uint64_t>(std::int64_t{load<std::int32_t>(code + 1)});
        else if (code[prefix] == std::byte{0xe9})
            to += 6 + static_cast<std::uint64_t>(std::int64_t{load<std::int32_t>(code + 2)});
        else if (code[0] == std::byte{0xff} && code[1] == std::byte{0x25})
            to = word_at(to + 6 + static_cast<std::uint64_t>(std::int64_t{load<std::int32_t>(code + 2)}));
        else break;
    }
    return to;
}

std::uint64_t SampleResolver::word_at(std::uint64_t address) const {
    std::byte word[8];
    return memory_.read(address, word) == sizeof word ? load<std::uint64_t>(word) : 0;
}

ResolvedSample SampleResolver::resolve(const bytes::ThreadSample& sample,
                                       const std::vector<bytes::UnwoundFrame>& frames, bool ends_outside) {
    ResolvedSample out;
    const bool reached = ends_outside && !frames.empty() && !frames.back().of_file;
    out.native = frames.size() - (reached ? 1 : 0);
    if (!reached) return out;
    if (frames.size() == 1 && frames.back().interrupted) erlang_code(sample, out);
    else c_code(frames.back(), out);
    return out;
}

ResolvedSample SampleResolver::resolve_process(std::uint64_t process, std::uint64_t top, std::uint64_t code) {
    ResolvedSample out;
    out.process = see(process);
    if (out.process.address == 0) return out;
    const Frame frame = code == 0 ? Frame{} : code_.frame(code, false);
    out.by_code = frame.function != FunctionId::none;
    if (out.by_code) out.frames.push_back(frame);
    const bool followed = read_stack(top == 0 ? out.process.stop : top, false, out);
    out.basis = !out.frames.empty() && (followed || out.by_code) ? SampleBasis::approximate : SampleBasis::moved;
    return out;
}

std::uint64_t learn_exit_stub(const Layout& layout, const bytes::LiveMemory& memory,
                              const std::vector<std::uint64_t>& processes) {
    std::unordered_map<std::uint64_t, std::size_t> votes;
    std::size_t asked = 0;
    for (const std::uint64_t process : processes) {
        std::byte word[8];
        if (memory.read(process + layout.at.process_heap_end, word) != sizeof word) continue;
        if (memory.read(load<std::uint64_t>(word) - 8, word) != sizeof word) continue;
        ++asked;
        ++votes[load<std::uint64_t>(word)];
        if (asked == 1000) break;
    }
    for (const auto& [word, count] : votes)
        if (2 * count > asked && word != 0) return word;
    return 0;
}

}  // namespace beamheap::otp
