// SPDX-License-Identifier: Apache-2.0
// Secrets in texts that are built of pieces: what an iolist holds is one text to whoever sends it, and to us.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "present/secrets/redact_lex.hpp"
#include "present/secrets/secret_bytes.hpp"

namespace beamheap::present {

/// What mask_secrets() replaces of a text, without looking at iolists in it; in order, without overlaps.
std::vector<TextSpan> secret_spans(std::string_view text, const std::vector<std::string>& known, Unpacking& unpacking);

/// The text with the secrets of its iolists masked: each list of strings, binaries, characters, atoms and such lists is
/// read as the text that it is, and what of it is a secret there, by its key or its form, or as one of `known`, is
/// masked in the elements that hold it. Lists of anything else, and of nothing but numbers, are left as they are.
/// Linear in the text.
std::string mask_iolists(std::string_view text, const std::vector<std::string>& known, Unpacking& unpacking);

}  // namespace beamheap::present
