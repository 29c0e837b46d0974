// SPDX-License-Identifier: Apache-2.0
#include "cli/catch/last_words.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace beamheap::cli {
namespace {

constexpr std::size_t most_sentence = 4096, most_json = 256 << 10, most_node = 256;

struct Place {
    std::size_t sentence = 0, json = 0, node = 0;  // bytes of each
    std::array<char, most_sentence> sentence_text;
    std::array<char, most_json> json_text;
    std::array<char, most_node> node_text;
};

}  // namespace

struct LastWords::Shared {
    std::atomic<unsigned> shown = 0;
    std::atomic<bool> ended = false;
    std::array<Place, 2> places;
};

Result<LastWords> LastWords::make() {
    void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return Error{ErrorCode::resource_limit, fmt::format("shared memory: {}", std::strerror(errno)), {}};
    return LastWords(::new (memory) Shared);  // its texts stay untouched pages until something is written
}

LastWords::LastWords(LastWords&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}

LastWords::~LastWords() {
    if (shared_ != nullptr) ::munmap(shared_, sizeof(Shared));
}

void LastWords::put(const Words& words) {
    const unsigned other = 1 - shared_->shown.load(std::memory_order_relaxed);
    Place& place = shared_->places[other];
    place.sentence = std::min(words.sentence.size(), most_sentence);
    std::memcpy(place.sentence_text.data(), words.sentence.data(), place.sentence);
    place.json = words.json.size() <= most_json ? words.json.size() : 0;
    std::memcpy(place.json_text.data(), words.json.data(), place.json);
    place.node = std::min(words.node.size(), most_node);
    std::memcpy(place.node_text.data(), words.node.data(), place.node);
    shared_->shown.store(other, std::memory_order_release);
}

LastWords::Words LastWords::get() const {
    const Place& place = shared_->places[shared_->shown.load(std::memory_order_acquire)];
    return {std::string(place.sentence_text.data(), place.sentence), std::string(place.json_text.data(), place.json),
            std::string(place.node_text.data(), place.node)};
}

void LastWords::has_ended() { shared_->ended.store(true, std::memory_order_release); }

bool LastWords::ended() const { return shared_->ended.load(std::memory_order_acquire); }

}  // namespace beamheap::cli
