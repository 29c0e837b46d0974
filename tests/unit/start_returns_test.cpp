// SPDX-License-Identifier: Apache-2.0
// Reasons of failed starts that are what a function returned, reasons in tags of the program's own, limits and paths.
#include <catch2/catch.hpp>
#include <string>

#include "support/told_failure.hpp"

using namespace beamheap;
using namespace beamheap::analyses;
using test::told;
using test::ToldFailure;

TEST_CASE("what a start function or init/1 gave and may not give", "[causes]") {
    const auto child = [](const std::string& reason) {
        return told("{{shutdown,{failed_to_start_child,feed," + reason + "}},{shop_app,start,[normal,[]]}}");
    };
    CHECK(child("<0.81.0>").what == "its start function returned a bare pid");
    CHECK(child("{ok,undefined}").what == "its start function returned no pid: {ok,undefined}");
    CHECK(child("{bad_return_value,{noreply,1}}").what == "its init/1 returned or threw {noreply,1}");
    CHECK(child("{bad_return_from_init,{ok,1}}").what == "its init/1 returned or threw {ok,1}");
    // Not of a child's start: any callback.
    CHECK(told("{bad_return_value,{noreply,1}}").what == "a callback returned or threw {noreply,1}");
    CHECK(told("{badmatch,ignore}").what == "a start function returned ignore, where a pid was expected");
    CHECK(child("{supervisor_data,{invalid_strategy,one_for_al}}").what ==
          "its strategy is none that supervisors have: one_for_al");
    CHECK(told("{bad_return,{{shop_app,start,[normal,[]]},ok}}").hint.starts_with("start/2 of an application returns"));
}

TEST_CASE("a reason of OTP's in a tag of the program's is told as that", "[causes]") {
    CHECK(told("{audit_trail,{not_a_log_file,\"/srv/trail.1\"}}").what ==
          "/srv/trail.1 is no log of disk_log, or is damaged at its beginning");
    CHECK(told("{need_repair,trail}").what ==
          "the log trail of disk_log was not closed, and may not be repaired where it is opened");
    CHECK(told("{cannot_create,zone,{bad_type,zone,disc_copies,'a@b'}}").what ==
          "the mnesia table zone is to be on disc, and a@b has no schema there");
    CHECK(told("{db,{cannot_create,zone,{bad_type,zone,disc_copies,'a@b'}}}").kind == "bad_specification");
    // The program's own word within its own tag stays as it is.
    CHECK(told("{audit_trail,{not_my_file,\"/srv/trail.1\"}}").what == "{audit_trail,{not_my_file,\"/srv/trail.1\"}}");
}

TEST_CASE("limits of the VM that functions return name those of the node", "[causes]") {
    Snapshot node;
    node.node.port_limit = 1024;
    node.node.process_limit = 262144;
    const ToldFailure limit = told("{udp_open_failed,21022,system_limit}", {}, node);
    CHECK(limit.what == "a limit of the VM is reached (system_limit): {udp_open_failed,21022,system_limit}");
    CHECK(limit.hint.find("1,024 ports") != std::string::npos);
}

TEST_CASE("of a long path the end is told", "[causes]") {
    const ToldFailure library = told(
        "{on_load_function_failed,nif,{error,{load_failed,\"Failed to load NIF library: "
        "'/srv/releases/shop/_build/prod/"
        "rel/shop/lib/shop-2.3.0/priv/sqlite3_nif.so: cannot open shared object file: No such file or directory'\"}}}");
    CHECK(library.what.find("priv/sqlite3_nif.so: cannot open shared object file") != std::string::npos);
    CHECK(told("{open,\"/srv/a-folder-with-a-long-name/another-folder-with-a-long-name/a-third-one-with-more/"
               "x.log\",eacces}")
              .what.ends_with("a-third-one-with-more/x.log"));
}
