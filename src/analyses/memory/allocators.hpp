// SPDX-License-Identifier: Apache-2.0
// How much of the memory that the VM took from the system its blocks use.
//
// Each allocator (eheap_alloc, binary_alloc, ...) has an instance per scheduler and instance 0 for other threads. It
// gets carriers from the system (mseg_alloc, sys_alloc) and places blocks in them: many in a multiblock carrier (mbcs),
// one in a singleblock carrier (sbcs). Carriers minus blocks is memory that the node occupies and does not use. A
// carrier is given back only when its last block is freed, so a few long-lived blocks can hold a lot of it.
//
// Two measures. Ours: fragmentation = 1 - blocks / carriers, now, multiblock (with the pool of abandoned carriers) and
// singleblock together. recon's (recon_alloc:fragmentation/1): usage = blocks / carriers of mbcs and sbcs apart, for
// the current figures and for the highest ever; 0 of 0 is 1. Low now but high at the peak means that carriers were
// filled once and only a few blocks are left in them; low at both means that blocks and carriers do not fit each other.
//
// Keys: "mbcs blocks size" up to OTP 22, one "mbcs blocks[TYPE] size" per allocator since 23, because a carrier of the
// pool may hold blocks of another allocator; "mbcs carriers size"; "mbcs_pool ..." (current only); "sbmbcs ..." (R15,
// R16: small blocks in carriers that sbmbc_alloc holds, which is therefore left out of the sums).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// Blocks in carriers of one kind: bytes and numbers, now and at the highest ever.
struct CarrierUse {
    Count blocks, block_bytes, carriers, carrier_bytes;
    Count max_block_bytes, max_carrier_bytes;
    /// block_bytes / carrier_bytes; nullopt where a figure is missing or there is no carrier.
    std::optional<double> usage() const;
    std::optional<double> max_usage() const;
};

struct AllocatorUse {
    TextId name = TextId::none;   ///< "binary_alloc"
    std::int32_t instance = -1;   ///< 0: threads that are no scheduler; -1: not per scheduler, or a sum
    std::uint32_t instances = 1;  ///< how many were added up
    bool enabled = true;          ///< "option e: false": its blocks are malloc's and not known here
    CarrierUse mbcs;              ///< with the pool; its maxima are without (the VM keeps none for the pool)
    CarrierUse pool;              ///< of mbcs: carriers that were given up and may be fetched by any instance
    CarrierUse sbcs;
    Count block_bytes, carrier_bytes;  ///< mbcs and sbcs
    Count lost_bytes;                  ///< carrier_bytes - block_bytes
    Count foreign_block_bytes;         ///< of block_bytes: of other allocators (23 and later)
    /// 1 - block_bytes / carrier_bytes, 0 to 1.
    std::optional<double> fragmentation() const;
    /// recon's measures: 0 of 0 is 1.
    std::optional<double> recon_mbcs_usage() const;
    std::optional<double> recon_mbcs_max_usage() const;
    std::optional<double> recon_sbcs_usage() const;
    std::optional<double> recon_sbcs_max_usage() const;
};

/// Segments that an instance of mseg_alloc holds: mapped memory behind carriers.
struct SegmentUse {
    std::int32_t instance = -1;
    Count segments, segment_bytes, max_segment_bytes, cached_segments, cache_hits, calls;
};

/// A region of address space that the VM manages: default_mmap, literal_mmap, exec_mmap.
struct MmapUse {
    TextId name = TextId::none;  ///< "erts_mmap.literal_mmap"
    Count os_used_bytes;         ///< mapped outside the supercarrier
    Count supercarrier_bytes;    ///< its size; 0 or missing: none
    Count supercarrier_used_bytes;
    std::optional<double> supercarrier_percent;
};

struct AllocatorReport {
    std::vector<AllocatorUse> instances;  ///< most lost bytes first
    std::vector<AllocatorUse> types;      ///< by allocator, most carrier bytes first
    AllocatorUse total;                   ///< over all; name none
    std::vector<SegmentUse> segments;
    Count segment_bytes;  ///< over all instances of mseg_alloc
    std::vector<MmapUse> mmaps;
    Count memory_total_bytes;  ///< =memory total, to hold against total.carrier_bytes
};

AllocatorReport allocators(const Snapshot& snapshot);

}  // namespace beamheap::analyses
