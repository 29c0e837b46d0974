// Rules as a whole: each has its page, and its id is a name that one can type.
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "analyses/rules/rules.hpp"

using namespace beamheap::analyses;

TEST_CASE("every rule is explained, under a name of its own", "[rules]") {
    std::set<std::string> names;
    for (const Explanation& page : explanations()) names.insert(std::string(page.name));
    for (const Rule& rule : rules()) {
        INFO(rule.id);
        const auto page = explanation_of(rule);
        REQUIRE(page.has_value());
        CHECK(page->title == rule.description);
        CHECK(page->text.find("\n\n") != std::string_view::npos);  // what it is about, then from when on
        CHECK(page->next.size() >= 2);
        CHECK(names.insert(std::string(rule.id)).second);
        CHECK(find_rule(rule.id) == &rule);
    }
    CHECK(find_rule("queue_flood") == find_rule("queue-flood"));
    CHECK(find_rule("nothing") == nullptr);
}
