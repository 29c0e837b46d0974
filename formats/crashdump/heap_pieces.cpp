// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/heap_pieces.hpp"

#include <utility>

namespace beamheap::crashdump {

void PieceFeeder::feed(HeapReader& reader, const HeapPiece& piece) {
    if (section_ != piece.section_from) {
        section_ = piece.section_from;
        at_ = piece.section_from;
    }
    const bytes::Window::Held& held = piece.held;
    whole_ = whole_ && held.owner != nullptr && held.offset <= at_ && at_ <= held.end();
    if (whole_)
        at_ +=
            reader.feed(piece.section, held.text.substr(static_cast<std::size_t>(at_ - held.offset)), at_, piece.last);
}

void PieceQueue::push(HeapPiece piece) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return refused_ || pieces_.size() < most; });
    if (refused_) return;
    pieces_.push_back(std::move(piece));
    lock.unlock();
    changed_.notify_all();
}

void PieceQueue::close() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    changed_.notify_all();
}

std::optional<HeapPiece> PieceQueue::pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !pieces_.empty(); });
    if (pieces_.empty()) return std::nullopt;
    std::optional<HeapPiece> piece(std::move(pieces_.front()));
    pieces_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return piece;
}

void PieceQueue::refuse() {
    {
        const std::lock_guard lock(mutex_);
        refused_ = true;
        pieces_.clear();
    }
    changed_.notify_all();
}

}  // namespace beamheap::crashdump
