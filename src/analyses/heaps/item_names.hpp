// SPDX-License-Identifier: Apache-2.0
// What the steps of a path are called: the root that it begins with, a key, an item of a list by what it says of
// itself, where it does, and by its place, where it does not.
//
// {Tag, Name, ...} with two atoms is called by these ("handler my_handler" of {handler, my_handler, ...}), a map by
// what is an atom or a small number under `name`, `id` or `module`. Words that programs use for anything name nothing.
#pragma once

#include <cstdint>

#include "analyses/base/sentence.hpp"
#include "beamheap/snapshot.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::analyses {

/// "the stack of my_server:loop/1", "its process dictionary", "message 3"
Sentence root_step(const Snapshot& snapshot, ProcId process, const Root& root);
/// "key pending", "key 7"; of keys that are neither atoms nor small numbers "key ...".
Sentence key_step(const Element& key);
/// The same of a small map's value, by its place from 0; `keys` is the tuple of its keys.
Sentence key_step(TermSource& terms, const Element& keys, std::uint64_t place);
/// "handler my_handler", "name shop", "item 5"; `place` counts from 1.
Sentence item_step(TermSource& terms, const Element& item, std::uint64_t place);

}  // namespace beamheap::analyses
