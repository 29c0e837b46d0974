// A whole plain crash dump in memory, cut into sections, for tests of what reads sections.
#pragma once

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/crashdump/shared_terms.hpp"
#include "formats/crashdump/term_text.hpp"
#include "formats/crashdump/text_terms.hpp"

namespace test {

struct DumpSection {
    std::string_view tag, id, body;
};

class DumpFile {
public:
    explicit DumpFile(std::string text) : text_(std::move(text)) { cut(); }
    static DumpFile read(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        return DumpFile(std::string(std::istreambuf_iterator<char>(file), {}));
    }

    const std::vector<DumpSection>& sections() const { return sections_; }
    /// The first section of this tag and id; nullptr if there is none.
    const DumpSection* find(std::string_view tag, std::string_view id) const {
        for (const DumpSection& s : sections_)
            if (s.tag == tag && s.id == id) return &s;
        return nullptr;
    }
    /// "Key: value" of a section's body.
    static std::string_view field(std::string_view body, std::string_view key) {
        std::size_t at = body.find(std::string("\n") + std::string(key) + ": ");
        if (body.starts_with(std::string(key) + ": "))
            at = static_cast<std::size_t>(-1);
        else if (at == std::string_view::npos)
            return {};
        at += 1 + key.size() + 2;
        return body.substr(at, body.find('\n', at) - at);
    }
    static std::uint64_t number(std::string_view body, std::string_view key) {
        const std::string text(field(body, key));
        return text.empty() ? 0 : std::stoull(text);
    }

    beamheap::crashdump::HeapDialect dialect() const;
    /// Literals and binaries, all bytes kept.
    std::shared_ptr<beamheap::crashdump::SharedTerms> shared() const;
    /// What =proc says of a process.
    beamheap::crashdump::HeapFacts facts(std::string_view pid) const;
    std::unique_ptr<beamheap::crashdump::TextTerms> terms(
        std::string_view pid, std::shared_ptr<const beamheap::crashdump::SharedTerms> shared) const;

private:
    void cut();
    std::string text_;
    std::vector<DumpSection> sections_;
};

/// Feeds a section's body to anything with feed(section, text, offset, last), in pieces of `piece` bytes.
template <class Reader>
void feed_in_pieces(Reader& reader, beamheap::crashdump::TermSection section, std::string_view body,
                    std::uint64_t offset, std::size_t piece) {
    std::size_t at = 0;
    std::size_t size = piece;
    for (;;) {
        const bool last = body.size() - at <= size;
        const std::size_t taken =
            reader.feed(section, body.substr(at, last ? body.size() - at : size), offset + at, last);
        at += taken;
        if (last) break;
        size = taken == 0 ? size * 2 : piece;  // a line longer than the piece
    }
}

}  // namespace test
