// SPDX-License-Identifier: Apache-2.0
// Addresses of terms, as users write them: whose heap has an object there, and which.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/artifact.hpp"
#include "beamheap/error.hpp"

namespace beamheap::analyses {

/// An address as the user wrote it: [PID@][0x]HEX. Errors: usage.
struct AddressArgument {
    std::string pid;  ///< empty: not said
    std::uint64_t address = 0;
};
Result<AddressArgument> parse_address(std::string_view text);

/// Looks for an address in the heaps of all processes, which are decoded for it.
class AddressSearch {
public:
    /// `workers` threads at the most.
    AddressSearch(std::uint64_t address, unsigned workers);
    AddressSearch(const AddressSearch&) = delete;
    AddressSearch& operator=(const AddressSearch&) = delete;

    /// To be given to LoadPlan::heaps or Artifact::visit_heaps(); this must outlive that.
    const HeapRequest& request() const { return request_; }
    /// After that: the pid, in Erlang's syntax, of the process that has it: the one whose heap has an object there, or
    /// the first that refers to a binary outside the heaps at that address, or, since it may be a literal, which all
    /// processes' terms know, any. `snapshot` is the one that was loaded. Errors: usage, where nobody has it, and where
    /// several have, who are listed.
    Result<std::string> owner(const Snapshot& snapshot) const;

private:
    struct Owner {
        ProcId process = ProcId::none;
        Pid pid;
        bool holds_binary = false;  ///< it is a binary outside the heaps that the process refers to
    };
    std::uint64_t address_;
    std::vector<std::vector<Owner>> found_;  // by worker
    HeapRequest request_;
};

/// The object at the address; of a binary outside the heaps, the first object of the process that refers to it. Errors:
/// usage, where there is none.
Result<Element> object_at(TermSource& terms, std::uint64_t address);

}  // namespace beamheap::analyses
