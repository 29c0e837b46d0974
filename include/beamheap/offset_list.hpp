// SPDX-License-Identifier: Apache-2.0
// Where things stand in a text, in the order in which they stand there: a byte and a half each.
//
// For each thing a byte says how far it is from the one before, and of every sixteen things the place of the last one
// is kept whole; a place is found from there, backwards.
#pragma once

#include <cstddef>
#include <cstdint>

#include "beamheap/flat_array.hpp"

namespace beamheap {

class OffsetList {
public:
    std::size_t size() const { return steps_.size(); }
    /// Bytes from the start of the text. Up to fifteen bytes are added up.
    std::uint64_t operator[](std::size_t i) const {
        const std::size_t block = i / stride, end = std::min((block + 1) * stride, size());
        std::uint64_t place = places_[block];
        for (std::size_t at = i + 1; at < end; ++at) place -= step(at);
        return place;
    }
    void push(std::uint64_t place) {
        steps_.reserve_more(1);
        places_.reserve_more(1);
        Appender to = appender();
        to.put(size(), place);
        set_size(size() + 1, to.last);
    }
    /// Takes away those from number `size` on.
    void cut(std::size_t size) {
        if (size >= steps_.size()) return;
        const std::uint64_t last = size == 0 ? 0 : (*this)[size - 1];
        if (size != 0) places_[(size - 1) / stride] = last;
        set_size(size, last);
    }
    void clear_and_trim(std::size_t keep) {
        steps_.clear_and_trim(keep);
        places_.clear_and_trim(keep);
        wide_.clear_and_trim(keep);
        last_ = 0;
    }
    std::size_t used_bytes() const { return steps_.used_bytes() + places_.used_bytes() + wide_.used_bytes(); }

    /// For readers who add millions from one loop: what put() writes is taken over by set_size().
    struct Appender {
        std::uint8_t* steps = nullptr;
        std::uint64_t* places = nullptr;
        std::uint64_t last = 0;
        OffsetList* list = nullptr;

        __attribute__((always_inline)) void put(std::size_t at, std::uint64_t place) {
            const std::uint64_t step = place - last;
            steps[at] = static_cast<std::uint8_t>(step);
            if (__builtin_expect(step >= wide_step, 0)) list->put_wide(at, step);
            places[at / stride] = place;
            last = place;
        }
    };
    Appender open_appender(std::size_t more) {
        steps_.reserve_more(more);
        places_.reserve_more(more / stride + 2);
        return appender();
    }
    void set_size(std::size_t size, std::uint64_t last) {
        steps_.set_size(size);
        places_.set_size((size + stride - 1) / stride);
        while (!wide_.empty() && wide_[wide_.size() - 1].at >= size) wide_.set_size(wide_.size() - 1);
        last_ = last;
    }

private:
    static constexpr std::size_t stride = 16;
    static constexpr std::uint8_t wide_step = 0xFF;
    struct Wide {
        std::size_t at;
        std::uint64_t step;
    };
    Appender appender() { return {steps_.data(), places_.data(), last_, this}; }
    std::uint64_t step(std::size_t at) const {
        const std::uint8_t narrow = steps_[at];
        return __builtin_expect(narrow != wide_step, 1) ? narrow : find_wide(at);
    }
    void put_wide(std::size_t at, std::uint64_t step);
    std::uint64_t find_wide(std::size_t at) const;

    FlatArray<std::uint8_t> steps_;
    FlatArray<std::uint64_t> places_;  // of the last of each `stride`
    FlatArray<Wide> wide_;             // steps that need more than a byte, and those that go back
    std::uint64_t last_ = 0;
};

}  // namespace beamheap
