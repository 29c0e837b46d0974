// SPDX-License-Identifier: Apache-2.0
// What a process is for, out of its dictionary: $initial_call, $ancestors, $process_label (proc_lib.erl), and
// process_name, which RabbitMQ had before there were labels.
#pragma once

#include <algorithm>
#include <vector>

#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

/// Calls visit(key, value) for each entry of a process's dictionary, `dictionary` being its ProcDict*.
/// False if it could not be read to the end.
template <class Visit>
bool each_dictionary_entry(Decoder& reader, std::uint64_t dictionary, Visit&& visit);

class LabelReader {
public:
    explicit LabelReader(Reader& reader) : reader_(reader) {}
    /// Fills real_initial_call and label; remembers an ancestor that is a pid until all names are known.
    bool read(const std::byte* process, Process& row);
    /// How many ancestors are remembered; and back to that many, where a process is read again.
    std::size_t remembered() const { return waiting_.size(); }
    void forget_from(std::size_t count) { waiting_.resize(std::min(count, waiting_.size())); }
    /// Turns remembered ancestors into the names of their processes.
    void resolve(std::vector<Process>& rows);

private:
    void entry(Word key, Word value, Process& row);
    void ancestors(Word list, Process& row);
    enum class Key : std::uint8_t { other, initial_call, ancestors, label, own_name };
    Key key_of(Word atom);

    Reader& reader_;
    std::vector<std::pair<Word, Key>> keys_;  // atoms that were looked at
    struct Ancestry {
        Pid owner;
        std::vector<Pid> ancestors;
        TextId after = TextId::none;  // the first named ancestor behind those pids
    };
    std::vector<Ancestry> waiting_;
};

// An array of slots, each NIL, one boxed {Key, Value}, or a list of them (erl_process_dict.c). False where what is
// there is not as many entries as the dictionary counts. A dictionary grows as soon as it has more entries than slots:
// four times as many come of lists that lead into themselves or into one another.
template <class Visit>
bool each_dictionary_entry(Decoder& reader, std::uint64_t dictionary, Visit&& visit) {
    constexpr std::uint32_t most_slots = 1u << 28;
    const auto slots = reader.memory.word32(dictionary + reader.at.dictionary_slots);
    const auto counted = reader.memory.word(dictionary + reader.at.dictionary_entries);
    if (!slots || !counted || *slots == 0 || *slots > most_slots) return false;
    const std::byte* data = reader.memory.at(dictionary + reader.at.dictionary_data, 8ull * *slots);
    if (data == nullptr) return false;
    const std::uint64_t most_entries = 4ull * *slots + 64;
    bool whole = true;
    std::uint64_t seen = 0;
    const auto pair = [&](Word term) {
        const std::byte* tuple = is_boxed(term) ? reader.memory.at(address_of(term), 24) : nullptr;
        if (tuple == nullptr || bytes::load<Word>(tuple) != (2u << 6)) whole = false;
        else visit(term, bytes::load<Word>(tuple + 8), bytes::load<Word>(tuple + 16));
        ++seen;
    };
    for (std::uint32_t i = 0; i < *slots; ++i) {
        auto term = bytes::load<Word>(data + 8ull * i);
        if (is_boxed(term)) {
            pair(term);
            continue;
        }
        while (is_cons(term)) {
            const std::byte* cell = reader.memory.at(address_of(term), 16);
            if (cell == nullptr || seen >= most_entries) {
                whole = false;
                break;
            }
            pair(bytes::load<Word>(cell));
            term = bytes::load<Word>(cell + 8);
        }
    }
    return whole && seen == *counted;
}

}  // namespace beamheap::otp
