// SPDX-License-Identifier: Apache-2.0
// Loaded code of an image: from a code address to function, offset, file and line.
//
// Modules are address ranges sorted by start; each begins with a header that lists its functions in order of address
// and a table of lines per function (beam_code.h, beam_ranges.c; gather_stacktrace and erts_lookup_function_info
// are what this follows). Under the JIT all of it is in a shared anonymous mapping, which a core may lack.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "beamheap/interned.hpp"
#include "bytes/address_space.hpp"
#include "formats/otp/layout/layout.hpp"
#include "formats/otp/vm/atoms.hpp"
#include "formats/otp/vm/roots.hpp"

namespace beamheap::otp {

/// Module, function and arity of an ErtsCodeMFA, as words.
struct Mfa {
    Word module = 0, function = 0;
    std::uint32_t arity = 0;
};

struct CodePlace {
    Mfa mfa;
    std::uint64_t info = 0;    ///< address of the function's ErtsCodeInfo
    std::uint64_t header = 0;  ///< address of the module's BeamCodeHeader
    std::uint32_t index = 0;   ///< of the function in its module
};

class Code {
public:
    Code() = default;
    Code(bytes::MemoryReader& memory, const Layout& layout, const Roots& roots);

    struct Module {
        std::uint64_t start = 0, end = 0;  ///< the header is at `start`
    };
    std::span<const Module> modules() const { return modules_; }
    /// Whether any module's header is in the image (coredump_filter bit 1 may have left them out).
    bool readable() const { return readable_; }
    /// How many ranges of loaded code the image does not hold, or holds something else in their place.
    std::uint64_t lost() const { return lost_; }
    /// Whether an address is inside loaded code.
    bool holds(std::uint64_t pc) const { return module_of(pc) != nullptr; }
    /// The function whose code is at `pc`; nothing outside loaded code, or where the image lacks it.
    std::optional<CodePlace> find(bytes::MemoryReader& memory, std::uint64_t pc) const;
    /// Calls `visit` with each function of loaded code and the addresses where its code begins and ends, module by
    /// module in the order of address.
    void each_function(bytes::MemoryReader& memory,
                       const std::function<void(const Mfa& mfa, std::uint64_t start, std::uint64_t end)>& visit) const;
    /// Module, function, arity as three words at `address`; nothing where they are no such thing.
    static std::optional<Mfa> mfa_at(bytes::MemoryReader& memory, std::uint64_t address);

    struct Line {
        std::uint32_t line = 0;   ///< 0: unknown
        std::uint32_t file = 0;   ///< 0: the module's own, else an index into the module's file names, from 1
        std::uint64_t names = 0;  ///< address of the terms of the file names; 0: there are none
    };
    Line line(bytes::MemoryReader& memory, const CodePlace& place, std::uint64_t pc) const;
    /// The addresses at which the lines of a function begin, in order.
    std::vector<std::pair<std::uint64_t, Line>> lines(bytes::MemoryReader& memory, const CodePlace& place) const;

private:
    // A function's part of its module's table: addresses, and which locations are theirs.
    struct LineTable {
        std::uint64_t table = 0;
        std::uint64_t addresses = 0, count = 0;
        std::uint64_t locations = 0;
        std::uint32_t location_size = 0;  // bytes
    };
    std::optional<LineTable> line_table(bytes::MemoryReader& memory, const CodePlace& place) const;
    Line line_at(bytes::MemoryReader& memory, const LineTable& table, std::uint64_t number) const;
    const Module* module_of(std::uint64_t pc) const;
    const Layout* layout_ = nullptr;
    std::vector<Module> modules_;
    bool readable_ = false;
    std::uint64_t lost_ = 0;
};

}  // namespace beamheap::otp
