// SPDX-License-Identifier: Apache-2.0
// Names of a made-up VM: the atom table, held against its own indexes and hash values; and what a process's dictionary
// says that it is.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "formats/otp/processes/process_identity.hpp"
#include "support/made_terms.hpp"

using namespace beamheap;
using namespace beamheap::otp;
using beamheap::test::MadeTerms;

namespace {

/// A table whose first atoms are all there.
struct MadeAtoms : MadeTerms {
    MadeAtoms() : MadeTerms(25) {
        first_atom = 0;
        for (int i = 0; i < 80; ++i) atom("atom_number_" + std::to_string(i));
    }
    std::uint64_t structure(std::uint64_t index) const { return atom_structures + 0x80 * index; }
    std::string text(std::uint32_t index) {
        bytes::MemoryReader memory(vm.image->space());
        const auto found = vm.atoms.text(memory, index);
        return found ? std::string(*found) : "none";
    }
};

}  // namespace

TEST_CASE("an atom is what its entry says, where that has its index and its hash value", "[otp][atoms]") {
    MadeAtoms made;
    const Offsets& at = made.at();
    made.memory.put<std::uint32_t>(made.structure(70) + 16, 71);  // another's index
    made.memory.word(made.structure(71) + 8, 1);                  // a hash value that is not its own
    made.memory.put<std::int16_t>(made.structure(72) + at.atom_length, -1);
    made.memory.word(made.structure(73) + at.atom_name, 0x7000000);  // not in the image
    made.memory.word(MadeTerms::page + 8 * 74, 0);
    made.memory.put<std::int16_t>(made.structure(75) + at.atom_length, 1021);
    Reader& reader = made.begin();
    CHECK(made.vm.atoms.size() == 80);
    CHECK(made.vm.atoms.limit() == 1024);
    CHECK(made.text(0) == "atom_number_0");
    CHECK(made.text(69) == "atom_number_69");
    CHECK(made.text(79) == "atom_number_79");
    for (const std::uint32_t index : {70u, 71u, 72u, 73u, 74u, 75u, 80u, 5000u}) {
        INFO(index);
        CHECK(made.text(index) == "none");
    }
    // Each is interned once; what is lost is counted once, and what is no atom not at all.
    TextTable &texts = made.snapshot.texts, others;
    const auto word = [](std::uint64_t index) { return index << 6 | 0x0b; };
    const TextId id = made.vm.atoms.intern(reader.memory, word(5), texts);
    CHECK(texts[id] == "atom_number_5");
    CHECK(made.vm.atoms.intern(reader.memory, word(5), texts) == id);
    CHECK(others[made.vm.atoms.intern(reader.memory, word(6), others)] == "atom_number_6");
    CHECK(made.vm.atoms.lost() == 0);
    for (int round = 0; round < 2; ++round) {
        CHECK(made.vm.atoms.intern(reader.memory, word(70), texts) == TextId::none);
        CHECK(made.vm.atoms.intern(reader.memory, word(71), others) == TextId::none);
        CHECK(made.vm.atoms.intern(reader.memory, word(80), texts) == TextId::none);
        CHECK(made.vm.atoms.intern(reader.memory, 5 << 4 | 3, texts) == TextId::none);
    }
    CHECK(made.vm.atoms.lost() == 2);
}

TEST_CASE("hash values count where most of the first atoms have them", "[otp][atoms]") {
    for (const std::uint64_t strange : {31ull, 32ull}) {
        MadeAtoms made;
        for (std::uint64_t i = 0; i < strange; ++i) made.memory.word(made.structure(i) + 8, 1);
        made.memory.word(made.structure(79) + 8, 1);
        made.begin();
        CHECK(made.text(79) == (strange == 31 ? "none" : "atom_number_79"));
        CHECK(made.text(3) == (strange == 31 ? "none" : "atom_number_3"));
    }
}

TEST_CASE("an atom table's memory is its structures and the texts that are no constants", "[otp][atoms]") {
    MadeAtoms made;
    const Offsets& at = made.at();
    made.memory.put<std::uint32_t>(MadeTerms::table + at.index_room, 2048);
    made.memory.put<std::uint32_t>(MadeTerms::table + at.hash_shift, 54);  // 1024 buckets
    Reader& reader = made.begin();
    const std::uint64_t constant = MadeTerms::M + MadeTerms::names + 0x100 * 7;
    const AtomTable::Bytes sum =
        made.vm.atoms.bytes(reader.memory, [&](std::uint64_t address) { return address == constant; });
    CHECK(sum.table == at.index_size + 2048 * 8 + 1024 * 8 + 9);
    CHECK(sum.texts == 10 * 13 + 70 * 14 - 13);
    CHECK(sum.unreadable == 0);
    for (const auto& [shift, known] :
         {std::pair(38u, false), std::pair(39u, true), std::pair(63u, true), std::pair(64u, false)}) {
        MadeAtoms of;
        of.memory.put<std::uint32_t>(MadeTerms::table + at.index_room, 1);
        of.memory.put<std::uint32_t>(MadeTerms::table + at.hash_shift, shift);
        Reader& other = of.begin();
        CHECK((of.vm.atoms.bytes(other.memory, [](std::uint64_t) { return true; }).table != 0) == known);
    }
}

TEST_CASE("a process's dictionary says what it is for", "[otp][identity]") {
    using T = MadeTerms;
    const auto small = T::small;
    const auto pid = [](std::uint64_t number) { return number << 4 | 3; };
    MadeTerms made(25);
    const Offsets& at = made.at();
    const std::uint64_t call = made.atom("$initial_call"), ancestors = made.atom("$ancestors"),
                        label = made.atom("$process_label"), shop = made.atom("shop"), init = made.atom("init"),
                        sup = made.atom("shop_sup"), nil = made.vm.layout.nil;
    constexpr std::uint64_t processes = 0x60000, dictionaries = 0x70000;
    const auto process = [&](std::uint64_t i) { return processes + 0x1000 * i; };
    const auto dictionary = [&](std::uint64_t i, const std::vector<std::uint64_t>& slots, std::uint64_t entries) {
        const std::uint64_t place = dictionaries + 0x400 * i;
        made.memory.word(process(i) + at.process_dictionary, T::M + place);
        made.memory.put<std::uint32_t>(place + at.dictionary_slots, static_cast<std::uint32_t>(slots.size()));
        made.memory.word(place + at.dictionary_entries, entries);
        for (std::size_t k = 0; k < slots.size(); ++k) made.memory.word(place + at.dictionary_data + 8 * k, slots[k]);
    };
    const auto entry = [&](std::uint64_t key, std::uint64_t value) { return made.tuple({key, value}); };
    // All three, one in a list with something else.
    dictionary(0,
               {entry(call, made.tuple({shop, init, small(1)})), nil,
                made.list({entry(small(1), shop), entry(ancestors, made.list({sup, shop}))}),
                entry(label, made.tuple({shop, small(7)}))},
               4);
    dictionary(1, {entry(call, made.tuple({shop, init, small(256)}))}, 1);
    dictionary(2, {entry(call, made.tuple({shop, small(1), small(1)}))}, 1);
    dictionary(3, {entry(call, made.tuple({shop, init}))}, 1);
    dictionary(4, {entry(call, made.tuple({shop, init, init}))}, 1);
    dictionary(5, {entry(call, made.tuple({shop, init, small(255)}))}, 2);  // one more is counted than there is
    dictionary(6, {small(1), made.words({shop}, 2)}, 1);                    // no pair
    // By pids: the first of them that has a name, else the name behind them.
    dictionary(7, {entry(ancestors, made.list({pid(100), pid(2), pid(3), sup}))}, 1);
    dictionary(8, {entry(ancestors, made.list({pid(100), sup, pid(3)}))}, 1);
    dictionary(9, {entry(ancestors, made.list({pid(100), pid(101)}))}, 1);
    dictionary(10, {entry(ancestors, nil)}, 1);
    std::vector<std::uint64_t> many(64, pid(100));
    many.push_back(sup);
    dictionary(11, {entry(ancestors, made.list(many))}, 1);  // further up than anybody looks
    Reader& reader = made.begin();
    for (std::uint32_t i = 0; i < 12; ++i) {
        Process row;
        row.pid = {0, i, 0};
        made.snapshot.processes.push_back(row);
        made.snapshot.index_process(ProcId{i});
    }
    made.snapshot.processes[3].name = made.snapshot.texts.intern("named");
    LabelReader labels(reader);
    std::vector<bool> whole;
    std::vector<std::byte> none(at.process_size);
    Process nobody;
    CHECK(labels.read(none.data(), nobody));  // no dictionary
    for (std::uint32_t i = 0; i < 12; ++i)
        whole.push_back(labels.read(reader.memory.at(T::M + process(i), at.process_size), made.snapshot.processes[i]));
    CHECK(whole == std::vector<bool>{true, true, true, true, true, false, false, true, true, true, true, true});
    CHECK(labels.remembered() == 4);
    labels.resolve(made.snapshot.processes);
    CHECK(labels.remembered() == 0);
    const auto called = [&](std::uint32_t i) {
        const FunctionId id = made.snapshot.processes[i].real_initial_call;
        if (id == FunctionId::none) return std::string("none");
        const Function& function = made.snapshot.functions[id];
        return std::string(made.snapshot.text(function.module)) + ":" + std::string(made.snapshot.text(function.name)) +
               "/" + std::to_string(function.arity);
    };
    CHECK(called(0) == "shop:init/1");
    for (const std::uint32_t i : {1u, 2u, 3u, 4u, 6u}) CHECK(called(i) == "none");
    CHECK(called(5) == "shop:init/255");
    const auto application = [&](std::uint32_t i) {
        return std::string(made.snapshot.text(made.snapshot.processes[i].application));
    };
    CHECK(application(0) == "shop_sup");
    CHECK(made.snapshot.text(made.snapshot.processes[0].label) == "{shop,7}");
    CHECK(application(7) == "named");
    CHECK(application(8) == "shop_sup");
    CHECK(application(9).empty());
    CHECK(application(10).empty());
    CHECK(application(11).empty());
    CHECK(made.snapshot.processes[7].label == TextId::none);
}

TEST_CASE("what was remembered of a process that is read again is forgotten", "[otp][identity]") {
    MadeTerms made(25);
    const Offsets& at = made.at();
    const std::uint64_t ancestors = made.atom("$ancestors");
    constexpr std::uint64_t process = 0x60000, dictionary = 0x70000;
    made.memory.word(process + at.process_dictionary, MadeTerms::M + dictionary);
    made.memory.put<std::uint32_t>(dictionary + at.dictionary_slots, 1);
    made.memory.word(dictionary + at.dictionary_entries, 1);
    made.memory.word(dictionary + at.dictionary_data, made.tuple({ancestors, made.list({100 << 4 | 3})}));
    made.memory.resize(0x80000);
    Reader& reader = made.begin();
    LabelReader labels(reader);
    Process row;
    for (int i = 0; i < 3; ++i) CHECK(labels.read(reader.memory.at(MadeTerms::M + process, at.process_size), row));
    CHECK(labels.remembered() == 3);
    labels.forget_from(5);
    CHECK(labels.remembered() == 3);
    labels.forget_from(1);
    CHECK(labels.remembered() == 1);
}
