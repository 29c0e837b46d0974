// SPDX-License-Identifier: Apache-2.0
// Values as the VM prints them in a dump: numbers, atoms, m:f/a, pids, references ("%T" and friends).
//
// Source: erts/emulator/beam/erl_printf_term.c (print_term, print_atom_name) and utils.c. All functions take
// exactly the text of the value and give nullopt (or "none") for what does not follow the format: never a guess.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "beamheap/snapshot.hpp"

namespace beamheap::crashdump {

/// All of `text` as a decimal number; missing where it is anything else or does not fit into 64 bits.
Count parse_decimal(std::string_view text);
/// All of `text` as hexadecimal digits with or without 0x.
std::optional<std::uint64_t> parse_hex(std::string_view text);

/// `<node.number.serial>`, the whole text.
std::optional<Pid> parse_pid(std::string_view text);
/// The pid at the front of `text`, which is shortened by it.
std::optional<Pid> take_pid(std::string_view& text);
/// `#Port<node.number>` at the front of `text`, which is shortened by it.
std::optional<PortName> take_port(std::string_view& text);

/// The atom at the front of `text` as raw bytes, without quotes and escapes; `text` is shortened by it.
/// An atom ends at the closing quote, or before the first byte that needs quotes. `storage` holds what was unescaped.
std::optional<std::string_view> take_atom(std::string_view& text, std::string& storage);

/// `m:f/a` at the front of `text`, which is shortened by it.
struct FunctionText {
    std::string_view module, name;  ///< valid until the next call with the same storages
    std::uint32_t arity = 0;
};
struct FunctionStorage {
    std::string module, name;
};
std::optional<FunctionText> take_function(std::string_view& text, FunctionStorage& storage);

}  // namespace beamheap::crashdump
