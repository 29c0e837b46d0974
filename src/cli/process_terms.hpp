// The terms of one process as `proc` shows them: what its stack's slots hold, its dictionary, its messages.
#pragma once

#include <cstdint>
#include <vector>

#include "beamheap/artifact.hpp"
#include "present/document.hpp"
#include "present/term_printer.hpp"

namespace beamheap::cli {

struct ProcessTerms {
    /// One array of {name, term} per frame of the stack; x registers stand in the youngest.
    std::vector<present::Array> slots;
    /// {key, value, flat_words, shared_words}, sizes of the value.
    std::vector<present::Object> dictionary;
    /// {pos, term, flat_words, sender}; sender is null where the input does not record it.
    std::vector<present::Object> messages;
    std::uint64_t message_count = 0;  ///< that the input holds
    bool present = false;             ///< the input has a heap of this process
};

/// Reads what roots(terms) hold; of the messages the `most_messages` oldest (0: all). `frames`: of the process's stack.
ProcessTerms process_terms(TermSource& terms, std::size_t frames, std::size_t most_messages,
                           const present::PrintOptions& print);

}  // namespace beamheap::cli
