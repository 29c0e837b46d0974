// SPDX-License-Identifier: Apache-2.0
// explain: what a slogan or a topic means, and what to do.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "analyses/rules/rules.hpp"
#include "analyses/slogan/slogan.hpp"
#include "cli/frame/commands.hpp"
#include "present/render.hpp"
#include "present/spelling.hpp"

namespace beamheap::cli {
namespace {

using present::Array;
using present::Content;
using present::Document;
using present::Object;
using present::Value;

Array texts(std::span<const analyses::Sentence> sentences, std::string_view prefix = {}) {
    Array out;
    for (const analyses::Sentence& each : sentences)
        out.emplace_back(present::Text{}.add(std::string(prefix)).add(present::spell(each)));
    return out;
}

void add_page(Document& document, const analyses::Explanation* page) {
    const auto for_json = [&document](std::string key, Value body) {
        document.members.push_back({.key = std::move(key), .body = std::move(body), .in_text = false});
    };
    for_json("name", page == nullptr ? Value() : Value(page->name));
    for_json("title", page == nullptr ? Value() : Value(page->title.text()));
    for_json("text", page == nullptr ? Value(Array{}) : Value(texts(page->paragraphs)));
    if (page != nullptr)
        document.members.push_back(
            {.title = std::string(page->title.text()), .body = Value(texts(page->paragraphs)), .in_json = false});
}

void add_steps(Document& document, std::span<const analyses::Sentence> steps) {
    document.members.push_back({.key = "next_steps", .body = Value(texts(steps)), .in_text = false});
    document.members.push_back({.title = "What to do", .body = Value(texts(steps, "- ")), .in_json = false});
}

// Rules first, then what slogans mean, then the other pages.
std::vector<const analyses::Explanation*> all_pages() {
    std::vector<const analyses::Explanation*> pages;
    for (const analyses::Rule& rule : analyses::rules())
        if (const analyses::Explanation* page = analyses::find_explanation(rule.id)) pages.push_back(page);
    for (const analyses::Explanation& page : analyses::explanations())
        if (std::ranges::find(pages, &page) == pages.end()) pages.push_back(&page);
    return pages;
}

/// Whether a page says this word, in whatever case.
bool mentions(const analyses::Explanation& page, std::string_view word) {
    const auto says = [word](std::string_view text) {
        const auto same = [](char a, char b) {
            return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
        };
        return std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
    };
    const auto one_says = [&says](const analyses::Sentence& each) { return says(present::spell(each).raw()); };
    return says(page.title.text()) || std::ranges::any_of(page.paragraphs, one_says) ||
           std::ranges::any_of(page.next, one_says);
}

Status list_topics(const Context& context, const std::vector<const analyses::Explanation*>& pages) {
    Document document;
    document.kind = "explain";
    struct Topic {
        std::string_view name, title;
    };
    std::vector<Topic> rows;
    for (const analyses::Explanation* page : pages) rows.push_back({page->name, page->title.text()});
    using Row = Topic;
    present::Columns<Row> columns{
        {{.name = "name", .title = "TOPIC", .doc = "what to ask for"}, [](const Row& row) { return Value(row.name); }},
        {{.name = "title", .title = "TITLE", .doc = "what it is about", .wraps = true},
         [](const Row& row) { return Value(row.title); }},
    };
    document.members.push_back(
        {.key = "topics", .body = present::table_of(std::move(columns), std::move(rows), "no topic")});
    Options all = context.options();
    if (!all.top) all.top = 0;  // who looks for a page wants to see it
    return context.with(all).print(document);
}

}  // namespace

static Status cmd_explain(const Context& context) {
    if (context.options().inputs.empty()) return list_topics(context, all_pages());
    const std::string& asked = context.argument(0);
    Document document;
    document.kind = "explain";
    const analyses::Explanation* page = analyses::find_explanation(asked);
    // One word is a topic that was mistyped, or a word of one; more are a slogan.
    if (page == nullptr && asked.find_first_of(" :({") == asked.npos) {
        std::vector<const analyses::Explanation*> pages = all_pages();
        std::vector<std::string_view> topics;
        for (const analyses::Explanation* each : pages) topics.push_back(each->name);
        const std::string near = present::did_you_mean(asked, topics);
        std::erase_if(pages, [&asked](const auto* each) { return !mentions(*each, asked); });
        if (asked.size() < 3 || pages.empty() || !near.empty())
            return Error{ErrorCode::usage, fmt::format("there is no topic '{}'", asked),
                         near.empty() ? "beamheap explain lists the topics; a slogan is given in quotes" : near};
        if (pages.size() > 1) return list_topics(context, pages);
        page = pages.front();
    }
    if (page != nullptr) {
        document.members.push_back({.key = "slogan", .body = Value(), .in_text = false});
        add_page(document, page);
        add_steps(document, page->next);
        return context.print(document);
    }
    const analyses::Slogan slogan = analyses::read_slogan(asked);
    const present::Text meaning = present::spell(slogan.meaning);
    if (!meaning.empty()) document.lead = {meaning};
    document.members.push_back(
        {.key = "slogan",
         .body = Value(Object{{"kind", analyses::name_of(slogan.kind).text()},
                              {"meaning", meaning},
                              {"refused_bytes", slogan.refused_bytes},
                              {"allocator", slogan.allocator.empty() ? Value() : Value(slogan.allocator)},
                              {"memory_type", slogan.memory_type.empty() ? Value() : Value(slogan.memory_type)},
                              {"reason", slogan.reason.empty() ? Value() : Value(slogan.reason)}}),
         .in_text = false,
         .content = Content::message});
    add_page(document, analyses::explanation_of(slogan.kind));
    add_steps(document, slogan.next_steps);
    return context.print(document);
}

BH_DEFINE_VERB(explain){
    .name = "explain",
    .arguments = {optional({"SLOGAN|TOPIC|WORD", ArgumentKind::topic})},
    .summary = "what a slogan means, and what to do; without an argument: all topics",
    .details = "no-dump: why a node died without leaving a dump. A word that is no topic shows the pages that say it.",
    .examples =
        "explain 'eheap_alloc: Cannot allocate 8162366936 bytes of memory (of type \"heap\").'\nexplain no-dump",
    .run = &cmd_explain,
};

}  // namespace beamheap::cli
