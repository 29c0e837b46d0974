// SPDX-License-Identifier: Apache-2.0
// What is secret by where it stands: decided on the graph, so that parts that are shown alone are hidden, too.
#include <catch2/catch.hpp>
#include <string>

#include "present/tables_terms.hpp"
#include "support/dump_text.hpp"

using namespace beamheap;

TEST_CASE("what a key names is secret wherever it is shown, with all that it refers to", "[redact][terms]") {
    const std::string heap =
        "=proc_heap:<0.9.0>\n"
        "1000:t2:A8:password,H1020\n"  // {password,{"hi"}}
        "1020:t1:H1030\n"
        "1030:lI104|H1040\n"
        "1040:lI105|N\n"
        "1100:t2:A4:name,H1120\n"  // {name,"h"}
        "1120:lI104|N\n"
        "1200:lA8:password|H1220\n"  // [password,"h"]
        "1220:lH1240|N\n"
        "1240:lI104|N\n"
        "1300:lA6:secret|H1320\n"  // [secret|{"h"}]
        "1320:t1:H1120\n";
    LoadPlan plan = test::everything();
    plan.terms = true;
    const auto artifact = test::load(test::header() + test::process("<0.9.0>") +
                                         "=proc_dictionary:<0.9.0>\nH1000\nH1100\nH1200\nH1300\n" +
                                         "=proc_stack:<0.9.0>\n" + heap + "=end\n",
                                     plan);
    REQUIRE(artifact != nullptr);
    const auto terms = artifact->terms(ProcId{0});
    REQUIRE(terms);
    analyses::TermMeasures measures(**terms);
    present::Names names(artifact->snapshot(), present::Syntax::erlang);
    const present::TermView view(names, artifact->snapshot().processes[0], **terms, measures, 1000);
    const auto text = [&](std::uint64_t address) { return view.text((*terms)->at(address)); };
    CHECK(text(0x1000) == "{password,'***'}");
    for (const std::uint64_t hidden : {0x1020, 0x1030, 0x1040, 0x1240, 0x1320}) CHECK(text(hidden) == "'***'");
    CHECK(text(0x1100) == "{name,'***'}");  // the same text is a part of a secret
    CHECK(text(0x1200) == "[password,'***']");
    CHECK(text(0x1300) == "[secret|'***']");
    CHECK(view.secrets()->elements_of((*terms)->at(0x1000).id) == std::vector<std::uint64_t>{1});
    CHECK(view.secrets()->elements_of((*terms)->at(0x1020).id) == std::vector<std::uint64_t>{0});
    CHECK(view.secrets()->elements_of((*terms)->at(0x1100).id).empty());

    names.hide_secrets(false);
    const present::TermView open(names, artifact->snapshot().processes[0], **terms, measures, 1000);
    CHECK(open.secrets() == nullptr);
    CHECK(open.text((*terms)->at(0x1000)) == "{password,{\"hi\"}}");
}

TEST_CASE("a text is judged before it is cut", "[redact][terms]") {
    CHECK(present::mask_literal("token=abcdefgh123") == "token=***");
    CHECK(present::mask_literal("nothing to hide") == "nothing to hide");
}
