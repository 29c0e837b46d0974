// SPDX-License-Identifier: Apache-2.0
// Records of OTP's own modules: rows of otp_records.inc, which tests/support/otp_records.py writes from the debug
// information of OTP 23, 25, 27 and 29. They name the fields of supervisors, TLS connections, mnesia and others with no
// module at hand. A release between these that has another number of fields is not named.
#pragma once

#include <string_view>
#include <vector>

#include "beamheap/record_names.hpp"

namespace beamheap::erlang {

/// Records of this module and of what it shares with its family; empty: none is known.
std::vector<RecordType> otp_records(std::string_view module);

}  // namespace beamheap::erlang
