// SPDX-License-Identifier: Apache-2.0
#include "bytes/cut_files.hpp"

#include <catch2/catch.hpp>
#include <csignal>

namespace {

volatile std::sig_atomic_t told = 0;

extern "C" void count_signal(int, siginfo_t* info, void*) { told = info != nullptr ? told + 1 : -1; }

struct sigaction taken_now() {
    struct sigaction now {};
    ::sigaction(SIGBUS, nullptr, &now);
    return now;
}

}  // namespace

TEST_CASE("signals that are about no file go to whom they went before, each of them") {
    struct sigaction mine {
    }, first{};
    mine.sa_sigaction = &count_signal;
    mine.sa_flags = SA_SIGINFO;
    sigemptyset(&mine.sa_mask);
    ::sigaction(SIGBUS, &mine, &first);
    told = 0;
    {
        const beamheap::bytes::CutGuard guard;
        for (int i = 1; i <= 2; ++i) {
            ::raise(SIGBUS);
            CHECK(told == i);
            CHECK(taken_now().sa_sigaction != &count_signal);
        }
        CHECK((taken_now().sa_flags & SA_ONSTACK) != 0);
        CHECK_FALSE(guard.cut());
    }
    CHECK(taken_now().sa_sigaction == &count_signal);
    ::sigaction(SIGBUS, &first, nullptr);
}
