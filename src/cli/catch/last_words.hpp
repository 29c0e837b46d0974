// SPDX-License-Identifier: Apache-2.0
// What who watches a VM last knew of it, for who answers about its death: in memory that both processes have.
//
// One writes, again and again; the other one reads, once, at any moment. There are two places: the writer fills the one
// that is not shown, and then shows it, so that what is read is whole unless the writer goes round twice meanwhile.
#pragma once

#include <string>
#include <string_view>

#include "beamheap/error.hpp"

namespace beamheap::cli {

class LastWords {
public:
    struct Words {
        std::string sentence;  ///< what grew, redacted; empty: nothing did
        std::string json;      ///< the document of `watch`; empty: none, or it is larger than 256 KiB
        std::string node;      ///< its name, redacted
    };
    /// Errors: resource_limit.
    static Result<LastWords> make();
    LastWords(LastWords&& other) noexcept;
    LastWords& operator=(LastWords&&) = delete;
    ~LastWords();

    void put(const Words& words);
    Words get() const;
    /// The VM is there no more; whoever was to answer about its death and saw none is told so.
    void has_ended();
    bool ended() const;

private:
    struct Shared;
    explicit LastWords(Shared* shared) : shared_(shared) {}
    Shared* shared_;
};

}  // namespace beamheap::cli
