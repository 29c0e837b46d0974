// SPDX-License-Identifier: Apache-2.0
// The tables that queries read, as whoever has them describes them: SQLite asks for rows when a query gets to them.
//
// A table's columns are known before there is an input, so that a query can be compiled first, and says by the columns
// that it reads what of the input has to be loaded.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/error.hpp"
#include "present/plain_table.hpp"

namespace beamheap::sql {

using Rows = std::shared_ptr<const present::PlainTable>;

struct Table {
    /// How its rows are had.
    enum class Kind : std::uint8_t {
        whole,     ///< all at once: `all`
        parts,     ///< piece by piece, of which one column (`key`, the first one) names the piece: `part`, `find`
        function,  ///< by an argument, which it can't do without: `of`
    };
    std::string name;
    std::string doc;  ///< one sentence
    Kind kind = Kind::whole;
    std::string key;  ///< function: the name of its argument
    std::vector<present::Column> columns;
    std::vector<bool> hidden;  ///< by column: `*` leaves it out; empty: none is

    std::function<Result<Rows>()> all;
    std::function<std::size_t()> parts;  ///< how many pieces there are
    std::function<Result<Rows>(std::size_t part)> part;
    std::function<std::size_t(std::string_view key)> find;  ///< the piece of this key; no_part: there is none
    std::function<Result<Rows>(std::string_view argument)> of;
    static constexpr std::size_t no_part = static_cast<std::size_t>(-1);
};

/// The name of the column that every table has besides its own, hidden: which input it is.
inline constexpr const char* dump_id_column = "dump_id";

/// A column of a table, by their indexes; columns.size() is dump_id.
struct ColumnUse {
    std::size_t table = 0;
    std::size_t column = 0;
    friend auto operator<=>(const ColumnUse&, const ColumnUse&) = default;
};

}  // namespace beamheap::sql
