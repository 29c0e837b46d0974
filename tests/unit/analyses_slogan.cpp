// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <set>

#include "analyses/slogan/slogan.hpp"
#include "present/spelling.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
std::string said(const Sentence& sentence) { return present::spell(sentence).raw(); }
bool advises(const Slogan& slogan, std::string_view part) {
    for (const Sentence& step : slogan.next_steps)
        if (has(said(step), part)) return true;
    return false;
}

}  // namespace

TEST_CASE("a refused allocation is taken apart", "[slogan]") {
    const Slogan s =
        read_slogan("eheap_alloc: Cannot allocate 1898305688 bytes of memory (of type \"old_heap\", thread 2).\r\n");
    CHECK(s.kind == SloganKind::out_of_memory);
    CHECK(s.allocator == "eheap_alloc");
    CHECK(s.operation == "allocate");
    CHECK(s.refused_bytes == Count(1898305688));
    CHECK(s.memory_type == "old_heap");
    CHECK(s.thread == Count(2));
    CHECK(said(s.meaning) ==
          "The node ran out of memory: eheap_alloc was refused 1898305688 bytes (1.8 GiB) for the old heap of a "
          "process in garbage collection.");
    CHECK(advises(s, "top DUMP --by memory"));

    const Slogan b = read_slogan("binary_alloc: Cannot reallocate 785672 bytes of memory (of type \"binary\").");
    CHECK(b.operation == "reallocate");
    CHECK(!b.thread.has());
    CHECK(advises(b, "binaries DUMP"));
    CHECK(read_slogan("ets_alloc: Cannot allocate 5 bytes of memory (of type \"db_term\")").kind ==
          SloganKind::out_of_memory);
    // 32 GiB of working memory: a bug, not a full machine. The same for a heap may be true.
    CHECK(read_slogan("temp_alloc: Cannot allocate 2147483648 bytes of memory (of type \"tmp_dist_buf\").").kind ==
          SloganKind::out_of_memory);
    CHECK(read_slogan("temp_alloc: Cannot reallocate 34359738368 bytes of memory (of type \"estack\").").kind ==
          SloganKind::absurd_allocation);
    CHECK(read_slogan("eheap_alloc: Cannot allocate 34359738368 bytes of memory (of type \"heap\").").kind ==
          SloganKind::out_of_memory);
    const Slogan forged =
        read_slogan("eheap_alloc: Cannot allocate 99999999999999999999999999 bytes of memory (of type \"heap\").");
    CHECK(forged.kind == SloganKind::absurd_allocation);
    CHECK(*forged.refused_bytes == ~0ull - 1);
    CHECK(read_slogan("my_alloc: Cannot do it").kind == SloganKind::unknown);
    CHECK(read_slogan("eheap_alloc: Cannot allocate lots bytes of memory").kind == SloganKind::unknown);
    CHECK(read_slogan("eheap_alloc: Cannot allocate 12 bytes of memory (of type \"he").memory_type == "he");
}

TEST_CASE("full tables are told apart", "[slogan]") {
    const Slogan atoms = read_slogan("no more index entries in atom_tab (max=8500)\n");
    CHECK(atoms.kind == SloganKind::atom_table_full);
    CHECK(atoms.table == "atom_tab");
    CHECK(atoms.table_max == Count(8500));
    CHECK(has(said(atoms.meaning), "8500"));
    CHECK(advises(atoms, "atoms DUMP"));
    CHECK(read_slogan("no more index entries in export_list (max=524288)").kind == SloganKind::table_full);
    CHECK(read_slogan("no more index entries in x").kind == SloganKind::table_full);
}

TEST_CASE("init's reasons name application and cause", "[slogan]") {
    const Slogan start = read_slogan(
        "Kernel pid terminated (application_controller) ({application_start_failure,kernel,{{shutdown,"
        "{failed_to_start_child,net_sup,{shutdown,{failed_to_start_child,net_kernel,{'EXIT',nodistribution}}}}},{ker");
    CHECK(start.kind == SloganKind::application_start_failure);
    CHECK(start.kernel_process == "application_controller");
    CHECK(start.application == "kernel");
    CHECK(has(start.reason, "nodistribution"));
    CHECK(advises(start, "epmd"));
    CHECK(start.failed_children == std::vector<std::string>{"net_sup", "net_kernel"});
    CHECK(start.cause == "{'EXIT',nodistribution}");
    CHECK(said(start.meaning) ==
          "Application kernel did not start, and the node needs it: net_sup > net_kernel failed with "
          "{'EXIT',nodistribution}.");

    // OTP 26 and later print the reason as a string.
    const Slogan text = read_slogan(
        "Kernel pid terminated (application_controller) (\"{application_start_failure,'Elixir.NextLS',{{shutdown,"
        "{failed,{enoent,[{'Elixir.System',cmd,[<<\\\"elixir\\\">>,[45,45,118]],[]}]}}},{x,start,[normal,[]]}}}\")");
    CHECK(text.kind == SloganKind::application_start_failure);
    CHECK(text.application == "Elixir.NextLS");
    CHECK(has(text.reason, "<<\"elixir\">>,\"--v\""));
    CHECK(advises(text, "does not exist"));
    CHECK(text.reason.starts_with("{{shutdown"));
    CHECK(text.reason.ends_with("[normal,[]]}}"));

    // A long one is cut within the string, before an escaped quote or wherever it is full.
    for (const std::string end : {"", "\\\"", "10.1"}) {
        const Slogan cut = read_slogan(
            "Kernel pid terminated (application_controller) (\"{application_start_failure,edge,{{shutdown,"
            "{failed_to_start_child,edge_srv,{invalid_routes,#{a => \\\"10.2\\\",b => " +
            end);
        CHECK(cut.kind == SloganKind::application_start_failure);
        CHECK(cut.application == "edge");
        CHECK(cut.failed_children == std::vector<std::string>{"edge_srv"});
    }

    const Slogan rabbit = read_slogan(
        "Kernel pid terminated (application_controller) (\"{application_start_failure,rabbitmq_prelaunch,{{shutdown,"
        "{failed_to_start_child,prelaunch,{dist_port_already_used,25672,\\\"rabbit\\\",\\\"localhost\\\"}}},"
        "{rabbit_prelaunch_app,start,[normal,[]]}}}\")");
    CHECK(rabbit.application == "rabbitmq_prelaunch");
    CHECK(advises(rabbit, "running already"));
    CHECK(rabbit.cause == "{dist_port_already_used,25672,\"rabbit\",\"localhost\"}");
    // No supervisor in between: the start function is left off.
    const Slogan direct = read_slogan(
        "Kernel pid terminated (application_controller) ({application_start_failure,a,{{bad_return,x},{a_app,start,"
        "[normal,[]]}}})");
    CHECK(direct.cause == "{bad_return,x}");
    CHECK(direct.failed_children.empty());
    const Slogan old = read_slogan(
        "Kernel pid terminated (application_controller) ({application_start_failure,kernel,{shutdown,{kernel,start,"
        "[normal,[]]}}})");
    CHECK(old.cause == "shutdown");
    // A reason of kilobytes is cut in the sentence, not in the field, and not within a character.
    const Slogan longer =
        read_slogan("init terminating in do_boot (x" + std::string(79, '\xC3') + "\xA5" + std::string(1000, 'y') + ")");
    CHECK(longer.reason.size() == 1081);
    CHECK(said(longer.meaning).size() < 400);
    CHECK(said(longer.meaning).ends_with("..."));
    CHECK(!said(longer.meaning).ends_with("...."));
    // "undefined" is not "undef".
    CHECK(!advises(read_slogan("init terminating in do_boot ({badmatch,undefined})"), "code path, or"));
    CHECK(advises(read_slogan("init terminating in do_boot ({undefined,{undef,x}})"), "code path, or"));
    CHECK(has(said(read_slogan("Kernel pid terminated").meaning), "does not say why"));

    const Slogan ended =
        read_slogan("Kernel pid terminated (application_controller) ({application_terminated,my_app,shutdown})");
    CHECK(ended.kind == SloganKind::application_terminated);
    CHECK(ended.application == "my_app");
    CHECK(ended.reason == "shutdown");
    CHECK(has(said(ended.meaning), "restart intensity"));
    CHECK(said(read_slogan("Kernel pid terminated (application_controller) ({application_terminated,my_app,killed})")
                   .meaning) == "Application my_app ended with reason killed, and the node may not run without it.");

    // a backslash that nothing follows stands for itself
    CHECK(read_slogan("Runtime terminating during boot (\"oops\\\")").reason == "oops\\");
    CHECK(read_slogan("Runtime terminating during boot (\"a\\\"b\")").reason == "a\"b");

    CHECK(read_slogan("Kernel pid terminated (kernel_sup) (killed)").kind == SloganKind::kernel_process_terminated);
    const Slogan config =
        read_slogan("could not start kernel pid (application_controller) (error in config file \"a\")");
    CHECK(config.kind == SloganKind::kernel_start_failure);
    CHECK(advises(config, "syntax error"));
}

TEST_CASE("boot failures, with and without a reason", "[slogan]") {
    const Slogan empty = read_slogan("init terminating in do_boot ()");
    CHECK(empty.kind == SloganKind::boot_failure);
    CHECK(empty.reason.empty());
    CHECK(has(said(empty.meaning), "standard output"));
    const Slogan undef = read_slogan("Runtime terminating during boot ({undef,[{numerl_test,test,[],[]}]})");
    CHECK(undef.kind == SloganKind::boot_failure);
    CHECK(undef.reason == "{undef,[{numerl_test,test,[],[]}]}");
    CHECK(advises(undef, "does not exist"));
    CHECK(read_slogan("init terminating in do_boot (unbalanced)) (").reason == "unbalanced");
    CHECK(read_slogan("init terminating in do_boot ('odd ) name')").reason == "'odd ) name'");
}

TEST_CASE("the other known slogans", "[slogan]") {
    const auto kind = [](std::string_view text) {
        INFO(text);
        const Slogan slogan = read_slogan(text);
        CHECK(!slogan.meaning.empty());
        return slogan.kind;
    };
    CHECK(kind("Received SIGUSR1") == SloganKind::requested);
    CHECK(kind("Crash dump requested by user") == SloganKind::requested);
    CHECK(kind("erl_child_setup closed\n") == SloganKind::child_setup);
    CHECK(kind("Failed to write to erl_child_setup: 32") == SloganKind::child_setup);
    CHECK(kind("System process <0.5.0> terminated: killed") == SloganKind::system_process_terminated);
    CHECK(kind("Absurdly large distribution output data buffer (4294967300 bytes) passed.") ==
          SloganKind::distribution_overload);
    CHECK(kind("Catch not found") == SloganKind::corruption);
    CHECK(kind("bad header\r\n") == SloganKind::corruption);
    CHECK(kind("beam/erl_gc.c, line 83: <0.12.0>: Overrun stack and heap") == SloganKind::corruption);
    CHECK(kind(":beam/external.c, line 2106: heap overrun by 3 words(s)") == SloganKind::corruption);
    CHECK(kind("Out of virtual memory in malloc (drivers/common/inet_drv.c)") == SloganKind::out_of_memory);
    CHECK(kind("no next heap size found: 4611686018427387904, offset 0") == SloganKind::absurd_allocation);
    CHECK(kind("The code server called the unloaded module `foo'") == SloganKind::code_server);
    CHECK(kind("") == SloganKind::none);
    CHECK(kind(" \r\n") == SloganKind::none);
    CHECK(kind("forced_dump") == SloganKind::unknown);
    // Words that programs use too are no proof of corruption.
    CHECK(kind("giving up: buffer overflow: 3 requests") == SloganKind::unknown);
    CHECK(kind("request has a bad header") == SloganKind::unknown);
    CHECK(read_slogan("System process <0.5.0> terminated: killed").subject == "<0.5.0>");
    CHECK(read_slogan("The code server called the unloaded module `foo'").subject == "foo");
    CHECK(read_slogan("Absurdly large distribution output data buffer (4294967300 bytes) passed.").refused_bytes ==
          Count(4294967300));
    const Slogan program = read_slogan("Can not execute /usr/bin/inet_gethost : enoent");
    CHECK(program.subject == "/usr/bin/inet_gethost");
    CHECK(program.reason == "enoent");
}

TEST_CASE("byte lists become strings, other things stay", "[slogan]") {
    CHECK(readable_term("[97,98]") == "\"ab\"");
    CHECK(readable_term("<<97,98>>") == "<<\"ab\">>");
    CHECK(readable_term("{[104,105,10],[1,2],[97],[],<<255,97>>}") == "{\"hi\\n\",[1,2],[97],[],<<255,97>>}");
    CHECK(readable_term("[34,92]") == "\"\\\"\\\\\"");
    CHECK(readable_term("\"[97,98]\"") == "\"[97,98]\"");
    CHECK(readable_term("'[97,98]' [97,98]") == "'[97,98]' \"ab\"");
    CHECK(readable_term("[83,116,97,") == "[83,116,97,");
    CHECK(readable_term("[97|98]") == "[97|98]");
    CHECK(readable_term("[[97,98],[99,100]]") == "[\"ab\",\"cd\"]");
    CHECK(readable_term("<<97,98:3>>") == "<<97,98:3>>");
    CHECK(readable_term("<0.1.2> <<>> <") == "<0.1.2> <<>> <");
    CHECK(readable_term("\"open") == "\"open");
    CHECK(readable_term("\"a\\") == "\"a\\");
    // Linear: a list that turns out not to be text is not read again and again.
    std::string nested(200000, '[');
    CHECK(readable_term(nested) == nested);
}

TEST_CASE("forged slogans cost time in proportion only", "[slogan][slow]") {
    for (const char c : {'(', ')', '"', '[', '<', '\\', '{'}) {
        const std::string many(300000, c);
        read_slogan("Kernel pid terminated " + many);
        read_slogan("init terminating in do_boot (" + many);
        read_slogan("Kernel pid terminated (application_controller) ({application_start_failure,a," + many);
        std::string layers = "Kernel pid terminated (application_controller) ({application_start_failure,a,";
        for (int i = 0; i < 3000; ++i) layers += "{shutdown,{failed_to_start_child,b,";
        CHECK(read_slogan(layers + many).kind == SloganKind::application_start_failure);
        read_slogan(many);
    }
    CHECK(read_slogan(std::string("a\0b", 3)).kind == SloganKind::unknown);
    CHECK(read_slogan("Kernel pid terminated").kind == SloganKind::kernel_process_terminated);
    CHECK(read_slogan("Kernel pid terminated (").kernel_process.empty());
}

TEST_CASE("every kind has a page, and no-dump is one", "[slogan]") {
    std::set<std::string_view> names;
    for (const Explanation& page : explanations()) {
        INFO(page.name);
        CHECK(names.insert(page.name).second);
        CHECK(!page.title.empty());
        CHECK(!page.paragraphs.empty());
        for (const Sentence& each : page.paragraphs) CHECK(said(each).size() > 10);
        CHECK(!page.next.empty());
        CHECK(find_explanation(page.name) == &page);
    }
    for (int i = 0; i <= static_cast<int>(SloganKind::code_server); ++i) {
        const auto kind = static_cast<SloganKind>(i);
        INFO(name_of(kind).text());
        if (kind == SloganKind::none) {
            CHECK(explanation_of(kind) == nullptr);
        } else {
            REQUIRE(explanation_of(kind) != nullptr);
            CHECK(explanation_of(kind)->name == name_of(kind).text());
        }
    }
    CHECK(find_explanation("no-dump") != nullptr);
    CHECK(find_explanation("no_dump") == find_explanation("no-dump"));
    CHECK(find_explanation("nonsense") == nullptr);
}

TEST_CASE("a signal is a death of its own kind, never a text", "[slogan]") {
    Node node;
    node.signal = Signal{11, 0x10};
    const Slogan crash = read_death(node);
    CHECK(crash.kind == SloganKind::corruption);
    CHECK(said(signal_text(*node.signal)) == "SIGSEGV at address 0x10");
    CHECK(is_crash(*node.signal));
    CHECK_FALSE(said(crash.meaning).empty());
    node.signal = Signal{15, {}};
    CHECK(read_death(node).kind == SloganKind::requested);
    CHECK_FALSE(said(read_death(node).meaning).empty());
    CHECK(said(read_death(node).meaning) != said(crash.meaning));
    CHECK(!is_crash(*node.signal));
    node.signal = Signal{42, {}};
    CHECK(said(read_death(node).meaning) == "The VM was ended by signal 42.");
    CHECK(read_death(node).next_steps.empty());
    // A program that halts with the name of a signal died of no signal.
    node.signal.reset();
    node.slogan = "SIGSEGV";
    CHECK(read_death(node).kind == SloganKind::unknown);
}

TEST_CASE("the size of a heap that lost its sign is what it was", "[slogan]") {
    // 284,745,853 words of 8 bytes, which is a size of heaps, as a negative number of 32 bits
    const Slogan lost =
        read_slogan("eheap_alloc: Cannot allocate 18446744071692551144 bytes of memory (of type \"heap\").");
    CHECK(lost.kind == SloganKind::out_of_memory);
    CHECK(*lost.refused_bytes == 2277966824);
    // Nothing of 32 bits: the lower half has no sign, the upper is not all ones, or it is no heap.
    for (const char* other :
         {"eheap_alloc: Cannot allocate 18446744069414584320 bytes of memory (of type \"heap\").",
          "eheap_alloc: Cannot allocate 18446744067267100672 bytes of memory (of type \"heap\").",
          "binary_alloc: Cannot allocate 18446744071692551144 bytes of memory (of type \"binary\")."}) {
        INFO(other);
        CHECK(read_slogan(other).kind == SloganKind::absurd_allocation);
    }
}
