// SPDX-License-Identifier: Apache-2.0
#include "bytes/descriptor.hpp"

#include <sys/resource.h>
#include <sys/syscall.h>

#include <algorithm>
#include <limits>

namespace beamheap::bytes {
namespace {

constexpr unsigned first_inherited = 3;
constexpr unsigned last_of_all = std::numeric_limits<unsigned>::max();
constexpr unsigned most_one_by_one = 65'536;  // where the kernel (before 5.9) closes no ranges

void close_range_of(unsigned first, unsigned last) {
    if (first > last) return;
#ifdef SYS_close_range
    if (::syscall(SYS_close_range, first, last, 0) == 0) return;
#endif
    rlimit limit{};
    const bool known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0;
    const auto end = static_cast<unsigned>(std::min<rlim_t>(known ? limit.rlim_cur : most_one_by_one, most_one_by_one));
    for (unsigned each = first; each < end && each <= last; ++each) ::close(static_cast<int>(each));
}

}  // namespace

void close_all_but(std::initializer_list<int> kept) {
    unsigned first = first_inherited;
    for (;;) {
        unsigned next = last_of_all;  // the lowest that is kept, from `first` on
        for (const int each : kept)
            if (each >= 0 && static_cast<unsigned>(each) >= first) next = std::min(next, static_cast<unsigned>(each));
        if (next == last_of_all) return close_range_of(first, last_of_all);
        if (next > first) close_range_of(first, next - 1);
        first = next + 1;
    }
}

}  // namespace beamheap::bytes
