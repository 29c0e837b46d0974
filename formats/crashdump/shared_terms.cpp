#include "formats/crashdump/shared_terms.hpp"

#include <algorithm>

namespace beamheap::crashdump {

void BinaryTable::seal() {
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.address < b.address; });
    const auto end = std::unique(entries_.begin(), entries_.end(),
                                 [](const Entry& a, const Entry& b) { return a.address == b.address; });
    duplicates_ += static_cast<std::uint64_t>(entries_.end() - end);
    entries_.erase(end, entries_.end());
}

const BinaryTable::Entry* BinaryTable::find(std::uint64_t address) const {
    const auto found = std::lower_bound(entries_.begin(), entries_.end(), address,
                                        [](const Entry& entry, std::uint64_t a) { return entry.address < a; });
    return found != entries_.end() && found->address == address ? &*found : nullptr;
}

std::size_t SharedTerms::feed_literals(std::string_view text, bool last) {
    if (!started_) reader_.begin({HeapGraph::Mode::values, 0, 0, -1});
    started_ = true;
    const std::size_t taken = reader_.feed(TermSection::literals, text, literal_text_.size(), last);
    literal_text_.append(text.substr(0, taken));
    return taken;
}

void SharedTerms::adopt_line(std::string_view line) {
    adopted_ = true;
    literal_text_.append(line);
    if (line.empty() || line.back() != '\n') literal_text_ += '\n';
}

void SharedTerms::seal() {
    binaries_.seal();
    if (adopted_) {
        reader_.begin({HeapGraph::Mode::values, 0, 0, -1});
        reader_.feed(TermSection::literals, literal_text_, 0, true);
        started_ = true;
    }
    if (!started_) reader_.begin({HeapGraph::Mode::values, 0, 0, -1});
    reader_.finish();
    literals_ = reader_.take_graph();
}

}  // namespace beamheap::crashdump
