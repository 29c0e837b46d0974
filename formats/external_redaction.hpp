// SPDX-License-Identifier: Apache-2.0
// Values within the external term format are overwritten in place: everything stays as long as it is.
#pragma once

#include <functional>
#include <span>

namespace beamheap {

/// Walks the terms that `bytes` hold, one behind the other, each with or without the version byte in front, and gives
/// the contents of binaries, strings and big integers to `value`, atoms to `atom`, to be overwritten; printable
/// characters in lists become 'x'. References, pids, ports, funs and structure stay, of funs all but what they close
/// over. False: the bytes are no such terms, or compressed; some may be overwritten then. Tags: erl_ext_dist.txt and
/// erts/emulator/beam/external.h, every release.
bool redact_external(std::span<char> bytes, const std::function<void(std::span<char>)>& value,
                     const std::function<bool(std::span<char>)>& atom);

}  // namespace beamheap
