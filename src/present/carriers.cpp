// SPDX-License-Identifier: Apache-2.0
#include "present/carriers.hpp"

#include <fmt/format.h>

#include "present/table_cells.hpp"

namespace beamheap::present {

using namespace cells;

Table carrier_sum_table(const Names& names, std::vector<analyses::CarrierSum> sums) {
    using Row = analyses::CarrierSum;
    Columns<Row> columns{
        {{.name = "name", .title = "ALLOCATOR", .doc = "allocator"},
         [=](const Row& r) { return raw(names, r.allocator); }},
        {{.name = "carriers", .title = "CARRIERS", .unit = Unit::count, .doc = "that were found and walked"},
         [](const Row& r) { return Value(r.carriers); }},
        {{.name = "single", .title = "SINGLE", .unit = Unit::count, .doc = "of these, with one block", .wide = true},
         [](const Row& r) { return Value(r.single); }},
        {{.name = "pooled",
          .title = "POOLED",
          .unit = Unit::count,
          .doc = "given up, for any instance to take",
          .lesser = 2},
         [](const Row& r) { return Value(r.pooled); }},
        {{.name = "carrier_bytes", .title = "SIZE", .unit = Unit::bytes, .doc = "of the carriers"},
         [](const Row& r) { return Value(r.carrier_bytes); }},
        {{.name = "blocks", .title = "BLOCKS", .unit = Unit::count, .doc = "in use"},
         [](const Row& r) { return Value(r.blocks); }},
        {{.name = "block_bytes", .title = "USED", .unit = Unit::bytes, .doc = "by blocks, with their headers"},
         [](const Row& r) { return Value(r.block_bytes); }},
        {{.name = "holes", .title = "HOLES", .unit = Unit::count, .doc = "free stretches between blocks"},
         [](const Row& r) { return Value(r.holes); }},
        {{.name = "largest_hole_bytes", .title = "LARGEST", .unit = Unit::bytes, .doc = "the largest of them"},
         [](const Row& r) { return Value(r.largest_hole_bytes); }},
        {{.name = "nearly_empty",
          .title = "NEARLY EMPTY",
          .unit = Unit::count,
          .doc = "multiblock carriers of which a tenth is used, or less",
          .lesser = 1},
         [](const Row& r) { return Value(r.nearly_empty); }},
        {{.name = "nearly_empty_bytes",
          .title = "THEIR SIZE",
          .unit = Unit::bytes,
          .doc = "of nearly empty carriers",
          .lesser = 1},
         [](const Row& r) { return Value(r.nearly_empty_bytes); }},
    };
    return table_of(std::move(columns), std::move(sums), "no carrier was found");
}

Table carrier_table(const Names& names, const Carriers& carriers, std::vector<std::uint32_t> which) {
    using Row = std::uint32_t;
    const Carriers* all = &carriers;
    const auto at = [all](Row i) -> const Carrier& { return all->carriers[i]; };
    Columns<Row> columns{
        {{.name = "address", .title = "ADDRESS", .doc = "of the carrier"},
         [=](const Row& r) { return Value(fmt::format("{:X}", at(r).address)); }},
        {{.name = "name", .title = "ALLOCATOR", .doc = "allocator"},
         [=](const Row& r) { return raw(names, at(r).allocator); }},
        {{.name = "instance", .title = "INSTANCE", .unit = Unit::count, .doc = "scheduler number; 0: other threads"},
         [=](const Row& r) { return at(r).instance < 0 ? Value() : Value(static_cast<std::int64_t>(at(r).instance)); }},
        {{.name = "pooled", .title = "POOLED", .doc = "given up, for any instance to take", .wide = true},
         [=](const Row& r) { return Value(at(r).pooled); }},
        {{.name = "carrier_bytes", .title = "SIZE", .unit = Unit::bytes, .doc = "of the carrier"},
         [=](const Row& r) { return Value(at(r).bytes); }},
        {{.name = "blocks", .title = "BLOCKS", .unit = Unit::count, .doc = "in use"},
         [=](const Row& r) { return Value(at(r).blocks); }},
        {{.name = "block_bytes", .title = "USED", .unit = Unit::bytes, .doc = "by blocks, with their headers"},
         [=](const Row& r) { return Value(at(r).block_bytes); }},
        {{.name = "largest_hole_bytes", .title = "LARGEST HOLE", .unit = Unit::bytes, .doc = "between its blocks"},
         [=](const Row& r) { return Value(at(r).largest_hole); }},
        {{.name = "kept_by", .title = "KEPT BY", .doc = "its first blocks", .content = Content::message, .below = true},
         [=](const Row& r) {
             Array reasons;
             for (const std::string& each : at(r).kept_by) reasons.emplace_back(each);
             return Value(std::move(reasons));
         }},
    };
    return table_of(std::move(columns), std::move(which), "no carrier is nearly empty");
}

}  // namespace beamheap::present
