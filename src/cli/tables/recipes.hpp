// SPDX-License-Identifier: Apache-2.0
// Ready queries for the questions that people have about a node.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace beamheap::cli {

struct Recipe {
    std::string_view name;      ///< a word: `sql INPUT NAME` runs it
    std::string_view question;  ///< that it answers
    std::string_view query;     ///< one SELECT over the tables of `sql`
};
std::span<const Recipe> recipes();
/// Null for any other word.
const Recipe* find_recipe(std::string_view name);

/// A query without the LIMIT in its last line, and how many rows that allows; missing: there is none.
struct Limited {
    std::string_view query;
    std::optional<std::uint64_t> rows;
};
Limited without_limit(std::string_view query);

}  // namespace beamheap::cli
