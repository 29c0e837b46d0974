// SPDX-License-Identifier: Apache-2.0
// DbTableCommon.status (erl_db_util.h, DB_*): the same since OTP 23 but for the automatic granularity of 25.
#pragma once

#include <cstdint>

namespace beamheap::otp::ets_status {

inline constexpr std::uint32_t is_private = 1u << 0, is_protected = 1u << 1, is_public = 1u << 2, deleted = 1u << 3,
                               set = 1u << 4, bag = 1u << 5, duplicate_bag = 1u << 6, ordered_set = 1u << 7,
                               ca_ordered_set = 1u << 8, fine_locked = 1u << 9, frequent_read = 1u << 10,
                               named = 1u << 11, automatic = 1u << 14;

}  // namespace beamheap::otp::ets_status
