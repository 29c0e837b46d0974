// SPDX-License-Identifier: Apache-2.0
// Damage is data: every oddity that loading met is a named counter with the place of its first occurrence.
//
// An input loads as far as it goes; what was odd is counted here and shown to the user as warnings (stderr,
// JSON member "warnings"). A new kind of oddity is one row of the table below.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace beamheap {

enum class Severity : std::uint8_t { info, data_loss, error };

// X(name, severity, sentence): what it means for the user, and what to do, in a sentence.
#define BEAMHEAP_ANOMALIES(X)                                                                                          \
    X(layout_unproven, data_loss, "no VM of this release and kind has proved how it is read: figures may be wrong")    \
    X(truncated, data_loss, "the input ends early: what follows the cut is missing, and totals are lower bounds")      \
    X(size_limit_reached, data_loss, "the VM stopped writing at ERL_CRASH_DUMP_BYTES; unset it to get whole dumps")    \
    X(cut_in_process_table, data_loss, "the input ends inside the process table: further processes are missing")       \
    X(unknown_section, info, "sections with a tag that this version does not know were skipped")                       \
    X(unknown_field, info, "fields that this version does not know were kept aside")                                   \
    X(forged_section, info, "text that looks like a section tag stands where none can be, and was not taken for one")  \
    X(duplicate_process, info, "a process is listed more than once; the first entry counts")                           \
    X(repeated_field, info, "a section has a field more than once, which no VM writes; the first counts")              \
    X(duplicate_section, data_loss, "sections stand twice where a VM writes one: parts of the input were copied")      \
    X(torn_section, data_loss, "sections lack lines that all of their kind have, or hold some twice or out of place")  \
    X(section_missing, data_loss, "sections that every dump of this release has are not there: they are lost")         \
    X(section_misplaced, data_loss, "sections stand where no VM writes them: parts of the input were moved or lost")   \
    X(damaged_tag, data_loss, "sections with a tag that no release writes were skipped: what they held is lost")       \
    X(torn_stack, data_loss, "stacks lack lines, or hold some twice: bytes are missing")                               \
    X(unreached_object, data_loss, "heaps hold objects that nothing refers to: what referred to them is lost")         \
    X(binary_lost, data_loss, "terms refer to binaries outside of the heaps that the input does not hold")             \
    X(zeroed, data_loss, "zero bytes stand where no VM writes any: pages of the file were lost, and what stood there") \
    X(torn_process, data_loss, "entries of the process table lack a part, or hold parts of others: bytes are missing") \
    X(orphan_section, data_loss, "heap, stack or messages of processes whose entries in the process table are lost")   \
    X(heap_lost, data_loss, "processes have a stack without a heap, or a heap without a stack: a section is lost")     \
    X(messages_lost, data_loss, "processes have fewer messages in the input than in their queues")                     \
    X(count_mismatch, data_loss,                                                                                       \
      "a table does not have as many rows as the VM counted: some are lost, or stand twice")                           \
    X(linked_to_nobody, info, "processes are linked to others that are not there: just ended, or their entry is lost") \
    X(second_dump, data_loss, "another dump begins inside this one (several writers?); only the first was read")       \
    X(trailing_data, info, "text after the end of the dump was ignored")                                               \
    X(bad_number, data_loss, "a number could not be read and counts as missing")                                       \
    X(bad_line, data_loss, "lines that do not follow the format were skipped")                                         \
    X(section_too_long, data_loss, "a section is longer than any VM writes and was read in part")                      \
    X(binary_bytes, info, "control bytes or invalid UTF-8 in texts are shown escaped")                                 \
    X(crashed_section, data_loss, "the VM crashed while it wrote a section; its rest is missing")                      \
    X(newer_format, info, "the format is newer than this version knows; it is read as the newest known one")           \
    X(other_code, info, "modules that lie here are not those that the node ran, so that no lines are told of them")    \
    X(unknown_release, info, "the OTP release could not be told from the version line")                                \
    X(dangling_reference, data_loss, "terms refer to objects that the input does not hold")                            \
    X(duplicate_address, data_loss, "two objects claim one address; the first counts")                                 \
    X(cyclic_term, data_loss, "terms contain themselves, which no Erlang term does; the references were cut")          \
    X(undecodable_term, data_loss, "terms could not be decoded and are shown raw")                                     \
    X(heap_missing, info, "processes without a heap in the input (sensitive, exiting or in garbage collection)")       \
    X(collection_awaited, info,                                                                                        \
      "processes await a garbage collection, mostly with a heap fragment to go on in: the unused words that a crash "  \
      "dump tells of them are the fragment's, those of a core image are the heap's")                                   \
    X(compressed_damage, data_loss, "the compressed data is damaged or ends early")                                    \
    X(unreadable_memory, data_loss, "addresses that the core image does not hold were asked for")                      \
    X(structure_missing, data_loss,                                                                                    \
      "structures of the VM were not found in the core image (doctor names them): what they hold is missing")          \
    X(code_missing, data_loss, "the core image has no code: stacks have no functions, so no call that waits is seen")  \
    X(inconsistent_state, data_loss, "a structure was caught in the middle of a change and was read in part")          \
    X(vm_ended, data_loss, "the VM ended while it was read: what was read until then is shown")                        \
    X(terms_moved, info, "processes ran each time that their terms were read, so that these are not shown: ask again")

enum class Anomaly : std::uint8_t {
#define X(name, severity, sentence) name,
    BEAMHEAP_ANOMALIES(X)
#undef X
        count_
};

inline constexpr std::size_t anomaly_kinds = static_cast<std::size_t>(Anomaly::count_);

struct AnomalyKind {
    std::string_view name;
    Severity severity;
    std::string_view sentence;
};

/// The table above, by kind.
inline constexpr std::array<AnomalyKind, anomaly_kinds> anomaly_table{{
#define X(name, severity, sentence) {#name, Severity::severity, sentence},
    BEAMHEAP_ANOMALIES(X)
#undef X
}};

/// Counters of all kinds. Cheap to add to; keeps the place and the detail of the first occurrence of each kind.
class Anomalies {
public:
    struct Entry {
        std::uint64_t count = 0;
        std::uint64_t first_offset = 0;  ///< bytes from the start of the (decompressed) input; address in a core
        std::string first_detail;        ///< raw bytes from the input: sanitise before showing
    };

    void add(Anomaly kind, std::uint64_t offset, std::string_view detail = {}) {
        Entry& entry = entries_[static_cast<std::size_t>(kind)];
        if (entry.count++ == 0) {
            entry.first_offset = offset;
            entry.first_detail.assign(detail.substr(0, 120));
        }
    }
    void merge(const Anomalies& other) {
        for (std::size_t i = 0; i < anomaly_kinds; ++i) {
            const Entry& theirs = other.entries_[i];
            Entry& ours = entries_[i];
            if (theirs.count == 0) continue;
            if (ours.count == 0 || theirs.first_offset < ours.first_offset) {
                ours.first_offset = theirs.first_offset;
                ours.first_detail = theirs.first_detail;
            }
            ours.count += theirs.count;
        }
    }
    const Entry& operator[](Anomaly kind) const { return entries_[static_cast<std::size_t>(kind)]; }
    bool seen(Anomaly kind) const { return (*this)[kind].count != 0; }
    /// How many oddities of all kinds there were.
    std::uint64_t total() const {
        std::uint64_t sum = 0;
        for (const Entry& entry : entries_) sum += entry.count;
        return sum;
    }
    /// Whether anything was lost: --strict turns this into exit code 4.
    bool data_lost() const {
        for (std::size_t i = 0; i < anomaly_kinds; ++i)
            if (entries_[i].count != 0 && anomaly_table[i].severity != Severity::info) return true;
        return false;
    }

private:
    std::array<Entry, anomaly_kinds> entries_;
};

}  // namespace beamheap
