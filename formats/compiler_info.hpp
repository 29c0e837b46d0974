// SPDX-License-Identifier: Apache-2.0
// What a compiler noted in a module, as every input holds it: the chunk CInf, an external term.
#pragma once

#include <string_view>

namespace beamheap {

/// The path of the source: `{source, Path}` of `info`, without a copy; empty where there is none. It is looked for as
/// its bytes: the atom `source` and a string (compile.erl, elixir_erl.erl), which stand once among options and a
/// version. A path beyond Latin-1 is a list of another form, and left out.
std::string_view source_of(std::string_view info);

}  // namespace beamheap
