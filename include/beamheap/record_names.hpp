// SPDX-License-Identifier: Apache-2.0
// Names of records and of their fields, which no VM keeps: a record is a tuple that begins with an atom. They are in
// what the compiler was given: in the debug information of modules, in sources, and of OTP's own modules in rows of
// ours (erlang/otp_records.hpp). Whoever prints or describes a term asks for the module whose term it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace beamheap {

/// A record as a module knows it. As a term it is a tuple of its name and its fields.
struct RecordType {
    std::string name;                 ///< UTF-8
    std::vector<std::string> fields;  ///< in order; UTF-8
    std::uint64_t arity() const { return fields.size() + 1; }
    friend bool operator==(const RecordType&, const RecordType&) = default;
};

/// Where names of records come from. May be asked by several threads at once.
class RecordNames {
public:
    virtual ~RecordNames() = default;
    /// The record that a tuple of this arity is which begins with this atom, in a term of this module; null where the
    /// module is not known, has none of this name, or several of that name and arity, or one of another arity. The
    /// answer lives as long as this, and is the same each time.
    virtual const RecordType* find(std::string_view module, std::string_view tag, std::uint64_t arity) = 0;
    /// Whether terms are printed and described with them; else they tell only what is secret.
    virtual bool told() const { return true; }
};

}  // namespace beamheap
