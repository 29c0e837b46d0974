// SPDX-License-Identifier: Apache-2.0
// Containers, terms, and what users or their programs write.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "analyses/rules/rules.hpp"
#include "analyses/selectors/selectors.hpp"
#include "beamheap/artifact.hpp"
#include "bytes/archive.hpp"
#include "cli/checks/check_config.hpp"
#include "erlang/record_source.hpp"
#include "formats/beam/chunks.hpp"
#include "formats/beam/module.hpp"
#include "formats/beam/records.hpp"
#include "formats/external_redaction.hpp"
#include "formats/external_term.hpp"
#include "formats/format.hpp"
#include "fuzz/targets.hpp"
#include "fuzz/whole_program.hpp"
#include "present/term_printer.hpp"
#include "support/single_term.hpp"

namespace beamheap::fuzz {
namespace {

const std::string node_path = std::string(BEAMHEAP_FUZZ_SOURCE) + "/fixtures/broken/heap_sound.dump";

[[noreturn]] void stop(const char* why, std::string_view text) {
    std::fprintf(stderr, "%s: %.*s\n", why, static_cast<int>(std::min<std::size_t>(text.size(), 400)), text.data());
    std::abort();
}

// As `check` reads them: three deep.
void read_members(bytes::Archive& archive, bytes::ArchiveBudget& budget, int depth) {
    for (;;) {
        auto member = archive.next();
        if (!member || !*member) return;
        auto source = bytes::decoded_source(archive.source(), {std::uint64_t{1} << 22});
        if (!source) continue;
        auto peeked = bytes::peek(std::move(*source), bytes::archive_head_bytes);
        if (!peeked) continue;
        if (depth < 3 && bytes::looks_like_archive(peeked->head)) {
            if (auto inner = bytes::open_archive(std::move(peeked->source), "inner", budget))
                read_members(**inner, budget, depth + 1);
            continue;
        }
        std::array<char, 4096> piece{};
        for (;;) {
            auto got = peeked->source->read(piece);
            if (!got || *got == 0) break;
        }
        (void)peeked->source->damage();
    }
}

Snapshot& node() {
    static const std::unique_ptr<Artifact> artifact = [] {
        auto opened = open_artifact(node_path, {});
        if (!opened) stop("no input", node_path);
        LoadPlan plan;
        plan.tables = plan.links = plan.stacks = plan.labels = true;
        if (!(*opened)->load(plan)) stop("not loaded", node_path);
        return std::move(*opened);
    }();
    return artifact->snapshot();
}

}  // namespace

void run_module(std::string_view bytes) {
    const auto module = beam::read_module(bytes);
    if (module)
        for (const CodeFunction& function : module->functions)
            if (module->find(module->atoms[function.name], function.arity) == nullptr) std::abort();
    const auto chunks = beam::Chunks::read(bytes);
    std::string storage;
    if (chunks) (void)beam::read_literals(*chunks, storage);
    (void)beam::read_records(bytes);
}

void run_source(std::string_view bytes) {
    for (const RecordType& record : erlang::records_of_source(bytes, "shop").records)
        if (record.fields.size() > bytes.size()) stop("more fields than bytes", bytes);
}

void run_archive(std::string_view bytes) {
    bytes::ArchiveBudget budget;
    budget.members = 1000;
    budget.bytes = 1 << 24;
    auto source = bytes::memory_source(bytes, {std::uint64_t{1} << 24});
    if (!source) return;
    auto archive = bytes::open_archive(std::move(*source), "made", budget);
    if (archive) read_members(**archive, budget, 1);
}

void run_external(std::string_view bytes) {
    test::SingleTerm term(bytes, "n@h");
    (void)present::term_text(term, term.term());
    std::string copy(bytes);
    const auto hide = [](std::span<char> value) { std::ranges::fill(value, 'x'); };
    (void)redact_external(copy, hide, [](std::span<char>) { return false; });
    if (copy.size() != bytes.size()) stop("another length", copy);
    const std::string_view number = bytes.substr(0, 512);
    (void)external_term::integer_digits({reinterpret_cast<const std::uint8_t*>(number.data()), number.size()}, false);
}

void run_selector(std::string_view bytes) {
    (void)analyses::select_processes(node(), bytes);
    (void)analyses::resolve(node(), bytes);
    (void)analyses::parse_quantity(bytes);
    if (const auto pattern = analyses::parse_function_pattern(bytes))
        (void)analyses::matching_functions(*pattern, node());
}

void run_config(std::string_view bytes) {
    (void)cli::parse_check_config(bytes, "made.toml", {"big-heap", "idle-garbage"});
}

void run_sql(std::string_view bytes) {
    const std::string query(bytes.substr(0, bytes.find('\0')));
    (void)run_command({"sql", node_path, "--max-rows", "1000", "--max-seconds", "1", "--json", "--", query});
}

// Each answer is JSON, and none says that the process which looked for it was ended by a signal.
void run_mcp(std::string_view bytes) {
    const std::string answers = run_command({"mcp", node_path}, bytes);
    constexpr std::string_view ended = " was ended by signal ";
    if (answers.find(ended) != answers.npos && bytes.find(ended.substr(1, ended.size() - 2)) == bytes.npos)
        stop("a child crashed", answers);
    for (std::string_view rest = answers; !rest.empty();) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        if (!nlohmann::json::accept(line)) stop("no JSON", line);
    }
}

}  // namespace beamheap::fuzz
