// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <limits>

#include "analyses/processes/applications.hpp"
#include "analyses/processes/supervision.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;
using test::MadeSnapshot;
using Numbers = std::vector<std::uint32_t>;

namespace {

ProcId id_of(const Snapshot& s, std::uint32_t number) { return s.find({0, number, 0}); }
const TreeNode& node_of(const Snapshot& s, const SupervisionTree& tree, std::uint32_t number) {
    return tree[id_of(s, number)];
}
Numbers list(const Snapshot& s, std::span<const ProcId> ids) {
    return test::numbers(s, std::vector<ProcId>(ids.begin(), ids.end()));
}
std::uint32_t parent_of(const Snapshot& s, const SupervisionTree& tree, std::uint32_t number) {
    const ProcId parent = node_of(s, tree, number).parent;
    return parent == ProcId::none ? Pid::none_number : s[parent].pid.number;
}

}  // namespace

TEST_CASE("children that are alike are one line", "[supervision]") {
    MadeSnapshot m;
    m.process(1);
    for (std::uint32_t i = 2; i < 8; ++i) {
        Process& p = m.process(i);
        p.parent = Pid{0, 1, 0};
        p.initial_call = m.function("cart", i == 7 ? "other" : "run", 1);
        p.memory_bytes = 10 * i;
        if (i == 4) p.name = m.text("named");
    }
    const Snapshot& s = m.seal();
    const SupervisionTree tree = supervision(s);
    const std::vector<TreeRow> all = tree_rows(tree, ProcId::none, 0);
    REQUIRE(all.size() == 7);
    const std::vector<TreeRow> folded = fold_alike(s, tree, all, 3);
    REQUIRE(folded.size() == 4);  // the parent, 2 with 3, 5 and 6, the named one, the other
    CHECK(folded[1].alike == 4);
    CHECK(folded[1].sums->memory_bytes.value() == Count(20 + 30 + 50 + 60));
    CHECK(folded[1].depth == 1);
    CHECK(folded[2].alike == 1);
    CHECK(fold_alike(s, tree, all, 5).size() == 7);
}

TEST_CASE("a node's tree is told from spawners, links and ancestors", "[supervision]") {
    MadeSnapshot m;
    m.process(0, "init").memory_bytes = 1;
    m.links({44, 5});
    m.process(5, "erl_prim_loader", 0).memory_bytes = 2;
    m.links({0});
    m.process(44, "application_controller", 9).memory_bytes = 4;  // <0.9.0> booted and ended
    m.links({0, 46});
    m.process(46, "", 45).memory_bytes = 8;  // application master
    m.links({44, 47});
    m.process(47, "", 46).memory_bytes = 16;
    m.links({46, 48});
    Process& sup = m.process(48, "kernel_sup", 47);
    sup.memory_bytes = 32;
    sup.real_initial_call = m.function("supervisor", "kernel", 1);
    m.links({47, 50, 52});
    m.process(50, "", 48).memory_bytes = 64;
    m.links({48});
    m.process(51, "", 50).memory_bytes = 128;  // spawned without a link
    m.process(52, "", 49).memory_bytes = 256;  // its starter ended, its supervisor is linked
    m.links({48});
    Process& deep = m.process(53, "", 1234);
    deep.application = m.text("kernel_sup");
    deep.memory_bytes = 512;
    m.process(54, "", 1235).memory_bytes = 1024;
    Process& remote = m.process(55);
    remote.parent = {77, 1, 0};
    const Snapshot& s = m.seal();
    const SupervisionTree tree = supervision(s);

    CHECK(parent_of(s, tree, 5) == 0);
    CHECK(node_of(s, tree, 5).by == ParentBy::spawned_linked);
    CHECK(parent_of(s, tree, 44) == 0);
    CHECK(node_of(s, tree, 44).by == ParentBy::system_link);
    CHECK(parent_of(s, tree, 46) == 44);
    CHECK(parent_of(s, tree, 48) == 47);
    CHECK(node_of(s, tree, 48).supervisor);
    CHECK(!node_of(s, tree, 50).supervisor);
    CHECK(parent_of(s, tree, 51) == 50);
    CHECK(node_of(s, tree, 51).by == ParentBy::spawned);
    CHECK(parent_of(s, tree, 52) == 48);
    CHECK(node_of(s, tree, 52).by == ParentBy::supervisor_link);
    CHECK(parent_of(s, tree, 53) == 48);
    CHECK(node_of(s, tree, 53).by == ParentBy::ancestor);
    CHECK(list(s, tree.roots) == Numbers{0, 55});
    CHECK(list(s, tree.orphans) == Numbers{54});
    CHECK(node_of(s, tree, 54).orphan);
    CHECK(tree.links_used);
    CHECK(tree.labels_used);
    CHECK(tree.cut == 0);

    CHECK(list(s, tree.children_of(id_of(s, 48))) == Numbers{50, 52, 53});
    CHECK(node_of(s, tree, 48).processes == 5);
    CHECK(node_of(s, tree, 48).memory_bytes.value() == Count(32 + 64 + 128 + 256 + 512));
    CHECK(node_of(s, tree, 0).processes == 10);
    CHECK(node_of(s, tree, 0).memory_bytes.value() == Count(1023));
    CHECK(node_of(s, tree, 51).depth == 6);
    CHECK(list(s, descendants(tree, id_of(s, 48))) == Numbers{50, 51, 52, 53});
    CHECK(descendants(tree, id_of(s, 51)).empty());

    std::vector<std::pair<std::uint32_t, std::uint32_t>> shown;
    for (const TreeRow& row : tree_rows(tree, id_of(s, 47), 0))
        shown.emplace_back(s[row.process].pid.number, row.depth);
    CHECK(shown == decltype(shown){{47, 0}, {48, 1}, {50, 2}, {51, 3}, {52, 2}, {53, 2}});
    CHECK(tree_rows(tree, id_of(s, 47), 2).size() == 2);
    CHECK(tree_rows(tree, ProcId::none, 0).size() == s.processes.size());
    CHECK(tree_rows(tree, ProcId::none, 1).size() == 3);
}

TEST_CASE("supervisors that are linked to each other: the older one is the parent", "[supervision]") {
    MadeSnapshot m;
    for (const std::uint32_t number : {200u, 100u}) {
        m.process(number, "", 7).real_initial_call = m.function("supervisor", "x", 1);
        m.links({300 - number});
    }
    const Snapshot& s = m.seal();
    const SupervisionTree tree = supervision(s);
    CHECK(parent_of(s, tree, 200) == 100);
    CHECK(list(s, tree.orphans) == Numbers{100});
    CHECK(tree.cut == 0);
}

TEST_CASE("without links and labels the spawner is the parent", "[supervision]") {
    MadeSnapshot m;
    m.process(1, "a");
    m.process(2, "", 1).links = 1;
    const Snapshot& s = m.seal();
    const SupervisionTree tree = supervision(s);
    CHECK(parent_of(s, tree, 2) == 1);
    CHECK(!tree.links_used);
    CHECK(!tree.labels_used);
    CHECK(supervision(Snapshot{}).nodes.empty());
    CHECK(tree_rows(supervision(Snapshot{}), ProcId::none, 0).empty());
}

TEST_CASE("forged loops are cut, and nobody is lost", "[supervision]") {
    MadeSnapshot m;
    m.process(1, "", 1);  // its own parent
    m.process(4, "", 2);
    m.process(2, "", 3);
    m.process(3, "", 4);
    m.process(5, "", 3);
    m.process(6, "", 7);
    m.process(7, "", 6);
    const Snapshot& s = m.seal();
    const SupervisionTree tree = supervision(s);
    CHECK(tree.cut == 2);
    CHECK(node_of(s, tree, 4).cut);
    CHECK(node_of(s, tree, 6).cut);
    CHECK(parent_of(s, tree, 7) == 6);
    CHECK(node_of(s, tree, 4).processes == 4);
    CHECK(tree_rows(tree, ProcId::none, 0).size() == 7);
    CHECK(list(s, descendants(tree, id_of(s, 4))) == Numbers{2, 3, 5});
}

TEST_CASE("a chain of 200,000 processes is no recursion, and sums saturate", "[supervision]") {
    MadeSnapshot m;
    constexpr std::uint32_t count = 200000;
    for (std::uint32_t i = 0; i < count; ++i) {
        Process& p = m.process(count - i, "", i + 1 == count ? 1 : count - i - 1);
        p.memory_bytes = std::numeric_limits<std::uint64_t>::max() - 1;
    }
    const Snapshot& s = m.seal();
    const SupervisionTree tree = supervision(s);
    CHECK(node_of(s, tree, 1).processes == count);
    CHECK(node_of(s, tree, count).depth == count - 1);
    CHECK(node_of(s, tree, 1).memory_bytes.value() == Count(std::numeric_limits<std::uint64_t>::max() - 1));
    CHECK(tree_rows(tree, ProcId::none, 0).size() == count);
}

TEST_CASE("a link range beyond the links is taken as far as it goes", "[supervision]") {
    MadeSnapshot m;
    m.process(1, "init");
    m.process(2, "", 1);
    m.links({1});
    m.s.processes[0].link_range = {4000000000u, 4000000000u};
    m.s.processes[1].link_range.count = 4000000000u;
    const Snapshot& s = m.seal();
    CHECK(parent_of(s, supervision(s), 2) == 1);
}

TEST_CASE("a process belongs to the application whose master is above it", "[supervision]") {
    MadeSnapshot m;
    m.process(5);  // of nobody's family
    m.process(0, "init");
    m.process(44, "application_controller", 0);
    m.links({46, 60, 70});
    m.process(46, "", 44);  // the master of kernel
    m.links({44});
    m.process(47, "", 46);
    m.links({46});
    m.process(48, "kernel_sup", 47);
    m.links({47});
    m.process(60, "", 44);  // the master of shop, which kernel's supervisor knows nothing of
    m.links({44});
    m.process(61, "", 60);
    m.links({60});
    m.process(62, "", 61);
    m.process(70, "", 44);  // a child of the controller that is no master
    m.links({44});
    m.process(80, "", 1234);
    const Snapshot& s = m.seal();
    const SupervisionTree tree = supervision(s);
    const auto of = [&](const Applications& applications, std::uint32_t number) {
        return std::string(applications.name_of(s.find({0, number, 0})));
    };
    const Applications known =
        applications(s, tree, {{"stdlib", {}}, {"kernel", {0, 46, 0}}, {"shop", {0, 60, 0}}, {"gone", {0, 999, 0}}});
    CHECK(known.names == std::vector<std::string>{"kernel", "shop"});
    for (const std::uint32_t number : {46u, 47u, 48u}) CHECK(of(known, number) == "kernel");
    for (const std::uint32_t number : {60u, 61u, 62u}) CHECK(of(known, number) == "shop");
    for (const std::uint32_t number : {0u, 5u, 44u, 70u, 80u}) CHECK(of(known, number).empty());
    const Applications none = applications(s, tree, {});
    CHECK(none.names.empty());
    CHECK(of(none, 48).empty());
}
