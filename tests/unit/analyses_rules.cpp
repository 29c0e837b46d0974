// Rules as a whole: each has its page, and its id is a name that one can type.
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "analyses/rules/rules.hpp"

using namespace beamheap::analyses;

TEST_CASE("every rule is explained, under a name of its own", "[rules]") {
    std::set<std::string> names;
    unsigned last = 0;
    for (const Rule& rule : rules()) {
        INFO(rule.id);
        const Explanation* page = find_explanation(rule.id);
        REQUIRE(page != nullptr);
        CHECK(page->name == rule.id);
        CHECK(!page->title.empty());
        CHECK(page->paragraphs.size() >= 2);  // what it is about, then from when on
        CHECK(page->next.size() >= 2);
        CHECK(names.insert(std::string(rule.id)).second);
        CHECK(find_rule(rule.id) == &rule);
        CHECK(rule.order > last);  // no two at one place
        last = rule.order;
    }
    CHECK(names.size() >= 15);
    CHECK(find_rule("queue_flood") == find_rule("queue-flood"));
    CHECK(find_rule("nothing") == nullptr);
}
