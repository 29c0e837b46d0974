// SPDX-License-Identifier: Apache-2.0
#include "analyses/memory/allocators.hpp"

#include <algorithm>
#include <unordered_map>

#include "analyses/base/sum.hpp"

namespace beamheap::analyses {
namespace {

// Adds what is known: missing and missing stay missing.
void add(Count& total, Count more) {
    if (more.has()) total = total.has() ? total + more : more;
}

void add(CarrierUse& total, const CarrierUse& more) {
    add(total.blocks, more.blocks);
    add(total.block_bytes, more.block_bytes);
    add(total.carriers, more.carriers);
    add(total.carrier_bytes, more.carrier_bytes);
    add(total.max_block_bytes, more.max_block_bytes);
    add(total.max_carrier_bytes, more.max_carrier_bytes);
}

std::optional<double> share(Count part, Count whole) {
    const std::optional<double> percent = percent_of(part, whole);
    return percent ? std::optional(*percent / 100) : std::nullopt;
}

std::optional<double> recon_share(Count part, Count whole) {
    return part.has() && whole.has() && *part == 0 && *whole == 0 ? std::optional(1.0) : share(part, whole);
}

bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

/// What a key of an instance means: "mbcs blocks[eheap_alloc] size", "sbcs carriers size", ...
struct Meaning {
    CarrierUse AllocatorUse::*kind = nullptr;  // none: nothing that is added up
    enum class Figure : std::uint8_t {
        none,
        blocks,
        block_bytes,
        carriers,
        carrier_bytes,
        enabled
    } figure = Figure::none;
    std::string_view type;  // the blocks' own allocator; empty: that of the instance
};

Meaning meaning_of(std::string_view key) {
    using enum Meaning::Figure;
    if (key == "option e") return {nullptr, enabled, {}};
    Meaning meaning;
    if (take(key, "mbcs ") || take(key, "sbmbcs ")) meaning.kind = &AllocatorUse::mbcs;
    else if (take(key, "mbcs_pool ")) meaning.kind = &AllocatorUse::pool;
    else if (take(key, "sbcs ")) meaning.kind = &AllocatorUse::sbcs;
    else return meaning;
    if (take(key, "blocks")) {
        if (take(key, "[")) {
            const std::size_t close = key.find(']');
            if (close == std::string_view::npos) return meaning;
            meaning.type = key.substr(0, close);
            key.remove_prefix(close + 1);
        }
        if (key.empty() || key == " count") meaning.figure = blocks;
        else if (key == " size") meaning.figure = block_bytes;
    } else if (key == "carriers") {
        meaning.figure = carriers;
    } else if (key == "carriers size") {
        meaning.figure = carrier_bytes;
    }
    return meaning;
}

/// The same keys come with each instance: each is read once.
class Meanings {
public:
    explicit Meanings(const Snapshot& snapshot) : snapshot_(snapshot) {}
    const Meaning& operator[](TextId key) {
        const auto [place, fresh] = known_.try_emplace(index_of(key));
        if (fresh) place->second = meaning_of(snapshot_.text(key));
        return place->second;
    }

private:
    const Snapshot& snapshot_;
    std::unordered_map<std::uint32_t, Meaning> known_;
};

void read_line(AllocatorUse& use, std::string_view allocator, const Meaning& meaning,
               const std::array<Count, 3>& numbers) {
    if (meaning.kind == nullptr) return;
    CarrierUse& kind = use.*meaning.kind;
    switch (meaning.figure) {
        case Meaning::Figure::blocks: add(kind.blocks, numbers[0]); break;
        case Meaning::Figure::block_bytes:
            add(kind.block_bytes, numbers[0]);
            add(kind.max_block_bytes, numbers[2]);
            if (!meaning.type.empty() && meaning.type != allocator) add(use.foreign_block_bytes, numbers[0]);
            break;
        case Meaning::Figure::carriers: add(kind.carriers, numbers[0]); break;
        case Meaning::Figure::carrier_bytes:
            add(kind.carrier_bytes, numbers[0]);
            add(kind.max_carrier_bytes, numbers[2]);
            break;
        default: break;
    }
}

void sum_up(AllocatorUse& use) {
    use.block_bytes = use.carrier_bytes = Count();
    add(use.block_bytes, use.mbcs.block_bytes);
    add(use.block_bytes, use.sbcs.block_bytes);
    add(use.carrier_bytes, use.mbcs.carrier_bytes);
    add(use.carrier_bytes, use.sbcs.carrier_bytes);
    use.lost_bytes = use.carrier_bytes - use.block_bytes;
}

AllocatorUse read_instance(const Snapshot& snapshot, const AllocatorInstance& instance, Meanings& meanings) {
    AllocatorUse use;
    use.name = instance.name;
    use.instance = instance.instance;
    const std::string_view name = snapshot.text(instance.name);
    for (const AllocatorInstance::Line& line : instance.lines) {
        const Meaning& meaning = meanings[line.key];
        if (meaning.figure == Meaning::Figure::enabled && snapshot.text(line.text) == "false") use.enabled = false;
        read_line(use, name, meaning, line.numbers);
    }
    // The highest figures of several types need not have been at one time; together they can't exceed the carriers.
    for (CarrierUse* kind : {&use.mbcs, &use.sbcs})
        if (kind->max_carrier_bytes.has() && kind->max_block_bytes > kind->max_carrier_bytes)
            kind->max_block_bytes = kind->max_carrier_bytes;
    add(use.mbcs.blocks, use.pool.blocks);
    add(use.mbcs.block_bytes, use.pool.block_bytes);
    add(use.mbcs.carriers, use.pool.carriers);
    add(use.mbcs.carrier_bytes, use.pool.carrier_bytes);
    sum_up(use);
    return use;
}

void add(AllocatorUse& total, const AllocatorUse& more) {
    add(total.mbcs, more.mbcs);
    add(total.pool, more.pool);
    add(total.sbcs, more.sbcs);
    add(total.foreign_block_bytes, more.foreign_block_bytes);
    total.enabled |= more.enabled;
    ++total.instances;
    sum_up(total);
}

AllocatorUse empty_sum(TextId name) {
    AllocatorUse use;
    use.name = name;
    use.instances = 0;
    use.enabled = false;
    return use;
}

SegmentUse read_segments(const Snapshot& snapshot, const AllocatorInstance& instance) {
    SegmentUse use;
    use.instance = instance.instance;
    for (const AllocatorInstance::Line& line : instance.lines) {
        const std::string_view key = snapshot.text(line.key);
        if (key == "segments") use.segments = line.numbers[0];
        if (key == "segments_size") {
            use.segment_bytes = line.numbers[0];
            use.max_segment_bytes = line.numbers[2];
        }
        if (key == "cached_segments") use.cached_segments = line.numbers[0];
        if (key == "cache_hits") use.cache_hits = line.numbers[0];
        if (key == "mseg_alloc calls") use.calls = line.numbers[0];
    }
    return use;
}

MmapUse read_mmap(const Snapshot& snapshot, const AllocatorInstance& instance) {
    MmapUse use;
    use.name = instance.name;
    for (const AllocatorInstance::Line& line : instance.lines) {
        const std::string_view key = snapshot.text(line.key);
        if (key == "os mmap size used") use.os_used_bytes = line.numbers[0];
        if (key == "supercarrier total size") use.supercarrier_bytes = line.numbers[0];
        if (key == "supercarrier used size") use.supercarrier_used_bytes = line.numbers[0];
    }
    use.supercarrier_percent = percent_of(use.supercarrier_used_bytes, use.supercarrier_bytes);
    return use;
}

}  // namespace

std::optional<double> CarrierUse::usage() const { return share(block_bytes, carrier_bytes); }
std::optional<double> CarrierUse::max_usage() const { return share(max_block_bytes, max_carrier_bytes); }

std::optional<double> AllocatorUse::fragmentation() const {
    return lost_bytes.has() ? share(lost_bytes, carrier_bytes) : std::nullopt;
}
std::optional<double> AllocatorUse::recon_mbcs_usage() const {
    return recon_share(mbcs.block_bytes, mbcs.carrier_bytes);
}
std::optional<double> AllocatorUse::recon_mbcs_max_usage() const {
    return recon_share(mbcs.max_block_bytes, mbcs.max_carrier_bytes);
}
std::optional<double> AllocatorUse::recon_sbcs_usage() const {
    return recon_share(sbcs.block_bytes, sbcs.carrier_bytes);
}
std::optional<double> AllocatorUse::recon_sbcs_max_usage() const {
    return recon_share(sbcs.max_block_bytes, sbcs.max_carrier_bytes);
}

AllocatorReport allocators(const Snapshot& snapshot) {
    AllocatorReport report;
    report.total = empty_sum(TextId::none);
    report.memory_total_bytes = snapshot.memory_bytes("total");
    std::unordered_map<std::uint32_t, std::size_t> by_name;
    Meanings meanings(snapshot);
    for (const AllocatorInstance& instance : snapshot.allocators) {
        const std::string_view name = snapshot.text(instance.name);
        if (name == "alloc_util" || name == "instr") continue;
        if (name == "mseg_alloc") {
            report.segments.push_back(read_segments(snapshot, instance));
            add(report.segment_bytes, report.segments.back().segment_bytes);
            continue;
        }
        if (name.starts_with("erts_mmap")) {
            report.mmaps.push_back(read_mmap(snapshot, instance));
            continue;
        }
        const AllocatorUse& use = report.instances.emplace_back(read_instance(snapshot, instance, meanings));
        const auto [place, fresh] = by_name.try_emplace(index_of(use.name), report.types.size());
        if (fresh) report.types.push_back(empty_sum(use.name));
        add(report.types[place->second], use);
        if (name != "sbmbc_alloc") add(report.total, use);
    }
    std::stable_sort(report.instances.begin(), report.instances.end(),
                     [](const AllocatorUse& a, const AllocatorUse& b) { return a.lost_bytes > b.lost_bytes; });
    std::stable_sort(report.types.begin(), report.types.end(),
                     [](const AllocatorUse& a, const AllocatorUse& b) { return a.carrier_bytes > b.carrier_bytes; });
    return report;
}

}  // namespace beamheap::analyses
