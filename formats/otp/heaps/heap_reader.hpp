// SPDX-License-Identifier: Apache-2.0
// One process's heap out of an image, as a HeapGraph.
//
// A process has areas: the young and the old block, fragments, a heap that was abandoned, and the fragments that its
// queued messages carry. From its roots (stack, dictionary, messages, registers) every object in them that is reached
// is marked in a bitmap with a bit per word, and the marked ones are then added in order of address, so that a graph
// holds what a crash dump of the same process would: live terms. What is not marked is garbage; walking an
// area from end to end tells it apart. References out of the areas (literals) stay foreign.
//
// Damage: a pointer that leads to no object is counted and not followed; each address is visited once at most, so
// that time and memory are bounded by the size of the areas. While a process is in garbage collection its objects are
// being moved, and it has no graph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "beamheap/heap_graph.hpp"
#include "formats/otp/heaps/heap_objects.hpp"
#include "formats/otp/processes/live_row.hpp"
#include "formats/otp/processes/process_table.hpp"
#include "formats/otp/tables/ets_objects.hpp"
#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

/// What belongs to an area.
enum class AreaKind : std::uint8_t { young, old, fragment, message, object };

struct HeapArea {
    std::uint64_t start = 0, end = 0;
    const std::byte* data = nullptr;
    AreaKind kind = AreaKind::young;
    std::size_t first_bit = 0;  // of its first word in the bitmap
    std::uint64_t words() const { return (end - start) / 8; }
};

/// A root as it was found: where it stands (an address of a word) and what it holds.
struct HeapRoot {
    RootKind kind = RootKind::stack;
    std::uint32_t index = 0, frame = 0;
    Word term = 0;
    std::uint64_t at = 0;    ///< address of the word that holds it
    bool undecoded = false;  ///< in external term format: a message of another node, a compressed object
};

struct HeapDamage {
    std::uint64_t bad_pointers = 0;  ///< references to no object
    std::uint64_t first_bad = 0;     ///< address of the first such place
    std::uint64_t unwalked = 0;      ///< areas that could not be walked to their end for garbage
    std::uint64_t unreadable = 0;    ///< areas that the image does not hold
    std::uint64_t zeroed = 0;        ///< zero bytes where objects or a stack must be
    bool collecting = false;         ///< caught in garbage collection
    bool queue_damaged = false, dictionary_damaged = false;
    bool list_broken = false;  ///< of what it holds outside the heap: kept_binaries() has but a part
    std::uint64_t lost_binaries =
        0;  ///< references to binaries that nobody holds or that are shorter than what is seen of them
};

class HeapReader {
public:
    explicit HeapReader(const Vm& vm);

    /// Reads the heap of the process at this address; the graph is valid until the next read(). With garbage, dead
    /// terms that no other dead term holds are roots as well (RootKind::garbage), behind all others.
    HeapGraph& read(std::uint64_t process, HeapGraph::Mode mode, bool garbage = false);
    /// The same of a process of batch(), in the batch's round: `row` is its structure.
    HeapGraph& read_of_batch(std::uint64_t process, const std::byte* row, HeapGraph::Mode mode);
    /// Of a running VM: processes whose heaps are fetched side by side.
    RowBatch& batch() { return batch_; }
    /// Reads the objects of a table as roots, in their order (RootKind::table_object). Of a compressed one its key is
    /// read; its root is undecoded, and stands at the tuple.
    HeapGraph& read_objects(const EtsObjects& objects, HeapGraph::Mode mode);
    HeapGraph take_graph() { return std::move(graph_); }

    std::uint64_t messages() const { return messages_; }
    std::uint64_t distribution_messages() const { return distribution_messages_; }
    std::uint64_t distribution_bytes() const { return distribution_bytes_; }
    /// Addresses of all binaries that the objects of its areas keep, garbage too, each once and in order: the process
    /// has lists of what its heap holds outside of it (off_heap, wrt_bins: erl_process.h, erl_binary.h). Of the heap
    /// that was read last, of a process; until the next read().
    std::span<const std::uint64_t> kept_binaries();
    const HeapDamage& damage() const { return damage_; }
    const bytes::MemoryReader& memory() const { return memory_; }
    const std::vector<HeapArea>& areas() const { return areas_; }
    /// All roots, in the order of graph().roots() in `values` mode.
    const std::vector<HeapRoot>& roots() const { return roots_; }

private:
    void begin(HeapGraph::Mode mode);
    HeapGraph& read_fetched(std::uint64_t process, const std::byte* row, HeapGraph::Mode mode, bool garbage);
    void add_area(std::uint64_t start, std::uint64_t end, AreaKind kind);
    void settle_areas();
    void collect_areas(const std::byte* p);
    void find_zeroed(const HeapArea& area);
    std::uint64_t zeros_end(const HeapArea& area, std::uint64_t first) const;
    void collect_fragments(std::uint64_t first, AreaKind kind);
    void collect_roots(const std::byte* p);
    void follow_list(std::uint64_t first);
    void stack_roots();
    void message_roots(const std::byte* p);
    void root(RootKind kind, std::uint32_t index, std::uint32_t frame, Word term, std::uint64_t at,
              bool undecoded = false);
    void bad(std::uint64_t address) {
        if (damage_.bad_pointers++ == 0) damage_.first_bad = address;
    }
    const HeapArea* area_of(std::uint64_t address) {
        if (last_ != nullptr && last_->start <= address && address < last_->end) return last_;
        return find_area(address);
    }
    const HeapArea* find_area(std::uint64_t address);
    void mark(Word term);
    bool object_at(const HeapArea& area, std::uint64_t& index, ObjectShape& shape) const;
    void garbage_roots();
    void emit_area(const HeapArea& area);

    const Vm& vm_;
    const Offsets& at_;
    Decoder reader_;
    bytes::MemoryReader& memory_;
    RowBatch batch_;
    std::vector<RunningThread> running_;
    HeapGraph graph_;
    std::uint64_t process_ = 0;
    std::uint64_t stack_top_ = 0, stack_end_ = 0;
    std::uint64_t off_heap_ = 0, writable_ = 0;  ///< first objects of the lists of what is held outside the heap
    std::vector<std::uint64_t> kept_;
    std::uint64_t area_bytes_ = 0,
                  image_bytes_ = 0;  ///< of all areas so far; of all that the image holds, which is more
    std::vector<HeapArea> areas_;
    const HeapArea* last_ = nullptr;
    std::vector<std::uint64_t> marks_;
    std::vector<std::uint64_t> held_;  // by garbage
    std::vector<Word> pending_;
    std::vector<HeapRoot> roots_;
    std::uint64_t messages_ = 0, distribution_messages_ = 0, distribution_bytes_ = 0;
    HeapDamage damage_;
};

/// Where the bytes of a binary term are: refc binaries and slices, of either form.
BinaryPlace binary_place(bytes::MemoryReader& memory, const Layout& layout, std::uint64_t address);

/// Adds the object at `address`, of which `available` words are at `p`, with its references and the bytes it shows.
/// False where it refers to a binary outside of the heaps that is not there, or not as long as what it shows.
bool add_object(HeapGraph& graph, const Layout& layout, bytes::MemoryReader& memory, std::uint64_t address,
                const std::byte* p, std::uint64_t available);
/// After graph.finish(): tells for slices (up to OTP 26 and of small binaries) whose bytes they show. Until then
/// they name the object that they cut, so that the graph knows these references for what they are.
void settle_slices(HeapGraph& graph, const Layout& layout, bytes::MemoryReader& memory);

}  // namespace beamheap::otp
