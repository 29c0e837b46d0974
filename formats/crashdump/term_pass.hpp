// SPDX-License-Identifier: Apache-2.0
// The pass over the sections that hold terms: stacks, labels, heaps on the way, text that is kept for later.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/window.hpp"
#include "formats/crashdump/heap_pipeline.hpp"
#include "formats/crashdump/process_identity.hpp"
#include "formats/crashdump/scanner.hpp"
#include "formats/crashdump/stack.hpp"
#include "formats/crashdump/stack_slots.hpp"
#include "formats/crashdump/term_sections.hpp"

namespace beamheap::crashdump {

/// How the dump that is being loaded writes heaps.
HeapDialect heap_dialect(const Loader& loader, TermStyle style);

class TermPass {
public:
    TermPass(bytes::Window& window, TermSections& texts) : window_(window), texts_(texts) {}

    /// Reads a section of Body::term_lines as far as the plan asks, and goes to the next section.
    void read(Loader& loader, Scanner& scanner, const Scanner::Head& head);
    /// The same for =binary.
    void read_binary(Loader& loader, Scanner& scanner, const Scanner::Head& head);
    /// All sections were passed: waits for heaps that are being decoded, and tells sensitive processes.
    Status finish(Loader& loader);

private:
    ProcId process_of(const Snapshot& snapshot, std::string_view id);
    void begin_heaps(Loader& loader, const Scanner& scanner);
    static bool knows_path(const Loader& loader, ProcId process);
    void begin_process(Loader& loader, ProcId process);
    void end_process(Loader& loader);
    bool will_be_asked() const;
    HeapGraph::Mode mode_of_job();
    template <class Take>
    void pass(Scanner& scanner, const Scanner::Head& head, TermSection section, Take&& take);
    void hold_text(TermSection section, std::uint64_t section_from, std::uint64_t to, bool last);
    void begin_giant(TermSection section, std::uint64_t section_from, bool last);
    HeapGraph::Mode mode_of_giant() const;
    void note_extent(const Scanner::Head& head, TermSection section);
    void read_stack(Loader& loader, Scanner& scanner, const Scanner::Head& head, ProcId process);
    void read_heap(Loader& loader, Scanner& scanner, const Scanner::Head& head, ProcId process);
    void read_shared(Loader& loader, Scanner& scanner, const Scanner::Head& head);
    void judge_processes(Loader& loader);
    void judge_stacks(Loader& loader) const;
    void judge_losses(Loader& loader);
    void finish_heaps();
    void resolve_literals(std::string_view text);

    bytes::Window& window_;
    TermSections& texts_;
    StackReader stack_reader_;
    LabelFinder labels_;
    SlotKeeper slots_;
    std::uint64_t kept_graphs_ = 0;               // bytes of text of those whose graphs are kept
    std::vector<std::uint64_t> passed_binaries_;  // addresses, while heaps are decoded
    std::string last_binary_;                     // the address of the last section of a binary
    std::string found_id_;                        // what process_of() was asked last, and what it gave
    ProcId found_process_ = ProcId::none;
    ProcId dictionary_of_ = ProcId::none;  // whose dictionary labels_ has
    std::vector<bool> stack_seen_;         // by ProcId
    std::vector<bool> heap_seen_;
    std::vector<std::uint8_t> stack_forms_;  // by ProcId; of those that were read
    const HeapRequest* demand_ = nullptr;
    std::unique_ptr<HeapPipeline> pipeline_;  // heaps of a plain file are read by workers
    std::unique_ptr<HeapReader> passing_;     // those of a stream as they pass by
    HeapJob job_;                             // the process whose sections are being passed
    HeapLosses losses_;                       // of heaps that passed by, and at the end of all
    Status pipeline_status_ = ok();
    ProcId last_process_ = ProcId::none;  // whose stack was the last section: the input may have been cut behind it
    bool literals_passed_ = false;        // the section was read to its end
    bool begun_ = false;                  // the first section of terms was met
    bool job_wanted_ = false;             // its heap is to be decoded
    bool text_lost_ = false;              // not all of its text can be held for the workers
    bool giant_ = false;                  // its text goes to a worker as it is passed
    const Loader* loader_ = nullptr;      // of that process
    bool keep_text_ = false;              // its text is to be kept (streams)
    bool note_place_ = false;             // where its sections are in a file is kept
};

}  // namespace beamheap::crashdump
