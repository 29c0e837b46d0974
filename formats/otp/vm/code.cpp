// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/vm/code.hpp"

#include <algorithm>
#include <cstring>

namespace beamheap::otp {
namespace {

using bytes::load;

constexpr std::uint64_t most_functions = 1u << 22;  // of one module
constexpr std::uint64_t most_lines = 1u << 22;      // of one function

// The last of n ascending words that is not above `value`, or n.
std::uint64_t last_not_above(const std::byte* words, std::uint64_t n, std::uint64_t value) {
    std::uint64_t low = 0, high = n;  // words below `low` are <= value, from `high` on > value
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (load<Word>(words + 8 * middle) <= value) low = middle + 1;
        else high = middle;
    }
    return low == 0 ? n : low - 1;
}

}  // namespace

Code::Code(bytes::MemoryReader& memory, const Layout& layout, const Roots& roots) : layout_(&layout) {
    if (roots.code_ranges == 0) return;
    const std::byte* ranges = memory.at(roots.code_ranges + 32ull * roots.code_index, 32);
    if (ranges == nullptr) return;
    const auto list = load<Word>(ranges), count = load<Word>(ranges + 8);
    const bytes::Bytes data = memory.from(list, count > (1u << 24) ? 0 : count * 16);
    lost_ = data.size() / 16 < count ? count - data.size() / 16 : 0;
    modules_.reserve(data.size() / 16);
    for (std::size_t at = 0; at + 16 <= data.size(); at += 16) {
        const Module module{load<Word>(data.data() + at), load<Word>(data.data() + at + 8)};
        // A purged one ends where it begins (beam_ranges.c, erts_remove_from_ranges).
        if (module.start == 0 || module.start > module.end) ++lost_;
        if (module.start >= module.end) continue;
        modules_.push_back(module);
        readable_ = readable_ || memory.mapped(module.start);
    }
}

const Code::Module* Code::module_of(std::uint64_t pc) const {
    auto after = std::upper_bound(modules_.begin(), modules_.end(), pc,
                                  [](std::uint64_t a, const Module& m) { return a < m.start; });
    if (after == modules_.begin()) return nullptr;
    --after;
    return pc < after->end ? &*after : nullptr;
}

std::optional<Mfa> Code::mfa_at(bytes::MemoryReader& memory, std::uint64_t address) {
    const std::byte* p = memory.at(address, 24);
    if (p == nullptr) return std::nullopt;
    Mfa mfa{load<Word>(p), load<Word>(p + 8), load<std::uint32_t>(p + 16) & 0xff};
    if (!is_atom(mfa.module) || !is_atom(mfa.function)) return std::nullopt;
    return mfa;
}

std::optional<CodePlace> Code::find(bytes::MemoryReader& memory, std::uint64_t pc) const {
    const Module* module = module_of(pc);
    if (module == nullptr) return std::nullopt;
    const auto count = memory.word(module->start);
    if (!count || *count == 0 || *count > most_functions) return std::nullopt;
    const std::byte* functions = memory.at(module->start + layout_->at.code_functions, (*count + 1) * 8);
    if (functions == nullptr) return std::nullopt;
    const std::uint64_t index = last_not_above(functions, *count + 1, pc);
    if (index >= *count) return std::nullopt;
    CodePlace place;
    place.info = load<Word>(functions + 8 * index);
    place.header = module->start;
    place.index = static_cast<std::uint32_t>(index);
    const auto mfa = mfa_at(memory, place.info + layout_->at.code_info_mfa);
    if (!mfa) return std::nullopt;
    place.mfa = *mfa;
    return place;
}

void Code::each_function(
    bytes::MemoryReader& memory,
    const std::function<void(const Mfa& mfa, std::uint64_t start, std::uint64_t end)>& visit) const {
    for (const Module& module : modules_) {
        const auto count = memory.word(module.start);
        if (!count || *count == 0 || *count > most_functions) continue;
        const std::byte* functions = memory.at(module.start + layout_->at.code_functions, (*count + 1) * 8);
        if (functions == nullptr) continue;
        std::vector<Word> starts(
            *count + 1);  // the last one is where the code ends; copied, as reading on may move what was read
        std::memcpy(starts.data(), functions, 8 * starts.size());
        for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
            if (starts[i] < module.start || starts[i + 1] <= starts[i] || starts[i + 1] > module.end) continue;
            if (const auto mfa = mfa_at(memory, starts[i] + layout_->at.code_info_mfa))
                visit(*mfa, starts[i], starts[i + 1]);
        }
    }
}

// beam_code.h, BeamCodeLineTab: func_tab[k] .. func_tab[k + 1] are the addresses in function k where a new location
// begins; loc_tab has the location of each: line in the low 24 bits, file above (2 bytes: lines only).
std::optional<Code::LineTable> Code::line_table(bytes::MemoryReader& memory, const CodePlace& place) const {
    const Offsets& at = layout_->at;
    const auto table = memory.word(place.header + at.code_line_table);
    if (!table || *table == 0) return std::nullopt;
    const std::byte* head = memory.at(*table, at.lines_functions + 8);
    if (head == nullptr) return std::nullopt;
    LineTable found;
    found.table = *table;
    const auto first = load<Word>(head + at.lines_functions);
    found.location_size = load<std::uint32_t>(head + at.lines_location_size);
    found.locations = load<Word>(head + at.lines_locations);
    const std::byte* bounds = memory.at(*table + at.lines_functions + 8ull * place.index, 16);
    if (bounds == nullptr || (found.location_size != 2 && found.location_size != 4)) return std::nullopt;
    const auto begin = load<Word>(bounds), end = load<Word>(bounds + 8);
    if (end <= begin || begin < first || (end - begin) / 8 > most_lines) return std::nullopt;
    found.addresses = begin;
    found.count = (end - begin) / 8;
    found.locations += found.location_size * ((begin - first) / 8);
    return found;
}

Code::Line Code::line_at(bytes::MemoryReader& memory, const LineTable& table, std::uint64_t number) const {
    const std::byte* location = memory.at(table.locations + table.location_size * number, table.location_size);
    if (location == nullptr) return {};
    const std::uint32_t value =
        table.location_size == 2 ? load<std::uint16_t>(location) : load<std::uint32_t>(location);
    Line line;
    line.line = value & 0xffffff;
    line.file = value >> 24;
    if (line.file != 0) line.names = memory.word(table.table + layout_->at.lines_file_names).value_or(0);
    return line;
}

Code::Line Code::line(bytes::MemoryReader& memory, const CodePlace& place, std::uint64_t pc) const {
    const auto table = line_table(memory, place);
    if (!table) return {};
    const std::byte* addresses = memory.at(table->addresses, table->count * 8);
    if (addresses == nullptr) return {};
    const std::uint64_t number = last_not_above(addresses, table->count, pc);
    return number == table->count ? Line{} : line_at(memory, *table, number);
}

std::vector<std::pair<std::uint64_t, Code::Line>> Code::lines(bytes::MemoryReader& memory,
                                                              const CodePlace& place) const {
    std::vector<std::pair<std::uint64_t, Line>> found;
    const auto table = line_table(memory, place);
    for (std::uint64_t i = 0; table && i < table->count; ++i)
        found.emplace_back(memory.word(table->addresses + 8 * i).value_or(0), line_at(memory, *table, i));
    return found;
}

}  // namespace beamheap::otp
