// SPDX-License-Identifier: Apache-2.0
// The text that holds terms, for questions about single processes: kept in memory, or read again from a plain file.
//
// Loading notes where each process's sections are (and those of literals, persistent terms and binaries); of a stream,
// which can't be read again, it keeps the text of the processes that are asked for, of all that they may share, and
// the first bytes of each binary.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "beamheap/error.hpp"
#include "beamheap/ids.hpp"
#include "bytes/source.hpp"
#include "formats/crashdump/heap_pipeline.hpp"
#include "formats/crashdump/neighbour_blocks.hpp"
#include "formats/crashdump/term_grammar.hpp"

namespace beamheap::crashdump {

/// The body of one section, to be looked at here and there.
struct SectionText {
    TermSection section = TermSection::heap;
    std::uint64_t offset = 0;  ///< where it begins in the input
    bytes::StableText body;
    std::shared_ptr<const char[]> block = {};  ///< what `body` is a part of, where it was read with its neighbours
    std::string_view text() const { return body.view(); }
};

/// Where a refc binary's bytes are.
struct BinaryPlace {
    std::uint64_t address = 0;  ///< of the VM's Binary, as references name it
    std::uint64_t bytes = 0;    ///< its size
    std::uint64_t offset = 0;   ///< of the encoded data in the input
};

class TermSections {
public:
    /// Bytes of text of each binary that are kept of a stream.
    static constexpr std::size_t kept_binary_text = 2048;

    /// `source` can be read anywhere, or texts must be kept.
    explicit TermSections(const bytes::Source& source) : source_(source) {}
    bool keeps() const { return !source_.seekable(); }
    /// A second thread may read what is fed.
    bool prefetch = false;

    // ---- while loading
    /// So many processes there are.
    void expect(std::size_t processes) { extents_.reserve(processes); }
    void add(ProcId process, const TermExtents& sections);
    void add_shared(const Extent& extent);
    /// A stream's text; pieces of one section come in order.
    void keep(ProcId process, TermSection section, std::uint64_t offset, std::string_view piece);
    void keep_shared(TermSection section, std::uint64_t offset, std::string_view piece);
    void add_binary(const BinaryPlace& place, std::string_view first_text);
    /// A heap that loading has read. Of a process that a torn dump shows in pieces it is one piece, and of no use.
    /// `once`: it is gone when it was given.
    void add_read(ProcId process, ReadHeap heap, bool once) {
        const TermExtents* all = extents(process);
        if (all != nullptr && all->count == heap.sections)
            read_.insert_or_assign(index_of(process),
                                   KeptHeap{std::make_shared<const ReadHeap>(std::move(heap)), once});
    }
    /// Loading is over: sorts what is looked up.
    void seal();

    // ---- afterwards
    /// The heap of a process if loading has kept it; else null.
    std::shared_ptr<const ReadHeap> take_read(ProcId process);
    /// Where the sections of a process's terms are in a plain file; null if it has none.
    const TermExtents* extents(ProcId process) const {
        const bool any = index_of(process) < extents_.size() && extents_[index_of(process)].count != 0;
        return any ? &extents_[index_of(process)] : nullptr;
    }
    /// Has `reader`, which has begun, read all sections of a process's terms, a window at a time.
    Status feed(ProcId process, HeapReader& reader) const;
    /// The sections of one process's terms, in file order; empty where it has none in the input. Must not outlive this
    /// object.
    Result<std::vector<SectionText>> of(ProcId process) const;
    /// =literals and =persistent_terms. Up to dump version 0.3 literals stand in the heaps of the processes: then the
    /// heaps of all processes but `process`.
    Result<std::vector<SectionText>> shared(ProcId process, bool literals_in_heaps) const;
    /// The binary at this address; null if the input lists none there.
    const BinaryPlace* binary(std::uint64_t address) const;
    const std::vector<BinaryPlace>& binaries() const { return binaries_; }
    /// Up to `characters` characters of a binary's encoded data, from character `from` on; fewer where the input ends
    /// or a stream's text was not kept.
    Result<std::string> binary_text(const BinaryPlace& place, std::uint64_t from, std::size_t characters) const;

private:
    struct KeptText {
        TermSection section = TermSection::heap;
        std::uint64_t offset = 0;
        std::string text;
    };
    Result<SectionText> read(const Extent& extent) const;
    static SectionText borrow(const KeptText& kept) {
        return {kept.section, kept.offset, bytes::StableText::borrowed(kept.text)};
    }
    static void append(std::vector<KeptText>& sections, TermSection section, std::uint64_t offset,
                       std::string_view piece);
    const bytes::Source& source_;
    std::unique_ptr<NeighbourBlocks> near_sections_ =
        std::make_unique<NeighbourBlocks>(NeighbourBlocks::Order::forwards);
    std::unique_ptr<NeighbourBlocks> near_binaries_ = std::make_unique<NeighbourBlocks>(NeighbourBlocks::Order::either);
    std::vector<TermExtents> extents_;  // by ProcId
    std::vector<Extent> shared_extents_;
    std::unordered_map<std::uint32_t, std::vector<KeptText>> kept_;
    std::vector<KeptText> kept_shared_;
    struct KeptHeap {
        std::shared_ptr<const ReadHeap> heap;
        bool once = true;
    };
    std::unordered_map<std::uint32_t, KeptHeap> read_;
    std::vector<BinaryPlace> binaries_;
    struct KeptBinary {
        std::uint64_t offset = 0;  ///< of the data in the input, as BinaryPlace::offset
        std::string text;          ///< its first characters
    };
    std::vector<KeptBinary> kept_binaries_;  // of a stream, as they were met: sorted by their offsets
};

}  // namespace beamheap::crashdump
