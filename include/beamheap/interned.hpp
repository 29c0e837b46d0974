// SPDX-License-Identifier: Apache-2.0
// Interned byte strings, functions and stacks: each distinct one is kept once and named by a 32-bit id.
//
// A dump repeats a few hundred atoms, functions and stacks for every process; interning makes a process row a
// couple of integers, and makes "group by identical stack" a group by id. The tables only grow.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "beamheap/ids.hpp"

namespace beamheap {

/// Byte strings, each stored once. Bytes are kept as they are (UTF-8 where the input says so): sanitise when shown.
class TextTable {
public:
    /// The id of `text`, which is copied when it is new. O(1).
    TextId intern(std::string_view text);
    /// The id of `text` if it was interned before, else TextId::none.
    TextId find(std::string_view text) const;
    /// The text of an id; empty for TextId::none.
    std::string_view operator[](TextId id) const {
        return id == TextId::none ? std::string_view{} : entries_[index_of(id)].text;
    }
    std::size_t size() const { return entries_.size(); }

private:
    struct Entry {
        std::string_view text;
        std::uint64_t hash;
    };
    std::string_view keep(std::string_view text);
    void grow();
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> slots_;  // open addressing, entry index + 1, 0 is free; size is a power of two
    std::vector<std::unique_ptr<char[]>> blocks_;
    char* free_ = nullptr;
    std::size_t left_ = 0;
};

/// m:f/a. Names are atom texts without quotes.
struct Function {
    TextId module = TextId::none;
    TextId name = TextId::none;
    std::uint32_t arity = 0;
    friend bool operator==(const Function&, const Function&) = default;
};

class FunctionTable {
public:
    FunctionId intern(const Function& function);
    /// FunctionId::none where it was never interned.
    FunctionId find(const Function& function) const;
    const Function& operator[](FunctionId id) const { return entries_[index_of(id)]; }
    std::size_t size() const { return entries_.size(); }

private:
    std::vector<Function> entries_;
    std::vector<std::uint32_t> slots_;
};

/// One frame of a stack: the function that is waiting to go on, and the byte offset of the place in its code
/// (machine code bytes since the JIT of OTP 24; loaded BEAM code before). line is 0 where the input has none.
struct Frame {
    FunctionId function = FunctionId::none;
    std::uint32_t offset = 0;
    std::uint32_t line = 0;
    TextId file = TextId::none;
    friend bool operator==(const Frame&, const Frame&) = default;
};

/// Stacks, youngest frame first, each distinct one stored once.
class StackTable {
public:
    StackId intern(std::span<const Frame> frames);
    std::span<const Frame> operator[](StackId id) const {
        if (id == StackId::none) return {};
        return std::span(frames_).subspan(starts_[index_of(id)], starts_[index_of(id) + 1] - starts_[index_of(id)]);
    }
    std::size_t size() const { return starts_.empty() ? 0 : starts_.size() - 1; }

private:
    std::vector<Frame> frames_;
    std::vector<std::size_t> starts_;
    std::vector<std::uint32_t> slots_;
};

}  // namespace beamheap
