// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/term_sections.hpp"

#include <algorithm>
#include <span>

namespace beamheap::crashdump {

void TermSections::add(ProcId process, const TermExtents& sections) {
    if (extents_.size() <= index_of(process)) extents_.resize(index_of(process) + 1);
    TermExtents& known = extents_[index_of(process)];
    if (known.count == 0) known = sections;
    else
        for (std::uint32_t i = 0; i < sections.count; ++i) known.add(sections.parts[i]);
}

std::shared_ptr<const ReadHeap> TermSections::take_read(ProcId process) {
    const auto found = read_.find(index_of(process));
    if (found == read_.end()) return nullptr;
    std::shared_ptr<const ReadHeap> heap = found->second.heap;
    if (found->second.once) read_.erase(found);
    return heap;
}

void TermSections::add_shared(const Extent& extent) { shared_extents_.push_back(extent); }

void TermSections::append(std::vector<KeptText>& sections, TermSection section, std::uint64_t offset,
                          std::string_view piece) {
    if (!sections.empty() && sections.back().section == section &&
        sections.back().offset + sections.back().text.size() == offset)
        sections.back().text.append(piece);
    else sections.push_back({section, offset, std::string(piece)});
}

void TermSections::keep(ProcId process, TermSection section, std::uint64_t offset, std::string_view piece) {
    append(kept_[index_of(process)], section, offset, piece);
}

void TermSections::keep_shared(TermSection section, std::uint64_t offset, std::string_view piece) {
    append(kept_shared_, section, offset, piece);
}

void TermSections::add_binary(const BinaryPlace& place, std::string_view first_text) {
    if (keeps() && !first_text.empty())
        kept_binaries_.push_back({place.offset, std::string(first_text.substr(0, kept_binary_text))});
    binaries_.push_back(place);
}

// The first of several binaries at one address counts, as with everything that is listed twice: it is the one with the
// lowest offset, so that no stable sort is needed, which would take half as much memory again.
void TermSections::seal() {
    std::ranges::sort(binaries_, [](const BinaryPlace& a, const BinaryPlace& b) {
        return a.address != b.address ? a.address < b.address : a.offset < b.offset;
    });
    const auto same = [](const BinaryPlace& a, const BinaryPlace& b) { return a.address == b.address; };
    binaries_.erase(std::unique(binaries_.begin(), binaries_.end(), same), binaries_.end());
}

Result<SectionText> TermSections::read(const Extent& extent) const {
    SectionText section{extent.section, extent.offset, {}};
    if (auto piece = near_sections_->find(source_, extent.offset, static_cast<std::size_t>(extent.bytes))) {
        section.block = std::move(piece->block);
        section.body = bytes::StableText::borrowed(piece->text);
        return section;
    }
    BH_TRY(section.body, source_.text_at(extent.offset, static_cast<std::size_t>(extent.bytes)));
    return section;
}

Status TermSections::feed(ProcId process, HeapReader& reader) const {
    if (keeps()) {
        BH_TRY(const std::vector<SectionText> sections, of(process));
        for (const SectionText& section : sections) reader.feed(section.section, section.text(), section.offset, true);
        return ok();
    }
    const TermExtents* extents = this->extents(process);
    if (extents == nullptr) return ok();
    const std::span<const Extent> parts(extents->parts.data(), extents->count);
    if (std::ranges::all_of(parts, [](const Extent& each) { return each.bytes <= NeighbourBlocks::largest_piece; })) {
        BH_TRY(const std::vector<SectionText> sections, of(process));
        for (const SectionText& section : sections) reader.feed(section.section, section.text(), section.offset, true);
        return ok();
    }
    std::string buffer;
    return feed_in_windows(source_, *extents, reader, buffer, prefetch);
}

Result<std::vector<SectionText>> TermSections::of(ProcId process) const {
    std::vector<SectionText> sections;
    if (keeps()) {
        const auto found = kept_.find(index_of(process));
        if (found != kept_.end())
            for (const KeptText& text : found->second) sections.push_back(borrow(text));
        return sections;
    }
    if (index_of(process) >= extents_.size()) return sections;
    const TermExtents& extents = extents_[index_of(process)];
    for (std::uint32_t i = 0; i < extents.count; ++i) {
        BH_TRY(SectionText section, read(extents.parts[i]));
        sections.push_back(std::move(section));
    }
    return sections;
}

Result<std::vector<SectionText>> TermSections::shared(ProcId process, bool literals_in_heaps) const {
    std::vector<SectionText> sections;
    if (keeps()) {
        for (const KeptText& text : kept_shared_) sections.push_back(borrow(text));
        if (literals_in_heaps)
            for (const auto& [id, texts] : kept_)
                for (const KeptText& text : texts)
                    if (id != index_of(process) && text.section == TermSection::heap) sections.push_back(borrow(text));
        std::ranges::sort(sections, {}, &SectionText::offset);
        return sections;
    }
    std::vector<Extent> wanted = shared_extents_;
    if (literals_in_heaps)
        for (std::size_t i = 0; i < extents_.size(); ++i)
            for (std::uint32_t part = 0; i != index_of(process) && part < extents_[i].count; ++part)
                if (extents_[i].parts[part].section == TermSection::heap) wanted.push_back(extents_[i].parts[part]);
    for (const Extent& extent : wanted) {
        BH_TRY(SectionText section, read(extent));
        sections.push_back(std::move(section));
    }
    return sections;
}

const BinaryPlace* TermSections::binary(std::uint64_t address) const {
    const auto found = std::ranges::lower_bound(binaries_, address, {}, &BinaryPlace::address);
    return found != binaries_.end() && found->address == address ? &*found : nullptr;
}

Result<std::string> TermSections::binary_text(const BinaryPlace& place, std::uint64_t from,
                                              std::size_t characters) const {
    if (keeps()) {
        const auto kept = std::ranges::lower_bound(kept_binaries_, place.offset, {}, &KeptBinary::offset);
        if (kept == kept_binaries_.end() || kept->offset != place.offset || from >= kept->text.size())
            return std::string();
        return kept->text.substr(static_cast<std::size_t>(from), characters);
    }
    // Small ones of processes that follow each other stand beside each other, forwards or backwards.
    if (const auto piece = near_binaries_->find(source_, place.offset + from, characters))
        return std::string(piece->text);
    std::string text(characters, '\0');
    BH_TRY(const std::size_t got, source_.read_at(place.offset + from, text));
    text.resize(got);
    return text;
}

}  // namespace beamheap::crashdump
