// SPDX-License-Identifier: Apache-2.0
// The terms of one process of a crash dump, read from the text of its sections when they are asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "beamheap/artifact.hpp"
#include "beamheap/error.hpp"
#include "beamheap/terms.hpp"
#include "formats/crashdump/heap_reader.hpp"
#include "formats/crashdump/literals.hpp"
#include "formats/crashdump/term_sections.hpp"
#include "formats/external_term.hpp"

namespace beamheap::crashdump {

class DumpTerms final : public TermSource {
public:
    /// Reads the sections of a process in `values` mode, or takes what loading has read. Literals are not known before
    /// set_literals().
    static Result<std::unique_ptr<DumpTerms>> read(TermSections& texts, ProcId process, const HeapFacts& facts,
                                                   const HeapDialect& dialect);
    /// The same of what is wanted alone; null where the heap is small, or where much of it had to be read for that
    /// (part_of_heap.hpp).
    static Result<std::unique_ptr<DumpTerms>> read_part(const TermSections& texts, ProcId process,
                                                        const HeapFacts& facts, const HeapDialect& dialect,
                                                        const TermsWanted& wanted,
                                                        std::shared_ptr<const Literals> literals);
    /// No heap: only literals.
    static std::unique_ptr<DumpTerms> of_literals(const TermSections& texts, const HeapDialect& dialect,
                                                  std::shared_ptr<const Literals> literals);
    /// Appends the keys and values of a section with lines Key|Value, and keeps its text.
    void add_pairs(SectionText section, std::vector<PersistentTerms::Entry>& out);
    void set_literals(std::shared_ptr<const Literals> literals) { literals_ = std::move(literals); }

    const HeapGraph& graph() const override { return heap_->graph; }
    const HeapGraph* literals() const override { return literals_ == nullptr ? nullptr : &literals_->graph; }
    Element root(std::size_t i) override;
    ObjectHead head(ObjectId id) override;
    ElementCursor elements(ObjectId id) override;
    bool next(ElementCursor& cursor, Element& element) override;
    Bytes bytes(ObjectId id, std::uint64_t from, std::uint64_t limit, std::string& out) override;
    Element at(std::uint64_t address) override;
    Count binary_size(std::uint64_t address) const override;
    Count channel_of(std::string_view node) const override { return channel ? channel(node) : Count(); }

    bool in_part() const override { return in_part_; }
    std::uint64_t messages() const override { return heap_->messages; }
    const HeapDamage& damage() const { return heap_->damage; }
    /// How node names become channels; may be empty.
    std::function<Count(std::string_view)> channel;
    /// Bytes of external format that a distribution message is decoded from at the most.
    static constexpr std::size_t max_decoded_bytes = std::size_t{4} << 20;

private:
    struct Line;
    DumpTerms(const TermSections& texts, const HeapDialect& dialect) : texts_(texts), dialect_(dialect) {}
    std::string_view text_from(ObjectId::Space space, std::uint64_t place) const;
    const HeapGraph& graph_of(ObjectId id) const {
        return id.space == ObjectId::Space::literals ? literals_->graph : graph();
    }
    Line line_of(ObjectId id);
    /// Called for each object that is looked at: a walk over a large heap is not to have all of its text in memory.
    void count_look();
    const char* element(const char* p, const char* end, Element& out);
    Element decoded_message(std::uint64_t origin);
    Element decode(std::string_view encoded, const external_term::Context& context);
    /// The decoded form of an object in external format: its head, and its number among the decoded. A reference, pid
    /// or port has no elements, and is decoded each time: a queue of a million calls has as many references. False if
    /// it can't be decoded.
    bool external(ObjectId id, const Line& line, ObjectHead& head, std::uint32_t& number);
    Bytes base_bytes(const BinaryUse& use, std::uint64_t from, std::uint64_t limit, std::string& out);

    const TermSections& texts_;
    HeapDialect dialect_;
    std::vector<SectionText> sections_;
    std::vector<std::unique_ptr<SectionText>> pairs_;  // which elements that were given name
    std::shared_ptr<const ReadHeap> heap_;
    bool in_part_ = false;
    std::uint32_t looks_ = 0;
    std::shared_ptr<const Literals> literals_;
    external_term::Terms decoded_;
    std::unordered_map<std::uint64_t, Element> externals_;  // by space and number, those with elements
    std::optional<std::pair<std::uint64_t, ObjectHead>>
        last_external_;                                            // of those without, the one that was looked at last
    std::set<std::string, std::less<>> nodes_;                     // that references and pids name
    std::unordered_map<std::uint64_t, Element> decoded_messages_;  // by origin
};

}  // namespace beamheap::crashdump
