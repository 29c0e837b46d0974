// SPDX-License-Identifier: Apache-2.0
// What keeps a node from starting before its applications do: modules that do not load, and how far the start came.
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analyses/causes/boot_stage.hpp"
#include "analyses/causes/called_names.hpp"
#include "analyses/causes/explainer.hpp"
#include "analyses/causes/own_modules.hpp"
#include "analyses/causes/told_causes.hpp"
#include "analyses/causes/wordings.hpp"
#include "analyses/logs/log_forms.hpp"
#include "present/spelling.hpp"
#include "support/made_findings.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

LogEvent logged_words(std::string_view format, std::string_view arguments) {
    LogEvent event;
    event.term =
        parse_term("{error,<0.8.0>,{<0.20.0>,\"" + std::string(format) + "\",[" + std::string(arguments) + "]}}");
    REQUIRE(read_event(TermReader(*event.term), event.term->term(), event));
    return event;
}

struct Explained {
    std::string kind, what, hint;
    bool operator==(const Explained&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Explained& e) {
    return out << e.kind << " | " << e.what << " | " << e.hint;
}

Explained explained(std::string_view reason, const std::vector<LogEvent>& events,
                    const Snapshot& snapshot = Snapshot()) {
    const Failure failure = failure_of_printed(reason);
    const Cause cause = cause_of(snapshot, failure, events);
    return {std::string(name_of(cause.kind)),
            present::plain_text(snapshot, cause.what) + present::plain_text(snapshot, cause.where),
            cause.hints.empty() ? "" : present::plain_text(snapshot, cause.hints.front())};
}

const std::string compile_anew =
    "Compile it anew with this release of OTP; a file that is empty, was copied in part or for another release does "
    "not load.";
const std::string not_built =
    "The library was not built, is for another system or release of OTP, or one that it needs is missing: ldd FILE.so";
const std::string not_in_path =
    "Module shop is missing from the code path (-pa, the release), its name is misspelt, or it is there and does not "
    "load (compiled by another release, damaged, without its NIF): the log has \"Loading of ... failed\" then.";

}  // namespace

TEST_CASE("a module that is there and does not load is told by what the emulator said", "[causes][boot]") {
    const std::string undef = "{undef,[{shop,open,[],[]},{init,start_em,1,[]}]}";
    const Explained missing{"no_function", "shop:open/0 does not exist", not_in_path};
    const auto words = [&](std::string_view format, std::string_view arguments) {
        return explained(undef, {logged_words(format, arguments)});
    };
    // code_server: the file's name; beam_load: the module's, and why on the next line
    const Explained unknown_why{"bad_module", "module shop can't be loaded", compile_anew};
    CHECK(words("Loading of ~ts failed: ~p", "\"/srv/ebin/shop.beam\",badfile") ==
          Explained{"bad_module",
                    "module shop can't be loaded: its file is damaged, or was compiled by another release (badfile)",
                    compile_anew});
    CHECK(words("Loading of ~ts failed: ~p", "\"/srv/ebin/shop.beam\",{features_not_allowed,[maybe_expr]}").what ==
          "module shop can't be loaded: {features_not_allowed,[maybe_expr]}, most likely of another release");
    CHECK(words("Loading of ~ts failed: ~p", "\"/srv/ebin/shopping.beam\",badfile") == missing);
    // what the caller made of it names no module
    const std::vector<LogEvent> told{logged_words("Loading of ~ts failed: ~p", "\"/srv/ebin/shop.beam\",badfile")};
    CHECK(explained("{{badmatch,{error,badfile}},[{boot,start,0,[]},{init,start_em,1,[]}]}", told).what ==
          "module shop can't be loaded: its file is damaged, or was compiled by another release (badfile)");
    CHECK(explained("{{badmatch,{error,badfile}},[{boot,start,0,[]},{init,start_em,1,[]}]}", {}).what.find("shop") ==
          std::string::npos);
    CHECK(words("Unloading ~ts: ~p", "\"/srv/ebin/shop.beam\",done") == missing);
    CHECK(words("Error loading module shop:\\n  it was cut.\\n  more", "") ==
          Explained{"bad_module", "module shop can't be loaded: it was cut", compile_anew});
    CHECK(words("beam_load.c(12): Error loading module shop:\\n\\n  it is of R3..", "") ==
          Explained{"bad_module", "module shop can't be loaded: it is of R3", compile_anew});
    CHECK(words("Error loading module shop", "") == unknown_why);
    CHECK(words("Error loading module shop:\\n", "") == unknown_why);
    CHECK(words("Error loading module shop:\\n  \\n", "") == unknown_why);
    CHECK(words("Error loading module bank:\\n  it was cut.", "") == missing);
    // what the words mean of releases
    CHECK(
        words("Error loading module shop:\\n  mandatory chunk of type 'Atom' not found", "").what ==
        "module shop can't be loaded: mandatory chunk of type 'Atom' not found (OTP 20 or later compiled it, and this "
        "release is older)");
    CHECK(words("Error loading module shop:\\n  use of opcode 180; this emulator supports only up to 159", "").what ==
          "module shop can't be loaded: use of opcode 180; this emulator supports only up to 159 (a later release "
          "compiled it)");
    // what the operating system said of its file
    CHECK(words("Loading of ~ts failed: ~p", "\"/srv/ebin/shop.beam\",emfile").what ==
          "module shop can't be loaded: there is no file descriptor left (emfile)");
    const auto report = [&](std::string_view text) {
        LogEvent event;
        event.term =
            parse_term("{error_report,<0.8.0>,{<0.20.0>,{erl_prim_loader,file_error},\"" + std::string(text) + "\"}}");
        REQUIRE(read_event(TermReader(*event.term), event.term->term(), event));
        return explained(undef, {event});
    };
    CHECK(report("File operation error: emfile. Target: /srv/ebin/shop.beam. Function: get_file.").what ==
          "module shop can't be loaded: there is no file descriptor left (emfile)");
    CHECK(report("File operation error: emfile. Target: /srv/ebin/shop_shop.beam. Function: get_file.") == missing);
    CHECK(report("File operation error: enothing. Target: /srv/ebin/shop.beam. Function: get_file.") == missing);
    // -on_load() that failed, with the library's own words
    const std::string failed = "The on_load function for module ~s returned:~n~P~n";
    CHECK(words(failed, "shop,{error,{load_failed,\"Failed to load NIF library: '/x/shop.so: no such file'\"}},9") ==
          Explained{"no_library", "module shop can't load its native library: /x/shop.so: no such file", not_built});
    CHECK(words(failed, "shop,{error,{load_failed,\"a plain sentence.\"}},9") ==
          Explained{"no_library", "module shop can't load its native library: a plain sentence", not_built});
    CHECK(words(failed,
                "shop,{{badmatch,{error,{load_failed,\"Failed to load NIF library: '/x/shop.so: no such "
                "file'\"}}},[{shop,init,0,[]}]},9") ==
          Explained{"no_library", "module shop can't load its native library: /x/shop.so: no such file", not_built});
    CHECK(words(failed, "shop,{error,{load_failed,3}},9") ==
          Explained{"no_library", "module shop can't load its native library", not_built});
    // ... or for a reason of its own
    for (const auto& [other, said] :
         {std::pair{"shop,{error,nothing},9", "{error,nothing}"}, std::pair{"shop,nothing,9", "nothing"},
          std::pair{"shop,nothing", "nothing"},
          std::pair{"shop,{{badmatch,{error,enoent}},[{shop,init,0,[]}]},9", "{badmatch,{error,enoent}}"}}) {
        INFO(other);
        CHECK(words(failed, other) ==
              Explained{"bad_module",
                        std::string("module shop does not load, since its on_load function failed: ") + said,
                        "Look at the function that -on_load names in that module: it has to return ok."});
    }
    // printed, as a node holds it that goes down
    CHECK(words("The on_load function for module shop returned:\\n{error,{load_failed,\\\"Failed to load NIF library: "
                "'/x/shop.so: no such file'\\\"}}",
                "")
              .what == "module shop can't load its native library: /x/shop.so: no such file");
    CHECK(words(failed, "shop") == missing);
    CHECK(words(failed, "bank,{error,nothing},9") == missing);
    CHECK(words("The function for module ~s returned: ~P", "shop,{error,nothing},9") == missing);
}

TEST_CASE("a stub that a native library was to take the place of tells that it is not loaded", "[causes][boot]") {
    const auto said = [](std::string_view reason) { return explained(reason, {}).what; };
    CHECK(said("{not_loaded,[{erlang,nif_error,[not_loaded],[]},{shop_nif,add,2,[]}]}") ==
          "the native library is not loaded, so that its functions do not exist, in shop_nif:add/2");
    CHECK(said("{{not_loaded,shop_nif},[{erlang,nif_error,[a],[]},{shop_nif,add,2,[]}]}") ==
          "the native library of shop_nif is not loaded, so that its functions do not exist, in shop_nif:add/2");
    CHECK(said("{not_loaded,shop}") ==
          "application shop is not loaded: its .app file is missing, or has another name inside");
}

TEST_CASE("what stands around an error of the system is told, and what follows from the node's own end is as well",
          "[causes][boot]") {
    const auto said = [](std::string_view reason) { return explained(reason, {}).what; };
    CHECK(said("{db,{econnrefused,\"db1\",5432}}") ==
          "a service refused the connection (econnrefused): {db,{econnrefused,\"db1\",5432}}");
    CHECK(said("{badmatch,{error,enoent}}") == "a file, folder or program does not exist (enoent)");
    CHECK(said("{'DOWN',code_server,{ensure_loaded,timer}}") ==
          "code_server ended while it was asked for module timer");
    const auto follows = [](std::string_view reason) {
        return cause_of(Snapshot(), failure_of_printed(reason), {}).follows;
    };
    CHECK(follows("{noproc,{gen_server,call,[file_server_2,{open,\"x\",[read]},infinity]}}"));
    CHECK_FALSE(follows("{noproc,{gen_server,call,[price_server,get,5000]}}"));
}

TEST_CASE("the module of -s or -run is told where the emulator named it", "[causes][boot]") {
    const Explained nameless{
        "no_function", "the module that -s or -run names does not exist",
        "It is missing from the code path (-pa, the release), its name is misspelt, or it is there and does not load: "
        "compiled by another release, or its on_load failed."};
    const auto cut = [](std::string_view module) {
        return Explained{"bad_module", "module " + std::string(module) + " can't be loaded: it was cut", compile_anew};
    };
    for (const char* function : {"start_it", "start_em"}) {
        const std::string undef = "{undef,[{init," + std::string(function) + ",[a],[]}]}";
        CHECK(explained(undef, {}) == nameless);
        CHECK(explained(undef, {logged_words("Error loading module shop:\\n  it was cut.", "")}) == cut("shop"));
        CHECK(explained(undef, {logged_words("Error loading module ~s", "bank"),
                                logged_words("~s\\n", "\"Error loading module shop:\\n  it was cut.\"")})
                  .kind == "bad_module");
        CHECK(explained(undef, {logged_words("loading module shop:\\n  it was cut.", "")}) == nameless);
    }
    CHECK(explained("{undef,[{init,run,[a],[]}]}", {}).what == "init:run/1 does not exist");
    CHECK(explained("{undef,[{boot,start_it,[a],[]}]}", {}).what == "boot:start_it/1 does not exist");
}

TEST_CASE("a module of the program's own that hides one of OTP's is told", "[causes][boot]") {
    const auto told = [](std::string_view name, std::string_view source) {
        test::MadeSnapshot made;
        made.s.modules.push_back({made.text("lists"), 1, {}, made.text("/build/otp/lib/stdlib/src/lists.erl")});
        made.s.modules.push_back({made.text(name), 1, {}, made.text(source)});
        return explained("{undef,[{" + std::string(name) + ",f,[],[]}]}", {}, made.seal()).what;
    };
    const std::string hides = ":f/0 does not exist, and a module of the program's own hides that of OTP";
    const std::string there = ":f/0 does not exist, though its module is there";
    CHECK(told("proplists", "/srv/shop/src/proplists.erl") == "proplists" + hides);
    CHECK(told("crypto", "/srv/shop/src/crypto.erl") == "crypto" + hides);
    CHECK(told("proplists", "/build/otp/lib/stdlib/src/proplists.erl") == "proplists" + there);
    CHECK(told("proplists", "") == "proplists" + there);
    CHECK(told("shop", "/srv/shop/src/shop.erl") == "shop" + there);
}

TEST_CASE("a module is misspelt by one letter where its name is short, by two where it is long", "[causes][boot]") {
    const auto meant = [](std::string_view given, std::initializer_list<std::string_view> loaded) {
        test::MadeSnapshot made;
        for (const std::string_view name : loaded) made.s.modules.push_back({made.text(name), 1, {}});
        const std::string what = explained("{undef,[{" + std::string(given) + ",f,[],[]}]}", {}, made.seal()).what;
        const std::size_t at = what.find("(is ");
        return at == what.npos ? std::string() : what.substr(at + 4, what.find(" meant?)") - at - 4);
    };
    CHECK(meant("shp", {"shop"}) == "shop");
    CHECK(meant("shap", {"shop"}) == "shop");
    CHECK(meant("shap", {"ship_"}).empty());  // two letters of four
    CHECK(meant("shops", {"shps"}) == "shps");
    CHECK(meant("shops", {"ship"}).empty());  // two of five, as of ranch and rand
    CHECK(meant("shopping", {"shippinq"}) == "shippinq");
    CHECK(meant("shopping", {"shpipinqs"}).empty());  // three of eight
    CHECK(meant("warehouse", {"werehause"}) == "werehause");
    CHECK(meant("warehouse", {"werehausa"}).empty());
    CHECK(meant("warehouse", {"werehause", "warehause", "werehouse"}) ==
          "warehause");  // the nearest, of equals the first
    CHECK(meant("warehouse", {"houseware"}).empty());
    CHECK(meant("abcdefgh", {"bcdefghi"}) == "bcdefghi");  // one letter less, one more
    // Not loaded, but often called.
    CHECK(meant("maps_", {}) == "maps");
    CHECK(meant("mapp", {}) == "maps");
    CHECK(meant("mopp", {}).empty());
    CHECK(meant("tmir", {}).empty());
    CHECK(meant("calandar", {}) == "calendar");
    CHECK(meant("kalandar", {}) == "calendar");
    CHECK(meant("kalandor", {}).empty());
    CHECK(meant("mnesia", {}).empty());
}

TEST_CASE("who called what does not exist is told, unless it was the boot", "[causes][boot]") {
    const auto called = [](const std::string& frames) {
        const std::string what = explained("{undef,[{gone,f,[],[]}" + frames + "]}", {}).what;
        REQUIRE(what.starts_with("gone:f/0 does not exist"));
        return what.substr(std::string_view("gone:f/0 does not exist").size());
    };
    CHECK(called("").empty());
    CHECK(called(",{web,init,1,[]}") == ", called in web:init/1");
    CHECK(called(",{web,init,1,[{file,\"src/web.erl\"},{line,12}]}") == ", called in web:init/1 (web.erl:12)");
    CHECK(called(",{web,init,1,[{file,\"web.erl\"}]}") == ", called in web:init/1");
    for (const char* library : {"lists", "gen_server", "proc_lib", "maps", "file", "string", "ets", "'Elixir.Enum'",
                                "'Elixir.Config.Reader'", "elixir_compiler", "elixir"}) {
        INFO(library);
        CHECK(called(",{" + std::string(library) + ",map,2,[]},{web,init,1,[]}") == ", called in web:init/1");
    }
    for (const char* own : {"listsx", "'Elixir.Enumx'", "elixirx", "'Elixir.Shop'"}) {
        INFO(own);
        const std::string name = own;
        CHECK(called(",{" + name + ",map,2,[]},{web,init,1,[]}") == ", called in " + name + ":map/2");
    }
    for (const char* starter : {"init", "application_master", "supervisor", "supervisor_bridge"})
        CHECK(called(",{" + std::string(starter) + ",start,2,[]},{web,init,1,[]}").empty());
    CHECK(called(",{erl_eval,do_apply,6,[]},{init,start_it,1,[]}") == ", called by -eval");
    CHECK(called(",{erl_eval,do_apply,6,[]},{web,init,1,[]}").empty());  // of a shell, or a script
}

TEST_CASE("the boot's own reasons are told by their form alone", "[causes][boot]") {
    CHECK(explained("{load_failed,[]}", {}).kind != "bad_specification");
    CHECK(explained("{load_failed,[a,b,c,d]}", {}).what ==
          "modules that the boot script names can't be loaded: a, b, c, d");
    CHECK(explained("{load_failed,[a,b,c,d,e]}", {}).what ==
          "modules that the boot script names can't be loaded: a, b, c, d and 1 more");
    CHECK(explained("{load_failed,[a,\"b\",c]}", {}).what ==
          "modules that the boot script names can't be loaded: a, c and 1 more");
    const std::string damaged = "the boot file (.boot) is damaged or empty";
    CHECK(explained("{badarg,[{erlang,binary_to_term,[],[]},{init,get_boot,1,[]}]}", {}).what == damaged);
    CHECK(explained("{badarg,[{erlang,binary_to_term,[],[]},{init,get_file,1,[]}]}", {}).what != damaged);
    CHECK(explained("{badarg,[{erlang,binary_to_term,[],[]},{boot,get_boot,1,[]}]}", {}).what != damaged);
    CHECK(explained("{badarith,[{erlang,binary_to_term,[],[]},{init,get_boot,1,[]}]}", {}).what != damaged);
    for (const char* stopped : {"terminating", "stopping"}) CHECK(explained(stopped, {}).kind == "stopped");
    CHECK(explained("{unbound_var,'X'}", {}).kind == "bad_code");
    CHECK(explained("{unbound_var,3}", {}).kind != "bad_code");
}

TEST_CASE("how far a start came is told by who is there", "[causes][boot]") {
    struct Row {
        std::vector<std::string_view> processes;
        std::string told;
        std::size_t hint_that_checks;
    };
    const std::string why = ", and the dump does not hold why";
    const Row rows[] = {
        {{"init"}, "The node stopped while it loaded its first modules" + why, 1},
        {{"init", "kernel_sup", "kernel_safe_sup", "user"},
         "The node stopped while it loaded its first modules" + why,
         0},
        {{"init", "application_controller"}, "The node stopped before its kernel application started" + why, 1},
        {{"init", "application_controller", "kernel_sup"},
         "The node stopped while its kernel application started" + why,
         1},
        {{"init", "application_controller", "kernel_sup", "kernel_safe_sup", "user"},
         "What the boot script, -s, -run or -eval called failed" + why,
         0},
        {{"init", "application_controller", "kernel_sup", "kernel_safe_sup", "standard_error"},
         "What the boot script, -s, -run or -eval called failed" + why,
         0},
        {{"init", "application_controller", "kernel_sup", "kernel_safe_sup"},
         "The node stopped at the end of its start, and why is lost: it had no terminal or standard output (no process "
         "user)",
         2}};
    for (const Row& row : rows) {
        INFO(row.told);
        test::MadeSnapshot made;
        std::uint32_t number = 0;
        for (const std::string_view name : row.processes) made.process(number++, name);
        const Snapshot& snapshot = made.seal();
        const BootStage stage = boot_stage(snapshot, {});
        CHECK(present::plain_text(snapshot, stage.told) == row.told);
        std::vector<std::string> hints;
        for (const Sentence& hint : stage.hints) hints.push_back(present::plain_text(snapshot, hint));
        REQUIRE(hints.size() == 3);
        CHECK(hints[0] ==
              (row.hint_that_checks == 2
                   ? "To see the reason, start it with a terminal, or with its output going to a file."
                   : "init prints the reason on standard output: the log of whatever started the node may have it."));
        CHECK(hints[1] == (row.hint_that_checks == 1 ? "Check -boot, ROOTDIR and the code path: the boot file and the "
                                                       "modules that it names must be there, and fit."
                                                     : "Check what -s, -run, -eval and the boot script start."));
    }
}

TEST_CASE("the program's modules that were loaded last are told, newest first", "[causes][boot]") {
    struct Loaded {
        std::string name, source;
    };
    const std::string build = "/build/otp", mine = "/srv/shop/src/";
    const auto last = [&](const std::vector<Loaded>& modules, std::string_view anchor = "/build/otp") {
        test::MadeSnapshot made;
        made.process(0, "init");
        const auto add = [&](const std::string& name, const std::string& source) {
            made.s.modules.push_back({made.text(name), 1, {}, made.text(source)});
        };
        if (!anchor.empty()) add("lists", std::string(anchor) + "/lib/stdlib/src/lists.erl");
        for (const Loaded& module : modules) add(module.name, module.source);
        const Snapshot& snapshot = made.seal();
        const std::string told = present::plain_text(snapshot, boot_stage(snapshot, {}).told);
        const std::string_view words = "; loaded last: ";
        const std::size_t at = told.find(words);
        return at == told.npos ? std::string() : told.substr(at + words.size());
    };
    const auto of_otp = [&](const std::string& name) {
        return Loaded{name, build + "/lib/inets/src/" + name + ".erl"};
    };
    const auto own = [&](const std::string& name) { return Loaded{name, mine + name + ".erl"}; };
    std::vector<Loaded> modules{of_otp("z"), own("shop"), of_otp("b"), own("cart"),  of_otp("c"),
                                of_otp("a"), of_otp("e"), of_otp("d"), {"bare", ""}, {"zlib", build + "/erts/x.erl"}};
    CHECK(last(modules) == "cart, shop");
    CHECK(last(modules, "").empty());  // nobody tells where OTP was built
    // a folder that only begins like OTP's is the program's
    modules.push_back({"near", "/build/otp_own/lib/x/src/near.erl"});
    CHECK(last(modules) == "near, cart, shop");
    modules.push_back(own("till"));
    CHECK(last(modules) == "till, near, cart");
    // A release loads all of its modules at once, in the order of their names.
    std::vector<Loaded> sorted;
    for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) sorted.push_back(own(name));
    CHECK(last(sorted).empty());
    const std::string long_name(31, 'x');
    modules.push_back(own(long_name));
    modules.push_back(own(long_name));
    CHECK(last(modules) == long_name);  // no more than sixty letters
}

namespace {

// An atom table as it was made, oldest first, and the modules that are loaded.
const Snapshot& made_atoms(test::MadeSnapshot& made, const std::vector<std::string>& atoms,
                           const std::vector<std::string>& modules) {
    for (auto name = atoms.rbegin(); name != atoms.rend(); ++name) made.s.atoms.push_back(made.text(*name));
    for (const std::string& name : modules) made.s.modules.push_back({made.text(name), 1, {}});
    return made.seal();
}

// Names of a command line between what releases up to 18, and from 19 on, have before and behind them.
std::vector<std::string> old_table(const std::vector<std::string>& names) {
    std::vector<std::string> atoms{"true", "-spawn_opt/5-fun-0-", "std_low_alloc"};
    atoms.insert(atoms.end(), names.begin(), names.end());
    for (const char* name : {"-progname", "-home", "-sname", "no -path flag", "root", "progname", "home", "sname",
                             "preloaded", "applications_loaded"})
        atoms.emplace_back(name);
    return atoms;
}
std::vector<std::string> new_table(const std::vector<std::string>& names) {
    std::vector<std::string> atoms{"true", "net", "progname", "home", "noshell"};
    atoms.insert(atoms.end(), names.begin(), names.end());
    for (const char* name : {"preloaded", "applications_loaded", "kernel"}) atoms.emplace_back(name);
    return atoms;
}

}  // namespace

TEST_CASE("names of -s and -run stand where releases make their atoms", "[causes][boot]") {
    using Names = std::vector<std::string>;
    const auto called = [](const std::vector<std::string>& atoms, const std::vector<std::string>& modules) {
        test::MadeSnapshot made;
        const CalledNames names = called_names(made_atoms(made, atoms, modules));
        const auto copied = [](const std::vector<std::string_view>& those) {
            return Names(those.begin(), those.end());
        };
        return std::tuple(copied(names.names), copied(names.without_module), std::string(names.missing()));
    };
    using Told = std::tuple<Names, Names, std::string>;
    const Names both{"shop", "open"};
    // up to 18: flags stand elsewhere, so that the first name is a module
    CHECK(called(old_table({"shop", "open"}), {"init"}) == Told(both, both, "shop"));
    CHECK(called(old_table({"shop", "open"}), {"init", "shop"}) == Told(both, {}, ""));
    CHECK(called(old_table({"shop", "open", "cart"}), {"shop"}) ==
          Told({"shop", "open", "cart"}, {"cart"}, ""));  // -s shop open cart, or -s shop -s open -s cart
    CHECK(called(old_table({}), {"init"}) == Told({}, {}, ""));
    // from 19 on, flags of the program's own stand among them; those that are known are left out
    CHECK(called(new_table({"shop", "open"}), {"init"}) == Told(both, both, ""));
    CHECK(called(new_table({"sname", "shop", "pa"}), {"init"}) == Told({"shop"}, {"shop"}, ""));
    // Without modules nobody knows; without an end the rest of the table is no command line.
    CHECK(called(old_table({"shop"}), {}) == Told({"shop"}, {}, ""));
    CHECK(called({"shop", "-progname"}, {"init"}) == Told({}, {}, ""));
    CHECK(called({"progname", "home", "shop"}, {"init"}) == Told({}, {}, ""));
    CHECK(called({"home", "shop", "preloaded"}, {"init"}) == Told({}, {}, ""));
    std::vector<std::string> many(65, "x");
    CHECK(std::get<0>(called(old_table(many), {"init"})).empty());
    CHECK(std::get<0>(called(new_table(many), {"init"})).empty());
    CHECK(std::get<0>(called({}, {"init"})).empty());
}

TEST_CASE("a module of -s or -run that init of 26 and later does not name is told by the atom table",
          "[causes][boot]") {
    const auto what = [](const std::vector<std::string>& names, const std::vector<std::string>& modules) {
        test::MadeSnapshot made;
        return explained("{undef,[{init,start_it,1,[]},{init,start_em,1,[]}]}", {},
                         made_atoms(made, new_table(names), modules))
            .what;
    };
    CHECK(what({"shop"}, {"init"}) == "module shop is not on the code path, or does not load");
    CHECK(what({"shop", "open", "cart"}, {"init", "shop"}) == "module cart is not on the code path, or does not load");
    CHECK(what({"shop", "open"}, {"init"}) == "a module is not found, or does not load: one of shop, open");
    CHECK(what({"a", "b", "c", "d"}, {"init"}) == "a module is not found, or does not load: one of a, b, c and 1 more");
    CHECK(what({}, {"init"}) == "the module that -s or -run names does not exist");
}

TEST_CASE("what -s and -run were given is told where nothing else tells why", "[causes][boot]") {
    const auto told = [](const std::vector<std::string>& atoms, const std::vector<std::string>& modules,
                         const std::vector<std::string>& not_found = {}) {
        test::MadeSnapshot made;
        std::uint32_t number = 0;
        for (const char* name : {"init", "application_controller", "kernel_sup", "kernel_safe_sup", "user"})
            made.process(number++, name);
        const Snapshot& snapshot = made_atoms(made, atoms, modules);
        return present::plain_text(snapshot, boot_stage(snapshot, {}, not_found).told);
    };
    const std::string missing = "-s or -run called shop, and no such module is on the code path, or it does not load";
    CHECK(told(old_table({"shop", "open"}), {"init"}) == missing);
    CHECK(told(old_table({"shop", "open"}), {"init"}, {"/srv/ebin"}) ==
          missing + ": its folder /srv/ebin does not exist");
    CHECK(told(old_table({"shop", "open"}), {"init", "shop"}, {"/srv/ebin"}) ==
          "What -s or -run called failed (shop, open), and the dump does not hold why");
    const std::string unknown = "What the boot script, -s, -run or -eval called failed, and the dump does not hold why";
    CHECK(told(old_table({}), {"init"}) == unknown);
    CHECK(told(new_table({"shop"}), {"init"}) == unknown);  // a flag, perhaps
}

TEST_CASE("a boot file that was not found is the newest atom", "[causes][boot]") {
    const auto told = [](const std::vector<std::string>& atoms, const std::vector<std::string>& path,
                         const std::vector<std::string>& modules = {"init"}) {
        test::MadeSnapshot made;
        made.process(0, "init");
        const Snapshot& snapshot = made_atoms(made, atoms, modules);
        return present::plain_text(snapshot, boot_stage(snapshot, path).told);
    };
    const std::string no_file = "The node did not start: the boot file can't be read: /srv/shop.boot";
    const std::string unread = "The node stopped before it had read its boot script, and the dump does not hold why";
    CHECK(told({"true", "home", "/srv/shop.boot"}, {"."}) == no_file);
    CHECK(told({"true", "/srv/shop.boot", "a", "b", "c"}, {"."}) == no_file);
    CHECK(told({"true", "/srv/shop.boot", "a", "b", "c", "d"}, {"."}) == unread);
    CHECK(told({"true", "/srv/shop.boot"}, {"."}, {"init", "error_handler"}).find("boot file") == std::string::npos);
    // Where -path was not given, the path that is left of before any script says nothing about kernel.
    const std::string no_kernel =
        "The node found no module to start with: its code path is www, and kernel is not in it";
    CHECK(told({"true", "applications_loaded"}, {"www"}) == no_kernel);
    CHECK(told({"true", "applications_loaded"}, {"."}).find("code path") == std::string::npos);
    CHECK(told({"true", "no -path flag", "applications_loaded"}, {"www"}).find("code path") == std::string::npos);
}

TEST_CASE("a code path is told by its first two folders", "[causes][boot]") {
    test::MadeSnapshot made;
    made.process(0, "init");
    made.s.modules.push_back({made.text("init"), 1, {}});
    const Snapshot& snapshot = made.seal();
    const auto told = [&](const std::vector<std::string>& path) {
        return present::plain_text(snapshot, boot_stage(snapshot, path).told);
    };
    const std::string begin = "The node found no module to start with: its code path is ",
                      end = ", and kernel is not in it";
    CHECK(told({"a", "b"}) == begin + "a, b" + end);
    CHECK(told({"a", "b", "c"}) == begin + "a, b and 1 more" + end);
    CHECK(told({std::string(61, 'a')}) == begin + std::string(60, 'a') + end);
    CHECK(told({"a", "b", "/x/kernel/ebin"}).find("first modules") != std::string::npos);
}

TEST_CASE("a text is one line of what went wrong, no longer than asked for", "[causes]") {
    CHECK(one_line("a\n  b  \r\nc.", 90) == "a b c");
    CHECK(one_line("a  b \t c", 90) == "a b c");
    CHECK(one_line("(a) b", 90) == "(a) b");
    CHECK(one_line("went wrong\n  (elixir 1.14) lib/x.ex:3: X.f/1\nmore", 90) == "went wrong");
    CHECK(one_line("a... . ", 90) == "a");
    CHECK(one_line("", 90).empty());
    CHECK(one_line("each child is to be one of the following:\n\n  * a module\n  * a tuple\n\nGot: {x, 1}\n", 60) ==
          "each child is to be one of the...; Got: {x, 1}");
    CHECK(one_line("each child is to be a module\n\nGot: {x, 1}\n", 60) == "each child is to be a module Got: {x, 1}");
    CHECK(one_line("abcdef", 6) == "abcdef");
    CHECK(one_line("abcdefg", 6) == "abcdef...");
    CHECK(one_line("abcd\xc3\xa9"
                   "f",
                   5) == "abcd...");
    CHECK(one_line("abcd\xc3\xa9"
                   "f",
                   6) == "abcd\xc3\xa9...");
    CHECK(one_line("ab\xe2\x82\xac"
                   "cd",
                   4) == "ab...");
    CHECK(one_line("ab\xe2\x82\xac"
                   "cd",
                   5) == "ab\xe2\x82\xac...");
}

TEST_CASE("an atom is found wherever it stands in a term", "[causes]") {
    const auto has = [](std::string_view printed, std::string_view atom) {
        return has_atom(*parse_term(printed), atom);
    };
    CHECK(has("here", "here"));
    CHECK(has("{a,[b,{c,#{d => here}}]}", "here"));
    CHECK(has("[a|here]", "here"));
    CHECK_FALSE(has("{a,\"here\"}", "here"));
    CHECK_FALSE(has("{a,there}", "here"));
    std::string long_list = "[";
    for (int i = 0; i < 3000; ++i) long_list += "0,";
    CHECK_FALSE(has(long_list + "here]", "here"));  // no further than two thousand terms
}

namespace {

// Rule and first sentence about a node that stopped with this reason, by init or by the application controller.
struct ToldStart {
    std::string rule, title;
    bool operator==(const ToldStart&) const = default;
};
std::ostream& operator<<(std::ostream& out, const ToldStart& told) { return out << told.rule << " | " << told.title; }

ToldStart told_start(const std::string& reason, bool up, const std::vector<std::string>& names = {},
                     const std::vector<std::string>& not_found = {},
                     std::string_view slogan = "Runtime terminating during boot") {
    test::MadeSnapshot made;
    made.process(0, "init");
    if (up) made.process(40, "kernel_safe_sup");
    made.s.node.slogan = std::string(slogan) + " (" + reason + ")";
    const Snapshot& snapshot = made_atoms(made, new_table(names), {"init", "lists"});
    const auto cause = told_cause(snapshot, read_slogan(snapshot.node.slogan).reason, {});
    const auto findings = test::findings_of(snapshot, [&](Facts& facts) {
        facts.put(StartFailure{{}, cause, {}, not_found});
    });
    for (const char* rule : {"start-up", "failed-call", "node-ended"})
        if (const Finding* found = test::first_of(findings, rule); found != nullptr)
            return {rule, present::plain_text(snapshot, found->title)};
    return {};
}

}  // namespace

TEST_CASE("a node that ran is told by who called what failed, and one that did not by that", "[boot]") {
    const auto in = [](const std::string& frames) { return "{oops,[{shop,open,0,[]}," + frames + "]}"; };
    const std::string start = "{init,start_em,1,[]},{init,do_boot,3,[]}", eval = "{erl_eval,do_apply,6,[]}";
    const std::string call = "failed-call", place = " failed: oops, in shop:open/0.";
    // with init's frames it ran, whatever else is known of it
    for (const bool up : {false, true}) {
        CHECK(told_start(in(start), up) == ToldStart{call, "What -s or -run called" + place});
        CHECK(told_start(in(eval + ",{init,start_it,1,[]}," + start), up) ==
              ToldStart{call, "What -eval called" + place});
    }
    CHECK(told_start("oops", true) == ToldStart{call, "What the node ran failed: oops."});
    CHECK(told_start("oops", false) == ToldStart{"start-up", "The node did not start: oops."});
    CHECK(told_start("", true).rule == call);
    CHECK(told_start("", false).rule == "start-up");
    CHECK(told_start(in("{'Elixir.Mix.CLI',run_task,2,[]}"), true) == ToldStart{call, "What mix ran" + place});
    CHECK(told_start(in("{'Elixir.Kernel.CLI',exec_fun,2,[]}"), true) == ToldStart{call, "What elixir ran" + place});
    CHECK(told_start(in("{'Elixir.Config.Reader','read!',2,[]}"), true) ==
          ToldStart{call, "The configuration in Elixir" + place});
    CHECK(told_start(in("{shell,eval_loop,3,[]}"), true) == ToldStart{call, "What was typed into the shell" + place});
    CHECK(told_start(in(eval), true) == ToldStart{call, "What was evaluated" + place});
    // An escript is what -run names; what init meets of its own command line is not what the node ran.
    const std::string rel = "Missing rel: shop", flag = "{bad_environment_value,\"{a\"}";
    CHECK(told_start(rel, true, {"escript"}) == ToldStart{call, "The escript failed: Missing rel: shop."});
    CHECK(told_start(rel, true) == ToldStart{"start-up", "The node did not start: Missing rel: shop."});
    CHECK(told_start(flag, true).rule == "start-up");
    // What -eval was given is told once, and -eval, too.
    CHECK(told_start("{{badmatch,{error,{1,erl_parse,[\"syntax error\"]}}},[{init,start_it,1,[]}," + start + "]}",
                     true) ==
          ToldStart{call, "What -eval was given can't be run: it is not valid Erlang: syntax error."});
    CHECK(told_start("{undef,[{shop,open,[],[]}," + eval + ",{init,start_it,1,[]}," + start + "]}", true) ==
          ToldStart{call,
                    "What -eval called failed: shop:open/0 does not exist (its module is missing, or does not load)."});
    // Applications and kernel's processes have no caller of that kind.
    CHECK(told_start("{application_start_failure,shop,oops}", true, {}, {},
                     "Kernel pid terminated (application_controller)") ==
          ToldStart{"start-up", "Application shop did not start: oops."});
}

TEST_CASE("a folder that does not exist is told of a module that is missing, and of no other", "[boot]") {
    const std::string missing = "{undef,[{shop,open,[],[]},{init,start_em,1,[]}]}";
    const std::string what = "What -s or -run called failed: shop:open/0 does not exist";
    CHECK(told_start(missing, true, {}, {"/srv/ebin"}).title == what + "; its folder /srv/ebin does not exist.");
    CHECK(told_start(missing, true).title == what + " (its module is missing, or does not load).");
    CHECK(told_start("{undef,[{lists,open,[],[]},{init,start_em,1,[]}]}", true, {}, {"/srv/ebin"}).title ==
          "What -s or -run called failed: lists:open/0 does not exist, though its module is there.");
    CHECK(told_start("{oops,[{shop,open,[],[]},{init,start_em,1,[]}]}", true, {}, {"/srv/ebin"}).title.find("folder") ==
          std::string::npos);
    CHECK(told_start(missing, true, {}, {std::string(90, 'x')}).title == what + ".");  // in one breath
}

TEST_CASE("a long term leaves room for the place where it was raised", "[boot]") {
    std::string items = "a";
    for (int i = 0; i < 60; ++i) items += ",item_" + std::to_string(i);
    const std::string title =
        told_start("{{bad_state,[" + items + "]},[{shop,open,0,[]},{init,start_em,1,[]}]}", true).title;
    CHECK(title.ends_with("}, in shop:open/0."));
    CHECK(title.size() <= 160);
}

TEST_CASE("children are told by their modules' behaviours, in the order of loading or by the application's name",
          "[boot]") {
    struct Loaded {
        std::string_view name, behaviours;
        bool own = true;
    };
    const auto told = [](const std::vector<Loaded>& modules, std::string_view alive = {}) {
        test::MadeSnapshot made;
        const auto add = [&](std::string_view name, std::string_view source, std::string_view behaviours) {
            Module module;
            module.name = made.text(name);
            module.source = made.text(source);
            module.behaviours = made.text(behaviours);
            made.s.modules.push_back(module);
        };
        add("lists", "/otp/lib/stdlib/src/lists.erl", {});
        for (const char* name : {"sets", "io", "code", "array", "file", "os", "dict", "ets"}) add(name, {}, {});
        for (const Loaded& module : modules)
            add(module.name, module.own ? "/shop/src/x.erl" : "/otp/lib/kernel/src/x.erl", module.behaviours);
        if (!alive.empty()) made.process(5).real_initial_call = made.function(alive, "init", 1);
        const ChildModules found = child_modules(made.seal(), "my_shop", 2);
        std::string text = found.youngest_first ? "youngest:" : "named:";
        for (const std::string_view name : found.names) text += ' ' + std::string(name);
        return text + (found.more == 0 ? "" : " and " + std::to_string(found.more));
    };
    const Loaded app{"my_shop_app", "application"}, cart{"cart", "gen_server"}, tax{"a_tax", "x gen_statem"};
    const Loaded log{"b_log", "Elixir.GenServer"}, helper{"aa_money", {}}, otp{"timer", "gen_server", false};
    CHECK(told({app, cart, otp, tax, helper}) == "youngest: a_tax cart");
    CHECK(told({app, cart, otp, tax, helper}, "a_tax") == "youngest: cart");
    CHECK(told({app, cart, log, tax, helper}) == "youngest: a_tax b_log and 1");
    CHECK(told({app, helper}) == "youngest:");
    std::vector<Loaded> release;
    for (const char* name : {"ma", "mb", "mc", "md", "me", "mf", "mg", "mh", "mi", "mj"})
        release.push_back({name, "gen_server"});
    CHECK(told(release) == "named:");  // of another application
    for (const char* name : {"my_shop_cart", "my_shop_tax"}) release.push_back({name, "gen_server", false});
    CHECK(told(release) == "named: my_shop_tax my_shop_cart");
    release.push_back({"my_shop_util", {}});
    CHECK(told(release) == "named: my_shop_tax my_shop_cart");
}
