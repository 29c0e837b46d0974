// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/literals.hpp"

#include <algorithm>
#include <vector>

namespace beamheap::crashdump {
namespace {

std::shared_ptr<const Literals> decode(std::string text, const HeapDialect& dialect) {
    auto literals = std::make_shared<Literals>();
    literals->text = std::move(text);
    HeapReader reader(dialect);
    HeapFacts facts;
    facts.mode = HeapGraph::Mode::values;
    reader.begin(facts);
    reader.feed(TermSection::literals, literals->text, 0, true);
    reader.finish();
    literals->bad_lines = reader.damage().bad_lines;
    literals->graph = reader.take_graph();
    return literals;
}

/// Addresses that are looked for, and those that were found.
class Wanted {
public:
    void add(std::uint64_t address) {
        if (address != 0) fresh_.push_back(address);
    }
    /// Takes over what was added; false if there was nothing new.
    bool settle() {
        std::sort(fresh_.begin(), fresh_.end());
        fresh_.erase(std::unique(fresh_.begin(), fresh_.end()), fresh_.end());
        std::vector<std::uint64_t> open;
        std::set_difference(fresh_.begin(), fresh_.end(), found_.begin(), found_.end(), std::back_inserter(open));
        fresh_.clear();
        std::vector<std::uint64_t> all;
        std::set_union(open_.begin(), open_.end(), open.begin(), open.end(), std::back_inserter(all));
        const bool more = all.size() != open_.size();
        open_ = std::move(all);
        return more;
    }
    const std::vector<std::uint64_t>& open() const { return open_; }
    void found(std::vector<std::uint64_t> addresses) {
        std::sort(addresses.begin(), addresses.end());
        std::vector<std::uint64_t> rest;
        std::set_difference(open_.begin(), open_.end(), addresses.begin(), addresses.end(), std::back_inserter(rest));
        open_ = std::move(rest);
        std::vector<std::uint64_t> all;
        std::set_union(found_.begin(), found_.end(), addresses.begin(), addresses.end(), std::back_inserter(all));
        found_ = std::move(all);
    }

private:
    std::vector<std::uint64_t> fresh_, open_, found_;
};

/// Takes out of one heap what is wanted of it, and all that this refers to there.
void adopt(const HeapGraph& graph, std::string_view text, TermStyle style, Wanted& wanted, std::string& lines) {
    std::vector<NodeId> reached;
    std::vector<std::uint8_t> seen;
    for (const std::uint64_t address : wanted.open()) {
        const NodeId node = graph.find(address);
        if (node == no_node) continue;
        if (seen.empty()) seen.resize(graph.size());
        if (seen[node] == 0) reached.push_back(node);
        seen[node] = 1;
    }
    if (reached.empty()) return;
    EdgeIndex index;
    index.build(graph.edges(), graph.size());
    for (std::size_t i = 0; i < reached.size(); ++i) {  // grows while it is gone through
        index.for_each_target(reached[i], [&](NodeId to) {
            if (seen[to] == 0) reached.push_back(to);
            seen[to] = 1;
        });
    }
    std::vector<std::uint64_t> addresses;
    for (const NodeId node : reached) {
        const auto origin = static_cast<std::size_t>(graph.origin(node));
        const std::size_t end = line_end(TermSection::heap, style, text, origin);
        if (end == line_incomplete || end == line_malformed) continue;
        lines.append(text.substr(origin, end - origin));
        addresses.push_back(graph.address(node));
    }
    for (std::size_t i = 0; i < graph.foreign_size(); ++i)
        if (seen[graph.foreign(i).from] != 0) wanted.add(graph.foreign(i).address);
    wanted.found(std::move(addresses));
}

}  // namespace

Result<std::shared_ptr<const Literals>> read_literals(const TermSections& texts, const HeapDialect& dialect) {
    BH_TRY(std::vector<SectionText> sections, texts.shared(ProcId::none, false));
    std::string text;
    for (SectionText& section : sections) {
        if (section.section != TermSection::literals) continue;
        if (text.empty()) text = section.body.take();  // there is one as a rule
        else text += section.text();
    }
    return decode(std::move(text), dialect);
}

Result<std::shared_ptr<const Literals>> collect_literals(const TermSections& texts, const HeapDialect& dialect,
                                                         ProcId process, const HeapGraph& graph,
                                                         std::uint32_t processes) {
    Wanted wanted;
    for (std::size_t i = 0; i < graph.foreign_size(); ++i) wanted.add(graph.foreign(i).address);
    for (std::size_t i = 0; i < graph.missing_roots(); ++i) wanted.add(graph.missing_root_address(i));
    std::string lines;
    HeapReader reader(dialect);
    HeapFacts facts;
    facts.mode = HeapGraph::Mode::values;
    // A literal's parts may in turn stand in the heap of another process: go round until nothing new turns up.
    for (int round = 0; round < 8 && wanted.settle(); ++round) {
        for (std::uint32_t other = 0; other < processes && !wanted.open().empty(); ++other) {
            if (other == index_of(process)) continue;
            BH_TRY(const std::vector<SectionText> sections, texts.of(ProcId{other}));
            for (const SectionText& section : sections) {
                if (section.section != TermSection::heap) continue;
                reader.begin(facts);
                reader.feed(TermSection::heap, section.text(), 0, true);
                adopt(reader.finish(), section.text(), dialect.style, wanted, lines);
            }
        }
    }
    return decode(std::move(lines), dialect);
}

}  // namespace beamheap::crashdump
