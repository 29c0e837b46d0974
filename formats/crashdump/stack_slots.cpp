// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/stack_slots.hpp"

#include <array>
#include <charconv>

#include "formats/crashdump/data_text.hpp"
#include "formats/crashdump/label_text.hpp"

namespace beamheap::crashdump {
namespace {

constexpr std::uint32_t youngest_frames = 3;
constexpr std::size_t longest_reference = 2048;  // encoded: the node's name takes up to 1020 bytes

StackSlot slot_of(ProcId process, std::uint32_t frame, StackSlot::Kind kind) {
    StackSlot slot;
    slot.process = process;
    slot.frame = static_cast<std::uint8_t>(frame);
    slot.kind = kind;
    return slot;
}

}  // namespace

bool SlotKeeper::wants(const Loader& loader, ProcId process) {
    const FunctionId function = loader.snapshot[process].current_function;
    if (loader.plan.slots_of == nullptr || function == FunctionId::none) return false;
    const std::size_t index = index_of(function);
    if (index >= functions_.size()) functions_.resize(index + 1);
    std::optional<SlotsWanted>& known = functions_[index];
    if (!known) known = loader.plan.slots_of(loader.snapshot, function);
    wants_ = *known;
    if (wants_ == SlotsWanted::whom_it_names && loader.snapshot[process].state != ProcessState::waiting) return false;
    return wants_ != SlotsWanted::none;
}

void SlotKeeper::stack(Loader& loader, ProcId process, std::span<const StackReader::SlotText> values) {
    process_ = process;
    wanted_.clear();
    const bool all = wants_ == SlotsWanted::all, references = all || loader.snapshot[process].monitors != 0;
    for (const StackReader::SlotText& value : values) {
        if (value.frame >= (all ? youngest_frames : 1)) continue;
        const std::string_view text = value.text;
        if (!all && text[0] != 'P' && text[0] != 'p' && text[0] != 'H') continue;
        if (text[0] == 'H' && !references) continue;
        if (text[0] == 'P') {
            StackSlot slot = slot_of(process, value.frame, StackSlot::Kind::pid);
            const auto pid = parse_pid(text.substr(1));
            if (!pid) continue;
            slot.pid = *pid;
            loader.snapshot.slots.push_back(slot);
        } else if (text[0] == 'p') {
            StackSlot slot = slot_of(process, value.frame, StackSlot::Kind::port);
            std::string printed = "#Port";
            printed += text.substr(1);
            std::string_view rest = printed;
            const auto port = take_port(rest);
            if (!port) continue;
            slot.port = *port;
            loader.snapshot.slots.push_back(slot);
        } else if (text[0] == 'A') {
            const std::size_t colon = text.find(':');
            if (colon == std::string_view::npos) continue;
            StackSlot slot = slot_of(process, value.frame, StackSlot::Kind::atom);
            slot.atom = loader.intern_atom(text.substr(colon + 1));
            loader.snapshot.slots.push_back(slot);
        } else if (text[0] == 'H' && value.frame < 2 && text.size() > 1 && text.size() <= 17) {
            wanted_.push_back({value.frame, std::string(text.substr(1))});
        }
    }
}

void SlotKeeper::heap(Loader& loader, TermStyle style, std::string_view text) {
    for (const Wanted& wanted : wanted_) {
        const std::string_view body = find_line(text, 0, wanted.address);
        if (!body.empty()) object(loader, style, wanted.frame, body);
    }
    wanted_.clear();
}

// A reference or an external pid; nothing else names anybody.
void SlotKeeper::object(Loader& loader, TermStyle style, std::uint32_t frame, std::string_view body) {
    std::string_view line = body.substr(0, body.find('\n'));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with("P")) {
        StackSlot slot = slot_of(process_, frame, StackSlot::Kind::pid);
        const auto pid = parse_pid(line.substr(1));
        if (!pid) return;
        slot.pid = *pid;
        loader.snapshot.slots.push_back(slot);
        return;
    }
    if (!line.starts_with("E")) return;
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(line.data() + 1, line.data() + line.size(), size, 16);
    if (error != std::errc{} || end == line.data() + line.size() || *end != ':' || size > longest_reference) return;
    std::array<std::uint8_t, longest_reference> data;
    const std::string_view encoded = line.substr(static_cast<std::size_t>(end + 1 - line.data()));
    const std::size_t bytes = decode_data(style, encoded, data.data(), size);
    terms_.clear();
    bool complete = true;
    const Element element = terms_.decode(std::span(data).first(bytes), {}, complete);
    if (element.kind != ElementKind::object) return;
    const ObjectHead& head = terms_.head(element.id.number);
    if (head.kind != TermKind::reference && head.kind != TermKind::external_reference) return;
    StackSlot slot = slot_of(process_, frame, StackSlot::Kind::reference);
    slot.words = static_cast<std::uint8_t>(head.numbers);
    for (std::size_t i = 0; i < 3 && i < head.numbers; ++i) slot.ref[2 - i] = head.words[i];
    loader.snapshot.slots.push_back(slot);
}

}  // namespace beamheap::crashdump
