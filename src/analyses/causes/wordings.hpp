// SPDX-License-Identifier: Apache-2.0
// Fills the places of a row's wording (erlang/wording.hpp) with what the names of its pattern stand for.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "analyses/base/sentence.hpp"
#include "erlang/owned_term.hpp"
#include "erlang/wording.hpp"

namespace beamheap::analyses {

/// The sentence of a wording. `term` is where the match was found: printed terms of the sentence keep it.
Sentence said(const erlang::Wording& wording, const erlang::Match& match, const std::shared_ptr<OwnedTerm>& term);

/// A name or number as itself, without quotes; a text as a name; any other term as it is printed.
Sentence plain(const Element& element, const std::shared_ptr<OwnedTerm>& term);

/// A text in one line, without the frames that follow it ("    (stdlib) io.ex:1: ..."), no longer than `most` bytes and
/// three dots.
std::string one_line(std::string_view text, std::size_t most = 100);
/// A path in at most `most` bytes and three points: of a longer one the end, whose names tell which file it is.
std::string path_text(std::string_view path, std::size_t most = 90);

/// "cannot open shared object file" of "Failed to load NIF library: '/x/y.so: cannot open shared object file: ...'".
std::string library_error(std::string_view text);

}  // namespace beamheap::analyses
