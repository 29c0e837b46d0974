// SPDX-License-Identifier: Apache-2.0
#include "bytes/live_view.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "bytes/failed_reads.hpp"

namespace beamheap::bytes {
namespace {

constexpr std::uint64_t live_page = 4096;
constexpr std::uint64_t least_age_ns = 20'000'000;  // of a list of mappings, before it is read again
constexpr std::uint64_t most_kept = 24u << 20;      // bytes of mirrors that forget() leaves in place

std::uint64_t page_of(std::uint64_t address) { return address & ~(live_page - 1); }

std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count());
}

// Address space that takes memory where it is written to; null where there is none.
void* reserve(std::uint64_t bytes) {
    void* const room =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room != MAP_FAILED) return room;
    note_failed_read({ErrorCode::resource_limit, "too little memory for what is read of a process", {}});
    return nullptr;
}

std::shared_ptr<const LiveMappings::List> read_list(const LiveMemory& memory, std::uint64_t number) {
    auto list = std::make_shared<LiveMappings::List>();
    list->number = number;
    for (Mapping& mapping : memory.mappings())
        if (mapping.readable && mapping.path != "[vvar]" && mapping.path != "[vvar_vclock]" &&
            !mapping.path.starts_with("[vsyscall"))
            list->all.push_back(std::move(mapping));
    std::sort(list->all.begin(), list->all.end(), [](const Mapping& a, const Mapping& b) { return a.start < b.start; });
    return list;
}

const Mapping* mapping_at(const LiveMappings::List& list, std::uint64_t address) {
    auto after = std::upper_bound(list.all.begin(), list.all.end(), address,
                                  [](std::uint64_t a, const Mapping& m) { return a < m.start; });
    if (after == list.all.begin()) return nullptr;
    --after;
    return address < after->end ? &*after : nullptr;
}

}  // namespace

LiveMappings::LiveMappings(std::shared_ptr<const LiveMemory> memory)
    : memory_(std::move(memory)), list_(read_list(*memory_, 1)), read_at_ns_(now_ns()) {}

std::shared_ptr<const LiveMappings::List> LiveMappings::current() const {
    const std::lock_guard guard(lock_);
    return list_;
}

std::shared_ptr<const LiveMappings::List> LiveMappings::later_than(std::uint64_t seen) const {
    const std::lock_guard guard(lock_);
    if (list_->number > seen || now_ns() - read_at_ns_ < least_age_ns) return list_;
    list_ = read_list(*memory_, list_->number + 1);
    read_at_ns_ = now_ns();
    return list_;
}

LiveView::LiveView(const LiveMappings& mappings) : mappings_(mappings) { take(mappings_.current()); }

LiveView::~LiveView() {
    for (Run& run : runs_) release(run);
    for (Run& run : retired_) release(run);
}

void LiveView::release(Run& run) {
    if (run.mirror != nullptr) ::munmap(run.mirror, run.end - run.start);
    if (run.rounds != nullptr) ::munmap(run.rounds, (run.end - run.start) / live_page * sizeof(std::uint32_t));
    run.mirror = nullptr;
    run.rounds = nullptr;
}

// Mirrors are made when something in them is asked for: most mappings of a process are never looked at.
bool LiveView::room_for(Run& run) {
    if (run.mirror != nullptr) return true;
    run.mirror = static_cast<std::byte*>(reserve(run.end - run.start));
    run.rounds = static_cast<std::uint32_t*>(reserve((run.end - run.start) / live_page * sizeof(std::uint32_t)));
    if (run.mirror != nullptr && run.rounds != nullptr) return true;
    release(run);
    return false;
}

// Runs that are as they were keep their mirrors; those of others are still looked at until the round ends.
void LiveView::take(std::shared_ptr<const LiveMappings::List> list) {
    list_ = std::move(list);
    std::vector<Run> runs;
    for (const Mapping& mapping : list_->all) {
        const std::uint64_t start = page_of(mapping.start), end = page_of(mapping.end + live_page - 1);
        if (!runs.empty() && runs.back().end >= start) runs.back().end = std::max(runs.back().end, end);
        else runs.push_back({start, end, nullptr, nullptr});
    }
    std::size_t at = 0;
    for (Run& old : runs_) {
        while (at < runs.size() && runs[at].start < old.start) ++at;
        if (at < runs.size() && runs[at].start == old.start && runs[at].end == old.end) runs[at] = old;
        else if (old.mirror != nullptr) retired_.push_back(old);
    }
    runs_ = std::move(runs);
    last_ = 0;
}

LiveView::Run* LiveView::find(std::uint64_t address) {
    if (last_ < runs_.size() && runs_[last_].start <= address && address < runs_[last_].end) return &runs_[last_];
    auto after = std::upper_bound(runs_.begin(), runs_.end(), address,
                                  [](std::uint64_t a, const Run& r) { return a < r.start; });
    if (after == runs_.begin()) return nullptr;
    --after;
    if (address >= after->end) return nullptr;
    last_ = static_cast<std::size_t>(after - runs_.begin());
    return &*after;
}

// Mappings come and go: an address that is in none may be in one that was made meanwhile.
LiveView::Run* LiveView::run_of(std::uint64_t address) {
    if (Run* found = find(address)) return found;
    auto later = mappings_.later_than(list_->number);
    if (later->number == list_->number) return nullptr;
    take(std::move(later));
    return find(address);
}

// How many bytes of the range were there, from its beginning on.
std::uint64_t LiveView::read(Run& run, std::uint64_t address, std::uint64_t size) {
    std::vector<MemoryPiece> pieces;
    for (std::uint64_t at = 0; at < size; at += largest_read)
        pieces.push_back({address + at,
                          {run.mirror + (address - run.start) + at, std::min<std::uint64_t>(largest_read, size - at)}});
    mappings_.memory().read(pieces);
    ++fetches_;
    kept_bytes_ += size;
    std::uint64_t got = 0;
    for (const MemoryPiece& piece : pieces) {
        got += piece.got;
        if (!piece.whole()) break;
    }
    return got;
}

// Pages that this round has not fetched yet, as few ranges. Pages are fetched whole. How many bytes of the range are
// there.
std::uint64_t LiveView::fetch(Run& run, std::uint64_t address, std::uint64_t size) {
    if (!room_for(run)) return 0;
    if (fresh_) return read(run, address, size);
    const std::uint64_t first = (page_of(address) - run.start) / live_page,
                        end = (page_of(address + size - 1) - run.start) / live_page + 1;
    for (std::uint64_t page = first; page < end;) {
        if (run.rounds[page] == round_) {
            ++page;
            continue;
        }
        std::uint64_t behind = page;
        while (behind < end && run.rounds[behind] != round_) ++behind;
        const std::uint64_t got = read(run, run.start + page * live_page, (behind - page) * live_page) / live_page;
        std::fill(run.rounds + page, run.rounds + page + got, round_);
        if (page + got < behind) return std::max(run.start + (page + got) * live_page, address) - address;
        page = behind;
    }
    return size;
}

void LiveView::fetch_ahead(std::span<const Range> ranges) {
    ahead_.clear();
    for (const Range& range : ranges) {
        Run* run = range.size == 0 ? nullptr : find(range.address);
        if (run == nullptr || range.size > run->end - range.address || !room_for(*run)) continue;
        const std::uint64_t end = page_of(range.address + range.size - 1);
        for (std::uint64_t page = page_of(range.address); page <= end; page += live_page)
            if (run->rounds[(page - run->start) / live_page] != round_) ahead_.push_back(page);
    }
    std::ranges::sort(ahead_);
    ahead_.erase(std::unique(ahead_.begin(), ahead_.end()), ahead_.end());
    pieces_.clear();
    for (std::size_t i = 0; i < ahead_.size();) {
        std::size_t behind = i + 1;  // pages that follow each other are of one run: runs have gaps between them
        while (behind < ahead_.size() && ahead_[behind] == ahead_[behind - 1] + live_page &&
               (behind - i) * live_page < largest_read)
            ++behind;
        const Run* run = find(ahead_[i]);
        pieces_.push_back({ahead_[i], {run->mirror + (ahead_[i] - run->start), (behind - i) * live_page}});
        i = behind;
    }
    if (pieces_.empty()) return;
    mappings_.memory().read(pieces_);
    ++fetches_;
    for (const MemoryPiece& piece : pieces_) {
        const Run* run = find(piece.address);
        std::fill_n(run->rounds + (piece.address - run->start) / live_page, piece.got / live_page, round_);
        kept_bytes_ += piece.got;
    }
}

const std::byte* LiveView::at(std::uint64_t address, std::uint64_t size) {
    Run* run = run_of(address);
    if (run != nullptr && size > run->end - address) {  // it may have grown
        take(mappings_.later_than(list_->number));
        run = find(address);
    }
    size = std::max<std::uint64_t>(size, 1);
    if (run == nullptr || size > run->end - address || size > longest_live_range || fetch(*run, address, size) != size)
        return nullptr;
    return run->mirror + (address - run->start);
}

Bytes LiveView::from(std::uint64_t address, std::uint64_t limit) {
    Run* run = run_of(address);
    if (run == nullptr || limit == 0) return {};
    const std::uint64_t there = fetch(*run, address, std::min({limit, run->end - address, longest_live_range}));
    return {run->mirror + (address - run->start), there};
}

bool LiveView::mapped(std::uint64_t address) { return run_of(address) != nullptr; }

bool LiveView::writable(std::uint64_t address) {
    if (run_of(address) == nullptr) return false;
    const Mapping* mapping = mapping_at(*list_, address);
    return mapping != nullptr && mapping->writable;
}

void LiveView::forget() {
    for (Run& run : retired_) release(run);
    retired_.clear();
    if (kept_bytes_ > most_kept) {
        for (Run& run : runs_) {
            if (run.mirror == nullptr) continue;
            ::madvise(run.mirror, run.end - run.start, MADV_DONTNEED);
            ::madvise(run.rounds, (run.end - run.start) / live_page * sizeof(std::uint32_t), MADV_DONTNEED);
        }
        kept_bytes_ = 0;
    }
    if (++round_ != 0) return;
    for (Run& run : runs_) release(run);  // after four billion rounds: no page is taken for one of the first
    round_ = 1;
}

}  // namespace beamheap::bytes
