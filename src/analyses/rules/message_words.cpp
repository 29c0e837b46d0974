// SPDX-License-Identifier: Apache-2.0
#include "analyses/rules/message_words.hpp"

#include <algorithm>

namespace beamheap::analyses::rule {

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
