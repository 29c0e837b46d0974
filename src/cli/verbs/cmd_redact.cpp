// SPDX-License-Identifier: Apache-2.0
// redact: a copy of a dump that may be passed on.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_set>

#include "analyses/facts/needs.hpp"
#include "cli/console/output_file.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/inputs.hpp"
#include "cli/frame/secrets.hpp"
#include "formats/crashdump/dump_redaction.hpp"
#include "present/describe.hpp"
#include "present/spelling.hpp"

namespace beamheap::cli {
namespace {

Status not_for(const Options& options, const std::string& input) {
    if (input == "-")
        return Error{ErrorCode::usage, "redact reads its input twice, and standard input can be read once only",
                     "Name a file."};
    if (options.redact == present::RedactLevel::full)
        return Error{ErrorCode::usage,
                     "redact leaves names as they are: modules, functions and atoms tell what a dump is about",
                     "What beamheap says of a dump has no private names with --redact full."};
    return ok();
}

crashdump::KeyRule rule_of(std::string_view key) {
    switch (present::secrecy_of(key)) {
        case present::Secrecy::none: break;
        case present::Secrecy::by_value: return crashdump::KeyRule::numbers;
        case present::Secrecy::always: return crashdump::KeyRule::all;
    }
    return crashdump::KeyRule::none;
}

// Names that tell what a node is: they stay beside whatever key they stand.
std::unordered_set<std::string> names_that_stay(const Snapshot& snapshot) {
    std::unordered_set<std::string> names;
    for (const Process& process : snapshot.processes) names.emplace(snapshot.text(process.name));
    for (const auto& module : snapshot.modules) names.emplace(snapshot.text(module.name));
    names.emplace(snapshot.text(snapshot.node.name));
    return names;
}

}  // namespace

static Status cmd_redact(const Context& context) {
    const std::string& input = context.argument(0);
    const std::string& output = context.argument(1);
    BH_CHECK(not_for(context.options(), input));
    BH_CHECK(may_write(output, context.options().overwrite));
    LoadPlan plan{analyses::need::code};
    plan_for_secrets(plan);
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    const Snapshot& snapshot = artifact->snapshot();
    if (snapshot.source.live)
        return Error{ErrorCode::not_held, fmt::format("{}: is a running VM, of which there is no file to copy", input),
                     "The other verbs hide secrets in what they print: --redact says how much."};
    if (snapshot.source.kind.format != InputFormat::crash_dump)
        return Error{
            ErrorCode::not_held,
            fmt::format("{}: is a core image, the node's memory as it was: no copy of it is without secrets", input),
            fmt::format("Pass on what beamheap says of it: `beamheap analyze {} --redact values`.",
                        present::shell_word(input))};

    const present::RedactOptions options =
        present::redaction(present::RedactLevel::values, context.options().salt, snapshot, known_secrets(*artifact));
    const present::Redactor redactor(options);
    const crashdump::RedactionRules rules{
        .text = [&](std::string_view text) { return redactor.apply(text, present::Content::message); },
        .term = [&](std::string_view text) { return redactor.apply(text, present::Content::term); },
        .secret_parts = &present::secret_parts,
        .hash = [&](std::string_view text) { return present::keyed_hash(options.salt, text); },
        .secrets = options.known_secrets,
        .word_bits = snapshot.source.word_size * 8};
    const std::unordered_set<std::string> stay = names_that_stay(snapshot);
    crashdump::KeyedValues keyed(&rule_of, [&](std::string_view name) {
        return present::otp_name(name) || present::tells_nothing(name) || stay.contains(std::string(name));
    });
    for (int reading = 0; reading < 3; ++reading) {  // for keys, tuples of keys, and what is beside a key
        BH_TRY(std::unique_ptr<bytes::Source> source, open_input_again(input));
        BH_CHECK(crashdump::learn_keyed_values(std::move(source), keyed));
    }
    BH_TRY(std::unique_ptr<bytes::Source> source, open_input_again(input));
    BH_TRY(OutputFile file, OutputFile::create(output, context.options().overwrite));
    BH_TRY(const crashdump::RedactionReport report,
           crashdump::redact_dump(std::move(source), rules, keyed,
                                  [&](std::string_view piece) { return file.write(piece); }));
    BH_CHECK(file.finish());
    if (output == "-") return ok();

    present::Document document = context.document(snapshot);
    document.members.push_back({.key = "copy",
                                .title = "Copied without the values of its terms",
                                .body = present::Value(present::Object{{"path", output},
                                                                       {"binaries", report.binaries},
                                                                       {"large_integers", report.integers},
                                                                       {"characters", report.characters},
                                                                       {"atoms", report.atoms},
                                                                       {"lines_left_out", report.lines_left_out},
                                                                       {"complete", report.complete}})});
    return context.print(document, snapshot);
}

BH_DEFINE_VERB(redact){
    .name = "redact",
    .arguments = {argument::input, {"OUT", ArgumentKind::path}},
    .options = "--force",
    .summary = "copies a crash dump without the values of its terms, for passing on",
    .details =
        "Contents of binaries, texts, characters and integers from 2^32 on are replaced by others of the same length; "
        "the slogan\n"
        "and other free text are masked as `--redact values` does; the node's cookie, tokens in names, and numbers and "
        "atoms\n"
        "beside keys like `password` become others everywhere. All other names of modules, functions, tables and atoms "
        "stay, and\n"
        "so do processes, stacks, sizes and who holds what: the copy opens wherever the dump did.",
    .examples = "redact erl_crash.dump shared.dump\nredact erl_crash.dump - | zstd > shared.dump.zst",
    .alone = true,
    .writes = true,
    .run = &cmd_redact,
};

}  // namespace beamheap::cli
