// SPDX-License-Identifier: Apache-2.0
// recipes: ready queries for `sql`.
#include <fmt/format.h>

#include "cli/console/output_file.hpp"
#include "cli/frame/commands.hpp"
#include "cli/tables/node_tables.hpp"
#include "cli/tables/recipes.hpp"
#include "present/render.hpp"

namespace beamheap::cli {

static Status cmd_recipes(const Context& context) {
    struct Row {
        const Recipe* recipe = nullptr;
        bool full = false;  // whether it reads tables that files have of export --full alone
    };
    std::vector<Row> rows;
    for (const Recipe& recipe : recipes()) rows.push_back({&recipe});
    if (!context.options().inputs.empty()) {
        const std::string& name = context.argument(0);
        const Recipe* const recipe = find_recipe(name);
        if (recipe == nullptr) {
            std::vector<std::string_view> names;
            for (const Recipe& each : recipes()) names.push_back(each.name);
            std::string advice = present::did_you_mean(name, names);
            if (advice.empty()) advice = "`beamheap recipes` lists all of them.";
            return Error{ErrorCode::usage, fmt::format("there is no recipe '{}'", name), std::move(advice)};
        }
        rows = {{recipe}};
    }
    NodeModel model(context.options());
    const std::vector<sql::Table> tables = query_tables(model);
    for (Row& row : rows) {
        BH_TRY(const auto query, sql::Query::compile(tables, row.recipe->query, {}));
        row.full = needs_full(tables, query->uses());
    }
    if (!context.options().inputs.empty() && context.printed() && context.for_people())
        // Behind it: as an argument of `sql` it must not begin as options do.
        return write_file("-",
                          fmt::format("{}\n{}", rows.front().recipe->query,
                                      rows.front().full ? "-- on a file: of export --full\n" : ""),
                          false);
    present::Columns<Row> columns{
        {{.name = "name", .title = "RECIPE", .doc = "`sql INPUT NAME` runs it"},
         [](const Row& r) { return present::Value(r.recipe->name); }},
        {{.name = "question", .title = "QUESTION", .doc = "that it answers"},
         [](const Row& r) { return present::Value(r.recipe->question); }},
        {{.name = "full", .title = "FULL", .doc = "of a file: whether it was to be exported with --full"},
         [](const Row& r) { return present::Value(r.full); }},
        {{.name = "query", .title = "QUERY", .doc = "as `sql` takes it", .wide = true},
         [](const Row& r) { return present::Value(r.recipe->query); }},
    };
    present::Document document;
    document.kind = context.options().verb;
    document.lead = {present::Text{}.add(
        rows.size() == 1 ? std::string("A query: `beamheap sql INPUT RECIPE` runs it.")
                         : fmt::format("{} queries: `beamheap sql INPUT RECIPE` runs one.", rows.size()))};
    document.members.push_back({.key = "rows", .body = present::table_of(std::move(columns), std::move(rows), {})});
    return context.print(document);
}

BH_DEFINE_VERB(recipes){
    .name = "recipes",
    .arguments = {optional({"NAME", ArgumentKind::topic})},
    .summary = "ready queries for `sql`: who waits in circles, what fills a queue, ...",
    .details =
        "With NAME the query itself, to begin from: `beamheap sql erl_crash.dump \"$(beamheap recipes convoys)\"`.\n"
        "They run on files that `export` writes as well; where FULL is yes, on those of export --full.",
    .examples = "recipes\nrecipes wait-cycles\nsql erl_crash.dump wait-cycles",
    .run = &cmd_recipes,
};

}  // namespace beamheap::cli
