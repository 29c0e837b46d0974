// SPDX-License-Identifier: Apache-2.0
// What a dying VM writes, kept while it writes: compressed into a file that has no name yet.
//
// A VM that writes into a pipe stands still as long as nobody takes what it has written. So the recorder does nothing
// but take, compress at the fastest level and write; whoever answers reads the file afterwards, when the VM is gone. It
// stops where it has to (the deadline, the folder's bounds): what is recorded by then is a dump that ends early, which
// is read as far as it goes. Where the disk has no room for it, it is recorded in memory, of which a part of what is
// free is taken: so there is an answer, if no dump.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "beamheap/error.hpp"
#include "bytes/descriptor.hpp"
#include "cli/catch/death_folder.hpp"

namespace beamheap::cli {

/// How many dumps begin in what goes by: two that opened the pipe before either had written share it.
class BeginsCounted {
public:
    void take(std::string_view piece);
    std::uint64_t count() const { return count_; }

private:
    std::string end_;  // of the piece before, in which one may begin
    std::uint64_t count_ = 0;
};

struct Recording {
    std::uint64_t plain_bytes = 0;  ///< that were taken
    std::string cut;                ///< why it is not all, as a clause; empty: the writer came to its end
    bytes::Descriptor memory;       ///< where it is in place of the file; none: in the file
    NotWritten not_in_file;         ///< why it is in memory
};

/// Records from a descriptor until its writer closes it, at the latest at `until_ns` (bytes/clock.hpp: monotonic_ns()),
/// into a file that is open (-1: there is none); with `memory_too` else in memory. `but`: as of
/// DeathFolder::make_room().
Recording record(int from, std::int64_t until_ns, DeathFolder& folder, std::string_view but, int file, bool memory_too);

/// Reads what there is and throws it away. False: the writer has closed it.
bool read_past(int from, std::uint64_t& bytes, BeginsCounted& begins);

}  // namespace beamheap::cli
