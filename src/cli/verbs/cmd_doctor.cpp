// SPDX-License-Identifier: Apache-2.0
// doctor: what was recognised, and how far it can be trusted.
#include "analyses/facts/needs.hpp"
#include "cli/console/sandbox.hpp"
#include "cli/frame/commands.hpp"
#include "present/describe.hpp"
#include "present/spelling.hpp"
#include "present/tables.hpp"

namespace beamheap::cli {

// What somebody could do who made an input that takes this program over.
static present::Value sandbox_value() {
    const Sandbox& now = sandbox();
    const auto text = [](const std::string& words) { return words.empty() ? present::Value() : present::Value(words); };
    return present::Value(
        present::Object{{"landlock_version", now.landlock == 0 ? present::Value() : present::Value(now.landlock)},
                        {"seccomp", now.seccomp},
                        {"why_not", text(now.why_not)}});
}

static present::Text sandbox_sentence() {
    const Sandbox& now = sandbox();
    present::Text text;
    if (now.landlock != 0 && now.seccomp)
        text.add(
            "The kernel refuses this program to write files, connect to anything and start programs (Landlock, "
            "seccomp).");
    else if (now.active())
        text.add(std::string("The kernel refuses this program to write files, connect to anything and start programs "
                             "(") +
                 (now.seccomp ? "seccomp" : "Landlock") + " alone: " + now.why_not + ").");
    if (now.active())
        return text.add(" Of verbs that write, it lets each make the files that it was told to, and no others.");
    text.add("This program may write files, connect and start programs as its user may: " + now.why_not + ".");
    return text;
}

// How far the input can be trusted: "Nothing is missing: a crash dump of OTP 25, all 7 checks hold."
static analyses::Sentence answer(const Snapshot& snapshot, const std::vector<Check>& checks) {
    using Holds = analyses::InputText::Holds;
    std::vector<analyses::Sentence> failed;
    for (const Check& check : checks)
        if (!check.ok) failed.push_back(analyses::sentence("{}", analyses::InputText{check.name, Holds::vm}));
    analyses::Sentence what = snapshot.source.live               ? analyses::Ours("a running VM")
                              : snapshot.source.kind.whole_heaps ? analyses::Ours("a core image")
                                                                 : analyses::Ours("a crash dump");
    if (!snapshot.source.otp_release.empty())
        what.say(" of OTP {}", analyses::InputText{snapshot.source.otp_release, Holds::vm});
    const std::size_t all = checks.size();
    if (!failed.empty())
        return analyses::sentence("Not all of it can be trusted: {}; {} of {}: {}.", what,
                                  analyses::Amount{failed.size()}, analyses::Counted{all, "check fails", "checks fail"},
                                  analyses::joined(failed, ", "));
    if (!snapshot.source.complete.value_or(true) || snapshot.source.loss.any())
        return analyses::sentence("Parts are missing, and what is there is sound: {}, {}.", what,
                                  analyses::Counted{all, "check holds", "checks hold"});
    return analyses::sentence("All is sound: {}, {}.", what, analyses::Counted{all, "check holds", "checks hold"});
}

static Status cmd_doctor(const Context& context) {
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open({analyses::need::rules}));
    const Snapshot& snapshot = artifact->snapshot();
    std::vector<Check> checks = artifact->checks();
    present::Document document = context.document(snapshot);
    document.lead = {present::spell(answer(snapshot, checks))};
    document.members.push_back({.key = "input",
                                .title = "Input",
                                .body = present::Value(present::source_of(snapshot)),
                                .in_json = false,
                                .content = present::Content::message});
    document.members.push_back({.key = "checks", .title = "Checks", .body = present::check_table(std::move(checks))});
    if (context.by_itself()) {
        document.lead.push_back(sandbox_sentence());
        document.members.push_back({.key = "sandbox", .title = "Sandbox", .body = sandbox_value(), .in_text = false});
    }
    return context.print(document, snapshot);
}

BH_DEFINE_VERB(doctor){
    .name = "doctor",
    .arguments = {argument::input},
    .summary = "what was recognised in the input, and how far it can be trusted",
    .examples = "doctor erl_crash.dump",
    .run = &cmd_doctor,
};

}  // namespace beamheap::cli
