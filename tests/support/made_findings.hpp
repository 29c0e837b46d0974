// SPDX-License-Identifier: Apache-2.0
// What the rules say of a snapshot that a test has made.
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/rules/rules.hpp"
#include "present/spelling.hpp"
#include "support/made_snapshot.hpp"

namespace beamheap::test {

/// All findings of a sealed snapshot. `more` puts facts that are read beside it: terms, locks, restarts ...
template <class More>
std::vector<analyses::Finding> findings_of(const Snapshot& snapshot, More&& more) {
    analyses::Facts facts(snapshot);
    more(facts);
    return run_rules(facts);
}

inline std::vector<analyses::Finding> findings_of(const Snapshot& snapshot) {
    return findings_of(snapshot, [](analyses::Facts&) {});
}

/// The first finding of a rule; nullptr: none.
inline const analyses::Finding* first_of(const std::vector<analyses::Finding>& findings, std::string_view rule) {
    for (const analyses::Finding& finding : findings)
        if (finding.rule == rule) return &finding;
    return nullptr;
}

constexpr std::uint64_t mebibyte = 1u << 20;

/// A finding and all that it says: its subject and title, its evidence with plain numbers, what it advises.
struct FoundWithText : analyses::Finding {
    std::string words;
    /// The title alone, without the subject before it.
    std::string title_alone() const {
        const std::size_t begin = words.find(": ") + 2;
        return words.substr(begin, words.find('\n') - begin);
    }
};

/// A node of 64 bits, all of whose processes are known.
struct MadeNode : MadeSnapshot {
    MadeNode() { s.source.word_size = 8, s.source.process_table_complete = true; }
    void memory(std::string_view name, std::uint64_t bytes) { s.memory.push_back({text(name), bytes, {}}); }
    template <class More>
    std::vector<FoundWithText> told(More&& more) {
        seal();
        std::vector<FoundWithText> all;
        for (analyses::Finding& finding : findings_of(s, more))
            all.push_back({std::move(finding), {}}), all.back().words = in_words(all.back());
        return all;
    }
    std::vector<FoundWithText> told() {
        return told([](analyses::Facts&) {});
    }
    static std::string number(double value) {
        std::string digits = std::to_string(std::llround(value * 10));  // with one decimal, where it has any
        if (digits.size() > 1 && digits.back() == '0') return digits.substr(0, digits.size() - 1);
        return value == 0 ? "0" : digits.insert(digits.size() - 1, digits.size() == 1 ? "0." : ".");
    }
    std::string in_words(const analyses::Finding& finding) {
        const auto plain = [&](const analyses::Sentence& sentence) { return present::plain_text(s, sentence); };
        std::string all = plain(finding.subject.text) + ": " + plain(finding.title) + '\n';
        for (const analyses::Evidence& each : finding.evidence)
            all += "  " + plain(each.name) + ": " + (each.number ? number(*each.number) : plain(each.text)) + '\n';
        for (const analyses::Sentence& step : finding.next_steps) all += "-> " + plain(step) + '\n';
        return all;
    }
};

inline std::vector<FoundWithText> of(const std::vector<FoundWithText>& findings, std::string_view rule) {
    std::vector<FoundWithText> found;
    for (const FoundWithText& finding : findings)
        if (finding.rule == rule) found.push_back(finding);
    return found;
}

}  // namespace beamheap::test
