// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "analyses/code/applications.hpp"
#include "analyses/code/lines.hpp"
#include "formats/beam/module.hpp"
#include "support/made_module.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

/// Modules in memory; counts what is asked for.
class MadeCodeSource final : public CodeSource {
public:
    void add(const std::string& bytes) {
        auto module = beam::read_module(bytes);
        REQUIRE(module);
        modules_.push_back(std::make_unique<CodeModule>(std::move(*module)));
    }
    const Found& find(const Snapshot&, std::string_view name) override {
        Found& found = found_[std::string(name)];
        ++asked[std::string(name)];
        for (const auto& module : modules_)
            if (module->name == name) found.match = CodeMatch::same, found.module = module.get();
        return found;
    }
    std::map<std::string, int> asked;

private:
    std::vector<std::unique_ptr<CodeModule>> modules_;
    std::map<std::string, Found> found_;
};

struct NodeWithLines : test::MadeSnapshot {
    std::uint32_t pids = 1;
    /// A process with these frames, the youngest first, of which the first is where it goes on.
    void stack(std::vector<Frame> frames, ProcessState state = ProcessState::waiting) {
        Process& process = this->process(pids++);
        process.state = state;
        process.program_counter = 1;
        process.current_function = frames[0].function;
        process.stack = s.stacks.intern(frames);
    }
    Frame at(std::string_view module, std::string_view name, std::uint32_t arity, std::uint32_t offset) {
        return {function(module, name, arity), offset, 0, TextId::none};
    }
    void place(const Frame& frame, std::uint32_t registers, std::uint64_t catches = 0) {
        s.frame_places.push_back({frame.function, frame.offset, registers, catches});
    }
    std::string told(const FoundLines& found, const Frame& frame) {
        const FrameLine line = found.lines.of(frame.function, frame.offset);
        std::string text(name_of(line.certainty));
        for (const std::uint32_t each : line.lines) text += ' ' + std::to_string(each);
        return text;
    }
};

}  // namespace

TEST_CASE("a frame's line is that of the only call that fits", "[lines]") {
    MadeCodeSource code;
    code.add(testing::shop().bytes());
    NodeWithLines node;
    const Frame price = node.at("other", "price", 1, 40);

    SECTION("by the marks of catch in its registers") {
        const Frame first = node.at("shop", "total", 1, 100), second = node.at("shop", "total", 1, 150);
        node.place(first, 2, 0);
        node.place(second, 2, 2);
        node.stack({price, first});
        node.stack({price, second});
        const FoundLines found = find_lines(node.s, code);
        CHECK(node.told(found, first) == "found 20");
        CHECK(node.told(found, second) == "found 30");
        CHECK(node.told(found, price).empty());
        CHECK(found.lines.of(first.function, first.offset).file == "shop.erl");
        CHECK(found.found == 2);
    }
    SECTION("by the order of their offsets, where nothing else is known") {
        const Frame first = node.at("shop", "total", 1, 100), second = node.at("shop", "total", 1, 150);
        node.stack({price, second});
        CHECK(node.told(find_lines(node.s, code), second) == "one_of 20 30");
        node.stack({price, first});
        const FoundLines found = find_lines(node.s, code);
        CHECK(node.told(found, first) == "found 20");
        CHECK(node.told(found, second) == "found 30");
        CHECK(found.several == 0);
    }
    SECTION("none, where no call has such a frame") {
        const Frame frame = node.at("shop", "total", 1, 100);
        node.place(frame, 3);
        node.stack({price, frame});
        CHECK(node.told(find_lines(node.s, code), frame).empty());
    }
    SECTION("none, where what it called is nothing that it calls") {
        MadeCodeSource both;
        both.add(testing::shop().bytes());
        testing::MadeModule other;
        other.atoms({"other", "price"});
        other.code(testing::op(1, {testing::u(1)}) +
                       testing::op(2, {testing::atom(1), testing::atom(2), testing::u(1)}) +
                       testing::op(1, {testing::u(2)}) + testing::op(19),
                   3);
        both.add(other.bytes());
        const Frame frame = node.at("shop", "total", 1, 100);
        node.stack({node.at("third", "thing", 0, 8), frame});
        CHECK(node.told(find_lines(node.s, both), frame).empty());
        CHECK(both.asked.contains("other"));
        // Of one that is at work the callee is not known.
        NodeWithLines busy;
        const Frame same = busy.at("shop", "total", 1, 100);
        busy.stack({busy.at("third", "thing", 0, 8), same}, ProcessState::running);
        CHECK(busy.told(find_lines(busy.s, both), same) == "one_of 20 30");
    }
    SECTION("where it waits for a message") {
        const Frame waits = node.at("shop", "total", 1, 200);
        node.place(waits, 2);
        node.stack({waits});
        CHECK(node.told(find_lines(node.s, code), waits) == "found 40");
    }
    SECTION("where it begins, if it was put off before it had begun") {
        const Frame begins = node.at("shop", "total", 1, 30);
        node.stack({begins}, ProcessState::runnable);
        node.s.processes.back().arity = 1;
        const FoundLines found = find_lines(node.s, code);
        CHECK(node.told(found, begins) == "found 10");
        CHECK(found.lines.head_of(begins.function).line() == 10);
    }
}

TEST_CASE("modules that no frame names are not asked for without need", "[lines]") {
    MadeCodeSource code;
    code.add(testing::shop().bytes());
    NodeWithLines node;
    const Frame frame = node.at("shop", "total", 1, 100);
    node.place(frame, 2, 2);
    node.stack({node.at("third", "thing", 0, 8), frame});
    CHECK(node.told(find_lines(node.s, code), frame) == "found 30");
    CHECK(code.asked.size() == 2);  // shop, third
}

TEST_CASE("lines that the input itself has are left as they are", "[lines]") {
    MadeCodeSource code;
    code.add(testing::shop().bytes());
    NodeWithLines node;
    Frame frame = node.at("shop", "total", 1, 100);
    frame.line = 77;
    frame.file = node.text("shop.erl");
    node.stack({frame});
    const FoundLines found = find_lines(node.s, code);
    CHECK(found.places == 0);
    CHECK(code.asked.empty());
    const FrameLine line = node.s.line_of(frame);
    CHECK(line.certainty == LineCertainty::exact);
    CHECK(line.line() == 77);
    CHECK(line.file == "shop.erl");
}

TEST_CASE("a folder tells its application and the version", "[code]") {
    const auto of = [](std::string_view folder) {
        const ApplicationFolder is = application_folder(folder);
        return std::string(is.name) + " " + std::string(is.version);
    };
    CHECK(of("/usr/lib/erlang/lib/kernel-8.5/ebin") == "kernel 8.5");
    CHECK(of("/srv/shop/lib/shop-1.2.0-rc.1/ebin/") == "shop 1.2.0-rc.1");
    CHECK(of("_build/default/lib/my_app/ebin") == "my_app ");
    CHECK(of("/opt/cowboy-2.9.0.ez/cowboy-2.9.0/ebin") == "cowboy 2.9.0");
    CHECK(of("c:/erl/lib/stdlib-1.18/ebin") == "stdlib 1.18");
    CHECK(of("/srv/x-git-0.3+abc/ebin") == "x-git 0.3+abc");
    CHECK(of("/srv/shop/consolidated") == " ");
    CHECK(of(".") == " ");
    CHECK(of("/ebin") == " ");
    CHECK(of("") == " ");
}

namespace {

using testing::atom, testing::f, testing::op, testing::u, testing::x;

/// sizes:many/1 calls other:price/1 at lines 20 and 40, with fifty tuples between; each of the others calls it once.
std::string sizes_module(std::uint32_t others) {
    testing::MadeModule module;
    std::vector<std::string> atoms{"sizes", "other", "price", "many"};
    for (std::uint32_t i = 0; i < others; ++i) atoms.push_back("f" + std::to_string(i));
    module.atoms(atoms).imports({{2, 3, 1}}).lines({10, 20, 40});
    std::uint32_t label = 1;
    const auto begin = [&label](std::uint32_t name) {
        const std::string code =
            op(1, {u(label)}) + op(153, {u(1)}) + op(2, {atom(1), atom(name), u(1)}) + op(1, {u(label + 1)});
        label += 2;
        return code + op(12, {u(0), u(1)});
    };
    const std::string end = op(18, {u(0)}) + op(19);
    const auto call = [](std::uint32_t line) { return op(153, {u(line)}) + op(7, {u(1), u(0)}); };
    std::string code = begin(4) + call(2);
    for (int i = 0; i < 50; ++i) code += op(16, {u(3), u(1)}) + op(69, {x(0), x(0), x(0)});
    code += call(3) + end;
    for (std::uint32_t i = 0; i < others; ++i) code += begin(5 + i) + call(2) + end;
    return module.code(code, label).bytes();
}

}  // namespace

TEST_CASE("a frame's line is that of the call which is as far on in the machine's code", "[lines]") {
    MadeCodeSource code;
    code.add(sizes_module(16));
    NodeWithLines node;
    node.s.source.otp_release = "25";
    node.s.source.jit = false;
    const Frame price = node.at("other", "price", 1, 40);
    const Frame near = node.at("sizes", "many", 1, 72), far = node.at("sizes", "many", 1, 1700);
    node.stack({price, near});
    std::uint32_t others = 16;
    std::uint32_t offset = 72;
    std::string expected = "found 20";

    SECTION("near to where the function begins") {}
    SECTION("or far from it") {
        node.s.stacks = {};
        node.s.processes = {};
        node.stack({price, far});
        expected = "found 40";
    }
    SECTION("not where too few places are known to prove the sizes") { others = 5, expected = "one_of 20 40"; }
    SECTION("not where one of them contradicts them") { offset = 2000, expected = "one_of 20 40"; }
    SECTION("not of a release whose sizes nobody measured") {
        node.s.source.otp_release = "22", expected = "one_of 20 40";
    }
    SECTION("not by a JIT for a machine that is not known") { node.s.source.jit = true, expected = "one_of 20 40"; }
    for (std::uint32_t i = 0; i < others; ++i)
        node.stack({price, node.at("sizes", "f" + std::to_string(i), 1, i == 3 ? offset : 72)});
    const FoundLines found = find_lines(node.s, code);
    const bool is_far = found.lines.of(far.function, far.offset).certainty != LineCertainty::none;
    CHECK(node.told(found, is_far ? far : near) == expected);
}
