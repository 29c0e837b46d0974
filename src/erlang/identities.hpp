// SPDX-License-Identifier: Apache-2.0
// Who a process is, by what it holds: a State of a library's server, a term in a frame, an entry of its dictionary, the
// name that it was started under. A row each: where it stands, what it looks like, what of it is kept, and its words.
//
// What is kept is written as a label (labels.hpp), as if the library had set one, so that whatever tells labels tells
// these: `{cowboy_connection, api, {{10,0,0,7},52310}}`. What a person chose stands in the words as a term, and so is
// hidden as values are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "erlang/pattern.hpp"
#include "erlang/wording.hpp"

namespace beamheap::erlang {

struct IdentityRow {
    enum class Where : std::uint8_t {
        state,     ///< of a behaviour's loop, by the callback module
        slot,      ///< of a frame of a module, or among the arguments by which it hibernates
        entry,     ///< a value in the dictionary, in a process that runs in a module
        own_name,  ///< what a server that has no registered name was started as: by {via, _, Name} or {global, Name}
    };
    Where where;
    std::string_view module;  ///< of the callbacks, of the frame; empty: any
    std::string_view key;     ///< entry: an atom; own_name: what the first atom of a tuple begins with
    Pattern term;
    Pattern label;  ///< its names are those of `term`
    Wording words;
};

/// The first that fits is told: states before slots before entries before names, each in this order.
std::span<const IdentityRow> identity_rows();

/// A label with what its names stand for in these matches, as text.
std::string label_text(const Pattern& label, TermSource& terms, std::span<const Match* const> matches);

/// A server whose State says what other processes are, by their pids.
struct MemberKeeper {
    std::string_view module;  ///< of its callbacks
    Pattern state;            ///< `Members` is a map by pids
    Pattern member;           ///< a value there
    Pattern label;            ///< its names are those of the two
    Wording words;
};
std::span<const MemberKeeper> member_keepers();

}  // namespace beamheap::erlang
