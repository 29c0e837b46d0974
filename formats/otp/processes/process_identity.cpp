// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/processes/process_identity.hpp"

#include "formats/otp/processes/term_format.hpp"

namespace beamheap::otp {
namespace {

using bytes::load;

constexpr int longest_ancestry = 64;
constexpr std::size_t longest_label = 200;
constexpr std::size_t remembered_keys = 4096;

}  // namespace

LabelReader::Key LabelReader::key_of(Word atom) {
    if (keys_.empty()) keys_.resize(remembered_keys, {0, Key::other});
    auto& [known, key] = keys_[atom_index(atom) % remembered_keys];
    if (known == atom) return key;
    known = atom;
    key = Key::other;
    if (const auto name = reader_.vm.atoms.text(reader_.memory, atom_index(atom))) {
        if (*name == "$initial_call") key = Key::initial_call;
        else if (*name == "$ancestors") key = Key::ancestors;
        else if (*name == "$process_label") key = Key::label;
        else if (*name == "process_name") key = Key::own_name;
    }
    return key;
}

bool LabelReader::read(const std::byte* process, Process& row) {
    const auto dictionary = load<Word>(process + reader_.at.process_dictionary);
    if (dictionary == 0) return true;
    return each_dictionary_entry(reader_, dictionary, [&](Word, Word key, Word value) { entry(key, value, row); });
}

void LabelReader::entry(Word key, Word value, Process& row) {
    if (!is_atom(key)) return;
    switch (key_of(key)) {
        case Key::initial_call: {
            const std::byte* tuple = is_boxed(value) ? reader_.memory.at(address_of(value), 32) : nullptr;
            if (tuple == nullptr || load<Word>(tuple) != (3u << 6)) return;
            const Mfa mfa{load<Word>(tuple + 8), load<Word>(tuple + 16),
                          static_cast<std::uint32_t>(small_value(load<Word>(tuple + 24)))};
            if (is_atom(mfa.module) && is_atom(mfa.function) && is_small(load<Word>(tuple + 24)) && mfa.arity < 256)
                row.real_initial_call = reader_.function(mfa);
            return;
        }
        case Key::ancestors: ancestors(value, row); return;
        case Key::label: row.label = reader_.snapshot.texts.intern(term_text(reader_, value, longest_label)); return;
        case Key::own_name: {  // RabbitMQ's (rabbit_misc:store_proc_name/2)
            if (row.label != TextId::none || !is_boxed(value)) return;
            const std::string text = term_text(reader_, value, longest_label);
            if (text.starts_with("{rabbit")) row.label = reader_.snapshot.texts.intern(text);
            return;
        }
        case Key::other: return;
    }
}

// The nearest ancestor with a name: an atom, or the name of a pid's process, which may come later in the table.
void LabelReader::ancestors(Word list, Process& row) {
    Ancestry found{row.pid, {}, TextId::none};
    for (int i = 0; is_cons(list) && i < longest_ancestry; ++i) {
        const std::byte* cell = reader_.memory.at(address_of(list), 16);
        if (cell == nullptr) break;
        const auto head = load<Word>(cell);
        if (is_atom(head)) {
            found.after = reader_.atom(head);
            break;
        }
        if (const Pid pid = reader_.pid(head); pid.local()) found.ancestors.push_back(pid);
        list = load<Word>(cell + 8);
    }
    if (found.ancestors.empty()) row.application = found.after;
    else waiting_.push_back(std::move(found));
}

void LabelReader::resolve(std::vector<Process>& rows) {
    const Snapshot& snapshot = reader_.snapshot;
    for (const Ancestry& entry : waiting_) {
        TextId name = TextId::none;
        for (const Pid& pid : entry.ancestors) {
            const ProcId id = snapshot.find(pid);
            if (id != ProcId::none) name = snapshot[id].name;
            if (name != TextId::none) break;
        }
        if (name == TextId::none) name = entry.after;
        if (const ProcId owner = snapshot.find(entry.owner); owner != ProcId::none)
            rows[index_of(owner)].application = name;
    }
    waiting_.clear();
}

}  // namespace beamheap::otp
