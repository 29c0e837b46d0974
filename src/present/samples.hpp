// SPDX-License-Identifier: Apache-2.0
// Tables of samples of a running VM. What they are made from must outlive them.
#pragma once

#include <vector>

#include "analyses/processes/allocation_profile.hpp"
#include "analyses/processes/cpu_profile.hpp"
#include "present/document.hpp"
#include "present/erlang_text.hpp"

namespace beamheap::present {

/// `all` is how many samples 100 % are.
Table sampled_function_table(const Names& names, const CpuSamples& samples, std::vector<analyses::FunctionSamples> rows,
                             std::uint64_t all);
Table sampled_stack_table(const Names& names, const CpuSamples& samples, std::vector<analyses::StackSamples> rows,
                          std::uint64_t all);
Table sampled_process_table(const Names& names, std::vector<analyses::ProcessSamples> rows, std::uint64_t all);
Table sampled_thread_table(const Names& names, const CpuSamples& samples, std::vector<analyses::ThreadSamples> rows);
/// One sample of each thread: what it does right now.
Table sampled_now_table(const Names& names, const CpuSamples& samples);

/// How far the answer can be trusted: sentences.
std::vector<Text> accuracy_texts(const Names& names, const CpuSamples& samples);
/// The same as figures.
Object accuracy_object(const CpuSamples& samples);

/// Who allocates. With `per_process` rows have a process, too.
Table allocation_table(const Names& names, const AllocationSamples& samples, std::vector<analyses::AllocationRow> rows,
                       bool per_process);
/// What the answer rests on and what it can't see: sentences.
std::vector<Text> allocation_texts(const Names& names, const AllocationSamples& samples,
                                   const analyses::AllocationProfile& profile);
/// The same as figures.
Object allocation_object(const AllocationSamples& samples, const analyses::AllocationProfile& profile);

}  // namespace beamheap::present
