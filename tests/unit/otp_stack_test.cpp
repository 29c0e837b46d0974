// SPDX-License-Identifier: Apache-2.0
// Stacks of a made-up VM with code: which word is of which frame, which slots a plan keeps, and references in all of
// their forms.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "formats/otp/processes/process_table.hpp"
#include "formats/otp/processes/stack.hpp"
#include "formats/otp/processes/stack_slots.hpp"
#include "formats/otp/vm/references.hpp"
#include "support/made_image.hpp"

using namespace beamheap;
using namespace beamheap::otp;
using beamheap::test::MadeImage;

namespace {

/// A module shop with the functions sell/0, sell/1, ... of 256 bytes each, and processes that are in them.
struct MadeStacks : MadeImage {
    static constexpr std::uint64_t M = MadeImage::memory_at, atoms = 0x100, segments = 0x400, page = 0x600,
                                   atom_at = 0x1000, names = 0x1800, ranges = 0x2000, list = 0x2100, module = 0x3000,
                                   code = 0x4000, objects = 0x8000, peer = 0xa000, process = 0x10000, heap = 0x40000;
    static constexpr std::uint64_t functions = 6, heap_words = 32;
    enum Name : std::uint64_t { shop = 16, sell, other_node };

    explicit MadeStacks(std::uint32_t release) : MadeImage(release) {
        memory.resize(0x80000);
        memory.put<std::uint32_t>(atoms + at().index_entries, 19);
        memory.put<std::uint32_t>(atoms + at().index_limit, 1024);
        memory.word(atoms + at().index_segments, M + segments);
        memory.word(segments, M + page);
        for (const auto& [name, text] :
             {std::pair(shop, "shop"), std::pair(sell, "sell"), std::pair(other_node, "b@c!")}) {
            const std::uint64_t place = atom_at + 0x80 * (name - shop), bytes = names + 0x20 * (name - shop);
            memory.word(page + 8 * name, M + place);
            memory.put<std::int16_t>(place + at().atom_length, 4);
            memory.word(place + at().atom_name, M + bytes);
            memory.text(bytes, text);
        }
        memory.word(ranges, M + list);
        memory.word(ranges + 8, 1);
        memory.word(list, M + module);
        memory.word(list + 8, M + code + 0x100 * functions);
        memory.word(module, functions);
        for (std::uint64_t i = 0; i <= functions; ++i) {
            memory.word(module + at().code_functions + 8 * i, M + code + 0x100 * i);
            memory.word(code + 0x100 * i + at().code_info_mfa, atom(shop));
            memory.word(code + 0x100 * i + at().code_info_mfa + 8, atom(sell));
            memory.word(code + 0x100 * i + at().code_info_mfa + 16, i);
        }
        vm.roots.code_ranges = M + ranges;
        memory.word(peer + at().node_name, atom(other_node));
    }
    static constexpr std::uint64_t atom(std::uint64_t index) { return index << 6 | 0x0b; }
    static constexpr std::uint64_t pid(std::uint64_t number) { return number << 4 | 3; }
    static constexpr std::uint64_t port(std::uint64_t number) { return number << 4 | 7; }
    /// Where a function goes on after a call.
    static constexpr std::uint64_t back_to(std::uint64_t function) { return M + code + 0x100 * function + 0x80; }
    std::uint64_t header(Tag tag, std::uint64_t words) const {
        const auto found = std::find(std::begin(vm.layout.tags), std::end(vm.layout.tags), tag);
        REQUIRE(found != std::end(vm.layout.tags));
        return words << 6 | static_cast<std::uint64_t>(found - std::begin(vm.layout.tags)) << 2;
    }
    std::uint64_t object(std::uint64_t place, std::vector<std::uint64_t> words) {
        for (std::size_t i = 0; i < words.size(); ++i) memory.word(objects + place + 8 * i, words[i]);
        return (M + objects + place) | 2;
    }
    Process& add(std::uint64_t number, const std::vector<std::uint64_t>& stack, std::uint32_t function,
                 ProcessState state = ProcessState::waiting) {
        const std::uint64_t p = process + 0x1000 * number, block = heap + 0x1000 * number;
        memory.word(p + at().process_heap, M + block);
        memory.word(p + at().process_htop, M + block + 8);
        memory.word(p + at().process_stop, M + block + 8 * (heap_words - stack.size()));
        memory.word(p + at().process_heap_end, M + block + 8 * heap_words);
        memory.word(p + at().process_heap_words, heap_words);
        for (std::size_t i = 0; i < stack.size(); ++i)
            memory.word(block + 8 * (heap_words - stack.size() + i), stack[i]);
        Process row;
        row.pid = {0, static_cast<std::uint32_t>(number), 0};
        row.offset = M + p;
        row.state = state;
        row.current_function = FunctionId{function};
        row.monitors = 0;
        snapshot.processes.push_back(row);
        return snapshot.processes.back();
    }
    Reader& begin() {
        Reader& reader = start();
        vm.atoms = AtomTable(reader.memory, vm.layout, M + atoms);
        vm.code = Code(reader.memory, vm.layout, vm.roots);
        for (std::uint32_t i = 0; i < 4; ++i)
            snapshot.functions.intern({snapshot.texts.intern("m"), snapshot.texts.intern("f"), i});
        return reader;
    }
};

// The first function's processes have all kept, the second's whom they name, the third's nothing.
SlotsWanted wanted_of(const Snapshot& snapshot, FunctionId function) {
    const std::uint32_t arity = snapshot.functions[function].arity;
    return arity == 0 ? SlotsWanted::all : arity == 1 ? SlotsWanted::whom_it_names : SlotsWanted::none;
}

std::string shown(const Snapshot& s, const StackSlot& slot) {
    const std::string place = std::to_string(s[slot.process].pid.number) + "/" + std::to_string(slot.frame) + " ";
    switch (slot.kind) {
        case StackSlot::Kind::pid:
            return place + "<" + std::to_string(slot.pid.node) + "." + std::to_string(slot.pid.number) + "." +
                   std::to_string(slot.pid.serial) + ">";
        case StackSlot::Kind::port: return place + "port " + std::to_string(slot.port.number);
        case StackSlot::Kind::atom: return place + std::string(s.text(slot.atom));
        case StackSlot::Kind::reference: break;
    }
    std::string text = place + "ref of " + std::to_string(slot.words) + ":";
    for (const std::uint32_t number : slot.ref) text += " " + std::to_string(number);
    return text;
}

std::vector<std::string> kept(MadeStacks& made) {
    Reader& reader = made.begin();
    LoadPlan plan;
    plan.slots_of = wanted_of;
    read_stack_slots(reader, plan);
    std::vector<std::string> all;
    for (const StackSlot& slot : made.snapshot.slots) all.push_back(shown(made.snapshot, slot));
    return all;
}
using Kept = std::vector<std::string>;

constexpr std::uint64_t ordinary = 0xffffffff;
constexpr std::uint64_t two(std::uint64_t low, std::uint64_t high) { return low | high << 32; }

}  // namespace

TEST_CASE("slots of a core are those of the youngest frames, as the plan asks for", "[otp][stack]") {
    const std::uint32_t release = GENERATE(25u, 27u);
    INFO("OTP " << release);
    MadeStacks made(release);
    using S = MadeStacks;
    const std::uint64_t reference = made.object(0, {made.header(Tag::reference, 2), two(ordinary, 11), two(12, 13)});
    const std::uint64_t tuple = made.object(0x40, {made.header(Tag::tuple, 1), S::pid(99)});
    const std::uint64_t small = 5 << 4 | 15;
    const std::vector<std::uint64_t> stack{S::pid(21), S::port(22),   S::atom(S::sell), reference,    tuple,
                                           small,      S::atom(700),  S::back_to(1),    S::pid(23),   S::back_to(2),
                                           S::pid(24), S::back_to(3), S::pid(25),       S::back_to(4)};
    made.add(1, stack, 0);
    made.add(2, stack, 1);
    made.add(3, stack, 1).monitors = 1;
    made.add(4, stack, 2);
    made.add(5, stack, 0, ProcessState::runnable);
    made.add(6, stack, 1, ProcessState::runnable);
    made.add(7, stack, 99);
    made.add(8, stack, 0).current_function = FunctionId::none;
    made.add(9, stack, 0);  // is being collected
    made.memory.put<std::uint32_t>(S::process + 0x9000 + made.at().process_state, state::gc);
    made.add(10, stack, 0);  // its heap has no order
    made.memory.word(S::process + 0xa000 + made.at().process_heap_words, 31);
    made.add(11, {S::pid(26), 0x7000000, S::pid(27), S::back_to(1), S::pid(28), S::back_to(2)},
             0);  // what stands behind code of nobody is of no frame
    const auto all = [](const std::string& of) {
        return Kept{of + "/0 <0.21.0>",           of + "/0 port 22",  of + "/0 sell",
                    of + "/0 ref of 3: 13 12 11", of + "/1 <0.23.0>", of + "/2 <0.24.0>"};
    };
    Kept expected = all("1");
    for (const char* each : {"2/0 <0.21.0>", "2/0 port 22", "3/0 <0.21.0>", "3/0 port 22", "3/0 ref of 3: 13 12 11"})
        expected.push_back(each);
    for (const std::string& each : all("5")) expected.push_back(each);
    for (const char* each : {"11/0 <0.26.0>", "11/1 <0.28.0>"}) expected.push_back(each);
    CHECK(kept(made) == expected);
}

TEST_CASE("slots are kept where a plan asks and terms can be read", "[otp][stack]") {
    MadeStacks made(25);
    made.add(1, {MadeStacks::pid(21), MadeStacks::back_to(1)}, 0);
    Reader& reader = made.begin();
    read_stack_slots(reader, {});
    CHECK(made.snapshot.slots.empty());
    LoadPlan plan;
    plan.slots_of = wanted_of;
    made.vm.terms_readable = false;
    read_stack_slots(reader, plan);
    CHECK(made.snapshot.slots.empty());
    made.vm.terms_readable = true;
    read_stack_slots(reader, plan);
    CHECK(made.snapshot.slots.size() == 1);
}

TEST_CASE("a reference has the numbers of its form", "[otp][stack]") {
    for (const std::uint32_t release : {25u, 27u}) {
        INFO("OTP " << release);
        MadeStacks made(release);
        using S = MadeStacks;
        const std::uint64_t local = made.header(Tag::reference, 2), longer = made.header(Tag::reference, 4);
        const std::uint64_t magic = S::M + S::objects + 0x800;
        for (std::uint64_t i = 0; i < 3; ++i)
            made.memory.put<std::uint32_t>(S::objects + 0x800 + made.at().magic_reference + 4 * i,
                                           static_cast<std::uint32_t>(31 + i));
        const auto external = [&](std::uint64_t words) { return made.header(Tag::external_reference, words); };
        const std::uint64_t stack[] = {
            made.object(0x000, {local, two(ordinary, 11), two(12, 13)}),
            made.object(0x040, {longer, two(ordinary, 1), two(2, 3), two(4, 5), 0}),
            made.object(0x080, {made.header(Tag::reference, 2), magic, 0}),
            made.object(0x0c0, {external(4), S::M + S::peer, 0, two(3, 41), two(42, 43)}),
            made.object(0x100, {external(5), S::M + S::peer, 0, two(5, 51), two(52, 53), two(54, 55)}),
            made.object(0x140,
                        {external(4), S::M + S::peer, 0, two(9, 61), two(62, 63)}),  // no more than there is room for
            made.object(0x180, {external(3), S::M + S::peer, 0, two(3, 71)}),
            made.object(0x1c0, {made.header(Tag::reference, 1), two(ordinary, 81)}),
        };
        made.add(1, {stack[0], stack[1], stack[2], stack[3], stack[4], stack[5], stack[6], stack[7], S::back_to(1)}, 0);
        CHECK(kept(made) == Kept{"1/0 ref of 3: 13 12 11", "1/0 ref of 5: 3 2 1", "1/0 ref of 3: 33 32 31",
                                 "1/0 ref of 3: 43 42 41", "1/0 ref of 5: 53 52 51", "1/0 ref of 3: 63 62 61",
                                 "1/0 ref of 0: 0 0 0", "1/0 ref of 0: 0 0 0"});
        Reader& reader = made.begin();
        const std::uint64_t far = S::M + S::objects + 0x100;
        const ReferenceNumbers numbers = reference_numbers(reader.memory, made.vm.layout, far, external(5));
        CHECK(numbers.node == S::M + S::peer);
        CHECK(numbers.count == 5);
        CHECK(std::vector(numbers.words.begin(), numbers.words.begin() + 5) ==
              std::vector<std::uint32_t>{51, 52, 53, 54, 55});
    }
}

TEST_CASE("a process of another node has that node's number, and its own in the release's form", "[otp][stack]") {
    for (const std::uint32_t release : {23u, 25u, 27u}) {
        INFO("OTP " << release);
        MadeStacks made(release);
        using S = MadeStacks;
        const bool two_words = made.vm.layout.external_pid_two_words;
        const std::uint64_t data = two_words ? two(70'000, 9) : 9ull << 15 | 1234;
        const std::uint64_t far = made.object(0, {made.header(Tag::external_pid, 3), S::M + S::peer, 0, data});
        const std::uint64_t nowhere = made.object(0x40, {made.header(Tag::external_pid, 3), 0x7000000, 0, data});
        made.add(1, {far, nowhere, S::back_to(1)}, 0);
        CHECK(kept(made) == Kept{two_words ? "1/0 <18.70000.9>" : "1/0 <18.1234.9>", "1/0 <0.4294967295.0>"});
        CHECK(made.snapshot.channel_names.count(18) == 1);
    }
    // ... unless the node is this one
    MadeStacks made(25);
    using S = MadeStacks;
    made.vm.roots.this_node = S::M + S::peer;
    made.add(1, {made.object(0, {made.header(Tag::external_pid, 3), S::M + S::peer, 0, two(7, 8)}), S::back_to(1)}, 0);
    CHECK(kept(made) == Kept{"1/0 <0.7.8>"});
    CHECK(made.snapshot.channel_names.empty());
}

TEST_CASE("frames are where return addresses lead back into code, with or without frame pointers", "[otp][stack]") {
    for (const std::uint32_t release : {23u, 25u}) {
        for (const bool pointers : {false, true}) {
            INFO("OTP " << release << (pointers ? " with frame pointers" : ""));
            MadeStacks made(release);
            using S = MadeStacks;
            const std::uint64_t back = made.vm.layout.return_address_back;
            made.vm.roots.frame_pointers = pointers;
            std::vector<std::uint64_t> stack{S::pid(1)};
            const auto frame = [&](std::uint64_t address) {
                if (pointers) stack.push_back(S::M + 0x70000);
                stack.push_back(address);
            };
            frame(S::back_to(1));
            stack.push_back(S::pid(2));
            stack.push_back(S::pid(3));
            frame(0x7000000);  // the emulator's
            stack.push_back(S::pid(4));
            // The call is before the place where it goes on: by a byte, or by the interpreter's instruction.
            const std::uint64_t next = back == 1 ? 4 : 8;
            frame(S::M + S::code + 0x300);
            frame(S::M + S::code + 0x300 + next);
            frame(S::M + S::code + 0x300 + next - 4);
            frame(S::M + S::code + 0x600);
            frame(S::M + S::code + 0x600 + next);  // behind all code
            if (pointers) stack.push_back(0);      // an odd word at the end is an address itself
            Reader& reader = made.begin();
            test::Blob words;
            for (const std::uint64_t word : stack) words.word(words.size(), word);
            FrameCache cache(reader);
            std::vector<Frame> frames;
            read_frames(made.vm, cache, words.bytes().data(), stack.size(), frames);
            std::vector<std::pair<std::uint32_t, std::uint32_t>> told;
            for (const Frame& each : frames) {
                told.emplace_back(made.snapshot.functions[each.function].arity, each.offset);
                CHECK(made.snapshot.text(made.snapshot.functions[each.function].name) == "sell");
            }
            const std::uint32_t mfa = made.at().code_info_mfa, after = static_cast<std::uint32_t>(next);
            using Frames = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
            CHECK(told == Frames{{1, 0x80 - mfa},
                                 {2, 0x100 - mfa},
                                 {3, after - mfa},
                                 {2, 0x100 + after - 4 - mfa},
                                 {5, 0x100 - mfa}});
            CHECK(zeroed_words(made.vm, words.bytes().data(), stack.size()) == (pointers ? 1 : 0));

            std::vector<std::string> owned;
            each_stack_word(made.vm, reader.memory, words.bytes().data(), stack.size(), [&](const StackWord& word) {
                owned.push_back((word.frame == no_frame ? std::string("none") : std::to_string(word.frame)) + "." +
                                std::to_string(word.slot) + "@" + std::to_string(word.at));
                return owned.size() < 4;
            });
            const std::uint64_t one = pointers ? 2 : 1;
            CHECK(owned == std::vector<std::string>{"0.0@0", "1.0@" + std::to_string(1 + one),
                                                    "1.1@" + std::to_string(2 + one),
                                                    "none.0@" + std::to_string(3 + 2 * one)});
            // Code that goes on at an address is of the function in which that is.
            CHECK(made.snapshot.functions[cache.going_on_at(S::M + S::code + 0x300).function].arity == 3);
            CHECK(made.snapshot.functions[cache.returning_to(S::M + S::code + 0x300).function].arity == 2);
            CHECK(cache.returning_to(0).function == FunctionId::none);
            // Many addresses, each looked up once: the same again.
            for (int round = 0; round < 2; ++round)
                for (std::uint64_t i = 0; i < 0x600; ++i)
                    CHECK(made.snapshot.functions[cache.going_on_at(S::M + S::code + i).function].arity == i / 0x100);
        }
    }
}
