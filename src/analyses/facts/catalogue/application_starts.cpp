// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/application_starts.hpp"

#include "analyses/base/allocated_words.hpp"
#include "erlang/registered.hpp"

namespace beamheap::analyses {

namespace {

constexpr std::uint64_t largest_controller = 2'000'000;  // words of its heap, and messages, that are still read
constexpr std::uint64_t most_of_its_messages = 30'000;

bool is_controller(const Snapshot& snapshot, ProcId id) {
    const Process& process = snapshot[id];
    return process.name != TextId::none && snapshot.text(process.name) == erlang::registered::application_controller &&
           allocated_words(process) <= largest_controller && process.msgq_len.value_or(0) <= most_of_its_messages;
}

// init's child at the start of the table: it goes through the boot script.
bool may_boot(const Snapshot& snapshot, ProcId id) {
    constexpr std::uint64_t first_ones = 32, largest = 500'000;  // serial numbers; words
    const Process& process = snapshot[id];
    if (process.pid.number >= first_ones) return false;
    const ProcId init = snapshot.find_registered(erlang::registered::init);
    return init != ProcId::none && process.parent == snapshot[init].pid && process.name == TextId::none &&
           allocated_words(process) <= largest;
}

}  // namespace

Result<ApplicationStarts> find_fact(FactOf<ApplicationStarts>, const Facts& facts, Artifact& artifact) {
    const Snapshot& snapshot = facts.snapshot();
    const ProcId controller = snapshot.find_registered(erlang::registered::application_controller);
    if (controller == ProcId::none || !is_controller(snapshot, controller)) return ApplicationStarts{};
    const auto terms = artifact.terms(controller);
    if (!terms) return ApplicationStarts{};
    ApplicationStarts starts = application_starts(**terms);
    if (!starts.starting.empty())
        if (const BootWork boot = boot_work(snapshot); boot.in_script && may_boot(snapshot, boot.process))
            if (const auto script = artifact.terms(boot.process)) starts.to_come = applications_to_come(**script);
    return starts;
}

namespace fact {
void application_starts(FactNeeds& needs) {
    needs.plan.stacks = true;
    needs.whose_terms.emplace_back(is_controller);
    needs.whose_terms.emplace_back(may_boot);
}
}  // namespace fact

}  // namespace beamheap::analyses
