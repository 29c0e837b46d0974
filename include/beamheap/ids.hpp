// SPDX-License-Identifier: Apache-2.0
// Small strong types that every layer speaks in: dense indexes, pids, and numbers that may be missing.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>

namespace beamheap {

/// Index of an interned byte string in Snapshot::strings; text_none is "no text" (not the empty text).
enum class TextId : std::uint32_t { none = 0xFFFFFFFFu };
/// Index of an interned m:f/a in Snapshot::functions.
enum class FunctionId : std::uint32_t { none = 0xFFFFFFFFu };
/// Index of an interned stack (sequence of frames) in Snapshot::stacks.
enum class StackId : std::uint32_t { none = 0xFFFFFFFFu };
/// Index into Snapshot::processes.
enum class ProcId : std::uint32_t { none = 0xFFFFFFFFu };

template <class Id>
constexpr std::uint32_t index_of(Id id) {
    return static_cast<std::uint32_t>(id);
}

/// A number that the input may not hold: 8 bytes, missing is shown as null and never as 0.
/// The largest value of the type stands for "missing"; what the VM prints there is a count or a size.
class Count {
public:
    constexpr Count() = default;
    constexpr Count(std::uint64_t value) : raw_(value) {}
    constexpr bool has() const { return raw_ != missing; }
    constexpr std::uint64_t operator*() const { return raw_; }
    constexpr std::uint64_t value_or(std::uint64_t other) const { return has() ? raw_ : other; }
    /// Missing sorts below every number, so "largest first" puts it last.
    friend constexpr std::strong_ordering operator<=>(Count a, Count b) { return a.raw_ + 1 <=> b.raw_ + 1; }
    friend constexpr bool operator==(Count, Count) = default;

private:
    static constexpr std::uint64_t missing = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t raw_ = missing;
};

/// a + b, missing if either is; saturates below "missing".
constexpr Count operator+(Count a, Count b) {
    if (!a.has() || !b.has()) return {};
    std::uint64_t sum = 0;
    if (__builtin_add_overflow(*a, *b, &sum)) sum = std::numeric_limits<std::uint64_t>::max() - 1;
    return sum;
}
/// a - b, missing if either is or if it would be negative.
constexpr Count operator-(Count a, Count b) {
    if (!a.has() || !b.has() || *a < *b) return {};
    return *a - *b;
}

/// A process identifier as Erlang prints it, <Node.Number.Serial>. Node 0 is the node that wrote the input;
/// any other is the atom index of the remote node's name (erts: dist_entry_channel_no).
struct Pid {
    std::uint32_t node = 0;
    std::uint32_t number = none_number;
    std::uint32_t serial = 0;
    static constexpr std::uint32_t none_number = 0xFFFFFFFFu;
    constexpr bool has() const { return number != none_number; }
    constexpr bool local() const { return has() && node == 0; }
    friend constexpr auto operator<=>(const Pid&, const Pid&) = default;
};

/// A port identifier, #Port<Node.Number>; numbers are 64 bits wide since OTP 26.
struct PortName {
    std::uint32_t node = 0;
    std::uint64_t number = std::numeric_limits<std::uint64_t>::max();
    constexpr bool has() const { return number != std::numeric_limits<std::uint64_t>::max(); }
    friend constexpr auto operator<=>(const PortName&, const PortName&) = default;
};

}  // namespace beamheap
