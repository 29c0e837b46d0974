// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <limits>

#include "analyses/selectors/selectors.hpp"
#include "erlang/erlang_syntax.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;
using test::MadeSnapshot;
using test::numbers;
using Numbers = std::vector<std::uint32_t>;

namespace {

// init <0.0.0> - kernel_sup <0.40.0> (supervisor) - worker <0.41.0>, MyApp.Worker <0.42.0> - <0.43.0>; stray <0.99.7>
Snapshot& node(MadeSnapshot& m) {
    m.process(0, "init").memory_bytes = 1000;
    m.links({40});
    Process& sup = m.process(40, "kernel_sup", 0);
    sup.real_initial_call = m.function("supervisor", "kernel", 1);
    sup.memory_bytes = 2000;
    m.links({0, 41, 42});
    Process& worker = m.process(41, "odd name", 40);
    worker.msgq_len = 5000;
    worker.memory_bytes = 700000;
    worker.heap_words = 1 << 20;
    worker.state = ProcessState::running;
    worker.initial_call = m.function("proc_lib", "init_p", 5);
    worker.current_function = m.function("gen", "do_call", 4);
    worker.stack = m.stack({worker.current_function, m.function("gen_server", "call", 2)});
    m.links({40});
    Process& elixir = m.process(42, "Elixir.MyApp.Worker", 40);
    elixir.msgq_len = 10;
    elixir.memory_bytes = 300000;
    elixir.application = m.text("kernel_sup");
    elixir.current_function = m.function("Elixir.MyApp.Worker", "handle_call", 3);
    m.links({40});
    Process& child = m.process(43, "", 42);
    child.application = m.text("kernel_sup");
    child.sensitive = true;
    m.process(99, "", 77, 7).label = m.text("{worker,1}");
    return m.seal();
}

std::vector<std::uint32_t> pick(const Snapshot& s, std::string_view selector) {
    const auto found = select_processes(s, selector);
    INFO(selector << ": " << (found ? "" : found.error().message + " " + found.error().advice));
    REQUIRE(found);
    return numbers(s, *found);
}

std::string failure(const Snapshot& s, std::string_view selector) {
    const auto found = select_processes(s, selector);
    INFO(selector);
    REQUIRE(!found);
    CHECK(found.error().code == ErrorCode::usage);
    return found.error().message + " | " + found.error().advice;
}

}  // namespace

TEST_CASE("every spelling of a pid is read", "[selectors]") {
    for (const char* spelling : {"<0.123.4>", "0.123.4", "#PID<0.123.4>", "pid(0,123,4)", "0,123,4", "  <0.123.4> ",
                                 "pid(0, 123, 4)", "//erl(<0.123.4>)", "<0.123.4"}) {
        INFO(spelling);
        const auto read = parse_pid_or_name(spelling);
        REQUIRE(read);
        CHECK(read->pid == Pid{0, 123, 4});
        CHECK(read->name.empty());
    }
    for (const char* bad : {"<0.123>", "<123>", "0.1.2.3", "0.1,2", "<>", "pid()", "#PID<a.b.c>", "#PID", "#PID<",
                            "0..1", "", "0.4294967295.0", "0.99999999999999999999999.0"}) {
        INFO(bad);
        const auto read = parse_pid_or_name(bad);
        REQUIRE(!read);
        CHECK(read.error().code == ErrorCode::usage);
    }
}

TEST_CASE("every spelling of a name is read", "[selectors]") {
    const auto name = [](std::string_view text) {
        const auto read = parse_pid_or_name(text);
        REQUIRE(read);
        CHECK(!read->pid.has());
        return read->name;
    };
    CHECK(name("lager_event") == "lager_event");
    CHECK(name("'odd name'") == "odd name");
    CHECK(name("'it\\'s'") == "it's");
    CHECK(name("'tab\\tnl\\n\\x41\\x{e5}\\101'") ==
          "tab\tnl\nA\xC3\xA5"
          "A");
    CHECK(name(":sup") == "sup");
    CHECK(name(":\"odd name\"") == "odd name");
    CHECK(name("MyApp.Worker") == "MyApp.Worker");
    CHECK(name("Elixir.MyApp.Worker") == "Elixir.MyApp.Worker");
    CHECK(name("my-proc!") == "my-proc!");
    CHECK(!parse_pid_or_name("'open"));
    CHECK(!parse_pid_or_name("'a' b"));
}

TEST_CASE("a process is found by pid and by name", "[selectors]") {
    MadeSnapshot m;
    const Snapshot& s = node(m);
    const auto number = [&](std::string_view text) {
        const auto found = resolve(s, text);
        INFO(text);
        REQUIRE(found);
        return s[*found].pid.number;
    };
    CHECK(number("0.41.0") == 41);
    CHECK(number("odd name") == 41);
    CHECK(number("'odd name'") == 41);
    CHECK(number("MyApp.Worker") == 42);
    CHECK(number("Elixir.MyApp.Worker") == 42);
    CHECK(number("<0.99.7>") == 99);
    CHECK(number("99") == 99);  // the only one of that number
    CHECK(!resolve(s, "98"));
    CHECK(!resolve(s, "'99'"));
}

TEST_CASE("near misses are suggested", "[selectors]") {
    MadeSnapshot m;
    Snapshot& s = node(m);
    const auto advice = [&](std::string_view text) {
        const auto found = resolve(s, text);
        REQUIRE(!found);
        return found.error().advice;
    };
    CHECK(near_names("slo", {"slop", "slow", "slow", "fast"}, 5) == std::vector<std::string>{"slop", "slow"});
    CHECK(near_names("xxlogger", {"logger", "xxloger"}, 5) == std::vector<std::string>{"xxloger", "logger"});
    CHECK(near_names("my_worker", {"your_worker"}, 5).empty());
    CHECK(advice("kernal_sup") == "did you mean kernel_sup?");
    CHECK(advice("KERNEL_SUP") == "did you mean kernel_sup?");
    CHECK(advice("MyApp.Wroker") == "did you mean MyApp.Worker?");
    CHECK(advice("Worker") == "did you mean MyApp.Worker?");
    CHECK(advice("zzzzzz").empty());
    CHECK(advice("<0.41.3>") == "did you mean <0.41.0>?");
    CHECK(advice("<0.60.0>") == "its neighbours are <0.43.0> or <0.99.7>");
    CHECK(advice("0.77.0") ==
          "it had ended; it started 1 of the processes here; its neighbours are <0.43.0> or <0.99.7>");
    s.channel_names.emplace(8872, s.texts.intern("a@b"));
    CHECK(advice("<8872.41.0>").find("a@b") != std::string::npos);
    s.source.process_table_complete = false;
    CHECK(advice("0.60.0").find("cut short") != std::string::npos);
    CHECK(advice("zzzzzz").find("cut short") != std::string::npos);
}

TEST_CASE("quantities have numbers, sizes and shares", "[selectors]") {
    const auto value = [](std::string_view text) {
        const auto read = parse_quantity(text);
        INFO(text);
        REQUIRE(read);
        return *read;
    };
    CHECK(value("10000").value == 10000);
    CHECK(value("10_000").value == 10000);
    CHECK(value("10k").value == 10000);
    CHECK(value("1.5M").value == 1500000);
    CHECK(value("512MiB").value == 512ull << 20);
    CHECK(value("512 mib").value == 512ull << 20);
    CHECK(value("2GB").value == 2000000000);
    CHECK(value("0.5KiB").value == 512);
    CHECK(value("7B").value == 7);
    CHECK(value("512MiB").unit == Quantity::Unit::bytes);
    CHECK(value("10k").unit == Quantity::Unit::number);
    CHECK(value("80%").unit == Quantity::Unit::percent);
    CHECK(value("12.5%").percent == Approx(12.5));
    CHECK(value("99999999999999999999TiB").value == std::numeric_limits<std::uint64_t>::max() - 1);
    for (const char* bad : {"", "x", "12xb", "MiB", "-3", "1.", "5iB", "1e9", "80%%", "1.2.3", "_1"}) {
        INFO(bad);
        CHECK(!parse_quantity(bad));
    }
}

TEST_CASE("selectors pick by name, column, state and tree", "[selectors]") {
    MadeSnapshot m;
    const Snapshot& s = node(m);
    CHECK(pick(s, "all") == Numbers{0, 40, 41, 42, 43, 99});
    CHECK(pick(s, "registered") == Numbers{0, 40, 41, 42});
    CHECK(pick(s, "running") == Numbers{41});
    CHECK(pick(s, "state=running") == Numbers{41});
    CHECK(pick(s, "state != waiting") == Numbers{41});
    CHECK(pick(s, "sensitive") == Numbers{43});
    CHECK(pick(s, "supervisors") == Numbers{40});
    CHECK(pick(s, "orphans") == Numbers{99});
    CHECK(pick(s, "stable") == pick(s, "all"));
    CHECK(pick(s, "moving").empty());
    CHECK(pick(s, "msgq>10") == Numbers{41});
    CHECK(pick(s, "msgq_len >= 10") == Numbers{41, 42});
    CHECK(pick(s, "msgq=<10 & registered & msgq>0") == Numbers{42});
    CHECK(pick(s, "memory>=300KB") == Numbers{41, 42});
    CHECK(pick(s, "memory>50%") == Numbers{41});
    CHECK(pick(s, "heap>=8MiB") == Numbers{41});
    CHECK(pick(s, "heap>8MiB").empty());
    CHECK(pick(s, "heap=1048576") == Numbers{41});
    CHECK(pick(s, "init, 'odd name'") == Numbers{0, 41});
    CHECK(pick(s, "0.41.0,0,42,0,<0.43.0>,pid(0,99,7)") == Numbers{41, 42, 43, 99});
    CHECK(pick(s, "kernel_*") == Numbers{40});
    CHECK(pick(s, "MyApp.*") == Numbers{42});
    CHECK(pick(s, "children(kernel_sup)") == Numbers{41, 42});
    CHECK(pick(s, "all_children(kernel_sup)") == Numbers{41, 42, 43});
    CHECK(pick(s, "all_children(<0.40.0>) & !MyApp.Worker") == Numbers{41, 43});
    CHECK(pick(s, "group(kernel_sup)") == Numbers{42, 43});
    CHECK(pick(s, "group({worker,1})") == Numbers{99});
    CHECK(pick(s, "group(supervisor:kernel/1)") == Numbers{40});
    CHECK(pick(s, "group('nobody')").empty());
    CHECK(pick(s, "initial(proc_lib:init_p/5)") == Numbers{41});
    CHECK(pick(s, "initial(supervisor:_/1)") == Numbers{40});
    CHECK(pick(s, "current(gen:_/_)") == Numbers{41});
    CHECK(pick(s, "current(MyApp.Worker.handle_call/3)") == Numbers{42});
    CHECK(pick(s, "current(MyApp.Worker)") == Numbers{42});
    CHECK(pick(s, "stack(gen_server:call)") == Numbers{41});
    CHECK(pick(s, "stack(gen_server:call/3)").empty());
    CHECK(pick(s, "in(gen_server:call)") == Numbers{41});
    CHECK(pick(s, "in(MyApp.Worker.handle_call)") == Numbers{42});
    CHECK(pick(s, "module(MyApp.*)") == Numbers{42});
    CHECK(pick(s, "module(gen_server)") == Numbers{41});
    CHECK(pick(s, "module(supervisor)") == Numbers{40});
}

TEST_CASE("selectors combine by precedence", "[selectors]") {
    MadeSnapshot m;
    const Snapshot& s = node(m);
    CHECK(pick(s, "init,registered&msgq>10") == Numbers{0, 41});
    CHECK(pick(s, "(init,registered)&msgq>10") == Numbers{41});
    CHECK(pick(s, "!registered") == Numbers{43, 99});
    CHECK(pick(s, "!!registered") == Numbers{0, 40, 41, 42});
    CHECK(pick(s, "!(registered,sensitive)") == Numbers{99});
    CHECK(pick(s, "!registered&sensitive") == Numbers{43});
    // A missing figure fits no comparison, whatever it says.
    CHECK(pick(s, "heap>=0") == Numbers{41});
    CHECK(pick(s, "heap<1") == Numbers{});
    CHECK(pick(s, "!heap>=0") == Numbers{0, 40, 42, 43, 99});
}

TEST_CASE("wrong selectors say where and what", "[selectors]") {
    MadeSnapshot m;
    const Snapshot& s = node(m);
    CHECK(failure(s, "msgq>10,").find("column 9") != std::string::npos);
    CHECK(failure(s, "(msgq>10").find("column 1: this '(' is never closed") != std::string::npos);
    CHECK(failure(s, "msgq>10)").find("column 8") != std::string::npos);
    CHECK(failure(s, "msgk>10").find("columns are state, msgq") != std::string::npos);
    CHECK(failure(s, "msgq>lots").find("not a quantity") != std::string::npos);
    CHECK(failure(s, "msgq>5MiB").find("count") != std::string::npos);
    CHECK(failure(s, "siblings(init)").find("children") != std::string::npos);
    CHECK(failure(s, "children(init").find("never closed") != std::string::npos);
    CHECK(failure(s, "children()").find("missing") != std::string::npos);
    CHECK(failure(s, "state=asleep").find("waiting") != std::string::npos);
    CHECK(failure(s, "state>waiting").find("compared by =") != std::string::npos);
    CHECK(failure(s, "0,1").find("not a whole pid") != std::string::npos);
    CHECK(failure(s, "init running").find("expected ,") != std::string::npos);
    CHECK(failure(s, "'init").find("quotes") != std::string::npos);
    CHECK(failure(s, "current(:f/2)").find("module") != std::string::npos);
    CHECK(failure(s, "current(m:f/300)").find("255") != std::string::npos);
    CHECK(failure(s, "kernel_supp").find("did you mean kernel_sup?") != std::string::npos);
    CHECK(failure(s, "nothing_*").find("nothing_*") != std::string::npos);
    CHECK(failure(s, "").find("missing") != std::string::npos);
    CHECK(failure(s, std::string(200, '(')).find("too many") != std::string::npos);
    CHECK(failure(s, std::string(100000, '!')).find("too long") != std::string::npos);
    CHECK(failure(s, "&").find("column 1") != std::string::npos);
}

TEST_CASE("a selector says what must be loaded", "[selectors]") {
    const auto needs = [](std::string_view text) {
        const auto read = parse_selector(text);
        REQUIRE(read);
        return read->needs();
    };
    CHECK(!needs("msgq>1").links);
    CHECK(!needs("msgq>1,init,running").labels);
    CHECK(needs("all_children(init)").links);
    CHECK(needs("init,group(x)").labels);
    CHECK(needs("stack>1").stacks);
    CHECK(needs("stack(a:b/1)").stacks);
    CHECK(needs("in(a:b/1)").stacks);
    CHECK((needs("module(a)").stacks && needs("module(a)").labels));
    CHECK(needs("running&garbage>1").heaps);
}

TEST_CASE("function patterns", "[selectors]") {
    const auto pattern = [](std::string_view text) {
        const auto read = parse_function_pattern(text);
        INFO(text);
        REQUIRE(read);
        return *read;
    };
    CHECK(pattern("gen:do_call/4").arity == 4);
    CHECK(pattern("gen:do_call").name == "do_call");
    CHECK(pattern("gen").name == "*");
    CHECK(pattern("_:_/2").module == "*");
    CHECK(pattern("'odd mod':'odd fun'/0").module == "odd mod");
    CHECK(pattern("MyApp.Worker.init/1").module == "MyApp.Worker");
    CHECK(pattern("MyApp.Worker").module == "MyApp.Worker");
    CHECK(pattern("MyApp.Worker:init/1").name == "init");
    CHECK(!parse_function_pattern("gen:do_call/"));
    CHECK(!parse_function_pattern("gen:do_call/4 x"));
    CHECK(!parse_function_pattern(""));
    CHECK(fits_glob("rabbit_channel", "rabbit_*"));
    CHECK(fits_glob("abc", "*"));
    CHECK(fits_glob("aXbXc", "a*b*c"));
    CHECK(!fits_glob("aXbX", "a*b*c"));
    CHECK(!fits_glob("", "?"));
    CHECK(!fits_glob(std::string(3000, 'a'), "*a*a*a*a*a*a*a*b"));
}

TEST_CASE("names are written as Erlang writes them", "[names]") {
    CHECK(atom_text("ok") == "ok");
    CHECK(atom_text("a@b_C1") == "a@b_C1");
    CHECK(atom_text("Elixir.MyApp") == "'Elixir.MyApp'");
    CHECK(atom_text("end") == "'end'");
    CHECK(atom_text("") == "''");
    CHECK(atom_text("it's\n") == "'it\\'s\\n'");
    CHECK(atom_text("\xC3\xA5") == "\xC3\xA5");
    CHECK(atom_text("\xC3\xB7") == "'\xC3\xB7'");
    CHECK(atom_text("\xE6\x97\xA5") == "'\xE6\x97\xA5'");
    CHECK(pid_text({}) == "");
    CHECK(pid_text({0, 1, 2}) == "<0.1.2>");
    MadeSnapshot m;
    CHECK(function_text(m.s, m.function("Elixir.A", "-f/1-fun-0-", 2)) == "'Elixir.A':'-f/1-fun-0-'/2");
}
