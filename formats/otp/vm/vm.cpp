// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/vm/vm.hpp"

#include <fmt/format.h>

#include "formats/otp/vm/layout_check.hpp"

namespace beamheap::otp {
namespace {

using bytes::load;

constexpr unsigned number_bits_28 = 15, number_bits_60 = 28;  // ERTS_PROC... _PID_NUM_SIZE until OTP 25, since 26
constexpr std::size_t cached_functions = 1024;

std::uint64_t table_word(const std::byte* table, std::uint32_t at, bool wide) {
    return wide ? load<std::uint64_t>(table + at) : load<std::uint32_t>(table + at);
}

}  // namespace

std::optional<SlotTable> SlotTable::read(bytes::MemoryReader& memory, const Layout& layout, std::uint64_t table) {
    const Offsets& at = layout.at;
    const std::byte* p = table == 0 ? nullptr : memory.at(table, at.table_element_size + 8);
    if (p == nullptr) return std::nullopt;
    const bool wide = layout.pid_form == PidForm::shuffled60;  // masks are words since then
    SlotTable result;
    result.count = load<std::uint32_t>(p + at.table_count);
    result.slots = load<std::uint64_t>(p + at.table_slots);
    result.max = load<std::uint32_t>(p + at.table_max);
    result.invalid = load<std::uint64_t>(p + at.table_invalid);
    result.element_size = load<std::uint64_t>(p + at.table_element_size);
    result.bytes = result.max * (load<std::uint64_t>(p + at.table_free) != 0 ? 12ull : 8ull);
    result.mask = table_word(p, at.table_mask, wide);
    result.line_mask = table_word(p, at.table_line_mask, wide);
    result.item_mask = table_word(p, at.table_item_mask, wide);
    result.line_shift = load<std::uint32_t>(p + at.table_line_shift) & 63;
    result.item_shift = load<std::uint32_t>(p + at.table_item_shift) & 63;
    return result;
}

std::uint32_t SlotTable::slot_of(Word id, PidForm form) const {
    return static_cast<std::uint32_t>(form == PidForm::data28 ? id >> 32 : (id >> 4) & mask);
}

FunctionId Reader::function(const Mfa& mfa) {
    if (function_cache_.empty()) function_cache_.resize(cached_functions, {Mfa{}, FunctionId::none});
    const std::size_t slot = ((mfa.module * 31 + mfa.function) >> 6) % cached_functions;
    auto& [known, id] = function_cache_[slot];
    if (id != FunctionId::none && known.module == mfa.module && known.function == mfa.function &&
        known.arity == mfa.arity)
        return id;
    const Function function{atom(mfa.module), atom(mfa.function), mfa.arity};
    if (function.module == TextId::none || function.name == TextId::none) return FunctionId::none;
    known = mfa;
    id = snapshot.functions.intern(function);
    return id;
}

// ExternalThing: header, ErlNode*, next, data (erl_term.h, erl_node_container_utils.h).
std::optional<Reader::External> Reader::external(Word word, Tag tag) {
    if (!is_boxed(word)) return std::nullopt;
    const std::byte* p = memory.at(address_of(word), 32);
    if (p == nullptr || vm.layout.tags[header_subtag(load<Word>(p))] != tag) return std::nullopt;
    const auto node = load<Word>(p + 8);
    const std::byte* n = memory.at(node, at.node_entry + 8);
    if (n == nullptr) return std::nullopt;
    const auto name = load<Word>(n + at.node_name);
    if (!is_atom(name)) return std::nullopt;
    External result;
    // This very node under an earlier creation is a peer as well.
    result.node = node == vm.roots.this_node ? 0 : atom_index(name);
    result.data = load<Word>(p + 24);
    if (result.node != 0)
        if (const TextId text = atom(name); text != TextId::none) snapshot.channel_names.emplace(result.node, text);
    return result;
}

Pid Reader::pid(Word word) {
    Pid pid;
    if (is_pid(word)) {
        if (vm.layout.pid_form == PidForm::data28) {
            const auto data = static_cast<std::uint32_t>(word >> 4) & 0xfffffff;
            pid.number = data & ((1u << number_bits_28) - 1);
            pid.serial = data >> number_bits_28;
        } else {
            const std::uint64_t data = vm.processes.unshuffle(word >> 4);
            pid.number = static_cast<std::uint32_t>(data & ((1u << number_bits_60) - 1));
            pid.serial = static_cast<std::uint32_t>(data >> number_bits_60);
        }
        return pid;
    }
    if (const auto found = external(word, Tag::external_pid)) {
        pid.node = found->node;
        if (vm.layout.external_pid_two_words) {
            pid.number = static_cast<std::uint32_t>(found->data);
            pid.serial = static_cast<std::uint32_t>(found->data >> 32);
        } else {
            pid.number = static_cast<std::uint32_t>(found->data) & ((1u << number_bits_28) - 1);
            pid.serial = static_cast<std::uint32_t>(found->data >> number_bits_28) & ((1u << 13) - 1);
        }
    }
    return pid;
}

PortName Reader::port(Word word) {
    PortName port;
    if (is_port(word)) {
        if (vm.layout.pid_form == PidForm::data28) port.number = (word >> 4) & 0xfffffff;
        else port.number = vm.ports.unshuffle(word >> 4);
        return port;
    }
    if (const auto found = external(word, Tag::external_port)) {
        port.node = found->node;
        port.number = found->data;
    }
    return port;
}

Result<std::unique_ptr<Vm>> Vm::open(const Image& image) {
    const Build& build = image.build();
    if (build.release < known_layouts().front().release)
        return Error{ErrorCode::not_recognised,
                     fmt::format("{}: an Erlang VM of OTP {}; core images are read from OTP {} on", image.name(),
                                 build.release, known_layouts().front().release),
                     "Its crash dumps can be read."};
    auto vm = std::make_unique<Vm>();
    vm->image = &image;
    BH_CHECK(choose_layout(*vm));
    return vm;
}

}  // namespace beamheap::otp
