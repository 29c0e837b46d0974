// SPDX-License-Identifier: Apache-2.0
#include "analyses/rules/message_forms.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace beamheap::analyses::rule {
namespace {

constexpr std::size_t longest_form = 24;  // of messages that the title names
constexpr std::size_t longest_envelope = 40;

// Where the first `most` elements of a printed tuple end; npos where it has no more than these, or is none.
std::size_t end_of_first(std::string_view form, std::size_t most) {
    if (!form.starts_with('{')) return std::string_view::npos;
    int depth = 0;
    bool quoted = false;
    for (std::size_t i = 1; i < form.size(); ++i) {
        const char c = form[i];
        if (c == '\'') quoted = !quoted;
        if (quoted) continue;
        depth += c == '{' || c == '[' || c == '(';
        depth -= c == '}' || c == ']' || c == ')';
        if (c == ',' && depth == 0 && --most == 0) return i;
    }
    return std::string_view::npos;
}

// The elements of a printed tuple; empty where it is none.
std::vector<std::string_view> elements_of(std::string_view form) {
    std::vector<std::string_view> found;
    if (!form.starts_with('{') || !form.ends_with('}')) return found;
    std::size_t begin = 1;
    for (std::size_t most = 1;; ++most) {
        const std::size_t end = end_of_first(form, most);
        if (end == form.npos) break;
        found.push_back(form.substr(begin, end - begin));
        begin = end + 1;
    }
    found.push_back(form.substr(begin, form.size() - 1 - begin));
    return found;
}

bool is_atom(std::string_view printed) {
    return !printed.empty() && (printed.front() == '\'' || (printed.front() >= 'a' && printed.front() <= 'z')) &&
           printed.find('(') == printed.npos;
}

// What is wrapped into an envelope is told by its own tag: "{'$gen_cast',{update_lru,...}}",
// "{'$gen_call',_,{open,...}}" of {'$gen_call',{pid(),reference()},{open,binary(),list()}}; empty where nothing in it
// has a tag.
std::string enveloped(std::string_view form) {
    std::string text;
    bool tagged = false;
    for (const std::string_view element : elements_of(form)) {
        text += text.empty() ? '{' : ',';
        const std::vector<std::string_view> within = elements_of(element);
        if (within.size() > 1 && is_atom(within.front())) {
            text.append("{").append(within.front()).append(",...}");
            tagged = true;
        } else {
            text += within.empty() ? element : "_";
        }
    }
    return tagged && text.size() < longest_envelope ? text + '}' : std::string();
}

}  // namespace

std::string short_form(std::string_view form) {
    if (form.size() <= longest_form) return std::string(form);
    if (std::string text = enveloped(form); !text.empty()) return text;
    for (std::size_t elements = 2; elements >= 1; --elements) {
        const std::size_t end = end_of_first(form, elements);
        if (end != std::string_view::npos && end <= longest_form) return std::string(form.substr(0, end)) + ",...}";
    }
    return {};
}

double share_of_messages(const Facts& facts, ProcId id, std::initializer_list<std::string_view> forms) {
    double percent = 0;
    if (const TermFacts* seen = facts.get<SuspectTerms>().of(id); seen != nullptr)
        for (const TermFacts::Share& shape : seen->shapes)
            if (std::ranges::any_of(forms, [&](std::string_view form) { return shape.text.starts_with(form); }))
                percent += shape.percent;
    return percent;
}

Counted what_they_are(const Facts& facts, ProcId id, std::uint64_t queued) {
    if (share_of_messages(facts, id, {"{trace,", "{trace_ts,"}) >= known_percent)
        return {queued, "trace message", "trace messages"};
    if (share_of_messages(facts, id, {"{'EXIT',pid()"}) >= known_percent)
        return {queued, "'EXIT' message", "'EXIT' messages"};
    if (share_of_messages(facts, id, {"{'DOWN',reference()"}) >= known_percent)
        return {queued, "'DOWN' message", "'DOWN' messages"};
    return messages(queued);
}

}  // namespace beamheap::analyses::rule
