// Terms of dumps whose truth is known: every term of a zoo prints as the VM printed it, with the VM's sizes.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "analyses/heap_order.hpp"
#include "analyses/sizes.hpp"
#include "present/term_printer.hpp"
#include "support/dump_file.hpp"

using namespace beamheap;
using namespace beamheap::crashdump;

namespace {

namespace fs = std::filesystem;

/// A string between quotes, with Erlang's escapes undone; for comparing printed maps whatever their order.
std::multiset<char> letters(const std::string& text) { return {text.begin(), text.end()}; }

void compare(const std::string& release, const fs::path& folder) {
    const fs::path dump = folder / ("zoo-" + release + ".dump");
    std::ifstream file(folder / ("zoo-" + release + ".truth.json"));
    const auto truth = nlohmann::json::parse(file);
    const test::DumpFile zoo = test::DumpFile::read(dump.string());
    const auto shared = zoo.shared();
    std::string pid;
    for (const auto& process : truth["processes"])
        if (process.value("registered_name", nlohmann::json()) == "zoo_terms") pid = process["pid"];
    REQUIRE(!pid.empty());
    const auto terms = zoo.terms(pid, shared);
    const HeapGraph& graph = terms->graph();
    CHECK(terms->process().damage.bad_lines == 0);
    CHECK(terms->process().damage.cut_lines == 0);

    analyses::HeapOrder order;
    order.build(graph);
    analyses::HeapOrder literal_order;
    literal_order.build(shared->literals());
    analyses::FlatSizes literal_flat;
    literal_flat.build(shared->literals(), literal_order);
    const analyses::LiteralSizes literals{&shared->literals(), &literal_flat};
    analyses::FlatSizes flat;
    flat.build(graph, order, &literals);
    analyses::SharedSizes sizes;
    sizes.build(graph, &shared->literals());

    std::map<std::string, Element> values;
    present::PrintOptions whole;
    whole.max_bytes = 0;
    for (std::size_t i = 0; i < graph.roots().size(); ++i) {
        if (graph.roots()[i].kind != RootKind::dictionary) continue;
        const Element entry = terms->root(i);
        REQUIRE(entry.kind == ElementKind::object);
        ElementCursor pair = terms->elements(entry.id);
        Element key, value;
        REQUIRE(terms->next(pair, key));
        REQUIRE(terms->next(pair, value));
        values[present::term_text(*terms, key, whole)] = value;
    }

    std::size_t compared = 0;
    for (const auto& term : truth["terms"]) {
        const std::string key = term["dict_key"];
        const std::string name = term["name"];
        INFO(release << " " << name);
        REQUIRE(values.count(key) == 1);
        const Element value = values[key];
        std::string text;
        const present::Printed printed = present::print_term(*terms, value, whole, text);
        const std::string expected = term["p"];
        std::uint64_t flat_words = 0, shared_words = 0;
        if (value.kind == ElementKind::object) {
            const bool literal = value.id.space == ObjectId::Space::literals;
            flat_words = literal ? literal_flat[value.id.number] : flat[value.id.number];
            shared_words = literal ? sizes.literal_words(value.id.number) : sizes.words(value.id.number);
        }
        ++compared;
        if (text != expected || flat_words != term["flat_size"] || shared_words != term["size"]) {
            std::cout << release << " " << name << ": flat " << flat_words << "/" << term["flat_size"] << " shared "
                      << shared_words << "/" << term["size"] << " missing " << printed.missing << " bits_lost "
                      << printed.bits_lost << "\n   " << text.substr(0, 300) << "\n   " << expected.substr(0, 300)
                      << "\n";
        }
    }
    std::cout << "zoo " << release << ": " << compared << " terms compared\n";
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
