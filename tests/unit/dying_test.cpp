// SPDX-License-Identifier: Apache-2.0
// Processes that have not ended yet: who reports its crash, who is exiting, and whose tables are being deleted.
#include "analyses/facts/catalogue/dying.hpp"

#include <catch2/catch.hpp>

#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

constexpr std::uint64_t mebibyte_of_dying = 1u << 20;

Process& formats(test::MadeSnapshot& made, std::uint32_t number, const char* module, const char* function) {
    Process& process = made.at(
        number, {made.function("io_lib_pretty", "print", 6), made.function("logger_backend", "call_handlers", 3),
                 made.function(module, function, 8), made.function("proc_lib", "init_p_do_apply", 3)});
    process.state = ProcessState::running;
    return process;
}

}  // namespace

TEST_CASE("who is in a function that reports crashes has crashed", "[dying]") {
    test::MadeSnapshot made;
    formats(made, 1, "gen_server", "error_info");
    formats(made, 2, "gen_server", "terminate");  // its own terminate/2 may print as well
    formats(made, 3, "proc_lib", "exit_p");
    made.s.processes[2].memory_bytes = 5'000;
    const Facts facts(made.s);
    const Dying& dying = facts.get<Dying>();
    REQUIRE(dying.reporting.size() == 2);
    CHECK(dying.reporting[0].process == ProcId{2});  // the largest
    CHECK(dying.reporting[1].reporter == made.function("gen_server", "error_info", 8));
    CHECK((dying.reports(ProcId{0}) && !dying.reports(ProcId{1})));
    CHECK(dying.exiting.empty());
    CHECK_FALSE(dying.untold_table_bytes.has());
}

TEST_CASE("tables that are in no list are being deleted where somebody is exiting", "[dying]") {
    for (const bool exits : {true, false}) {
        test::MadeSnapshot made;
        made.idle(1, "keeper");
        if (exits) made.s.processes.back().state = ProcessState::exiting;
        made.s.memory.push_back({made.text("ets"), 100 * mebibyte_of_dying});
        EtsTable& table = made.s.ets.emplace_back();
        table.words = 10 * mebibyte_of_dying / 8;
        const Facts facts(made.s);
        const Dying& dying = facts.get<Dying>();
        CHECK(dying.exiting.size() == (exits ? 1 : 0));
        CHECK(dying.untold_table_bytes.has() == exits);
        if (exits) CHECK(*dying.untold_table_bytes == 90 * mebibyte_of_dying);
    }
}
