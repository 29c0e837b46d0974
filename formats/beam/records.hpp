// SPDX-License-Identifier: Apache-2.0
// Records of a module, out of what the compiler kept of it: the abstract code in chunk "Dbgi" (OTP 20 and later) or
// "Abst" (until 19). What was included (-include) is in it, so that all records are there that the module can name.
//
// Facts: {debug_info_v1, erl_abstract_code, {Forms, Options}}, {raw_abstract_v1, Forms} (beam_lib.erl,
// erl_abstract_code.erl); {attribute, Anno, record, {Name, Fields}} (absform.xml). Elixir keeps the macros that
// Record.defrecord/3 makes, in {debug_info_v1, elixir_erl, {elixir_v1, Module, Specs}} (elixir_erl.erl): each calls
// Record.__access__ with the tag and the fields (record.ex; as 1.14 writes it). What is encrypted has none.
//
// The term is gone over once, from its bytes, and no term is built: what is no record is passed over. Time and memory
// follow the unpacked size, which is bounded; nothing recurses.
#pragma once

#include <string_view>
#include <vector>

#include "beamheap/error.hpp"
#include "beamheap/record_names.hpp"

namespace beamheap::beam {

/// The largest abstract code that is read, unpacked.
inline constexpr std::size_t most_debug_bytes = 128u << 20;

/// Records of an uncompressed module, in their order; empty where it holds none, or no debug information. Errors:
/// not_recognised; damaged, with a clause that says what; resource_limit.
Result<std::vector<RecordType>> read_records(std::string_view module);

/// The same of an external term as the chunks have it.
Result<std::vector<RecordType>> records_of_debug_info(std::string_view term);

}  // namespace beamheap::beam
