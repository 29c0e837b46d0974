// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/tables/carriers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <unordered_map>
#include <unordered_set>

#include "formats/otp/tables/allocators.hpp"

namespace beamheap::otp {
namespace {

using bytes::AddressSpace;
using bytes::load;

constexpr std::uint64_t carrier_alignment = 1ull << 14;
constexpr std::uint64_t size_mask = ~std::uint64_t{7};
constexpr std::uint64_t flag_single = 2;  // SBC_CARRIER_HDR_FLAG: bit 1 of the carrier's header
constexpr std::uint64_t pooled_flag = 1;  // ERTS_CRR_ALCTR_FLG_IN_POOL, in the allocator's word
constexpr std::uint64_t block_free = 1, block_last = 4;
constexpr std::uint64_t free_size_mask = ~(std::uint64_t{7} | std::uint64_t{1} << 63);
constexpr std::uint64_t used_size_mask = 0x000000fffffffff8ull;  // the carrier's offset is above
constexpr std::uint64_t least_block = 16;
constexpr std::size_t most_blocks = 1u << 26;      // that are kept
constexpr std::uint64_t most_carriers = 1u << 22;  // of one list
constexpr std::size_t most_reasons = 4;
constexpr std::uint64_t nearly_empty = 10;  // one part in so many is in use

class Walker {
public:
    explicit Walker(Reader& reader) : reader_(reader), at_(reader.at) {
        for (const AllocatorAt& each : find_allocators(reader.vm, reader.memory))
            allocators_.emplace(each.address, each);
        for (const Process& process : reader.snapshot.processes) {
            const std::byte* p = reader.memory.probe(process.offset, at_.process_size);
            if (p == nullptr) continue;
            const std::string_view name = reader.snapshot.text(process.name);
            const auto who = fmt::format("{}{}<{}.{}.{}>", name, name.empty() ? "" : " ", process.pid.node,
                                         process.pid.number, process.pid.serial);
            heaps_[load<Word>(p + at_.process_heap)] = "heap of " + who;
            if (const auto old = load<Word>(p + at_.process_old_heap); old != 0) heaps_[old] = "old heap of " + who;
        }
    }

    Carriers run() {
        if (allocators_.empty()) return std::move(result_);
        for (const auto& [address, allocator] : allocators_) {
            list(address, allocator, at_.allocator_carriers, false);
            list(address, allocator, at_.allocator_single_carriers, true);
        }
        sort();
        if (pooled() != 0) scan();
        sort();
        memory();
        return std::move(result_);
    }

private:
    Carrier carrier_of(const AllocatorAt& allocator, std::uint64_t address, std::uint64_t bytes) {
        Carrier carrier;
        carrier.address = address;
        carrier.bytes = bytes;
        carrier.allocator = reader_.snapshot.texts.intern(fmt::format("{}alloc", allocator.prefix));
        carrier.instance = allocator.instance;
        return carrier;
    }

    void sort() {
        std::sort(result_.carriers.begin(), result_.carriers.end(),
                  [](const Carrier& a, const Carrier& b) { return a.address < b.address; });
    }

    // Carriers in the pool, as their owners have counted them.
    std::uint64_t pooled() {
        std::uint64_t count = 0;
        for (const auto& [address, allocator] : allocators_)
            count |= reader_.memory.word(address + at_.allocator_pool_carriers).value_or(0);
        return count;
    }

    void list(std::uint64_t address, const AllocatorAt& allocator, std::uint32_t first, bool single) {
        auto next = reader_.memory.word(address + first).value_or(0);
        for (std::uint64_t i = 0; next != 0 && i < most_carriers; ++i) {
            const std::byte* p = reader_.memory.probe(next, at_.carrier_allocator + 16);
            // A carrier is in one list, once: a list that comes to one again goes in a circle.
            if (p == nullptr || ((load<Word>(p) & flag_single) != 0) != single || !listed_.insert(next).second) {
                ++result_.unknown;
                return;
            }
            const auto behind = load<Word>(p + at_.carrier_next);
            if (single) singleblock(p, next, allocator);
            else if (!multiblock(next, Where::list)) ++result_.unknown;
            next = behind;
        }
    }

    // What is between the carriers that are known: those in the pool, which their flag tells from carriers that were
    // given back, as their headers stay in memory that the segment allocator keeps for later.
    void scan() {
        const std::size_t known = result_.carriers.size();
        std::size_t i = 0;
        for (const AddressSpace::Part& segment : reader_.vm.image->space().parts()) {
            if (!segment.writable) continue;
            std::uint64_t address = (segment.start + carrier_alignment - 1) & ~(carrier_alignment - 1);
            while (address >= segment.start && address < segment.end) {
                while (i < known && result_.carriers[i].address + result_.carriers[i].bytes <= address) ++i;
                std::uint64_t next = address + carrier_alignment;
                if (i < known && result_.carriers[i].address <= address)
                    next = result_.carriers[i].address + result_.carriers[i].bytes;
                else if (multiblock(address, Where::pool)) next = address + result_.carriers.back().bytes;
                if (next <= address) return;
                address = (next + carrier_alignment - 1) & ~(carrier_alignment - 1);
            }
        }
    }

    enum class Where { list, pool };

    // Adds the carrier at this address; false where there is none. Blocks of a running VM come and go while they are
    // walked, so each carrier is fetched by one read, and once more where its blocks don't lead to its end.
    bool multiblock(std::uint64_t address, Where where) {
        const unsigned most = reader_.memory.view() == nullptr ? 1 : 4;
        for (unsigned tries = 0; tries < most; ++tries) {
            reader_.memory.forget();
            if (one_multiblock(address, where)) return true;
            if (where == Where::pool) return false;
        }
        return false;
    }

    bool one_multiblock(std::uint64_t address, Where where) {
        const std::byte* p = reader_.memory.probe(address, at_.carrier_allocator + 8);
        if (p == nullptr) return false;
        const auto header = load<Word>(p), owner = load<Word>(p + at_.carrier_allocator);
        const auto allocator = allocators_.find(owner & size_mask);
        const std::uint64_t bytes = header & size_mask;
        if (allocator == allocators_.end() || (header & flag_single) != 0 || bytes < least_block) return false;
        if (where == Where::pool && (owner & pooled_flag) == 0) return false;
        Carrier carrier = carrier_of(allocator->second, address, bytes);
        carrier.pooled = (owner & pooled_flag) != 0;
        const auto first = reader_.memory.word(allocator->first + at_.allocator_header_size);
        const bytes::FreshReads fresh(reader_.memory);
        const std::byte* data = reader_.memory.probe(address, bytes);
        if (data == nullptr || !first || *first >= bytes || !walk(data, *first, carrier)) return false;
        if (carrier.block_bytes * nearly_empty <= carrier.bytes) reasons(data, *first, carrier);
        if (allocator->second.prefix == "binary_")
            each_block(data, *first, bytes, [&](std::uint64_t at, std::uint64_t size, bool free) {
                if (!free && result_.binary_blocks.size() < most_blocks)
                    result_.binary_blocks.push_back({address + at + 8, size});
            });
        result_.carriers.push_back(std::move(carrier));
        return true;
    }

    void singleblock(const std::byte* p, std::uint64_t address, const AllocatorAt& allocator) {
        Carrier carrier = carrier_of(allocator, address, load<Word>(p) & size_mask);
        carrier.single = true;
        carrier.blocks = 1;
        // The one block's header stands behind the carrier's, and has no bits for an offset; its flags are those of a
        // free block, of which one is the highest bit.
        carrier.block_bytes = std::min(load<Word>(p + at_.carrier_allocator + 8) & free_size_mask, carrier.bytes);
        carrier.free_bytes = carrier.bytes - carrier.block_bytes;
        if (allocator.prefix == "binary_")
            result_.binary_blocks.push_back({address + at_.carrier_allocator + 16, carrier.block_bytes});
        result_.carriers.push_back(std::move(carrier));
    }

    // Calls visit(offset, size, free) for each block; whether they lead exactly to the last one.
    template <class Visit>
    static bool each_block(const std::byte* data, std::uint64_t at, std::uint64_t bytes, Visit&& visit) {
        while (at + 8 <= bytes) {
            const auto header = load<Word>(data + at);
            const bool free = (header & block_free) != 0;
            const std::uint64_t size = header & (free ? free_size_mask : used_size_mask);
            if (size < least_block || size > bytes - at) return false;
            visit(at, size, free);
            at += size;
            if ((header & block_last) != 0) return bytes - at < 4096;  // what is left is less than a block could use
        }
        return false;
    }

    static bool walk(const std::byte* data, std::uint64_t first, Carrier& carrier) {
        return each_block(data, first, carrier.bytes, [&carrier](std::uint64_t, std::uint64_t size, bool free) {
            if (free) {
                ++carrier.holes;
                carrier.free_bytes += size;
                carrier.largest_hole = std::max(carrier.largest_hole, size);
            } else {
                ++carrier.blocks;
                carrier.block_bytes += size;
            }
        });
    }

    void reasons(const std::byte* data, std::uint64_t first, Carrier& carrier) {
        const std::string_view allocator = reader_.snapshot.text(carrier.allocator);
        each_block(data, first, carrier.bytes, [&](std::uint64_t at, std::uint64_t size, bool free) {
            if (free || carrier.kept_by.size() == most_reasons) return;
            const auto heap = heaps_.find(carrier.address + at + 8);
            if (heap != heaps_.end()) carrier.kept_by.push_back(fmt::format("{}, {} bytes", heap->second, size));
            else if (allocator == "binary_alloc" && at + 8 + at_.binary_length + 8 <= carrier.bytes)
                carrier.kept_by.push_back(fmt::format("binary {:X} of {} bytes", carrier.address + at + 8,
                                                      load<Word>(data + at + 8 + at_.binary_length)));
            else carrier.kept_by.push_back(fmt::format("a block of {} bytes", size));
        });
    }

    void memory() {
        std::uint64_t mapped = 0, written = 0, stacks = 0, inside = 0;
        const Image& image = *reader_.vm.image;
        if (image.core() == nullptr) return memory_of_process();
        const auto extents = image.core()->data_extents();
        const auto data_in = [&extents](std::uint64_t from, std::uint64_t to) {
            auto at = std::upper_bound(
                extents.begin(), extents.end(), from,
                [](std::uint64_t offset, const bytes::FileExtent& e) { return offset < e.offset + e.size; });
            std::uint64_t sum = 0;
            for (; at != extents.end() && at->offset < to; ++at)
                sum += std::min(to, at->offset + at->size) - std::max(from, at->offset);
            return sum;
        };
        for (const bytes::ElfSegment& segment : image.core()->segments()) {
            if (segment.type != bytes::elf::segment_load || (segment.flags & bytes::elf::flag_write) == 0 ||
                image.notes().file_at(segment.address) != nullptr)
                continue;
            mapped += segment.memory_size;
            const std::uint64_t size = std::min(segment.file_size, segment.memory_size), end = segment.address + size;
            const std::uint64_t data = data_in(segment.offset, segment.offset + size);
            written += data;
            const bool stack =
                std::any_of(image.notes().threads.begin(), image.notes().threads.end(), [&](const auto& thread) {
                    const std::uint64_t pointer = thread.stack_pointer;
                    return segment.address <= pointer && pointer < end;
                });
            if (stack) {
                stacks += data;
                continue;
            }
            auto carrier =
                std::lower_bound(result_.carriers.begin(), result_.carriers.end(), segment.address,
                                 [](const Carrier& c, std::uint64_t address) { return c.address < address; });
            for (; carrier != result_.carriers.end() && carrier->address < end; ++carrier) {
                const std::uint64_t from = segment.offset + (carrier->address - segment.address);
                inside += data_in(from, std::min(from + carrier->bytes, segment.offset + size));
            }
        }
        result_.mapped_bytes = mapped;
        result_.written_bytes = written;
        result_.stack_bytes = stacks;
        result_.carrier_bytes = inside;
        if (written >= stacks + inside) result_.other_bytes = written - stacks - inside;
    }

    // Of a process that runs the system tells how much of its anonymous memory is there (proc(5), status: RssAnon,
    // VmSwap), not of which range.
    void memory_of_process() {
        const bytes::RunningProcess& process = *reader_.vm.image->process();
        std::uint64_t mapped = 0;
        for (const bytes::Mapping& mapping : process.mappings())
            if (mapping.writable && mapping.inode == 0) mapped += mapping.end - mapping.start;
        result_.mapped_bytes = mapped;
        const std::string status = process.proc_file("status");
        const auto kilobytes = [&status](std::string_view name) -> Count {
            const std::size_t at = status.find(fmt::format("\n{}:", name));
            if (at == status.npos) return {};
            return Count(std::strtoull(status.c_str() + at + name.size() + 2, nullptr, 10));
        };
        if (const Count resident = kilobytes("RssAnon"); resident.has())
            result_.written_bytes = 1024 * (*resident + kilobytes("VmSwap").value_or(0));
    }

    Reader& reader_;
    const Offsets& at_;
    std::unordered_map<std::uint64_t, AllocatorAt> allocators_;
    std::unordered_map<std::uint64_t, std::string> heaps_;
    std::unordered_set<std::uint64_t> listed_;  // carriers of the lists that were followed
    Carriers result_;
};

}  // namespace

Carriers read_carriers(Reader& reader) { return Walker(reader).run(); }

}  // namespace beamheap::otp
