// SPDX-License-Identifier: Apache-2.0
// Values that are secrets because of the key beside them: what has no form of its own, small integers and atoms.
//
// Theory. A line of a heap holds one object, and its immediate elements stand in it: {pin,4711} is one line, and so is
// the pair of a large map, or a cell [pin|4711]. Keys may stand elsewhere: a binary is a line of its own, a small map
// has its keys in a tuple that many maps share, and the value in [pin,4711] is the head of the next cell. So lines are
// read three times before anything is decided: for keys, for tuples of keys, and for what is beside a key.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "formats/crashdump/term_grammar.hpp"

namespace beamheap::crashdump {

enum class KeyRule : std::uint8_t {
    none,
    numbers,  ///< its value is a secret where it is a number of four digits or more
    all,
};

/// A line of terms that was walked (term_line.hpp), as offsets in a text.
struct WalkedLine {
    TermSection section = TermSection::heap;
    std::size_t begin = 0;
    std::vector<std::pair<std::size_t, std::size_t>> elements;  ///< [begin, end) of each, in order
    std::size_t data_begin = 0, data_end = 0;                   ///< a binary's bytes, encoded
    std::uint64_t bytes = 0;                                    ///< how many

    void clear(std::size_t begins) {
        begin = begins;
        elements.clear();
        bytes = 0;
    }
};

class KeyedValues {
public:
    /// `rule` tells keys, `common` atoms that no key makes a secret.
    KeyedValues(std::function<KeyRule(std::string_view)> rule, std::function<bool(std::string_view)> common)
        : rule_(std::move(rule)), common_(std::move(common)) {}

    void learn(TermStyle style, std::string_view text, const WalkedLine& line);
    /// The elements of a line that are small integers and to be hidden, as places in line.elements.
    void secrets_of(std::string_view text, const WalkedLine& line, std::vector<std::size_t>& places) const;
    /// An atom that stood beside a key of KeyRule::all.
    bool secret_atom(std::string_view name) const { return atoms_.contains(std::string(name)); }

private:
    template <class Tell>
    void values(std::string_view text, const WalkedLine& line, Tell tell) const;
    KeyRule key(std::string_view element) const;

    std::function<KeyRule(std::string_view)> rule_;
    std::function<bool(std::string_view)> common_;
    std::unordered_map<std::uint64_t, KeyRule> keys_;   // binaries, by address
    std::unordered_map<std::uint64_t, KeyRule> after_;  // cells behind that of a key
    std::unordered_map<std::uint64_t, std::vector<std::pair<std::size_t, KeyRule>>> tuples_;  // with keys in them
    std::unordered_set<std::string> atoms_;
};

}  // namespace beamheap::crashdump
