// SPDX-License-Identifier: Apache-2.0
// The VM's global structures are found in static data by what they look like, or by symbols: one of each, and what is
// none by a little.
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "formats/otp/vm/roots.hpp"
#include "support/made_image.hpp"

using namespace beamheap;
using namespace beamheap::otp;
using beamheap::test::MadeImage;

namespace {

/// A VM that has everything, of which a test changes something.
struct MadeRoots : MadeImage {
    static constexpr std::uint64_t S = MadeImage::statics_at, M = MadeImage::memory_at;
    // in static data
    static constexpr std::uint64_t process_table = 0, port_table = 0x140, atom_table = 0x280, allocation_types = 0x300,
                                   module_tables = 0x380, dist_table = 0x500, node_table = 0x580, ranges = 0x600,
                                   pools = 0x680, pointers = 0x700, spare = 0x800, active_index = 0xa00,
                                   frame_layout = 0xa08, breakpoints = 0xa10, schedulers_counted = 0xa18,
                                   other_node = 0xa20;
    // in memory
    static constexpr std::uint64_t nothing = 0x800, process_slots = 0x1000, port_slots = 0x3000, process = 0x5000,
                                   port = 0x5400, atoms = 0x7000, modules = 0x8000, catches = 0x9000,
                                   persistent = 0xa000, pairs = 0xa200, node = 0xb000, entry = 0xb800, queue = 0xc000,
                                   code = 0x10000, schedulers = 0x20000;

    explicit MadeRoots(std::uint32_t release = 25) : MadeImage(release) {
        memory.resize(schedulers + 24 * at().scheduler_stride);
        table(process_table, process_slots, process, 3);
        table(port_table, port_slots, port, 7);
        const auto name = [this](std::uint64_t place, std::string_view text) {
            statics.word(place + at().hash_name, constant(text));
        };
        for (const std::uint64_t place : {atom_table, allocation_types}) {
            name(place, "atom_tab");
            statics.put<std::uint32_t>(place + at().index_entries, place == atom_table ? 101 : 100);
            statics.word(place + at().index_segments, M + atoms);
        }
        for (std::uint64_t i = 0; i < 3; ++i) name(module_tables + 0x80 * i, "module_code");
        name(dist_table, "dist_table");
        name(node_table, "node_table");
        // Code: three lists, of which the second is the longest; some of their modules were purged.
        const std::uint64_t counts[] = {2, 3, 1};
        for (std::uint64_t k = 0; k < 3; ++k) {
            set_ranges(k, counts[k], 4, counts[k] / 2);
            for (std::uint64_t j = 0; j < counts[k]; ++j) module(k, j, 0x1000 * j, j == 0 ? 0 : 0x800);
        }
        module(1, 2, 0x2000, 0x1000);
        module(2, 0, 0x1000, 0x800);
        statics.word(ranges + 0x60, 1);  // another variable, that is no list
        statics.word(ranges + 0x68, 1);
        const std::uint64_t used[] = {5, 9, 7};
        for (std::uint64_t k = 0; k < 3; ++k) pool(k, used[k], 256, M + catches);
        for (std::uint64_t i = 0; i < 9; ++i)
            memory.word(catches + 16 * i, i == 8 ? 0 : M + code + 0x1000 + 8 * i);  // the last was deleted
        for (std::uint32_t type = 0; type < 3; ++type) {
            statics.word(pointers + 8 * type, scheduler(type, 1));
            for (std::uint64_t number = 1; number <= 3 - type; ++number) add_scheduler(type, number);
        }
        statics.word(pointers + 24, M + persistent);
        memory.word(persistent + at().persistent_allocated, 4);
        memory.word(persistent + at().persistent_entries, 2);
        memory.word(persistent + at().persistent_mask, 3);
        for (std::uint64_t i = 0; i < 4; ++i) slot(i, i % 2 == 0 ? vm.layout.nil : (M + pairs + 24 * i) | 2);
        for (std::uint64_t i = 1; i < 4; i += 2) memory.word(pairs + 24 * i, 2 << 6);
        statics.word(pointers + 32, M + node);
        statics.word(pointers + 40, M + entry);
        memory.word(node + at().node_name, 0x40b);
        memory.word(node + at().node_entry, M + entry);
        memory.word(entry + at().entry_name, 0x40b);
    }
    // Two of a kind, one of another, and a slot that is free.
    void table(std::uint64_t place, std::uint64_t slots, std::uint64_t element, std::uint64_t tag) {
        statics.put<std::uint32_t>(place + at().table_count, 3);
        statics.put<std::uint32_t>(place + at().table_max, 1024);
        statics.word(place + at().table_slots, M + slots);
        statics.word(place + at().table_invalid, M + nothing);
        for (std::uint64_t i = 0; i < 2; ++i) {
            memory.word(slots + 8 * i, M + element + 0x100 * i);
            memory.word(element + 0x100 * i, i << 4 | tag);
        }
        memory.word(slots + 8 * 2, M + nothing);
        memory.word(slots + 8 * 1023, M + nothing + 8);  // nobody: its word is zero
    }
    void set_ranges(std::uint64_t k, std::uint64_t count, std::uint64_t room, std::uint64_t middle) {
        const std::uint64_t list = M + modules + 0x100 * k, words[] = {list, count, room, list + 16 * middle};
        for (std::uint64_t i = 0; i < 4; ++i) statics.word(ranges + 32 * k + 8 * i, words[i]);
    }
    void module(std::uint64_t k, std::uint64_t j, std::uint64_t start, std::uint64_t bytes) {
        memory.word(modules + 0x100 * k + 16 * j, M + code + start);
        memory.word(modules + 0x100 * k + 16 * j + 8, M + code + start + bytes);
    }
    void pool(std::uint64_t k, std::uint64_t mark, std::uint64_t size, std::uint64_t list) {
        statics.word(pools + 24 * k, mark << 32 | 0xffffffff);
        statics.word(pools + 24 * k + 8, 0xabcd00000000 | size);
        statics.word(pools + 24 * k + 16, list);
    }
    std::uint64_t scheduler(std::uint32_t type, std::uint64_t number) const {
        constexpr std::uint64_t first[] = {0, 16, 20};
        return M + schedulers + (first[type] + number - 1) * at().scheduler_stride;
    }
    void add_scheduler(std::uint32_t type, std::uint64_t number) {
        const std::uint64_t place = scheduler(type, number) - M;
        memory.put<std::uint32_t>(place + at().scheduler_type, type);
        memory.word(place + (type == 0 ? at().scheduler_number : at().scheduler_dirty_number), number);
        memory.word(place + at().scheduler_run_queue, M + queue + 64 * number);
    }
    void slot(std::uint64_t i, std::uint64_t term) { memory.word(persistent + at().persistent_terms + 8 * i, term); }

    Roots found() {
        start();
        return find_roots(*vm.image, vm.layout);
    }
};

using RootsChange = std::function<void(MadeRoots&)>;

using ToldRoots = std::map<std::string, std::string>;
ToldRoots told_roots(const Roots& roots) {
    ToldRoots all;
    for (const Check& check : roots.found) all[check.name] += (check.ok ? "" : "NOT: ") + check.detail;
    return all;
}
std::vector<std::string> as_lines(const ToldRoots& roots) {
    std::vector<std::string> lines;
    for (const auto& [name, how] : roots) lines.push_back(name + ": " + how);
    return lines;
}

const ToldRoots everything_found{{"process table", "by its structure, at 0x600000"},
                                 {"port table", "by its structure, at 0x600140"},
                                 {"atom table", "by its structure, at 0x600280"},
                                 {"module tables", "by name, at 0x600380"},
                                 {"node tables", "by name, at 0x600500"},
                                 {"code ranges", "by their structure, at 0x600600"},
                                 {"catches", "by their structure, at 0x600680"},
                                 {"schedulers", "by their structure, 3, at 0x10020000"},
                                 {"dirty CPU schedulers", "by their structure, 2, at 0x100c3000"},
                                 {"dirty I/O schedulers", "by their structure, 1, at 0x100ebc00"},
                                 {"persistent terms", "by their structure, at 0x1000a000"},
                                 {"this node", "by its structure, at 0x1000b000"}};

// Changes of one root and how it is told then, every other one as it was.
void compare_roots(const std::string& name, const std::vector<std::pair<std::string, RootsChange>>& rows) {
    std::size_t row = 0;
    for (const auto& [how, change] : rows) {
        INFO(name << ", row " << row++);
        MadeRoots made;
        change(made);
        ToldRoots expected = everything_found;
        const bool lost = how == "not found";
        expected[name] = lost ? "NOT: not found" : how;
        const Roots roots = made.found();
        CHECK(as_lines(told_roots(roots)) == as_lines(expected));
        CHECK(roots.missing.empty() != lost);
    }
}
}  // namespace

TEST_CASE("everything that a VM has is found by its structure", "[otp][roots]") {
    MadeRoots made;
    const Roots roots = made.found();
    CHECK(as_lines(told_roots(roots)) == as_lines(everything_found));
    CHECK(roots.missing.empty());
    constexpr std::uint64_t S = MadeRoots::S, M = MadeRoots::M;
    CHECK(roots.process_table == S + MadeRoots::process_table);
    CHECK(roots.port_table == S + MadeRoots::port_table);
    CHECK(roots.atom_table == S + MadeRoots::atom_table);
    CHECK(roots.module_tables == std::array<std::uint64_t, 3>{S + 0x380, S + 0x400, S + 0x480});
    CHECK(roots.dist_table == S + MadeRoots::dist_table);
    CHECK(roots.node_table == S + MadeRoots::node_table);
    CHECK(roots.code_ranges == S + MadeRoots::ranges);
    CHECK(roots.code_index == 1);
    CHECK(roots.catches == M + MadeRoots::catches);
    CHECK(roots.catch_count == 9);
    CHECK(roots.persistent_terms == M + MadeRoots::persistent);
    CHECK(roots.this_node == M + MadeRoots::node);
    CHECK(roots.schedulers == std::vector{made.scheduler(0, 1), made.scheduler(0, 2), made.scheduler(0, 3)});
    CHECK(roots.dirty_cpu == std::vector{made.scheduler(1, 1), made.scheduler(1, 2)});
    CHECK(roots.dirty_io == std::vector{made.scheduler(2, 1)});
    CHECK_FALSE(roots.frame_pointers);
    CHECK(roots.breakpoint_index == 0);
}

TEST_CASE("a VM that has nothing is told by what it lacks", "[otp][roots]") {
    MadeImage made;
    made.memory.resize(0x1000);
    made.start();
    const Roots roots = find_roots(*made.vm.image, made.vm.layout);
    for (const Check& check : roots.found) CHECK_FALSE(check.ok);
    CHECK(roots.found.size() == everything_found.size());
    CHECK(roots.missing == std::vector<std::string>{"the process table", "the port table", "the atom table",
                                                    "the tables of modules", "the table of other nodes",
                                                    "the loaded code", "catches", "schedulers", "dirty CPU schedulers",
                                                    "dirty I/O schedulers", "persistent terms",
                                                    "the name of this node"});
}

TEST_CASE("a table of processes has a power of two of slots, and more of its kind in them than of others",
          "[otp][roots]") {
    using R = MadeRoots;
    for (const bool ports : {false, true}) {
        const std::uint64_t place = ports ? R::port_table : R::process_table,
                            slots = ports ? R::port_slots : R::process_slots, others = ports ? R::process : R::port;
        const std::string name = ports ? "port table" : "process table";
        const std::string as_ever = everything_found.at(name);
        const auto count = [place](std::uint32_t n) {
            return [=](R& m) { m.statics.put<std::uint32_t>(place + m.at().table_count, n); };
        };
        const auto max = [place](std::uint32_t n) {
            return [=](R& m) { m.statics.put<std::uint32_t>(place + m.at().table_max, n); };
        };
        // Slots at the memory's end: as many as that has are looked at.
        const auto last_slots = [=](std::uint32_t n) {
            return [=](R& m) {
                const std::uint64_t end = m.memory.size();
                for (std::uint64_t i = 0; i < 2; ++i)
                    m.memory.word(end - 16 + 8 * i, R::M + (ports ? R::port : R::process) + 0x100 * i);
                m.statics.word(place + m.at().table_slots, R::M + end - 16);
                m.statics.put<std::uint32_t>(place + m.at().table_max, n);
            };
        };
        const auto slot = [slots](std::uint64_t i, std::uint64_t word) {
            return [=](R& m) { m.memory.word(slots + 8 * i, word); };
        };
        const auto copied = [&](std::uint64_t to) {
            return [=](R& m) {
                m.statics.put<std::uint32_t>(to + m.at().table_count, 3);
                m.statics.put<std::uint32_t>(to + m.at().table_max, 1024);
                m.statics.word(to + m.at().table_slots, R::M + slots);
                m.statics.word(to + m.at().table_invalid, R::M + R::nothing);
            };
        };
        compare_roots(name,
                      {{as_ever, count(1024)},
                       {"not found", count(1025)},
                       {as_ever, count(0)},
                       {"not found", max(512)},
                       {"not found", max(1025)},
                       {as_ever, last_slots(2048)},
                       {as_ever, last_slots(1 << 27)},
                       {"not found", last_slots(1 << 28)},
                       {"not found", [=](R& m) { m.statics.word(place + m.at().table_slots, 0); }},
                       {"not found", slot(1, R::M + R::nothing + 16)},     // one against two that are nobody
                       {"not found", slot(7, R::M + R::nothing + 16)},     // two against two
                       {"not found", slot(7, R::M + others + 0x100 + 4)},  // no address of a structure
                       {"not found", slot(7, 0x7000000)},                  // not in the image
                       {"not found",
                        [=](R& m) {
                            m.memory.word(slots + 8 * 7, R::M + others);
                            m.memory.word(slots + 8 * 8, R::M + others + 0x100);
                        }},
                       {"not found",
                        [=](R& m) { m.statics.word(place + m.at().table_invalid, 0); }},  // a free slot is nobody, then
                       {as_ever.substr(0, as_ever.find(',')) + ", the first of 2" + as_ever.substr(as_ever.find(',')),
                        copied(R::spare)},
                       {as_ever, copied(R::spare + 8)}});
    }
}

TEST_CASE("tables of atoms, modules and nodes are known by their names", "[otp][roots]") {
    using R = MadeRoots;
    const auto entries = [](std::uint64_t place, std::uint32_t n) {
        return [=](R& m) { m.statics.put<std::uint32_t>(place + m.at().index_entries, n); };
    };
    const auto segments = [](std::uint64_t address) {
        return [=](R& m) { m.statics.word(R::atom_table + m.at().index_segments, address); };
    };
    const auto renamed = [](std::uint64_t place, const char* name) {
        return [=](R& m) { m.statics.word(place + m.at().hash_name, m.constant(name)); };
    };
    const std::string atoms = everything_found.at("atom table");
    compare_roots("atom table",
                  {{"not found", entries(R::atom_table, 100)},
                   {"by its structure, the first of 2, at 0x600280", entries(R::allocation_types, 101)},
                   {"not found", segments(R::constants_at + 0x800)},
                   {"not found", segments(0x7000000)},
                   {"not found", renamed(R::atom_table, "atom_table")},
                   {"not found", [](R& m) { m.statics.word(R::atom_table + m.at().hash_name, R::M + R::nothing); }}});
    compare_roots("module tables", {{"not found", renamed(R::module_tables, "modules")},
                                    {"not found", renamed(R::spare, "module_code")}});
    compare_roots("node tables", {{"not found", renamed(R::dist_table, "nodes")},
                                  {everything_found.at("node tables"), renamed(R::node_table, "nodes")}});
}

TEST_CASE("ranges of code are three lists in order, of which one may be in the making", "[otp][roots]") {
    using R = MadeRoots;
    const auto with = [](std::uint64_t k, std::uint64_t count, std::uint64_t room, std::uint64_t middle) {
        return [=](R& m) { m.set_ranges(k, count, room, middle); };
    };
    const auto both = [](const RootsChange& a, const RootsChange& b) { return [=](R& m) { a(m), b(m); }; };
    const auto list_at = [](std::uint64_t k, std::uint64_t address) {
        return [=](R& m) { m.statics.word(R::ranges + 32 * k, address); };
    };
    const auto middle_at = [](std::uint64_t k, std::uint64_t address) {
        return [=](R& m) { m.statics.word(R::ranges + 32 * k + 24, address); };
    };
    const auto unused = [](std::uint64_t k) {
        return [=](R& m) {
            for (std::uint64_t i = 0; i < 4; ++i) m.statics.word(R::ranges + 32 * k + 8 * i, 0);
        };
    };
    const std::string as_ever = everything_found.at("code ranges");
    const std::uint64_t first_list = R::M + R::modules;
    const auto found = [](const RootsChange& change) {
        MadeRoots made;
        change(made);
        const Roots roots = made.found();
        return std::pair(roots.code_ranges != 0, roots.code_index);
    };
    using Found = std::pair<bool, std::uint32_t>;
    CHECK(found(with(1, 3, 3, 1)) == Found{true, 1});
    CHECK(found(with(1, 3, 2, 1)) == Found{false, 0});
    CHECK(found(with(2, 0, 0, 0)) == Found{false, 0});  // a list without room
    CHECK(found(unused(2)) == Found{true, 1});
    CHECK(found(unused(1)) == Found{true, 0});
    CHECK(found(both(unused(1), unused(2))) == Found{true, 0});
    CHECK(found(with(1, 3, 1 << 20, 1)) == Found{true, 1});
    CHECK(found(with(1, 3, (1 << 20) + 1, 1)) == Found{false, 0});
    // The middle is one of the list's, or the list is in the making: so is one at most.
    CHECK(found(with(0, 2, 4, 0)) == Found{true, 1});
    CHECK(found(both(with(0, 2, 4, 2), with(2, 1, 4, 1))) == Found{false, 0});
    CHECK(found(both(with(0, 2, 4, 1), with(2, 1, 4, 1))) == Found{true, 1});
    CHECK(found(both(middle_at(0, first_list - 16), with(2, 1, 4, 1))) == Found{false, 0});
    CHECK(found(both(middle_at(0, first_list + 8), with(2, 1, 4, 1))) == Found{false, 0});
    CHECK(found(both(both(with(0, 2, 4, 2), unused(1)), unused(2))) == Found{false, 0});  // none is whole
    CHECK(found(both(with(0, 2, 4, 2), unused(1))) == Found{true, 0});
    CHECK(found(list_at(0, 0x7000000)) == Found{false, 0});
    // The list in the making is not the active one, however long it is: a module of it begins before the one before
    // ends.
    const RootsChange long_one = with(0, 4, 4, 1);
    CHECK(found(long_one) == Found{true, 1});
    const auto whole_list = [&](R& m) {
        long_one(m);
        for (std::uint64_t j = 0; j < 4; ++j) m.module(0, j, 0x1000 * j, 0x1000);
    };
    CHECK(found(whole_list) == Found{true, 0});
    CHECK(found(both(whole_list, [](R& m) { m.module(0, 2, 0x1fff, 0x100); })) == Found{true, 1});
    CHECK(found(both(whole_list, [](R& m) { m.memory.word(R::modules + 16 * 3 + 8, R::M + R::code + 0x2fff); })) ==
          Found{true, 1});
    CHECK(found(both(whole_list, [](R& m) { m.memory.word(R::modules + 16 * 3 + 8, R::M + R::code + 0x3000); })) ==
          Found{true, 0});
}

TEST_CASE("catches are three pools of one list, nearly all of whose addresses are code", "[otp][roots]") {
    using R = MadeRoots;
    const auto pool = [](std::uint64_t k, std::uint64_t mark, std::uint64_t size,
                         std::uint64_t list = R::M + R::catches) { return [=](R& m) { m.pool(k, mark, size, list); }; };
    const auto entry = [](std::uint64_t i, std::uint64_t pc) {
        return [=](R& m) { m.memory.word(R::catches + 16 * i, pc); };
    };
    const std::string as_ever = everything_found.at("catches");
    constexpr std::uint64_t no_code = R::M + R::code + 0x3000;
    compare_roots("catches", {{as_ever, pool(2, 256, 256)},
                              {"not found", pool(2, 257, 256)},
                              {"not found", pool(2, 0, 256)},
                              {"not found", pool(2, 7, 128)},
                              {"not found", pool(2, 7, 384)},
                              {as_ever, pool(2, 7, 1 << 24)},
                              {"not found", pool(2, 7, 1 << 25)},
                              {"not found", pool(2, 7, 256, 0)},
                              {"not found", pool(2, 7, 256, R::M + R::catches + 4)},
                              {"not found", pool(1, 9, 256, 0x7000000)},
                              {as_ever, entry(8, no_code)},  // one against eight
                              {"not found", entry(7, no_code)},
                              {"not found", [&](R& m) {
                                   for (std::uint64_t i = 0; i < 9; ++i) entry(i, 0)(m);  // all were deleted
                               }}});
    compare_roots("catches",
                  {{"not found", [&](R& m) { entry(8, no_code)(m), pool(1, 10, 256)(m), entry(9, no_code)(m); }}});
}

TEST_CASE("schedulers stand one behind the other, some of them lost", "[otp][roots]") {
    using R = MadeRoots;
    const auto roots_with = [](const RootsChange& change) {
        MadeRoots made;
        change(made);
        return made.found();
    };
    const auto without = [](std::uint64_t number) {
        return [=](R& m) { m.memory.word(m.scheduler(0, number) - R::M + m.at().scheduler_number, 0); };
    };
    const Roots torn = roots_with(without(2));
    CHECK(torn.schedulers.size() == 2);
    CHECK(torn.missing == std::vector<std::string>{"1 of 3 schedulers"});
    CHECK(roots_with(without(3)).missing.empty());  // the last one leaves no gap
    CHECK(roots_with(without(1)).missing == std::vector<std::string>{"schedulers"});
    // A gap of seven is bridged, one of eight is the end.
    const Roots wide = roots_with([](R& m) { m.add_scheduler(0, 11); });
    CHECK(wide.schedulers.size() == 4);
    CHECK(wide.missing == std::vector<std::string>{"7 of 11 schedulers"});
    CHECK(roots_with([](R& m) { m.add_scheduler(0, 12); }).schedulers.size() == 3);
    // Two gaps
    const Roots gaps = roots_with([](R& m) { m.add_scheduler(0, 5), m.add_scheduler(0, 8); });
    CHECK(gaps.missing == std::vector<std::string>{"3 of 8 schedulers"});
    // Each has a type and a run queue at a place where one can be.
    CHECK(roots_with([](R& m) {
              m.memory.put<std::uint32_t>(m.scheduler(0, 3) - R::M + m.at().scheduler_type, 1);
          }).schedulers.size() == 2);
    CHECK(roots_with([](R& m) {
              m.memory.word(m.scheduler(0, 3) - R::M + m.at().scheduler_run_queue, R::M + R::queue + 32);
          }).schedulers.size() == 2);
    CHECK(roots_with([](R& m) {
              m.memory.word(m.scheduler(0, 3) - R::M + m.at().scheduler_run_queue, 0x7000000);
          }).schedulers.size() == 2);
    // As many as the VM says that there are
    const auto counted = [](std::uint64_t count, bool array) {
        return [=](R& m) {
            m.symbols.emplace_back("erts_no_schedulers", R::S + R::schedulers_counted);
            if (array) m.symbols.emplace_back("erts_aligned_scheduler_data", R::S + R::pointers);
            m.statics.word(R::schedulers_counted, count);
        };
    };
    for (const bool array : {false, true}) {
        CHECK(roots_with(counted(3, array)).missing.empty());
        CHECK(roots_with(counted(5, array)).missing == std::vector<std::string>{"2 of 5 schedulers"});
        CHECK(roots_with(counted(2, array)).missing.empty());
        CHECK(roots_with(counted(1024, array)).missing == std::vector<std::string>{"1021 of 1024 schedulers"});
        CHECK(roots_with(counted(1025, array)).missing.empty());  // no VM has so many
        CHECK(told_roots(roots_with(counted(3, array))).at("schedulers") ==
              (array ? "dynamic symbol, 3, at 0x10020000" : everything_found.at("schedulers")));
    }
    const Roots both = roots_with([&](R& m) { counted(5, true)(m), without(2)(m); });
    CHECK(both.missing == std::vector<std::string>{"3 of 5 schedulers"});
}

TEST_CASE("persistent terms are pairs, as many as their table counts", "[otp][roots]") {
    using R = MadeRoots;
    const auto field = [](std::uint32_t Offsets::*member, std::uint64_t value) {
        return [=](R& m) { m.memory.word(R::persistent + m.at().*member, value); };
    };
    const std::string as_ever = everything_found.at("persistent terms");
    compare_roots("persistent terms",
                  {{"not found", field(&Offsets::persistent_allocated, 0)},
                   {"not found", field(&Offsets::persistent_allocated, 3)},
                   {"not found", field(&Offsets::persistent_allocated, 8)},
                   {"not found", field(&Offsets::persistent_mask, 4)},
                   {"not found", field(&Offsets::persistent_entries, 3)},
                   {"not found", field(&Offsets::persistent_entries, 1)},
                   {"not found", [](R& m) { m.slot(0, 0x40b); }},
                   {"not found", [](R& m) { m.memory.word(R::pairs + 24, 3 << 6); }},
                   {"not found", [](R& m) { m.slot(1, 0x7000000 | 2); }},
                   {as_ever,
                    [](R& m) {
                        m.memory.word(R::persistent + m.at().persistent_entries, 4);
                        for (std::uint64_t i = 0; i < 4; ++i)
                            m.slot(i, (R::M + R::pairs + 24) | 2 | 4);  // one pair, marked as a literal
                    }},
                   {as_ever,
                    [](R& m) {
                        m.memory.word(R::persistent + m.at().persistent_entries, 0);
                        for (std::uint64_t i = 0; i < 4; ++i) m.slot(i, m.vm.layout.nil);
                    }},
                   {"not found", [](R& m) { m.statics.word(R::pointers + 24, R::M + R::persistent + 4); }}});
}

TEST_CASE("symbols say where a table is, and are held against what is there", "[otp][roots]") {
    using R = MadeRoots;
    const auto symbol = [](const char* name, std::uint64_t place) {
        return [=](R& m) { m.symbols.emplace_back(name, R::S + place); };
    };
    const auto emptied = [](std::uint64_t slots) {
        return [=](R& m) {
            for (std::uint64_t i = 0; i < 1024; ++i) m.memory.word(slots + 8 * i, 0);
        };
    };
    const std::string no_such = "NOT: dynamic symbol, but no such table is at 0x600800";
    const auto told_of = [](const char* name, const RootsChange& change) {
        MadeRoots made;
        change(made);
        const Roots roots = made.found();
        return told_roots(roots).at(name) + (roots.missing.empty() ? "" : "; missing: " + roots.missing.front());
    };
    CHECK(told_of("process table", symbol("erts_proc", R::process_table)) ==
          "dynamic symbol, and by its structure, at 0x600000");
    CHECK(told_of("process table", [&](R& m) {
              symbol("erts_proc", R::process_table)(m), emptied(R::process_slots)(m);
          }) == "dynamic symbol, at 0x600000");
    CHECK(told_of("process table", symbol("erts_proc", R::spare)) == no_such + "; missing: the process table");
    CHECK(told_of("port table", symbol("erts_port", R::port_table)) ==
          "dynamic symbol, and by its structure, at 0x600140");
    CHECK(told_of("port table", [&](R& m) { symbol("erts_port", R::port_table)(m), emptied(R::port_slots)(m); }) ==
          "dynamic symbol, at 0x600140");
    CHECK(told_of("port table", symbol("erts_port", R::spare)) == no_such + "; missing: the port table");
    CHECK(told_of("atom table", symbol("erts_atom_table", R::atom_table)) ==
          "dynamic symbol, and by its structure, at 0x600280");
    CHECK(told_of("atom table", symbol("erts_atom_table", R::spare)) == no_such + "; missing: the atom table");
    CHECK(told_of("atom table", symbol("erts_atom_table", R::process_table)) ==
          "NOT: dynamic symbol, but no such table is at 0x600000; missing: the atom table");

    const auto value = [](std::uint64_t place, std::uint64_t word) {
        return [=](R& m) { m.statics.word(place, word); };
    };
    const auto with = [](const RootsChange& a, const RootsChange& b) {
        MadeRoots made;
        a(made), b(made);
        return made.found();
    };
    const RootsChange index = symbol("the_active_code_index", R::active_index);
    for (const std::uint32_t k : {0u, 1u, 2u}) {
        const Roots roots = with(index, value(R::active_index, k));
        CHECK(roots.code_index == k);
        CHECK(told_roots(roots).at("code index") == "dynamic symbol (" + std::to_string(k) + "), at 0x600a00");
        CHECK(roots.catch_count == std::array{5u, 9u, 7u}[k]);
    }
    const Roots unlikely = with(index, value(R::active_index, 3));
    CHECK(unlikely.code_index == 1);
    CHECK(told_roots(unlikely).count("code index") == 0);
    for (const std::uint32_t layout : {0u, 1u, 2u})
        CHECK(with(symbol("erts_frame_layout", R::frame_layout), value(R::frame_layout, layout)).frame_pointers ==
              (layout == 1));
    for (const std::uint32_t which : {0u, 1u, 2u, 3u})
        CHECK(with(symbol("erts_active_bp_index", R::breakpoints), value(R::breakpoints, which)).breakpoint_index ==
              which % 2);
    // A node that a symbol names is one without a variable for its entry, too.
    const RootsChange no_entry = value(R::pointers + 40, 0);
    CHECK(with(no_entry, no_entry).this_node == 0);
    const Roots named = with(no_entry, symbol("erts_this_node", R::pointers + 32));
    CHECK(named.this_node == R::M + R::node);
    CHECK(told_roots(named).at("this node") == "dynamic symbol, at 0x1000b000");
    CHECK(told_roots(with(symbol("erts_this_node", R::other_node), value(R::other_node, R::M + R::nothing)))
              .at("this node") == everything_found.at("this node"));
}
