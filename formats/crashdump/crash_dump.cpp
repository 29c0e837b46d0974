#include "formats/crashdump/crash_dump.hpp"

#include <algorithm>
#include <unordered_set>

#include "bytes/window.hpp"
#include "formats/crashdump/heap_pipeline.hpp"
#include "formats/crashdump/labels.hpp"
#include "formats/crashdump/scanner.hpp"
#include "formats/crashdump/stack.hpp"
#include "formats/crashdump/term_texts.hpp"

namespace beamheap::crashdump {
namespace {

constexpr std::size_t longest_header = 4u << 20;   // the slogan is free text of at most a few kilobytes
constexpr std::size_t longest_body = 256u << 20;   // a supervisor's link list, a table's sections
constexpr std::size_t heap_at_once = 4u << 20;     // heaps up to this size are searched for labels as a whole

class CrashDump final : public Artifact {
public:
    CrashDump(std::unique_ptr<bytes::Source> source, const std::string& path, const OpenOptions& options)
        : options_(options), window_(std::move(source)), texts_(window_.source()) {
        snapshot_.source.path = path;
        snapshot_.source.format = InputFormat::crash_dump;
        if (options_.progress)
            window_.on_read = [this] {
                options_.progress(window_.source().stored_position(), window_.source().stored_size());
            };
    }

    Status load(const LoadPlan& plan) override;
    Snapshot& snapshot() override { return snapshot_; }
    std::vector<Check> checks() const override;

private:
    Status read_head(Loader& loader, Scanner& scanner, Scanner::Head& head);
    void read_sections(Loader& loader, Scanner& scanner, Scanner::Head& head);
    void read_terms(Loader& loader, Scanner& scanner, const Scanner::Head& head);
    void begin_heaps(Loader& loader, const Scanner& scanner);
    void begin_terms(Loader& loader, ProcId process);
    void end_terms(Loader& loader);
    template <class Take>
    void pass(Scanner& scanner, const Scanner::Head& head, TermSection section, Take&& take);
    void note_extent(const Scanner::Head& head, TermSection section);
    void read_stack(Loader& loader, Scanner& scanner, const Scanner::Head& head, ProcId process);
    void read_heap(Loader& loader, Scanner& scanner, const Scanner::Head& head, ProcId process);
    void read_binary(Loader& loader, Scanner& scanner, const Scanner::Head& head);
    void read_shared(Loader& loader, Scanner& scanner, const Scanner::Head& head);
    void read_atoms(Loader& loader, Scanner& scanner, const Scanner::Head& head);
    bool read_end(Loader& loader, Scanner& scanner, Scanner::Head& head, bool after_free_text);
    void judge_the_end(Loader& loader, const Scanner& scanner, const Scanner::Head& head, bool stopped_early);
    void judge_processes();
    std::uint8_t last_order(const LoadPlan& plan) const;
    std::string last_bytes();

    OpenOptions options_;
    bytes::Window window_;
    Snapshot snapshot_;
    StackReader stack_reader_;
    LabelFinder labels_;
    ProcId dictionary_of_ = ProcId::none;
    const HeapDemand* demand_ = nullptr;
    std::unique_ptr<HeapPipeline> pipeline_;     // heaps of a plain file are read by workers
    std::unique_ptr<HeapReader> passing_;        // those of a stream as they pass by
    HeapJob job_;                                // the process whose sections are being passed
    bool job_wanted_ = false;                    // its heap is to be decoded
    bool terms_begun_ = false;
    bool keep_text_ = false;                     // its text is to be kept (streams)
    TermTexts texts_;
    std::vector<bool> stack_seen_;
    bool ended_ = false, aborted_ = false;
    std::string abort_reason_;
    std::uint64_t sections_ = 0;
};

// The place in the writing order behind which nothing is asked for.
std::uint8_t CrashDump::last_order(const LoadPlan& plan) const {
    if (plan.to_the_end || plan.atoms) return 0xFF;
    if (plan.terms) return find_tag("binary")->order;
    if (plan.stacks || plan.labels || plan.heaps != nullptr) return find_tag("proc_heap")->order;
    if (plan.modules) return find_tag("fun")->order;
    if (plan.tables) return find_tag("loaded_modules")->order;
    return find_tag("proc")->order;
}

Status CrashDump::load(const LoadPlan& plan) {
    Loader loader{snapshot_, plan, {}, {}, {}, {}, {}};
    Scanner scanner(window_, snapshot_.anomalies);
    Scanner::Head head;
    BH_CHECK(read_head(loader, scanner, head));
    read_sections(loader, scanner, head);
    end_terms(loader);
    if (pipeline_) BH_CHECK(pipeline_->finish(snapshot_.anomalies));
    pipeline_.reset();
    BH_CHECK(Status(window_.status()));
    judge_processes();
    texts_.seal();
    snapshot_.seal();
    return ok();
}

Status CrashDump::read_head(Loader& loader, Scanner& scanner, Scanner::Head& head) {
    if (!scanner.next(head) || head.row == nullptr || head.row->body != Body::dump_start) {
        BH_CHECK(Status(window_.status()));
        return Error{ErrorCode::not_recognised, snapshot_.source.path + ": is not a crash dump", {}};
    }
    bool whole = false;
    const std::string_view body = scanner.body(head, longest_header, whole);
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
    Scanner::Head next;
    while (!scanner.ended_inside() && scanner.next(next)) {
        std::swap(head, next);
        ++sections_;
        const SectionTag* row = head.row;
        if (row == nullptr) {
            loader.anomalies().add(Anomaly::unknown_section, head.offset, head.tag);
            scanner.finish(head);
            continue;
        }
        if (row->order > last && row->body != Body::dump_end && row->body != Body::dump_abort) {
            stopped_early = true;
            break;
        }
        const bool wanted = row->part == Part::always || (row->part == Part::tables && loader.plan.tables) ||
                            (row->part == Part::modules && loader.plan.modules) || row->part == Part::terms ||
                            row->part == Part::atoms;
        switch (row->body) {
            case Body::whole: {
                if (!wanted) break;
                bool whole = true;
                const std::string_view body = scanner.body(head, longest_body, whole);
                if (!whole && !scanner.ended_inside()) loader.anomalies().add(Anomaly::section_too_long, head.offset, head.tag);
                row->reader(loader, head.section(), body);
                break;
            }
            case Body::term_lines: read_terms(loader, scanner, head); continue;
            case Body::binary: {
                read_binary(loader, scanner, head);
                continue;
            }
            case Body::atoms: read_atoms(loader, scanner, head); continue;
            case Body::skipped: break;
            case Body::dump_start:
                loader.anomalies().add(Anomaly::second_dump, head.offset);
                goto done;
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
    judge_the_end(loader, scanner, head, stopped_early);
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
    if (more_sections && window_.view().substr(rest.size()).starts_with("=erl_crash_dump"))
        loader.anomalies().add(Anomaly::second_dump, window_.offset() + rest.size());
    else if (rest.find_first_not_of("\r\n \t") != std::string_view::npos || more_sections)
        loader.anomalies().add(Anomaly::trailing_data, window_.offset());
    return true;
}

// Heaps that are asked for: set up where the first of them begins, when the process table is complete.
void CrashDump::begin_heaps(Loader& loader, const Scanner& scanner) {
    demand_ = loader.plan.heaps;
    HeapDialect dialect;
    dialect.style = scanner.style;
    dialect.otp = loader.dialect.otp;
    dialect.word_bytes = snapshot_.source.word_size;
    dialect.frames_end_with_return = loader.dialect.frames_end_with_return;
    dialect.truncated_addresses = loader.dialect.version < 3;
    dialect.node_name = snapshot_.text(snapshot_.node.name);
    if (window_.source().seekable()) pipeline_ = std::make_unique<HeapPipeline>(window_.source(), dialect, *demand_);
    else passing_ = std::make_unique<HeapReader>(dialect);
}

void CrashDump::begin_terms(Loader& loader, ProcId process) {
    if (job_.id == process) return;
    if (!terms_begun_) snapshot_.seal();  // the process table is complete
    terms_begun_ = true;
    end_terms(loader);
    job_ = {};
    job_.id = process;
    job_wanted_ = demand_ != nullptr && (!demand_->wanted || demand_->wanted(snapshot_, process));
    keep_text_ = loader.plan.terms && (!loader.plan.terms_of || loader.plan.terms_of(snapshot_, process));
    if (job_wanted_ && passing_) passing_->begin(heap_facts(snapshot_[process], HeapGraph::Mode::sizes));
}

// The last of a process's sections was passed.
void CrashDump::end_terms(Loader& loader) {
    if (job_.id == ProcId::none) return;
    if (loader.plan.terms && !texts_.keeps())
        for (std::uint32_t i = 0; i < job_.extents.count; ++i) texts_.add(job_.id, job_.extents.parts[i]);
    if (job_wanted_ && job_.extents.count != 0) {
        job_.process = snapshot_[job_.id];
        job_.facts = heap_facts(job_.process, HeapGraph::Mode::sizes);
        if (passing_) visit(*passing_, job_, *demand_, 0, loader.anomalies());
        else pipeline_->add(std::move(job_));
    }
    job_ = {};
    job_wanted_ = keep_text_ = false;
}

// Streams a section to whoever wants its lines: `take(text, last)` and the heap's reader. Of a plain file only the
// place is noted for the workers.
template <class Take>
void CrashDump::pass(Scanner& scanner, const Scanner::Head& head, TermSection section, Take&& take) {
    std::uint64_t offset = head.section().body_offset;
    scanner.stream(head, [&](std::string_view text, bool last) {
        std::size_t taken = text.size();
        if (job_wanted_ && passing_) taken = passing_->feed(section, text, offset, last);
        else if (!last) taken = text.rfind('\n') + 1;
        taken = take(text.substr(0, taken), last);
        if (keep_text_ && texts_.keeps()) texts_.keep(job_.id, section, offset, text.substr(0, taken));
        offset += taken;
        return taken;
    });
    note_extent(head, section);
}

void CrashDump::note_extent(const Scanner::Head& head, TermSection section) {
    const std::uint64_t from = head.section().body_offset;
    if (job_.id != ProcId::none) job_.extents.add({from, window_.offset() - from, section});
}

// Literals and persistent terms, which all heaps refer to.
void CrashDump::read_shared(Loader& loader, Scanner& scanner, const Scanner::Head& head) {
    end_terms(loader);
    const TermSection section = head.row->terms == Terms::literals ? TermSection::literals : TermSection::persistent_terms;
    std::uint64_t offset = head.section().body_offset;
    if (!loader.plan.terms || !texts_.keeps()) {
        scanner.finish(head);
        if (loader.plan.terms) texts_.add_shared({offset, window_.offset() - offset, section});
        return;
    }
    scanner.stream(head, [&](std::string_view text, bool) {
        texts_.keep_shared(section, offset, text);
        offset += text.size();
        return text.size();
    });
}

void CrashDump::read_binary(Loader& loader, Scanner& scanner, const Scanner::Head& head) {
    const std::size_t first = loader.plan.terms && texts_.keeps() ? TermTexts::kept_binary_text : 0;
    const Scanner::BinaryLine line = scanner.skip_binary(head, first);
    Node& node = snapshot_.node;
    node.binaries = node.binaries.value_or(0) + 1;
    node.binary_bytes = Count(node.binary_bytes.value_or(0)) + line.bytes.value_or(0);
    if (!loader.plan.terms || !line.bytes.has()) return;
    if (const auto address = parse_hex(head.id)) texts_.add_binary({*address, *line.bytes, line.data_offset}, line.first_text);
}

void CrashDump::read_terms(Loader& loader, Scanner& scanner, const Scanner::Head& head) {
    const Terms terms = head.row->terms;
    if (terms == Terms::none) return scanner.finish(head);
    if (terms == Terms::literals || terms == Terms::persistent_terms) return read_shared(loader, scanner, head);
    ProcId process = ProcId::none;
    if (const auto pid = parse_pid(head.id)) process = snapshot_.find(*pid);
    if (process == ProcId::none) {
        loader.anomalies().add(Anomaly::orphan_section, head.offset, head.id);
        return scanner.finish(head);
    }
    if (loader.plan.heaps != nullptr || loader.plan.terms) {
        if (demand_ == nullptr && loader.plan.heaps != nullptr) begin_heaps(loader, scanner);
        begin_terms(loader, process);
    }
    const auto all = [](std::string_view text, bool) { return text.size(); };
    switch (terms) {
        case Terms::stack: return read_stack(loader, scanner, head, process);
        case Terms::heap: return read_heap(loader, scanner, head, process);
        case Terms::dictionary:
            if (loader.plan.labels) {
                bool whole = false;
                labels_.begin();
                labels_.dictionary(scanner.body(head, heap_at_once, whole));
                dictionary_of_ = process;
            }
            return pass(scanner, head, TermSection::dictionary, all);
        default: return pass(scanner, head, TermSection::messages, all);
    }
}

void CrashDump::read_stack(Loader& loader, Scanner& scanner, const Scanner::Head& head, ProcId process) {
    stack_seen_.resize(snapshot_.processes.size());
    if (stack_seen_[index_of(process)]) {
        loader.anomalies().add(Anomaly::duplicate_section, head.offset, head.id);
        return scanner.finish(head);
    }
    stack_seen_[index_of(process)] = true;
    const bool wanted = loader.plan.stacks || job_wanted_ || keep_text_;
    if (!wanted) return scanner.finish(head);
    stack_reader_.begin();
    pass(scanner, head, TermSection::stack,
         [&](std::string_view text, bool last) { return stack_reader_.feed(loader, text, last); });
    stack_reader_.finish(loader, snapshot_[process]);
}

void CrashDump::read_heap(Loader& loader, Scanner& scanner, const Scanner::Head& head, ProcId process) {
    Process& row = snapshot_[process];
    if (row.has_heap) {
        loader.anomalies().add(Anomaly::duplicate_section, head.offset, head.id);
        return scanner.finish(head);
    }
    row.has_heap = true;
    const bool label = loader.plan.labels && dictionary_of_ == process && labels_.wanted();
    if (!label && !job_wanted_) return scanner.finish(head);
    const std::uint64_t body_offset = head.section().body_offset;
    bool whole = false;
    if (label) {
        const std::string_view text = scanner.body(head, heap_at_once, whole);
        whole = whole || scanner.ended_inside();
        if (whole) labels_.feed(loader, text);
        if (whole && labels_.unresolved()) labels_.feed(loader, text);
        if (whole) labels_.finish(loader, row);
    }
    const bool search = label && !whole;
    if (!search && !(job_wanted_ && passing_) && !(keep_text_ && texts_.keeps())) {
        scanner.finish(head);
        return note_extent(head, TermSection::heap);
    }
    const auto look = [&](std::string_view text, bool) {
        if (search) labels_.feed(loader, text);
        return text.size();
    };
    pass(scanner, head, TermSection::heap, look);
    if (search && labels_.unresolved() && window_.source().seekable()) {
        window_.seek(body_offset);
        scanner.stream(head, [&](std::string_view text, bool last) {
            return look(text.substr(0, last ? text.size() : text.rfind('\n') + 1), last);
        });
    }
    if (search) labels_.finish(loader, row);
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
            if (!line.empty()) atoms.push_back(loader.atom(line));
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

// Complete, cut, or not looked at; and where the cut is.
void CrashDump::judge_the_end(Loader& loader, const Scanner& scanner, const Scanner::Head& head, bool stopped_early) {
    Source& source = snapshot_.source;
    const bytes::Source& input = window_.source();
    const std::uint64_t end = window_.offset() + window_.view().size();
    source.bytes = input.size().value_or(end);
    const bool in_processes = head.row != nullptr && head.row->order <= find_tag("proc")->order && !ended_;
    source.process_table_complete = stopped_early || ended_ || !in_processes;

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
        }
    }
    source.complete = ended_;
    if (ended_) return;

    std::string where = "after =" + head.tag + (head.id.empty() ? "" : ":" + head.id);
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
            source.truncation += ", a multiple of 64 KiB: the VM was killed while it wrote "
                                 "(ERL_CRASH_DUMP_SECONDS, heart, a service manager), or the disk was full";
        loader.anomalies().add(Anomaly::truncated, end);
    }
    if (!source.process_table_complete) loader.anomalies().add(Anomaly::cut_in_process_table, end);
}

// Processes that a complete dump shows without a stack although nothing hid them are sensitive: the writer omits all
// four sections of those (dump_process_info() in erl_process_dump.c).
void CrashDump::judge_processes() {
    if (stack_seen_.empty()) return;
    stack_seen_.resize(snapshot_.processes.size());
    for (std::size_t i = 0; i < snapshot_.processes.size(); ++i) {
        Process& process = snapshot_.processes[i];
        if (stack_seen_[i]) continue;
        snapshot_.anomalies.add(Anomaly::heap_missing, process.offset);
        process.sensitive = snapshot_.source.complete.value_or(false) &&
                            process.state != ProcessState::exiting && process.state != ProcessState::free &&
                            process.state != ProcessState::garbage_collecting && process.state != ProcessState::unknown;
    }
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
    checks.push_back({"end", source.complete.value_or(false),
                      source.complete.value_or(false) ? "complete" : source.truncation});
    return checks;
}

}  // namespace

bool sniff(std::string_view head) { return head.starts_with("=erl_crash_dump:"); }

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
