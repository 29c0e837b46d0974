// SPDX-License-Identifier: Apache-2.0
#include "formats/beam/line_table.hpp"

#include "beamheap/error.hpp"
#include "formats/beam/chunks.hpp"

namespace beamheap::beam {

Result<LineTable> read_lines(std::string_view chunk) {
    const Error damaged{ErrorCode::damaged, "its table of lines is damaged", {}};
    ByteReader reader(chunk);
    const std::uint32_t version = reader.four();
    reader.four();  // flags
    reader.four();  // instructions `line`
    const std::uint32_t places = reader.four(), files = reader.four();
    if (reader.failed()) return damaged;
    LineTable table;
    if (version != 0) return table;
    if (places > reader.left() || files > reader.left()) return damaged;
    table.places.resize(1);
    table.places.reserve(std::size_t{places} + 1);
    std::uint32_t file = 0;
    while (table.places.size() <= places) {
        const ByteReader::Operand item = reader.operand();
        if (reader.failed()) return damaged;
        if (item.tag == tag_atom) {
            if (item.value > files) return damaged;
            file = static_cast<std::uint32_t>(item.value);
        } else if (item.tag == tag_integer) {
            // The VM keeps 24 bits of a line; what is larger it takes for unknown.
            const bool kept = item.value < 1u << 24;
            table.places.push_back(kept ? SourcePlace{static_cast<std::uint32_t>(item.value), file} : SourcePlace{});
        } else {
            return damaged;
        }
    }
    table.files.resize(1);
    for (std::uint32_t i = 0; i < files; ++i) {
        table.files.emplace_back(reader.take(reader.two()));
        if (reader.failed()) return damaged;
    }
    return table;
}

}  // namespace beamheap::beam
