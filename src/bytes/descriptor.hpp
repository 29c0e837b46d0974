// SPDX-License-Identifier: Apache-2.0
// File descriptors: one that is closed with its owner, and all that a helper process has inherited.
#pragma once

#include <unistd.h>

#include <initializer_list>
#include <utility>

namespace beamheap::bytes {

class Descriptor {
public:
    explicit Descriptor(int number = -1) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    int get() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }

private:
    int number_;  // negative: none
};

/// Closes all from 3 on but the kept ones, of which there are few. For a process that was forked to wait for the end of
/// a pipe or socket: the ends of other helpers' that it has inherited would keep those from ever seeing theirs, and
/// this program, which waits for them, from ending. Calls only what may be called between fork and exec.
void close_all_but(std::initializer_list<int> kept);

}  // namespace beamheap::bytes
