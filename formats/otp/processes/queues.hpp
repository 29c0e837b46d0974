// SPDX-License-Identifier: Apache-2.0
// Signal queues of a process: which signals are messages, and where.
//
// A process has an inner queue (sig_qs.first: messages that it has fetched), a middle one (sig_qs.cont: fetched
// signals that were not handled yet), an outer one (sig_inq: sent and not fetched), and, since OTP 25 under
// contention, 64 parallel outer buffers. Its message queue is the messages of all of them; anything whose tag is an
// external-pid header is another kind of signal (erl_proc_sig_queue.h, ERTS_SIG_IS_NON_MSG).
#pragma once

#include <cstdint>

#include "formats/otp/vm/cycle.hpp"
#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

/// One element of a queue: ErtsMessage or ErtsSignal.
struct Signal {
    std::uint64_t address = 0;
    Word attached = 0;  ///< 0: on the heap or immediate; 1: combined with its fragment; else ErlHeapFragment*
    Word term = 0;      ///< the message; non_value while it is still encoded (from another node)
    Word token = 0;     ///< seq_trace token
    Word sender = 0;    ///< pid of the sender, an atom where the VM did not keep it
    bool message() const { return (term & 0x3f) != 0x30; }
    unsigned operation() const { return static_cast<unsigned>(term >> 6) & 0xff; }
};

struct QueueSums {
    std::uint64_t messages = 0, others = 0;
    std::uint64_t fragment_words = 0;  ///< used words of the fragments that messages carry
    std::uint64_t marker_bytes = 0;    ///< of receive markers, which stand in a queue where a reference was made
    bool cut = false;                  ///< a list could not be followed to its end
    bool fragments_cut = false;        ///< some messages' fragments could not
    bool cyclic = false;               ///< a list leads back into itself
};

/// The lists of a process, in the order in which it will see them. Of a running VM the walk ends at what was the last
/// element when `process` was read: senders may append as fast as it goes on.
class QueueWalk {
public:
    /// `process` holds layout.process_size bytes.
    QueueWalk(Decoder& reader, const std::byte* process);
    /// The next signal; false at the end. Broken and cyclic lists end early and say so in cut() and cyclic().
    bool next(Signal& signal);
    bool cut() const { return cut_; }
    bool cyclic() const { return cyclic_; }

private:
    bool next_list();
    Decoder& reader_;
    std::array<std::uint64_t, 3 + 64> lists_{};
    std::array<std::uint64_t, 3 + 64> ends_{};  // of a running VM: the last element when the walk began; 0: not known
    std::size_t list_ = 0, lists_count_ = 0;
    std::uint64_t at_ = 0;
    Cycle cycle_;
    bool cut_ = false, cyclic_ = false;
};

/// Used words of the fragment chain that belongs to a signal; missing where they are more than the image has, or the
/// chain breaks.
Count fragment_words(Decoder& reader, const Signal& signal);

/// How many messages the process itself has counted in its inner and middle queue (sig_qs.len; since OTP 27 mq_len,
/// which leaves those behind other signals out): a whole queue has at least as many. `process` holds
/// layout.process_size bytes.
std::uint64_t least_messages(const Decoder& reader, const std::byte* process);

/// Counts a whole queue.
QueueSums sum_queues(Decoder& reader, const std::byte* process);

}  // namespace beamheap::otp
