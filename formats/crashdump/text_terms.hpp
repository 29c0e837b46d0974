// The terms of one process of a crash dump, read from the text of its sections when they are asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "beamheap/terms.hpp"
#include "formats/crashdump/heap_reader.hpp"
#include "formats/crashdump/shared_terms.hpp"
#include "formats/external_term.hpp"

namespace beamheap::crashdump {

/// A process's graph in `values` mode with the text that its origins count in.
struct ProcessText {
    HeapGraph graph;
    FlatArray<char> text;
    HeapDamage damage;
    std::uint64_t stack_words = 0;
    std::uint64_t messages = 0;
    std::string_view view() const { return {text.data(), text.size()}; }
};

/// Collects the sections of one process: a HeapReader in `values` mode, and their text.
class ProcessTextReader {
public:
    explicit ProcessTextReader(const HeapDialect& dialect) : reader_(dialect) {}
    /// `facts.mode` is taken to be `values`.
    void begin(HeapFacts facts);
    /// As HeapReader::feed.
    std::size_t feed(TermSection section, std::string_view text, bool last);
    ProcessText finish();

private:
    HeapReader reader_;
    FlatArray<char> text_;
};

class TextTerms final : public TermSource {
public:
    /// `shared` may be null: then literals and binaries are missing.
    TextTerms(ProcessText process, std::shared_ptr<const SharedTerms> shared, const HeapDialect& dialect);

    const HeapGraph& graph() const override { return process_.graph; }
    const HeapGraph* literals() const override { return shared_ == nullptr ? nullptr : &shared_->literals(); }
    Element root(std::size_t i) override;
    ObjectHead head(ObjectId id) override;
    ElementCursor elements(ObjectId id) override;
    bool next(ElementCursor& cursor, Element& element) override;
    Bytes bytes(ObjectId id, std::uint64_t from, std::uint64_t limit, std::string& out) override;
    Element at(std::uint64_t address) override;
    Count channel_of(std::string_view node) const override { return channel ? channel(node) : Count(); }

    const ProcessText& process() const { return process_; }
    /// Bytes of external format that a distribution message is decoded from at the most.
    static constexpr std::size_t max_decoded_bytes = std::size_t{4} << 20;
    /// How node names become channels; may be empty.
    std::function<Count(std::string_view)> channel;

private:
    struct Line;
    Line line_of(ObjectId id) const;
    std::string_view text_of(ObjectId id) const;
    const char* element(const char* p, const char* end, Element& out);
    Element decoded_message(std::uint64_t origin);
    Element decode(std::string_view encoded, std::uint64_t length, const external_term::Context& context,
                   bool& complete);
    /// The decoded form of an object in external format; nullptr if it can't be decoded.
    const Element* external(ObjectId id, const Line& line);
    Bytes base_bytes(const BinaryUse& use, std::uint64_t from, std::uint64_t limit, std::string& out);

    ProcessText process_;
    std::shared_ptr<const SharedTerms> shared_;
    HeapDialect dialect_;
    external_term::Terms decoded_;
    std::unordered_map<std::uint64_t, Element> externals_;         // by space and number
    std::unordered_map<std::uint64_t, Element> decoded_messages_;  // by origin
};

}  // namespace beamheap::crashdump
