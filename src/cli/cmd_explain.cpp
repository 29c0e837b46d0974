// explain: what a slogan or a topic means, and what to do.
#include <fmt/format.h>

#include "analyses/rules/rules.hpp"
#include "analyses/slogan/slogan.hpp"
#include "cli/commands.hpp"
#include "present/render.hpp"

namespace beamheap::cli {
namespace {

using present::Array;
using present::Content;
using present::Document;
using present::Object;
using present::Value;

Array strings(std::span<const std::string_view> texts, std::string_view prefix) {
    Array out;
    for (const std::string_view text : texts) out.emplace_back(fmt::format("{}{}", prefix, text));
    return out;
}

// Paragraphs of a page, separated by an empty line.
std::vector<std::string> paragraphs(std::string_view text) {
    std::vector<std::string> out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find("\n\n"), text.size());
        std::string paragraph(text.substr(0, end));
        for (char& c : paragraph)
            if (c == '\n') c = ' ';
        if (!paragraph.empty()) out.push_back(std::move(paragraph));
        text.remove_prefix(std::min(end + 2, text.size()));
    }
    return out;
}

Array values(const std::vector<std::string>& texts, std::string_view prefix = {}) {
    Array out;
    for (const std::string& text : texts) out.emplace_back(fmt::format("{}{}", prefix, text));
    return out;
}

void add_page(Document& document, const analyses::Explanation* page) {
    document.members.push_back(
        {.key = "name", .body = page == nullptr ? Value() : Value(page->name), .in_text = false});
    document.members.push_back(
        {.key = "title", .body = page == nullptr ? Value() : Value(page->title), .in_text = false});
    document.members.push_back({.key = "text",
                                .body = page == nullptr ? Value(Array{}) : Value(values(paragraphs(page->text))),
                                .in_text = false});
    if (page != nullptr)
        document.members.push_back(
            {.title = std::string(page->title), .body = Value(values(paragraphs(page->text))), .in_json = false});
}

void add_steps(Document& document, const Array& steps) {
    document.members.push_back(
        {.key = "next_steps", .body = Value(steps), .in_text = false, .content = Content::message});
    Array bullets;
    for (const Value& step : steps) bullets.emplace_back("- " + std::get<std::string>(step.data()));
    document.members.push_back(
        {.title = "What to do", .body = Value(std::move(bullets)), .in_json = false, .content = Content::message});
}

Status list_topics(const Context& context) {
    Document document;
    document.kind = "explain";
    struct Topic {
        std::string_view name, title;
    };
    std::vector<Topic> rows;
    for (const analyses::Rule& rule : analyses::rules()) rows.push_back({rule.id, rule.description});
    for (const analyses::Explanation& page : analyses::explanations()) rows.push_back({page.name, page.title});
    using Row = Topic;
    std::vector<present::ColumnOf<Row>> columns{
        {{.name = "name", .title = "TOPIC", .doc = "what to ask for"}, [](const Row& row) { return Value(row.name); }},
        {{.name = "title", .title = "TITLE", .doc = "what it is about"},
         [](const Row& row) { return Value(row.title); }},
    };
    document.members.push_back(
        {.key = "topics", .body = present::table_of(std::move(columns), std::move(rows), "no topic")});
    return context.print(document);
}

}  // namespace

static Status cmd_explain(const Context& context) {
    if (context.options().inputs.empty()) return list_topics(context);
    const std::string& asked = context.argument(0);
    Document document;
    document.kind = "explain";
    const analyses::Rule* rule = analyses::find_rule(asked);
    const auto of_rule = rule == nullptr ? std::nullopt : analyses::explanation_of(*rule);
    const analyses::Explanation* page = of_rule ? &*of_rule : analyses::find_explanation(asked);
    if (page != nullptr) {
        document.members.push_back({.key = "slogan", .body = Value(), .in_text = false});
        add_page(document, page);
        add_steps(document, strings(page->next, {}));
        return context.print(document);
    }
    // One word is a topic that was mistyped, more are a slogan.
    if (asked.find_first_of(" :({") == asked.npos) {
        std::vector<std::string_view> topics;
        for (const analyses::Explanation& each : analyses::explanations()) topics.push_back(each.name);
        for (const analyses::Rule& each : analyses::rules()) topics.push_back(each.id);
        const std::string near = present::did_you_mean(asked, topics);
        return Error{ErrorCode::usage, fmt::format("there is no topic '{}'", asked),
                     near.empty() ? "beamheap explain lists the topics; a slogan is given in quotes" : near};
    }
    const analyses::Slogan slogan = analyses::read_slogan(asked);
    if (!slogan.meaning.empty()) document.lead = {slogan.meaning};
    document.members.push_back(
        {.key = "slogan",
         .body = Value(Object{{"kind", analyses::name_of(slogan.kind)},
                              {"meaning", slogan.meaning},
                              {"refused_bytes", slogan.refused_bytes},
                              {"allocator", slogan.allocator.empty() ? Value() : Value(slogan.allocator)},
                              {"memory_type", slogan.memory_type.empty() ? Value() : Value(slogan.memory_type)},
                              {"reason", slogan.reason.empty() ? Value() : Value(slogan.reason)}}),
         .in_text = false,
         .content = Content::message});
    add_page(document, analyses::explanation_of(slogan.kind));
    add_steps(document, values(slogan.next_steps));
    return context.print(document);
}

BH_DEFINE_VERB(explain){
    .name = "explain",
    .arguments = {optional({"SLOGAN|RULE|no-dump", ArgumentKind::topic})},
    .summary = "what a slogan means, and what to do; without an argument: all topics",
    .details = "no-dump: why a node died without leaving a dump.",
    .examples = "explain 'eheap_alloc: Cannot allocate 8162366936 bytes of memory (of type \"heap\").'\nexplain no-dump",
    .run = &cmd_explain,
};

}  // namespace beamheap::cli
