// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/part_of_heap.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace beamheap::crashdump {
namespace {

constexpr std::size_t first_front = std::size_t{1} << 20;
constexpr std::size_t front_growth = 8;
constexpr std::size_t least_share = 4;  // of the heap's text: a larger part is not worth it
constexpr std::array<std::size_t, 3> backs{std::size_t{64} << 10, std::size_t{1} << 20, std::size_t{16} << 20};
constexpr std::size_t last_messages = 4;  // whose lines are looked for: a message may be an object of an earlier one
constexpr std::size_t message_line_bytes = 16;

/// The addresses of the last messages, as their lines have them, last one first.
std::vector<std::string_view> last_addresses(std::string_view messages) {
    std::vector<std::string_view> found;
    while (!messages.empty() && found.size() < last_messages) {
        messages.remove_suffix(messages.back() == '\n' ? 1 : 0);
        const std::size_t feed = messages.rfind('\n');
        const std::string_view line = messages.substr(feed == messages.npos ? 0 : feed + 1);
        messages.remove_suffix(line.size());
        const std::size_t colon = line.find(':');
        if (!line.starts_with('H') || colon == line.npos) break;
        found.push_back(line.substr(1, colon - 1));
    }
    return found;
}

/// Where the line of one of the last messages begins: what is behind it was printed for the sake of other roots.
std::optional<std::size_t> back_of(std::string_view heap, std::string_view messages) {
    const std::vector<std::string_view> addresses = last_addresses(messages);
    for (const std::size_t bytes : backs) {
        if (bytes > heap.size() / least_share) break;
        const std::size_t from = heap.size() - bytes;
        for (const std::string_view address : addresses) {
            const std::string line = "\n" + std::string(address) + ":";
            if (const std::size_t at = heap.find(line, from); at != heap.npos) return at + 1;
        }
    }
    return std::nullopt;
}

/// Whether all is there what the roots that were kept refer to, in the graph or among the literals.
class Completeness {
public:
    Completeness(const HeapGraph& graph, const Literals* literals)
        : graph_(graph), literals_(literals), seen_(graph.size()) {
        index_.build(graph.edges(), graph.size());
    }

    bool holds() {
        for (std::size_t i = 0; i < graph_.missing_roots(); ++i)
            if (!literal(graph_.missing_root_address(i))) return false;
        for (const Root root : graph_.roots())
            if (root.target != no_node) reach(root.target);
        while (!left_.empty()) {
            const NodeId node = left_.back();
            left_.pop_back();
            if (!follow(node)) return false;
        }
        return true;
    }

private:
    bool literal(std::uint64_t address) const {
        return literals_ != nullptr && literals_->graph.find(address) != no_node;
    }
    void reach(NodeId node) {
        if (seen_[node]) return;
        seen_[node] = true;
        left_.push_back(node);
    }
    bool follow(NodeId node) {
        index_.for_each_target(node, [this](NodeId to) { reach(to); });
        std::size_t low = 0, high = graph_.foreign_size();
        while (low != high) {
            const std::size_t middle = low + (high - low) / 2;
            if (graph_.foreign(middle).from < node) low = middle + 1;
            else high = middle;
        }
        for (; low != graph_.foreign_size() && graph_.foreign(low).from == node; ++low)
            if (!literal(graph_.foreign(low).address)) return false;  // of a slice, too: its base may be in the rest
        return true;
    }

    const HeapGraph& graph_;
    const Literals* literals_;
    EdgeIndex index_;
    std::vector<bool> seen_;
    std::vector<NodeId> left_;
};

}  // namespace

bool read_part_of_heap(std::span<const SectionText> sections, const HeapFacts& facts, const TermsWanted& wanted,
                       const Literals* literals, std::uint64_t least, HeapReader& reader) {
    std::string_view heap, messages;
    for (const SectionText& section : sections) {
        if (section.section == TermSection::heap) heap = section.text();
        if (section.section == TermSection::messages) messages = section.text();
    }
    if (heap.size() < least) return false;
    std::size_t back = heap.size();
    if (wanted.others) {
        if (messages.size() / message_line_bytes <= wanted.messages) return false;  // all is asked for
        const std::optional<std::size_t> found = back_of(heap, messages);
        if (!found) return false;
        back = *found;
    }
    for (std::size_t front = first_front; front <= heap.size() / least_share; front *= front_growth) {
        reader.begin(facts);
        reader.keep_messages(wanted.messages);
        for (const SectionText& section : sections) {
            if (section.section != TermSection::heap) {
                if (wanted.others || section.section == TermSection::messages)
                    reader.feed(section.section, section.text(), section.offset, true);
                continue;
            }
            reader.feed(TermSection::heap, heap.substr(0, std::min(front, back)), section.offset, front >= back);
            reader.feed(TermSection::heap, heap.substr(back), section.offset + back, true);
        }
        const HeapGraph& graph = reader.finish();
        const HeapDamage& damage = reader.damage();
        if (damage.bad_lines != 0 || damage.cut_lines != 0 || graph.duplicate_addresses() != 0 ||
            graph.impossible_references() != 0)
            return false;
        if (Completeness(graph, literals).holds()) return true;
        if (front >= back) break;
    }
    return false;
}

}  // namespace beamheap::crashdump
