// SPDX-License-Identifier: Apache-2.0
// Tables of native stacks and of samples.
#pragma once

#include <string>
#include <vector>

#include "analyses/processes/native_stacks.hpp"
#include "present/document.hpp"
#include "present/erlang_text.hpp"

namespace beamheap::present {

/// Threads with what they did; `native` and `groups` must outlive the table.
Table thread_table(const Names& names, const NativeThreads& native, const std::vector<analyses::ThreadGroup>& groups);
/// Who was inside a function, by the Erlang function above it.
Table blame_table(const Names& names, const NativeThreads& native, const analyses::Blame& blame);
/// What ran, in all inputs together; `inputs` are their names.
Table sample_table(const std::vector<analyses::SampleGroup>& groups, const std::vector<std::string>& inputs);

}  // namespace beamheap::present
