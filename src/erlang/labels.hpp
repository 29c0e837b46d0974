// SPDX-License-Identifier: Apache-2.0
// What libraries call their processes: the terms of $process_label (proc_lib:set_label/1), and of keys that are older
// than it, as rows with what each means in words. Who chose a part of it (a queue's name, a topic) is printed as a
// term, and so hidden as values are.
#pragma once

#include <span>
#include <string_view>

#include "erlang/pattern.hpp"
#include "erlang/wording.hpp"

namespace beamheap::erlang {

struct LabelRow {
    Pattern label;
    Wording words;
};

/// The first that fits is told.
std::span<const LabelRow> label_rows();

}  // namespace beamheap::erlang
