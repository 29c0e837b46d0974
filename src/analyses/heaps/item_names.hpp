// SPDX-License-Identifier: Apache-2.0
// What an item of a list is called in a path: by what it says of itself, where it does, and by its place, where it does
// not.
//
// {Tag, Name, ...} with two atoms is called by these ("handler my_handler" of {handler, my_handler, ...}), a map by
// what is an atom or a small number under `name`, `id` or `module`. Words that programs use for anything name nothing.
#pragma once

#include <cstdint>

#include "analyses/base/sentence.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::analyses {

/// "handler my_handler", "name shop", "item 5"; `place` counts from 1.
Sentence item_step(TermSource& terms, const Element& item, std::uint64_t place);

}  // namespace beamheap::analyses
