// SPDX-License-Identifier: Apache-2.0
// Findings that many inputs share, each told once.
//
// Thirty nodes of one release die of one thing. A fingerprint is made of the rule and of what it is about, without pids
// and figures, so what has the same one is the same thing. An input may have a fingerprint twice; then its second
// finding goes with the second ones of the others, so that a group has an input once.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "present/check_places.hpp"

namespace beamheap::present {
namespace {

// Whether a says more of how bad it is than b.
bool worse(const CheckedFinding& a, const CheckedFinding& b) {
    const auto key = [](const CheckedFinding& f) {
        return std::tuple(f.severity, f.count.value_or(0), f.bytes.value_or(0), f.percent.value_or(0));
    };
    return key(a) > key(b);
}

}  // namespace

std::vector<Group> groups_of(const CheckReport& report) {
    std::vector<Group> groups;
    std::map<std::tuple<std::string_view, Verdict, std::size_t>, std::size_t> known;
    for (const CheckedInput& input : report.inputs) {
        std::map<std::pair<std::string_view, Verdict>, std::size_t> seen;
        for (const CheckedFinding& finding : input.findings) {
            const std::size_t nth = seen[{finding.fingerprint, finding.verdict}]++;
            const auto [at, fresh] = known.try_emplace({finding.fingerprint, finding.verdict, nth}, groups.size());
            if (fresh) groups.emplace_back();
            Group& group = groups[at->second];
            group.places.push_back({&input, &finding});
            if (worse(finding, group.finding())) group.worst = group.places.size() - 1;
        }
    }
    std::ranges::stable_sort(groups, [](const Group& a, const Group& b) {
        const CheckedFinding &one = a.finding(), &other = b.finding();
        if (one.verdict != other.verdict) return one.verdict < other.verdict;
        if (one.severity != other.severity) return one.severity > other.severity;
        return a.places.size() > b.places.size();
    });
    return groups;
}

std::string inputs_text(const Group& group) {
    constexpr std::size_t most_named = 3, longest_name = 256;
    std::string text;
    for (std::size_t i = 0; i < std::min(group.places.size(), most_named); ++i)
        text += (i == 0 ? "" : ", ") + cut(group.places[i].input->path, longest_name);
    if (group.places.size() > most_named) text += fmt::format(" and {} more", group.places.size() - most_named);
    return text;
}

}  // namespace beamheap::present
