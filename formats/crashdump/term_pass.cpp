// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/term_pass.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "bytes/scan.hpp"

namespace beamheap::crashdump {
namespace {

/// Whether literals have a section of their own, and don't stand in the heaps of those who refer to them (up to 0.3).
bool literals_apart(const Loader& loader) { return loader.dialect.version > 3; }

constexpr std::size_t dictionary_at_once = 4u << 20;
// Heaps up to this size are searched for labels as a whole, larger ones piece by piece: for these the window would have
// to grow.
constexpr std::size_t heap_at_once = 128u << 10;
// Bytes of text: a graph takes about as many as its text.
constexpr std::uint64_t least_kept_graph = 256u << 10;
constexpr std::uint64_t most_kept_graphs = 64u << 20;

}  // namespace

HeapDialect heap_dialect(const Loader& loader, TermStyle style) {
    HeapDialect dialect;
    dialect.style = style;
    dialect.otp = loader.dialect.otp;
    dialect.word_bytes = loader.snapshot.source.word_size;
    dialect.frames_end_with_return = loader.dialect.frames_end_with_return;
    dialect.latin1_atoms = loader.dialect.latin1_atoms;
    dialect.node_name = loader.snapshot.text(loader.snapshot.node.name);
    return dialect;
}

// Heaps that are asked for: set up where the first of them begins, when the process table is complete.
void TermPass::begin_heaps(Loader& loader, const Scanner& scanner) {
    demand_ = loader.plan.heaps;
    const HeapDialect dialect = heap_dialect(loader, scanner.style);
    if (window_.source().seekable())
        pipeline_ = std::make_unique<HeapPipeline>(window_.source(), dialect, *demand_, literals_apart(loader));
    else passing_ = std::make_unique<HeapReader>(dialect);
    losses_.keep_addresses = literals_apart(loader);
}

// The process whose State is the code path, where that was asked for.
bool TermPass::knows_path(const Loader& loader, ProcId process) {
    if (!loader.plan.code_path) return false;
    const TextId name = loader.snapshot[process].name;
    return name != TextId::none && loader.snapshot.text(name) == "code_server";
}

void TermPass::begin_process(Loader& loader, ProcId process) {
    if (job_.id == process) return;
    if (!begun_ && (demand_ != nullptr || loader.plan.terms)) {  // the process table is complete
        loader.snapshot.seal();
        if (loader.plan.terms && !texts_.keeps()) texts_.expect(loader.snapshot.processes.size());
    }
    begun_ = true;
    end_process(loader);
    job_.id = process;
    loader_ = &loader;
    job_wanted_ = demand_ != nullptr && (!demand_->wanted || demand_->wanted(loader.snapshot, process));
    // Of a file, which can be read again, only places are noted: of all where their stacks are read anyway, which is
    // less work than to ask whose will be needed.
    const bool all = !loader.plan.terms_of || (loader.plan.stacks && !texts_.keeps());
    keep_text_ =
        (loader.plan.terms && (all || loader.plan.terms_of(loader.snapshot, process))) || knows_path(loader, process);
    note_place_ = loader.plan.terms || keep_text_;
    if (job_wanted_ && passing_) passing_->begin(heap_facts(loader.snapshot[process], HeapGraph::Mode::sizes));
}

// Whether its terms will be asked for, so that its graph is worth keeping. Who chooses goes through many questions:
// they are put of the few heaps alone that are large enough.
bool TermPass::will_be_asked() const {
    const LoadPlan& plan = loader_->plan;
    const auto& asked = plan.terms_of ? plan.terms_of : plan.asked_often;
    return plan.terms && job_wanted_ && asked && asked(loader_->snapshot, job_.id);
}

// Of a process whose terms will be asked for the graph is kept, unless that is quickly made again, or takes much
// memory.
HeapGraph::Mode TermPass::mode_of_job() {
    const std::uint64_t bytes = job_.extents.end() - job_.extents.begin();
    if (passing_ || bytes < least_kept_graph || bytes > most_kept_graphs - kept_graphs_ || !will_be_asked())
        return HeapGraph::Mode::sizes;
    kept_graphs_ += bytes;
    return HeapGraph::Mode::values;
}

// The last of a process's sections was passed.
void TermPass::end_process(Loader& loader) {
    if (job_.id == ProcId::none) return;
    if (note_place_ && !texts_.keeps()) texts_.add(job_.id, job_.extents);
    if (job_wanted_ && job_.extents.count != 0) {
        job_.process = loader.snapshot[job_.id];
        job_.facts = heap_facts(job_.process, mode_of_job());
        if (passing_) visit(*passing_, job_, *demand_, 0, losses_);
        else if (giant_) pipeline_->end_giant(std::move(job_));
        else pipeline_->add(std::move(job_));
    }
    job_.id = ProcId::none;
    job_.extents.count = 0;
    job_.text.clear();
    job_wanted_ = keep_text_ = note_place_ = text_lost_ = giant_ = false;
}

// Streams a section to whoever wants its lines: `take(text, last)` and the heap's reader. Of a plain file only the
// place is noted for the workers.
template <class Take>
void TermPass::pass(Scanner& scanner, const Scanner::Head& head, TermSection section, Take&& take) {
    std::uint64_t offset = head.section().body_offset;
    scanner.finish(head, [&](std::string_view text, bool last) {
        hold_text(section, head.section().body_offset, offset + text.size(), false);
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

void TermPass::note_extent(const Scanner::Head& head, TermSection section) {
    const std::uint64_t from = head.section().body_offset;
    if (job_.id == ProcId::none) return;
    hold_text(section, from, window_.offset(), true);
    job_.extents.add({from, window_.offset() - from, section});
}

// What was passed of a section that began at `section_from`, up to `to`, is kept for the workers where it stands, with
// what of the process's sections stands before it; or, once that is too much, goes to one of them at once.
void TermPass::hold_text(TermSection section, std::uint64_t section_from, std::uint64_t to, bool last) {
    if (!job_wanted_ || !pipeline_ || text_lost_ || job_.extents.count == job_.extents.parts.size()) return;
    if (giant_) return pipeline_->add_piece({section, section_from, window_.hold(section_from, to), last});
    const std::uint64_t from = job_.extents.count != 0 ? job_.extents.begin() : section_from;
    if (job_.text.empty() || !window_.extend(job_.text.back(), to)) {
        bytes::Window::Held piece = window_.hold(from, to);
        text_lost_ = piece.owner == nullptr;
        if (text_lost_) job_.text.clear();
        else job_.text.push_back(std::move(piece));
    }
    if (!text_lost_ && to - from > most_held_text) begin_giant(section, section_from, last);
}

// How much text a process has is known at its end. Who has more words than could be kept has more text, too.
HeapGraph::Mode TermPass::mode_of_giant() const {
    const Process& process = loader_->snapshot[job_.id];
    const std::uint64_t words = process.heap_words.value_or(0) + process.old_heap_words.value_or(0);
    const bool keep = words <= (most_kept_graphs - kept_graphs_) / sizeof(std::uint64_t) && will_be_asked();
    return keep ? HeapGraph::Mode::values : HeapGraph::Mode::sizes;
}

// All that is held goes first, section by section.
void TermPass::begin_giant(TermSection section, std::uint64_t section_from, bool last) {
    giant_ = true;
    pipeline_->begin_giant(heap_facts(loader_->snapshot[job_.id], mode_of_giant()));
    const std::vector<bytes::Window::Held> text = std::move(job_.text);
    job_.text.clear();
    for (std::uint32_t i = 0; i < job_.extents.count; ++i) {
        const Extent& part = job_.extents.parts[i];
        const std::uint64_t end = part.offset + part.bytes;
        for (bytes::Window::Held piece : text) {
            if (piece.end() < part.offset || piece.offset > end) continue;
            const bool ends = piece.end() >= end;
            if (ends) piece.text.remove_suffix(static_cast<std::size_t>(piece.end() - end));
            pipeline_->add_piece({part.section, part.offset, std::move(piece), ends});
            if (ends) break;
        }
    }
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text[i].end() >= section_from)
            pipeline_->add_piece({section, section_from, text[i], last && i + 1 == text.size()});
}

namespace {

// Where the last whole line of `text` ends, which are added to `lines`. One that is damaged is none, and ends with its
// LF.
std::size_t whole_lines(TermSection section, TermStyle style, std::string_view text, std::uint64_t& lines) {
    std::size_t at = 0;
    while (at < text.size()) {
        std::size_t end = line_end(section, style, text, at);
        if (end == line_incomplete) break;
        if (end == line_malformed) {
            end = text.find('\n', at);
            if (end == std::string_view::npos) break;
            ++end;
        } else {
            ++lines;
        }
        at = end;
    }
    return at;
}

}  // namespace

// Literals and persistent terms, which all heaps refer to.
void TermPass::read_shared(Loader& loader, Scanner& scanner, const Scanner::Head& head) {
    end_process(loader);
    const TermSection section = *head.row->terms;
    const std::uint64_t offset = head.section().body_offset;
    const bool search = section == TermSection::literals && labels_.wants_literals();
    const bool keep = loader.plan.terms && texts_.keeps();
    if (pipeline_ && section == TermSection::literals) {  // what heaps refer to is known when all are decoded
        finish_heaps();
    }
    const bool resolve = section == TermSection::literals && !losses_.addresses.empty();
    const bool count = section == TermSection::persistent_terms;
    std::uint64_t lines = 0;
    if (!search && !keep && !resolve && !count) {
        scanner.finish(head);
    } else {
        std::uint64_t at = offset;
        scanner.stream(head, [&](std::string_view text, bool last) {
            if (!last)
                text = text.substr(0, count ? whole_lines(section, scanner.style, text, lines) : text.rfind('\n') + 1);
            else if (count) whole_lines(section, scanner.style, text, lines);
            if (search) labels_.feed_literals(loader, text);
            if (resolve) resolve_literals(text);
            if (keep) texts_.keep_shared(section, at, text);
            at += text.size();
            return text.size();
        });
    }
    if (section == TermSection::literals) literals_passed_ = !scanner.ended_inside();
    if (count && !scanner.ended_inside()) loader.snapshot.node.persistent_terms = lines;
    if (loader.plan.terms && !texts_.keeps()) texts_.add_shared({offset, window_.offset() - offset, section});
}

// Lines of literals begin with their addresses. A line within an atom may look like one: then it resolves nothing real.
void TermPass::resolve_literals(std::string_view text) {
    while (!text.empty()) {
        const std::string_view line = take_line(text);
        const std::size_t colon = line.substr(0, 17).find(':');
        if (colon == std::string_view::npos) continue;
        if (const auto address = parse_hex(line.substr(0, colon))) losses_.addresses.resolve(*address);
    }
}

void TermPass::read_binary(Loader& loader, Scanner& scanner, const Scanner::Head& head) {
    const std::size_t first = loader.plan.terms && texts_.keeps() ? TermSections::kept_binary_text : 0;
    const Scanner::BinaryLine line = scanner.skip_binary(head, first);
    Node& node = loader.snapshot.node;
    node.binaries = node.binaries.value_or(0) + 1;
    node.binary_bytes = Count(node.binary_bytes.value_or(0)) + line.bytes.value_or(0);
    if (head.id == last_binary_) loader.anomalies().add(Anomaly::duplicate_section, head.offset, "=binary:" + head.id);
    last_binary_ = head.id;
    const bool keep = loader.plan.terms || loader.plan.binaries;
    if ((demand_ == nullptr && !keep) || !line.bytes.has()) return;
    const auto address = parse_hex(head.id);
    if (!address) return;
    if (demand_ != nullptr) passed_binaries_.push_back(*address);
    if (keep) texts_.add_binary({*address, *line.bytes, line.data_offset}, line.first_text);
}

// Sections of terms come process by process, in the order of the table.
ProcId TermPass::process_of(const Snapshot& snapshot, std::string_view id) {
    if (id.size() == found_id_.size() && bytes::same_short(id.data(), found_id_.data(), id.size()))
        return found_process_;
    found_id_.resize(id.size());
    std::memcpy(found_id_.data(), id.data(), id.size());
    const auto pid = parse_pid(id);
    const std::size_t next = found_process_ == ProcId::none ? 0 : index_of(found_process_) + std::size_t{1};
    if (pid && next < snapshot.processes.size() && snapshot.processes[next].pid == *pid)
        found_process_ = ProcId{static_cast<std::uint32_t>(next)};
    else found_process_ = pid ? snapshot.find(*pid) : ProcId::none;
    return found_process_;
}

void TermPass::read(Loader& loader, Scanner& scanner, const Scanner::Head& head) {
    if (!head.row->terms) return scanner.finish(head);
    const TermSection section = *head.row->terms;
    if (section == TermSection::literals || section == TermSection::persistent_terms)
        return read_shared(loader, scanner, head);
    const ProcId process = process_of(loader.snapshot, head.id);
    if (process == ProcId::none) {
        loader.anomalies().add(Anomaly::orphan_section, head.offset, head.id);
        if (const auto pid = parse_pid(head.id)) loader.losses.orphan(*pid);
        return scanner.finish(head);
    }
    if (loader.plan.heaps != nullptr || loader.plan.terms) {
        if (loader.plan.heaps != nullptr && !pipeline_ && !passing_) begin_heaps(loader, scanner);
        begin_process(loader, process);
    } else if (loader.plan.code_path && (job_.id != ProcId::none || knows_path(loader, process))) {
        begin_process(loader, process);
    }
    last_process_ = scanner.ended_inside() || section == TermSection::stack ? process : ProcId::none;
    const auto all = [](std::string_view text, bool) { return text.size(); };
    switch (section) {
        case TermSection::stack: return read_stack(loader, scanner, head, process);
        case TermSection::heap: return read_heap(loader, scanner, head, process);
        case TermSection::dictionary:
            if (loader.plan.labels) {
                bool whole = false;
                labels_.begin();
                labels_.dictionary(scanner.body(head, dictionary_at_once, whole));
                dictionary_of_ = process;
            }
            return pass(scanner, head, section, all);
        default: return pass(scanner, head, section, all);
    }
}

void TermPass::read_stack(Loader& loader, Scanner& scanner, const Scanner::Head& head, ProcId process) {
    if (index_of(process) >= stack_seen_.size()) stack_seen_.resize(loader.snapshot.processes.size());
    if (stack_seen_[index_of(process)]) {
        loader.anomalies().add(Anomaly::duplicate_section, head.offset, head.id);
        return scanner.finish(head);
    }
    stack_seen_[index_of(process)] = true;
    const bool wanted = loader.plan.stacks || job_wanted_ || keep_text_;
    if (!wanted) return scanner.finish(head);
    const bool slots = slots_.wants(loader, process);
    stack_reader_.begin(slots);
    pass(scanner, head, TermSection::stack,
         [&](std::string_view text, bool last) { return stack_reader_.feed(loader, text, last); });
    stack_reader_.finish(loader, loader.snapshot[process]);
    if (index_of(process) >= stack_forms_.size()) stack_forms_.resize(stack_seen_.size());
    stack_forms_[index_of(process)] = stack_reader_.form();
    if (scanner.ended_inside()) stack_forms_[index_of(process)] |= StackReader::closed;
    if (slots) slots_.stack(loader, process, stack_reader_.values());
}

void TermPass::read_heap(Loader& loader, Scanner& scanner, const Scanner::Head& head, ProcId process) {
    Process& row = loader.snapshot[process];
    if (row.has_heap) {
        loader.anomalies().add(Anomaly::duplicate_section, head.offset, head.id);
        return scanner.finish(head);
    }
    row.has_heap = true;
    if (index_of(process) >= heap_seen_.size()) heap_seen_.resize(loader.snapshot.processes.size());
    heap_seen_[index_of(process)] = true;
    if (slots_.wants_heap(process)) {
        bool all = false;
        slots_.heap(loader, scanner.style, scanner.body(head, SlotKeeper::searched_bytes, all));
    }
    const bool label = loader.plan.labels && dictionary_of_ == process && labels_.wanted();
    if (!label && !job_wanted_ && !keep_text_) return scanner.finish(head);
    const std::uint64_t body_offset = head.section().body_offset;
    bool whole = false;
    if (label) {
        const std::string_view text = scanner.body(head, heap_at_once, whole);
        whole = whole || scanner.ended_inside();
        if (whole) labels_.feed(loader, text);
        if (whole && labels_.unresolved()) labels_.feed(loader, text);
        if (whole) labels_.finish(loader, process);
    }
    const bool search = label && !whole;
    if (!search && !(job_wanted_ && passing_) && !(keep_text_ && texts_.keeps())) {
        std::uint64_t passed = body_offset;
        scanner.finish(head, [&](std::string_view text, bool) {
            hold_text(TermSection::heap, body_offset, passed += text.size(), false);
            return text.size();
        });
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
    if (search) labels_.finish(loader, process);
}

// Processes that a complete dump shows without a stack although nothing hid them are sensitive: the writer omits all
// four sections of those (dump_process_info() in erl_process_dump.c).
void TermPass::judge_processes(Loader& loader) {
    if (stack_seen_.empty()) return;
    const Anomalies& met = loader.anomalies();
    stack_seen_.resize(loader.snapshot.processes.size());
    heap_seen_.resize(loader.snapshot.processes.size());
    const bool lost = stack_seen_ != heap_seen_ ||
                      std::ranges::any_of(std::array{Anomaly::orphan_section, Anomaly::damaged_tag,
                                                     Anomaly::section_misplaced, Anomaly::duplicate_section},
                                          [&](Anomaly kind) { return met.seen(kind); });
    for (std::size_t i = 0; i < loader.snapshot.processes.size(); ++i) {
        Process& process = loader.snapshot.processes[i];
        if (i < stack_seen_.size() && stack_seen_[i]) {
            process.sensitive = false;
            continue;
        }
        loader.snapshot.anomalies.add(Anomaly::heap_missing, process.offset);
        const bool hidden_otherwise = process.state == ProcessState::exiting || process.state == ProcessState::free ||
                                      process.state == ProcessState::garbage_collecting ||
                                      process.state == ProcessState::unknown;
        // Where sections of terms are known to be lost, its own may be, too.
        if ((loader.snapshot.source.complete.value_or(false) || loader.beyond_heaps) && !hidden_otherwise && !lost)
            process.sensitive = true;
    }
}

// Of one release all stacks have the same form: where two in three have, those that don't lack lines.
void TermPass::judge_stacks(Loader& loader) const {
    for (const StackReader::Form form : {StackReader::regular, StackReader::closed}) {
        std::size_t read = 0, having = 0;
        for (const std::uint8_t one : stack_forms_) {
            read += (one & StackReader::was_read) != 0;
            having += (one & form) != 0;
        }
        if (having == read || having * 3 < read * 2) continue;
        for (std::size_t i = 0; i < stack_forms_.size(); ++i) {
            if ((stack_forms_[i] & StackReader::was_read) == 0 || (stack_forms_[i] & form) != 0) continue;
            loader.anomalies().add(Anomaly::torn_stack, loader.snapshot.processes[i].offset);
            loader.losses.damaged(ProcId{static_cast<std::uint32_t>(i)});
        }
    }
}

// Of a process the VM writes stack and heap, or neither. The last one before a cut may lack its heap.
void TermPass::judge_losses(Loader& loader) {
    Snapshot& snapshot = loader.snapshot;
    stack_seen_.resize(snapshot.processes.size());
    heap_seen_.resize(snapshot.processes.size());
    const ProcId cut_behind = snapshot.source.complete == false ? last_process_ : ProcId::none;
    for (std::size_t i = 0; i < snapshot.processes.size(); ++i) {
        if (stack_seen_[i] == heap_seen_[i] || ProcId{static_cast<std::uint32_t>(i)} == cut_behind) continue;
        snapshot.anomalies.add(Anomaly::heap_lost, snapshot.processes[i].offset);
        loader.losses.damaged(ProcId{static_cast<std::uint32_t>(i)});
    }
    snapshot.anomalies.merge(losses_.anomalies);
    for (const ProcId process : losses_.damaged) loader.losses.damaged(process);
    snapshot.source.loss.bytes += losses_.bytes;
    if (literals_passed_) loader.losses.judge_references(snapshot, losses_.addresses, Anomaly::dangling_reference);
    if (loader.binaries_passed) loader.losses.judge_references(snapshot, losses_.binaries, Anomaly::binary_lost);
}

void TermPass::finish_heaps() {
    if (!pipeline_) return;
    const Status status = pipeline_->finish(losses_);
    if (pipeline_status_) pipeline_status_ = status;
    pipeline_.reset();
}

Status TermPass::finish(Loader& loader) {
    end_process(loader);
    finish_heaps();
    for (const std::uint64_t address : passed_binaries_) losses_.binaries.resolve(address);
    for (auto& [process, heap] : losses_.kept) texts_.add_read(process, std::move(heap), !loader.plan.asked_often);
    losses_.kept.clear();
    judge_processes(loader);
    judge_stacks(loader);
    judge_losses(loader);
    return pipeline_status_;
}

}  // namespace beamheap::crashdump
