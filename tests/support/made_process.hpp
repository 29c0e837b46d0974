// SPDX-License-Identifier: Apache-2.0
// A running process made up in memory: words, loaded code, and one Erlang process with its stack.
#pragma once

#include <cstring>
#include <map>
#include <vector>

#include "formats/otp/layout/layout.hpp"
#include "formats/otp/sampling/resolver.hpp"

namespace beamheap::test {

// A process's memory, made of words.
class MadeMemory final : public bytes::LiveMemory {
public:
    using LiveMemory::read;
    void read(std::span<bytes::MemoryPiece> pieces) const override {
        for (bytes::MemoryPiece& piece : pieces) {
            for (piece.got = 0; piece.got < piece.into.size(); ++piece.got) {
                const std::uint64_t address = piece.address + piece.got;
                const auto at = words.find(address & ~7ull);
                if (at == words.end()) break;
                std::memcpy(piece.into.data() + piece.got,
                            reinterpret_cast<const std::byte*>(&at->second) + address % 8, 1);
            }
            for (const auto& [address, word] : later)
                if (piece.address <= address && address < piece.address + piece.got) words[address] = word;
        }
    }
    std::vector<bytes::Mapping> mappings() const override { return {}; }
    bool gone() const override { return false; }
    mutable std::map<std::uint64_t, std::uint64_t> words;
    mutable std::map<std::uint64_t, std::uint64_t> later;  // what stands there once it was read
};

// Function n (1 to 63) has the code from 0x10000 * n, 4096 bytes of it.
class MadeCode final : public otp::CodeMap {
public:
    Frame frame(std::uint64_t address, bool returning) override {
        const std::uint64_t at = address - (returning ? 1 : 0);
        Frame frame;
        if (at >= 0x10000 && at % 0x10000 < 0x1000 && at / 0x10000 < 64)
            frame.function = static_cast<FunctionId>(at / 0x10000);
        return frame;
    }
};
inline constexpr std::uint64_t code_of(std::uint64_t function) { return 0x10000 * function + 0x40; }

inline constexpr std::uint64_t exit_stub = 0x7000040, fragment = 0x7000100, process_at = 0x500000, heap_at = 0x600000;
inline constexpr std::uint64_t heap_words = 64, a_pid = 0x123 << 4 | 3, an_atom = 0x40b;

// A process whose stack is these words, with the exit stub at its end.
struct MadeProcess {
    const otp::Layout& layout = *otp::find_layout(27, otp::Flavour::jit);
    MadeMemory memory;
    MadeCode code;
    std::uint64_t stop = 0;
    static constexpr std::uint64_t end = heap_at + 8 * heap_words;

    explicit MadeProcess(std::vector<std::uint64_t> stack, std::uint64_t used_words = 10) {
        stack.push_back(exit_stub);
        stop = end - 8 * stack.size();
        for (std::uint64_t at = heap_at; at < stop; at += 8) memory.words[at] = an_atom;
        for (std::size_t i = 0; i < stack.size(); ++i) memory.words[stop + 8 * i] = stack[i];
        for (std::uint64_t at = 0; at < layout.at.process_size; at += 8) memory.words[process_at + at] = 0;
        memory.words[process_at] = a_pid;
        memory.words[process_at + layout.at.process_heap] = heap_at;
        memory.words[process_at + layout.at.process_htop] = heap_at + 8 * used_words;
        memory.words[process_at + layout.at.process_stop] = stop;
        memory.words[process_at + layout.at.process_heap_end] = end;
    }
    otp::SampleResolver resolver(bool frame_pointers = false) {
        return {layout, frame_pointers, exit_stub, memory, code};
    }
};

inline std::vector<std::uint32_t> functions(const otp::ResolvedSample& resolved) {
    std::vector<std::uint32_t> ids;
    for (const Frame& frame : resolved.frames) ids.push_back(index_of(frame.function));
    return ids;
}
using Ids = std::vector<std::uint32_t>;

// C code that was called from `address`, with these registers there.
inline std::vector<bytes::UnwoundFrame> called_from(std::uint64_t address, std::uint64_t heap_top,
                                                    std::uint64_t saved = 0) {
    using bytes::X86;
    bytes::UnwoundFrame native, caller;
    native.of_file = native.interrupted = true;
    native.address = 0x400000;
    caller.address = address;
    const auto set = [&caller](X86 r, std::uint64_t value) {
        caller.registers[static_cast<std::size_t>(r)] = value;
        caller.known |= 1u << static_cast<unsigned>(r);
    };
    set(X86::r13, process_at);
    set(X86::r15, heap_top);
    set(X86::rbp, saved);
    return {native, caller};
}

}  // namespace beamheap::test
