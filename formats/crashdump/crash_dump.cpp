// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/crash_dump.hpp"

#include <algorithm>
#include <thread>
#include <unordered_set>

#include "bytes/window.hpp"
#include "formats/crashdump/dump_terms.hpp"
#include "formats/crashdump/identity_search.hpp"
#include "formats/crashdump/scanner.hpp"
#include "formats/crashdump/section_order.hpp"
#include "formats/crashdump/table_losses.hpp"
#include "formats/crashdump/term_pass.hpp"
#include "formats/crashdump/term_sections.hpp"

namespace beamheap::crashdump {
namespace {

constexpr std::size_t longest_body = 256u << 20;  // a supervisor's link list, a table's sections
constexpr std::uint64_t most_beyond = 3;
constexpr std::uint64_t most_bytes_beyond = 64u << 10;

class CrashDump final : public Artifact {
public:
    CrashDump(std::unique_ptr<bytes::Source> source, const std::string& path, const OpenOptions& options)
        : options_(options), window_(std::move(source)), texts_(window_.source()), terms_(window_, texts_) {
        snapshot_.source.path = path;
        snapshot_.source.kind = crash_dump_kind;
        if (window_.source().seekable() && options_.threads != 1 && std::thread::hardware_concurrency() > 1)
            window_.prefetch_after = bytes::Window::worth_prefetching, texts_.prefetch = true;
        if (options_.progress)
            window_.on_read = [this] {
                options_.progress(window_.source().stored_position(), window_.source().stored_size());
            };
    }

    Status load(const LoadPlan& plan) override;
    Snapshot& snapshot() override { return snapshot_; }
    std::vector<Check> checks() const override;
    Result<std::unique_ptr<TermSource>> terms(ProcId process, const TermsWanted& wanted) override;
    Result<std::shared_ptr<const Literals>> literals();
    bool can_identify() const override { return !texts_.keeps(); }
    void identify(ProcId process) override;
    Status visit_heaps(const HeapRequest& demand) override;
    Count binary_bytes(std::uint64_t address) const override {
        const BinaryPlace* place = texts_.binary(address);
        return place == nullptr ? Count() : Count(place->bytes);
    }

    Result<std::unique_ptr<TermSource>> terms_and_garbage(ProcId) override {
        return not_held("a crash dump holds live terms only",
                        "Garbage is in core images; `top --by garbage` says how much of it there was.");
    }
    Result<TableContents> table_contents(std::size_t, std::uint64_t) override {
        return not_held("a crash dump has no contents of ETS tables, only their sizes",
                        "A core image has them: `gcore PID`, then `beamheap ets core.PID TABLE`.");
    }
    Result<PersistentTerms> persistent_terms() override;
    Result<StoredBinaries> stored_binaries() override {
        return not_held("a crash dump has no contents of ETS tables", "Core images have them.");
    }
    Result<std::vector<TracedFunction>> traced() override {
        return not_held("a crash dump has no counters of traced functions", "Core images have them.");
    }
    Result<Carriers> carriers() override {
        return not_held("a crash dump has sums over carriers, not each of them", "Core images have them.");
    }
    Result<NativeThreads> native_threads() override {
        return not_held("a crash dump has no native stacks", "Core images have them: `gcore PID`.");
    }

private:
    // Heaps are looked at where all of them are decoded.
    std::vector<std::string_view> not_looked_at(const LoadPlan& plan) const {
        std::vector<std::string_view> parts;
        if (!plan.tables) parts.push_back("tables");
        if (!plan.modules || !plan.tables) parts.push_back("code");
        if (!plan.stacks) parts.push_back("stacks");
        if (plan.heaps == nullptr || (plan.heaps->wanted && !all_wanted(*plan.heaps))) parts.push_back("heaps");
        if (!plan.atoms) parts.push_back("atoms");
        if (!plan.links) parts.push_back("links");
        return parts;
    }
    bool all_wanted(const HeapRequest& heaps) const {
        for (std::uint32_t i = 0; i < snapshot_.processes.size(); ++i)
            if (!heaps.wanted(snapshot_, ProcId{i})) return false;
        return true;
    }
    static Error not_held(std::string what, std::string advice) {
        return {ErrorCode::not_held, std::move(what), std::move(advice)};
    }

    Count channel_of(std::string_view node) const;
    void judge_losses(Loader& loader);
    Status read_head(Loader& loader, Scanner& scanner, Scanner::Head& head);
    void read_sections(Loader& loader, Scanner& scanner, Scanner::Head& head);
    static bool is_wanted(const SectionTag& row, const LoadPlan& plan);
    void read_atoms(Loader& loader, Scanner& scanner, const Scanner::Head& head);
    bool read_end(Loader& loader, Scanner& scanner, Scanner::Head& head, bool after_free_text);
    void determine_completeness(Loader& loader, const Scanner& scanner, const Scanner::Head& head, bool stopped_early);
    std::uint8_t last_order(const LoadPlan& plan) const;
    std::string last_bytes();
    bool ends_before_other_text();

    OpenOptions options_;
    bytes::Window window_;
    Snapshot snapshot_;
    TermSections texts_;
    TermPass terms_;
    Dialect dialect_;
    HeapDialect heap_dialect_;
    std::unique_ptr<IdentitySearch> identities_;
    bool labels_loaded_ = false;
    bool literals_in_heaps_ = false;  // dumps up to version 0.3
    std::shared_ptr<const Literals> literals_;
    std::uint64_t end_offset_ = ~std::uint64_t{0};  // of the last line of a complete dump
    bool ended_ = false, aborted_ = false;
    std::string abort_reason_;
    std::uint64_t sections_ = 0;
    SectionOrder order_;
    bool stopped_early_ = false;  // behind what was asked for
};

// The place in the writing order behind which nothing is asked for.
std::uint8_t CrashDump::last_order(const LoadPlan& plan) const {
    if (plan.to_the_end || plan.atoms) return 0xFF;
    if (plan.terms || plan.binaries) return crashdump::last_order(Part::terms);
    if (plan.labels) return order_of(TermSection::literals);
    if (plan.heaps != nullptr) return order_of(TermSection::literals);  // to tell what is nowhere from a literal
    if (plan.stacks || plan.code_path) return order_of(TermSection::heap);
    if (plan.modules) return crashdump::last_order(Part::modules);
    if (plan.tables) return crashdump::last_order(Part::tables);
    return find_tag("proc")->order;
}

Status CrashDump::load(const LoadPlan& plan) {
    Loader loader{snapshot_, plan, {}, {}, {}, {}, {}, {}, {}};
    order_ = {};
    Scanner scanner(window_, snapshot_.anomalies);
    Scanner::Head head;
    BH_CHECK(read_head(loader, scanner, head));
    read_sections(loader, scanner, head);
    BH_CHECK(terms_.finish(loader));
    BH_CHECK(Status(window_.status()));
    texts_.seal();
    snapshot_.seal();
    judge_losses(loader);
    snapshot_.source.not_looked_at = not_looked_at(plan);
    dialect_ = loader.dialect;
    heap_dialect_ = heap_dialect(loader, scanner.style);
    labels_loaded_ = plan.labels;
    literals_in_heaps_ = loader.dialect.version <= 3;
    window_.close();  // what terms are read from is the source
    return ok();
}

void CrashDump::identify(ProcId process) {
    if (labels_loaded_ || texts_.keeps()) return;
    if (identities_ == nullptr) {
        const std::uint64_t last = snapshot_.processes.empty() ? 0 : snapshot_.processes.back().offset;
        identities_ = std::make_unique<IdentitySearch>(window_.source(), heap_dialect_.style, snapshot_, last);
    }
    Loader loader{snapshot_, {}, dialect_, {}, {}, {}, {}, {}, {}};
    identities_->identify(loader, process);
}

// What the tables say about what is lost; the terms' own losses are known by now.
void CrashDump::judge_losses(Loader& loader) {
    for (const bytes::Window::ZeroRun& run : window_.zero_runs()) {
        if (run.offset >= end_offset_) continue;
        snapshot_.anomalies.add(Anomaly::zeroed, run.offset, std::to_string(run.bytes) + " bytes");
        snapshot_.source.loss.bytes += run.bytes;
    }
    judge_process_entries(loader);
    if (loader.plan.links) loader.losses.judge_links(snapshot_, loader.plan.tables && ended_);
    order_.judge(loader, ended_ || stopped_early_);
    judge_tables(loader, order_, ended_);
    loader.losses.judge_sections(snapshot_, ended_ || stopped_early_ ? ~std::uint64_t{0} : order_.last_offset());
    loader.losses.sum_up(snapshot_);
}

// =literals and =persistent_terms, read once.
Result<std::shared_ptr<const Literals>> CrashDump::literals() {
    if (literals_ == nullptr) {
        BH_TRY(literals_, read_literals(texts_, heap_dialect_));
        for (std::uint64_t i = 0; i < std::min<std::uint64_t>(literals_->bad_lines, 1000); ++i)
            snapshot_.anomalies.add(Anomaly::bad_line, 0, "=literals");
    }
    return literals_;
}

Result<PersistentTerms> CrashDump::persistent_terms() {
    if (literals_in_heaps_) return PersistentTerms{};  // before OTP 21.2 there are none
    BH_TRY(std::shared_ptr<const Literals> shared, literals());
    BH_TRY(std::vector<SectionText> sections, texts_.shared(ProcId::none, false));
    PersistentTerms found;
    std::unique_ptr<DumpTerms> terms = DumpTerms::of_literals(texts_, heap_dialect_, std::move(shared));
    for (SectionText& section : sections)
        if (section.section == TermSection::persistent_terms) terms->add_pairs(std::move(section), found.entries);
    terms->channel = [this](std::string_view node) { return channel_of(node); };
    found.terms = std::move(terms);
    return found;
}

Result<std::unique_ptr<TermSource>> CrashDump::terms(ProcId process, const TermsWanted& wanted) {
    const HeapFacts facts = heap_facts(snapshot_[process], HeapGraph::Mode::values);
    if (!wanted.all() && !literals_in_heaps_) {
        BH_TRY(std::shared_ptr<const Literals> shared, literals());
        BH_TRY(std::unique_ptr<DumpTerms> part,
               DumpTerms::read_part(texts_, process, facts, heap_dialect_, wanted, std::move(shared)));
        if (part != nullptr) {
            part->channel = [this](std::string_view node) { return channel_of(node); };
            return std::unique_ptr<TermSource>(std::move(part));
        }
    }
    BH_TRY(std::unique_ptr<DumpTerms> terms, DumpTerms::read(texts_, process, facts, heap_dialect_));
    if (literals_in_heaps_) {
        const auto processes = static_cast<std::uint32_t>(snapshot_.processes.size());
        BH_TRY(std::shared_ptr<const Literals> collected,
               collect_literals(texts_, heap_dialect_, process, terms->graph(), processes));
        terms->set_literals(std::move(collected));
    } else {
        BH_TRY(std::shared_ptr<const Literals> shared, literals());
        terms->set_literals(std::move(shared));
    }
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(terms->damage().bad_lines, 1000); ++i)
        snapshot_.anomalies.add(Anomaly::bad_line, terms->damage().first_bad_line);
    // What is neither on the heap nor among the literals.
    const HeapGraph& graph = terms->graph();
    const HeapGraph* const literals = terms->literals();
    std::uint64_t lost = graph.impossible_references();
    std::uint64_t known_literal = 0;  // messages often refer to one literal all of them
    const auto count = [&](std::uint64_t address) {
        if (address == 0 || address == known_literal) return;
        if (literals != nullptr && literals->find(address) != no_node) known_literal = address;
        else ++lost;
    };
    // Of an input that is cut, literals may lie behind the cut, which is told.
    const bool literals_known = snapshot_.source.complete.value_or(true);
    for (std::size_t i = 0; literals_known && i < graph.foreign_size(); ++i)
        if (graph.kind(graph.foreign(i).from) != TermKind::sub_binary) count(graph.foreign(i).address);
    for (std::size_t i = 0; literals_known && i < graph.missing_roots(); ++i) count(graph.missing_root_address(i));
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(lost, 1'000'000); ++i)
        snapshot_.anomalies.add(Anomaly::dangling_reference, snapshot_[process].offset);
    terms->channel = [this](std::string_view node) { return channel_of(node); };
    return std::unique_ptr<TermSource>(std::move(terms));
}

Status CrashDump::visit_heaps(const HeapRequest& demand) {
    HeapLosses known_already;  // loading has counted what is odd
    const auto wanted = [&](ProcId id) { return !demand.wanted || demand.wanted(snapshot_, id); };
    if (!texts_.keeps()) {
        HeapPipeline pipeline(window_.source(), heap_dialect_, demand, false);
        for (std::uint32_t i = 0; i < snapshot_.processes.size(); ++i) {
            const TermExtents* extents = texts_.extents(ProcId{i});
            if (extents == nullptr || !wanted(ProcId{i})) continue;
            const Process& process = snapshot_.processes[i];
            pipeline.add({ProcId{i}, process, *extents, heap_facts(process, HeapGraph::Mode::sizes)});
        }
        return pipeline.finish(known_already);
    }
    HeapReader reader(heap_dialect_);
    for (std::uint32_t i = 0; i < snapshot_.processes.size(); ++i) {
        if (!wanted(ProcId{i})) continue;
        BH_TRY(const std::vector<SectionText> sections, texts_.of(ProcId{i}));
        if (sections.empty()) continue;
        HeapJob job{ProcId{i}, snapshot_.processes[i], {}, heap_facts(snapshot_.processes[i], HeapGraph::Mode::sizes)};
        reader.begin(job.facts);
        for (const SectionText& section : sections) {
            reader.feed(section.section, section.text(), section.offset, true);
            job.extents.add({section.offset, section.text().size(), section.section});
        }
        visit(reader, job, demand, 0, known_already);
    }
    return ok();
}

// The number of a peer is the index of its name in the atom table.
Count CrashDump::channel_of(std::string_view node) const {
    const TextId name = snapshot_.texts.find(node);
    if (name == TextId::none) return {};
    for (const DistNode& peer : snapshot_.nodes)
        if (peer.name == name) return peer.channel;
    for (const auto& [channel, text] : snapshot_.channel_names)
        if (text == name) return channel;
    if (!snapshot_.source.complete.value_or(false)) return {};
    for (std::size_t i = 0; i < snapshot_.atoms.size(); ++i)
        if (snapshot_.atoms[i] == name) return snapshot_.atoms.size() - 1 - i;
    return {};
}

Status CrashDump::read_head(Loader& loader, Scanner& scanner, Scanner::Head& head) {
    if (!scanner.next(head) || head.row == nullptr || head.row->body != Body::dump_start) {
        BH_CHECK(Status(window_.status()));
        return Error{ErrorCode::not_recognised, snapshot_.source.path + ": is not a crash dump", {}};
    }
    bool whole = false;
    std::string_view body = scanner.body(head, Scanner::longest_header, whole);
    if (!whole && body.find("System version: ") == std::string_view::npos) {
        scanner.header_without_version = true;
        body = scanner.body(head, Scanner::longest_header, whole);
    }
    const std::size_t first_line = body.find('\n');
    scanner.style.crlf = first_line != std::string_view::npos && first_line > 0 && body[first_line - 1] == '\r';
    read_header(loader, head.section(), body);
    scanner.style.base64 = loader.dialect.version >= 5;
    scanner.finish(head);
    ++sections_;
    return ok();
}

void CrashDump::read_sections(Loader& loader, Scanner& scanner, Scanner::Head& head) {
    const std::uint8_t last = last_order(loader.plan);
    bool after_free_text = false;
    bool stopped_early = false;
    std::uint64_t beyond = 0;  // sections behind what is asked for that were passed, and where the first began
    std::uint64_t beyond_at = 0;
    while (!scanner.ended_inside() && scanner.next(head)) {
        ++sections_;
        const SectionTag* row = head.row;
        if (row == nullptr) {
            order_.passed_unknown(loader, head);
            scanner.finish(head);
            continue;
        }
        order_.passed(loader, head);
        if (row->order > last && row->body != Body::dump_end && row->body != Body::dump_abort) {
            // What is asked for may go on behind a section that was moved, or whose tag is damaged: a few short ones
            // are passed before that is taken for its end.
            if (beyond == 0) beyond_at = head.offset;
            if (row->body == Body::whole && ++beyond <= most_beyond && head.offset - beyond_at < most_bytes_beyond) {
                scanner.finish(head);
                continue;
            }
            stopped_early = true;
            loader.beyond_heaps = row->order > order_of(TermSection::heap);
            break;
        }
        beyond = 0;
        switch (row->body) {
            case Body::whole: {
                if (!is_wanted(*row, loader.plan)) break;
                bool whole = true;
                const std::string_view body = scanner.body(head, longest_body, whole);
                if (!whole && !scanner.ended_inside())
                    loader.anomalies().add(Anomaly::section_too_long, head.offset, head.tag);
                row->reader(loader, head.section(), body);
                break;
            }
            case Body::term_lines: terms_.read(loader, scanner, head); continue;
            case Body::binary: terms_.read_binary(loader, scanner, head); continue;
            case Body::atoms: read_atoms(loader, scanner, head); continue;
            case Body::skipped: break;
            case Body::dump_start: loader.anomalies().add(Anomaly::second_dump, head.offset); goto done;
            case Body::dump_end:
                if (read_end(loader, scanner, head, after_free_text)) goto done;
                continue;
            case Body::dump_abort:
                aborted_ = true;
                abort_reason_ = head.id;
                goto done;
        }
        scanner.finish(head);
        after_free_text = row->free_text;
    }
    if (!stopped_early && !scanner.ended_inside() && !window_.view().empty())
        loader.anomalies().add(Anomaly::bad_line, window_.offset(), window_.view().substr(0, 40));
done:
    loader.binaries_passed = order_.reached() > find_tag("binary")->order;
    determine_completeness(loader, scanner, head, stopped_early);
}

bool CrashDump::is_wanted(const SectionTag& row, const LoadPlan& plan) {
    return row.part == Part::always || (row.part == Part::tables && plan.tables) ||
           (plan.modules && (row.part == Part::modules || row.tag == "mod")) || row.part == Part::terms ||
           row.part == Part::atoms;
}

// "=end" is the last line. Text behind it is ignored; but behind a port's command line it may be an imitation.
bool CrashDump::read_end(Loader& loader, Scanner& scanner, Scanner::Head& head, bool after_free_text) {
    const std::uint64_t offset = head.offset;
    bool whole = false;
    const std::string_view rest = scanner.body(head, 4096, whole);
    const bool more_sections = whole;
    if (more_sections && after_free_text) {
        loader.anomalies().add(Anomaly::forged_section, offset, "end");
        scanner.finish(head);
        return false;
    }
    ended_ = true;
    end_offset_ = offset;
    if (more_sections && window_.view().substr(rest.size()).starts_with("=erl_crash_dump"))
        loader.anomalies().add(Anomaly::second_dump, window_.offset() + rest.size());
    else if (rest.find_first_not_of("\r\n \t") != std::string_view::npos || more_sections)
        loader.anomalies().add(Anomaly::trailing_data, window_.offset());
    return true;
}

// One atom a line, newest first: line i is the atom with index Atoms - 1 - i. Nodes of remote pids that no other
// section names are atoms whose index is the pid's first number (erts: dist_entry_channel_no).
void CrashDump::read_atoms(Loader& loader, Scanner& scanner, const Scanner::Head& head) {
    std::unordered_set<std::uint32_t> channels;
    for (const Process& process : snapshot_.processes)
        if (process.parent.has() && process.parent.node != 0) channels.insert(process.parent.node);
    for (const Link& link : snapshot_.links) {
        if (link.pid.has() && link.pid.node != 0) channels.insert(link.pid.node);
        if (link.port.has() && link.port.node != 0) channels.insert(link.port.node);
    }
    for (const DistNode& peer : snapshot_.nodes) channels.erase(peer.channel);
    if (!loader.plan.atoms && channels.empty()) return scanner.finish(head);

    std::vector<TextId> atoms;
    scanner.stream(head, [&](std::string_view text, bool last) {
        const std::string_view all = text;
        while (!text.empty()) {
            if (!last && text.find('\n') == std::string_view::npos) break;
            const std::string_view line = take_line(text);
            if (line.empty()) continue;
            // The VM writes a NUL in an atom as an escape.
            if (line.find('\0') != std::string_view::npos)
                loader.anomalies().add(Anomaly::zeroed, head.offset, "atoms");
            atoms.push_back(loader.atom(line));
        }
        return all.size() - text.size();
    });
    if (!scanner.ended_inside())  // then the last line is atom 0, and the index counts from there
        for (const std::uint32_t channel : channels)
            if (channel < atoms.size()) snapshot_.channel_names.emplace(channel, atoms[atoms.size() - 1 - channel]);
    if (loader.plan.atoms) snapshot_.atoms = std::move(atoms);
}

std::string CrashDump::last_bytes() {
    if (window_.ended()) return std::string(window_.last_bytes());
    const bytes::Source& source = window_.source();
    if (!source.seekable()) return {};
    std::string tail(64, '\0');
    const std::uint64_t size = source.size().value_or(0);
    const std::uint64_t from = size > tail.size() ? size - tail.size() : 0;
    const auto got = source.read_at(from, tail);
    tail.resize(got ? *got : 0);
    return tail;
}

namespace {

constexpr std::size_t longest_end = 6;  // with the ends of the lines before and behind
std::size_t end_in(std::string_view text) {
    constexpr std::string_view mark = "\n=end";
    for (std::size_t at = 0; (at = text.find(mark, at)) != text.npos; at += mark.size()) {
        const std::string_view behind = text.substr(at + mark.size(), 1);
        if (behind == "\n" || behind == "\r") return at;
    }
    return text.npos;
}

}  // namespace

// Whether the dump ends within what follows the place where reading stopped, and other text is behind it: a log that
// the same file took. Looked for from the end, in no more than a log mostly is.
bool CrashDump::ends_before_other_text() {
    constexpr std::uint64_t most = 16 << 20, block = 1 << 20;
    const bytes::Source& source = window_.source();
    const auto found = [this](std::uint64_t from, std::size_t at) {
        if (at != std::string_view::npos) end_offset_ = from + at;
        return at != std::string_view::npos;
    };
    if (window_.ended()) return found(window_.offset(), end_in(window_.view()));
    if (!source.seekable()) return false;
    const std::uint64_t size = source.size().value_or(0);
    const std::uint64_t begin = window_.offset();
    std::string text;
    for (std::uint64_t end = size; end > begin && size - end < most;) {
        const std::uint64_t from = end - begin > block ? end - block : begin;
        text.assign(static_cast<std::size_t>(std::min(size - from, block + longest_end)), '\0');
        const auto got = source.read_at(from, text);
        if (!got) return false;
        text.resize(*got);
        if (found(from, end_in(text))) return true;
        end = from;
    }
    return false;
}

// Complete, cut, or not looked at; and where the cut is.
void CrashDump::determine_completeness(Loader& loader, const Scanner& scanner, const Scanner::Head& head,
                                       bool stopped_early) {
    Source& source = snapshot_.source;
    const bytes::Source& input = window_.source();
    const std::uint64_t end = window_.offset() + window_.view().size();
    source.bytes = input.size().value_or(end);
    const bool in_processes = head.row != nullptr && head.row->order <= find_tag("proc")->order && !ended_;
    source.process_table_complete =
        (stopped_early || ended_ || !in_processes) && !(stopped_early && order_.table_end_doubtful(loader));
    stopped_early_ = stopped_early;

    if (!ended_ && !aborted_) {
        std::string tail = last_bytes();
        while (!tail.empty() && (tail.back() == '\n' || tail.back() == '\r')) tail.pop_back();
        if (const std::size_t mark = tail.rfind("\n=abort:"); mark != std::string::npos) {
            aborted_ = true;
            abort_reason_ = tail.substr(mark + 8);
        } else if (stopped_early && (tail.ends_with("\n=end") || tail == "=end")) {
            ended_ = true;
        } else if (stopped_early && tail.empty()) {
            return;  // a stream that was read in part
        } else if (stopped_early && ends_before_other_text()) {
            ended_ = true;
        }
    }
    source.complete = ended_;
    if (ended_ && !input.damage().empty()) loader.anomalies().add(Anomaly::compressed_damage, end, input.damage());
    if (ended_) return;

    std::string where = "after =" + std::string(head.tag) + (head.id.empty() ? "" : ":" + head.id);
    if (scanner.ended_inside()) where.replace(0, 5, "inside");
    if (stopped_early) where = "somewhere behind the process table";
    if (aborted_) {
        source.truncation = "the VM stopped writing " + where + " (" + abort_reason_ + ")";
        loader.anomalies().add(Anomaly::size_limit_reached, end, abort_reason_);
    } else if (!input.damage().empty()) {
        source.truncation = "ends " + where + ": " + input.damage();
        loader.anomalies().add(Anomaly::compressed_damage, end, input.damage());
    } else {
        source.truncation = "ends " + where + " at byte " + std::to_string(source.bytes);
        if (source.bytes != 0 && source.bytes % 65536 == 0)
            source.truncation +=
                ", a multiple of 64 KiB: the VM was killed while it wrote (ERL_CRASH_DUMP_SECONDS, heart, a service "
                "manager), or the disk was full";
        loader.anomalies().add(Anomaly::truncated, source.bytes);
    }
    if (!source.process_table_complete) loader.anomalies().add(Anomaly::cut_in_process_table, end);
}

std::vector<Check> CrashDump::checks() const {
    const Source& source = snapshot_.source;
    std::vector<Check> checks;
    checks.push_back({"format", true, "crash dump, version " + source.format_version});
    checks.push_back({"release", !source.otp_release.empty(),
                      source.otp_release.empty() ? "unknown; read as the newest" : "OTP " + source.otp_release});
    checks.push_back({"word size", true, std::to_string(source.word_size) + " bytes"});
    const std::string_view compression = window_.source().compression();
    checks.push_back({"compression", true, compression.empty() ? "none" : std::string(compression)});
    checks.push_back({"sections", true, std::to_string(sections_) + " read"});
    checks.push_back({"process table", source.process_table_complete,
                      source.process_table_complete ? "complete" : "cut: further processes are missing"});
    checks.push_back(
        {"end", source.complete.value_or(false), source.complete.value_or(false) ? "complete" : source.truncation});
    return checks;
}

}  // namespace

bool sniff(std::string_view head) { return head.starts_with("=erl_crash_dump:"); }

bool begins_section(std::string_view text) {
    if (!text.starts_with('=')) return false;
    const std::size_t end = text.find_first_of(":\r\n", 1);
    return end != text.npos && find_tag(text.substr(1, end - 1)) != nullptr;
}

std::optional<Error> refuse(std::string_view head, const std::string& path) {
    if (head.starts_with("<Erlang crash dump>"))
        return Error{ErrorCode::not_recognised,
                     path + ": is a crash dump in the plain-text format that releases before R10B wrote",
                     "Only dumps that begin with '=erl_crash_dump:' (R10B, 2004, and later) can be read."};
    if (head.starts_with("ENC0"))
        return Error{ErrorCode::not_recognised, path + ": is an encrypted crash dump (ENC0)",
                     "Decrypt it with the private key of the node's configuration first; OTP has the tool for it."};
    return std::nullopt;
}

std::unique_ptr<Artifact> open(std::unique_ptr<bytes::Source> source, const std::string& path,
                               const OpenOptions& options) {
    return std::make_unique<CrashDump>(std::move(source), path, options);
}

}  // namespace beamheap::crashdump
