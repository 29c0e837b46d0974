// SPDX-License-Identifier: Apache-2.0
// Terms of dumps whose truth is known: every term of a zoo prints as the VM printed it, with the VM's sizes.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "analyses/heaps/heap_order.hpp"
#include "analyses/heaps/sizes.hpp"
#include "analyses/heaps/term_measures.hpp"
#include "formats/crashdump/data_text.hpp"
#include "present/term_printer.hpp"
#include "support/dump_text.hpp"
#include "support/single_term.hpp"

using namespace beamheap;

namespace {

namespace fs = std::filesystem;

std::string slurp(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string from_base64(const std::string& text) {
    std::string bytes;
    crashdump::append_data({}, text, bytes, text.size());
    return bytes;
}

/// What a dump of the release does not hold of a term, so that neither its text nor its size can be right.
bool lost_in_dump(const std::string& name) {
    return name == "bitstr" || name == "bitstr2" || name == "bitstr_sub";  // bits behind the last whole byte
}

void compare(const std::string& release, const fs::path& folder) {
    const auto truth = nlohmann::json::parse(slurp(folder / ("zoo-" + release + ".truth.json")));
    LoadPlan plan = test::everything();
    plan.terms = true;
    const std::string dump = slurp(folder / ("zoo-" + release + ".dump"));
    const auto zoo = test::load(dump, plan);
    REQUIRE(zoo != nullptr);
    const ProcId process = zoo->snapshot().find_registered("zoo_terms");
    REQUIRE(process != ProcId::none);
    const auto read = zoo->terms(process);
    REQUIRE(read);
    TermSource& terms = **read;
    const HeapGraph& graph = terms.graph();
    CHECK(!zoo->snapshot().anomalies.seen(Anomaly::bad_line));

    analyses::HeapOrder order, literal_order;
    order.build(graph);
    literal_order.build(*terms.literals());
    analyses::FlatSizes flat, literal_flat;
    literal_flat.build(*terms.literals(), literal_order);
    const analyses::LiteralSizes literals{terms.literals(), &literal_flat};
    flat.build(graph, order, &literals);
    analyses::SharedSizes sizes;
    sizes.build(graph, terms.literals());
    for (NodeId node = 0; node < graph.size(); ++node)
        if (flat[node] < 100'000) CHECK(sizes.flat_words(node, 100'000) == Count(flat[node]));
    analyses::TermMeasures measures(terms);
    for (std::size_t i = 0; i < graph.roots().size(); ++i)
        CHECK(measures.root_flat_words(i) == measures.flat_words(terms.root(i)));

    std::map<std::string, Element> values;
    present::PrintOptions whole;
    whole.max_bytes = 0;
    for (std::size_t i = 0; i < graph.roots().size(); ++i) {
        if (graph.roots()[i].kind != RootKind::dictionary) continue;
        const Element entry = terms.root(i);
        REQUIRE(entry.kind == ElementKind::object);
        ElementCursor pair = terms.elements(entry.id);
        Element key, value;
        REQUIRE(terms.next(pair, key));
        REQUIRE(terms.next(pair, value));
        values[present::term_text(terms, key, whole)] = value;
    }

    std::size_t compared = 0;
    std::size_t lost = 0;
    for (const auto& term : truth["terms"]) {
        const std::string key = term["dict_key"];
        const std::string name = term["name"];
        INFO(release << " " << name);
        REQUIRE(values.count(key) == 1);
        const Element value = values[key];
        ++compared;
        if (lost_in_dump(name)) {
            ++lost;
            continue;
        }
        std::string text;
        const present::Printed printed = present::print_term(terms, value, whole, text);
        CHECK(!printed.cut);
        CHECK(!printed.missing);
        // Maps have no order: then the term must be printed as the VM's own external form of it is.
        if (text != term["p"].get<std::string>()) {
            test::SingleTerm same(from_base64(term["ext_base64"]));
            CHECK(text == present::term_text(same, same.term(), whole));
        }
        const bool object = value.kind == ElementKind::object;
        const bool literal = object && value.id.space == ObjectId::Space::literals;
        CHECK((!object ? 0 : literal ? literal_flat[value.id.number] : flat[value.id.number]) == term["flat_size"]);
        const Count shared = !object   ? Count(0)
                             : literal ? sizes.literal_words(value.id.number)
                                       : sizes.words(value.id.number);
        CHECK(*shared == term["size"]);
    }
    std::cout << "zoo " << release << ": " << compared << " terms compared, " << lost << " lost in dumps\n";
}

}  // namespace

TEST_CASE("every term of a zoo prints as the VM printed it, with its sizes", "[zoo]") {
    const char* folder = std::getenv("BEAMHEAP_ZOO");
    if (folder == nullptr) {
        std::cout << "skipped: terms of the zoo (BEAMHEAP_ZOO names no folder)\n";
        return;
    }
    for (const char* release : {"23", "25", "27", "29"}) compare(release, folder);
}
