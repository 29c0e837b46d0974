// SPDX-License-Identifier: Apache-2.0
#include "bytes/address_space.hpp"

#include <algorithm>

namespace beamheap::bytes {

void AddressSpace::add(std::uint64_t start, Bytes bytes, Origin origin, bool writable) {
    std::uint64_t end = 0;
    if (bytes.empty() || __builtin_add_overflow(start, bytes.size(), &end)) return;
    segments_.push_back({start, end, bytes.data(), origin, writable, end});
}

void AddressSpace::seal() {
    // Cut up the later of two that overlap: sweep over the starts while remembering what is covered already. Segments
    // of one origin don't overlap in a healthy core, so a segment is at most split around a few earlier ones.
    std::vector<Segment> placed;
    placed.reserve(segments_.size());
    const auto by_start = [](const Segment& a, const Segment& b) { return a.start < b.start; };
    for (const Origin origin : {Origin::core, Origin::file}) {
        std::vector<Segment> wanted;
        for (const Segment& segment : segments_)
            if (segment.origin == origin) wanted.push_back(segment);
        std::stable_sort(wanted.begin(), wanted.end(), by_start);
        std::vector<Segment> fresh;
        std::size_t next = 0;       // first placed segment that may still cover something
        std::uint64_t covered = 0;  // end of what this origin has placed so far
        for (const Segment& segment : wanted) {
            std::uint64_t at = std::max(segment.start, covered);
            while (next < placed.size() && placed[next].end <= at) ++next;
            std::size_t cover = next;
            while (at < segment.end) {
                while (cover < placed.size() && placed[cover].end <= at) ++cover;
                if (cover < placed.size() && placed[cover].start <= at) {
                    at = placed[cover].end;
                    continue;
                }
                std::uint64_t stop = segment.end;
                if (cover < placed.size()) stop = std::min(stop, placed[cover].start);
                fresh.push_back({at, stop, segment.data + (at - segment.start), origin, segment.writable, stop});
                at = stop;
            }
            covered = std::max(covered, segment.end);
        }
        const std::size_t middle = placed.size();
        placed.insert(placed.end(), fresh.begin(), fresh.end());
        std::inplace_merge(placed.begin(), placed.begin() + static_cast<std::ptrdiff_t>(middle), placed.end(),
                           by_start);
    }
    segments_.clear();
    for (const Segment& segment : placed) {
        if (!segments_.empty()) {
            Segment& last = segments_.back();
            if (last.end == segment.start && last.data + (last.end - last.start) == segment.data &&
                last.origin == segment.origin && last.writable == segment.writable) {
                last.end = last.run_end = segment.end;
                continue;
            }
        }
        segments_.push_back(segment);
    }
    for (std::size_t i = segments_.size(); i-- > 1;) {
        const Segment& next = segments_[i];
        Segment& here = segments_[i - 1];
        if (here.end == next.start && here.data + (here.end - here.start) == next.data && here.origin == next.origin)
            here.run_end = next.run_end;
    }
}

const AddressSpace::Segment* AddressSpace::find(std::uint64_t address) const {
    auto after = std::upper_bound(segments_.begin(), segments_.end(), address,
                                  [](std::uint64_t a, const Segment& s) { return a < s.start; });
    if (after == segments_.begin()) return nullptr;
    --after;
    return address < after->end ? &*after : nullptr;
}

std::vector<AddressSpace::Part> AddressSpace::parts() const {
    std::vector<Part> all;
    for (const Segment& segment : segments_) all.push_back({segment.start, segment.end, segment.writable});
    if (live_ == nullptr) return all;
    // What is read from files here are mappings of the process as well, and never writable.
    all.clear();
    for (const Mapping& mapping : live_->current()->all) all.push_back({mapping.start, mapping.end, mapping.writable});
    return all;
}

std::uint64_t AddressSpace::bytes() const {
    std::uint64_t sum = 0;
    for (const Part& part : parts()) sum += part.end - part.start;
    return sum;
}

const std::byte* MemoryReader::elsewhere(std::uint64_t address, std::uint64_t size) {
    if (view_ != nullptr)
        if (const std::byte* there = view_->at(address, size)) return there;
    if (misses_++ == 0) first_miss_ = address;
    return nullptr;
}

const AddressSpace::Segment* MemoryReader::lookup_slow(std::uint64_t address) {
    const AddressSpace::Segment* found = space_->find(address);
    if (found != nullptr) cache_[(address >> 20) & (cache_.size() - 1)] = found;
    return found;
}

std::optional<std::string_view> MemoryReader::text(std::uint64_t address, std::size_t limit) {
    const Bytes bytes = from(address, limit);
    const auto* first = reinterpret_cast<const char*>(bytes.data());
    const std::size_t length = bytes.empty() ? 0 : strnlen(first, bytes.size());
    if (length == bytes.size()) return std::nullopt;
    return std::string_view{first, length};
}

}  // namespace beamheap::bytes
