// SPDX-License-Identifier: Apache-2.0
// Text that somebody holds stays as it was while the window moves on, reads on, or goes back.
#include "bytes/window.hpp"

#include <catch2/catch.hpp>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "bytes/source.hpp"
#include "support/dump_text.hpp"

using namespace beamheap::bytes;

namespace {

std::string numbers(std::size_t bytes) {
    std::string text;
    for (unsigned i = 0; text.size() < bytes; ++i) text += std::to_string(i * 2654435761u) + '\n';
    text.resize(bytes);
    return text;
}

constexpr std::uint64_t prefetch_after = 2u << 20;

Window window_of(std::string text, bool may_prefetch = false) {
    Window window(std::make_unique<beamheap::test::TextFile>(std::move(text)));
    if (may_prefetch) window.prefetch_after = prefetch_after;
    return window;
}

/// A file whose second half can't be read.
class TornFile final : public beamheap::bytes::Source {
public:
    explicit TornFile(std::string text) : file_(std::move(text)), sound_(*file_.size() / 2) {}
    beamheap::Result<std::size_t> read(std::span<char> into) override {
        auto got = read_at(at_, into);
        if (got) at_ += *got;
        return got;
    }
    bool seekable() const override { return true; }
    void seek(std::uint64_t offset) override { at_ = offset; }
    beamheap::Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) const override {
        if (offset + into.size() > sound_) return beamheap::Error{beamheap::ErrorCode::unreadable, "torn", {}};
        return file_.read_at(offset, into);
    }
    std::optional<std::uint64_t> size() const override { return file_.size(); }
    std::uint64_t stored_position() const override { return at_; }
    std::uint64_t stored_size() const override { return *file_.size(); }

private:
    beamheap::test::TextFile file_;
    std::uint64_t sound_, at_ = 0;
};

}  // namespace

TEST_CASE("held text stays while the window slides over the rest", "[window]") {
    const std::string text = numbers(20 * Window::step + 12345);
    Window window = window_of(text, GENERATE(false, true));
    struct Piece {
        Window::Held held;
        std::size_t from, bytes;
    };
    std::deque<Piece> pieces;
    std::size_t held = 0, missed = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t bytes = std::min<std::size_t>(10'007, text.size() - at);
        REQUIRE(window.ensure(bytes));
        window.consume(bytes);
        // What was consumed is still there, unless the buffer began anew since.
        Window::Held piece = window.hold(at, at + bytes);
        (piece.owner != nullptr ? held : missed) += 1;
        if (piece.owner != nullptr) pieces.push_back({std::move(piece), at, bytes});
        if (pieces.size() > 150) pieces.pop_front();  // some are given back, and their buffers used again
        for (const Piece& p : pieces) REQUIRE(p.held.text == std::string_view(text).substr(p.from, p.bytes));
        at += bytes;
    }
    CHECK(missed == 0);
    CHECK(held > 300);
    CHECK(window.hold(text.size() - 5, text.size() + 1).owner == nullptr);
    CHECK(window.hold(0, 5).owner == nullptr);
    window.seek(0);
    REQUIRE(window.ensure(1000));
    CHECK(window.view().substr(0, 1000) == std::string_view(text).substr(0, 1000));
    for (const Piece& p : pieces) CHECK(p.held.text == std::string_view(text).substr(p.from, p.bytes));
}

TEST_CASE("a window that is closed has nothing in view, and what is held stays", "[window]") {
    const std::string text = numbers(3 * Window::step);
    Window window = window_of(text);
    REQUIRE(window.ensure(5000));
    window.consume(2000);
    const Window::Held held = window.hold(1000, 2000);
    const std::uint64_t end = window.offset() + window.view().size();
    window.close();
    CHECK(window.view().empty());
    CHECK(window.offset() == end);
    CHECK(window.at_end());
    CHECK_FALSE(window.more());
    CHECK(held.text == std::string_view(text).substr(1000, 1000));
    CHECK(window.hold(1000, 2000).owner == nullptr);
    std::string read(1000, ' ');
    const auto got = window.source().read_at(1000, read);
    REQUIRE(got);
    CHECK(*got == 1000u);
    CHECK(read == held.text);
}

TEST_CASE("a buffer that grew for much text at once is not held", "[window]") {
    const std::string text = numbers(40 * Window::step);
    Window window = window_of(text, GENERATE(false, true));
    REQUIRE(window.ensure(1000));
    const Window::Held before = window.hold(0, 1000);
    REQUIRE(before.owner != nullptr);
    REQUIRE(window.ensure(5 * Window::step));
    CHECK(window.view().substr(0, 5 * Window::step) == std::string_view(text).substr(0, 5 * Window::step));
    CHECK(window.hold(0, 1000).owner == nullptr);
    CHECK(before.text == std::string_view(text).substr(0, 1000));
    // It is small again when little was seen at once for long.
    std::size_t held = 0;
    for (std::size_t at = 0; at < text.size(); at += 1000) {
        REQUIRE(window.ensure(std::min<std::size_t>(1000, text.size() - at)));
        window.consume(std::min<std::size_t>(1000, text.size() - at));
        const Window::Held piece = window.hold(at, std::min(at + 1000, text.size()));
        held += piece.owner != nullptr;
        if (piece.owner != nullptr) REQUIRE(piece.text == std::string_view(text).substr(at, 1000));
    }
    CHECK(held > 100);
}

TEST_CASE("of text that began in an earlier buffer its end is held", "[window]") {
    const std::string text = numbers(20 * Window::step);
    Window window = window_of(text, GENERATE(false, true));
    std::vector<Window::Held> pieces;
    std::uint64_t covered = 0;
    for (std::size_t at = 0; at < text.size(); at += 50'000) {
        const std::size_t bytes = std::min<std::size_t>(50'000, text.size() - at);
        REQUIRE(window.ensure(bytes));
        window.consume(bytes);
        pieces.push_back(window.hold(0, at + bytes));
        const Window::Held& piece = pieces.back();
        REQUIRE(piece.owner != nullptr);
        REQUIRE(piece.end() == at + bytes);
        REQUIRE(piece.offset <= covered);
        REQUIRE(piece.text == std::string_view(text).substr(piece.offset, piece.text.size()));
        covered = piece.end();
    }
    CHECK(pieces.back().offset > 0);
}

TEST_CASE("another thread reads what it holds while the window goes on", "[window]") {
    const std::string text = numbers(24 * Window::step);
    Window window = window_of(text, GENERATE(false, true));
    std::vector<std::thread> readers;
    std::vector<char> same(96, 0);
    std::size_t count = 0;
    for (std::size_t at = 0; count < same.size(); at += 60'000, ++count) {
        REQUIRE(window.ensure(60'000));
        window.consume(60'000);
        readers.emplace_back([&text, &same, count, at, piece = window.hold(at, at + 60'000)] {
            same[count] = piece.text == std::string_view(text).substr(at, 60'000);
        });
    }
    for (std::thread& reader : readers) reader.join();
    CHECK(std::vector<char>(96, 1) == same);
}

namespace {

/// Notes how far apart from each other, within their pages, a place in the file and the place lie to which it is read.
class PlacesOfReads final : public beamheap::bytes::Source {
public:
    PlacesOfReads(std::string text, std::vector<std::size_t>& apart) : file_(std::move(text)), apart_(apart) {}
    beamheap::Result<std::size_t> read(std::span<char> into) override {
        apart_.push_back((reinterpret_cast<std::uintptr_t>(into.data()) - at_) % Window::page);
        auto got = file_.read(into);
        if (got) at_ += *got;
        return got;
    }
    bool seekable() const override { return true; }
    void seek(std::uint64_t offset) override { file_.seek(at_ = offset); }
    std::optional<std::uint64_t> size() const override { return file_.size(); }
    std::uint64_t stored_position() const override { return at_; }
    std::uint64_t stored_size() const override { return file_.stored_size(); }

private:
    beamheap::test::TextFile file_;
    std::uint64_t at_ = 0;
    std::vector<std::size_t>& apart_;
};

}  // namespace

TEST_CASE("text is read to the place in a page that it has in the file", "[window]") {
    const std::string text = numbers(30 * Window::step + 777);
    std::vector<std::size_t> apart;
    Window window(std::make_unique<PlacesOfReads>(text, apart));
    std::deque<Window::Held> held;
    const auto pass = [&](std::size_t bytes) {
        REQUIRE(window.ensure(bytes));
        REQUIRE(window.view().substr(0, bytes) ==
                std::string_view(text).substr(static_cast<std::size_t>(window.offset()), bytes));
        held.push_back(window.hold(window.offset(), window.offset() + bytes));
        if (held.size() > 40) held.pop_front();
        window.consume(bytes);
    };
    while (window.offset() < 10 * Window::step) pass(10'007);
    pass(3 * Window::step + 5);  // for which the buffer grows
    for (const std::uint64_t offset : {std::uint64_t{12345}, std::uint64_t{3}, 8 * Window::step - 1}) {
        window.seek(offset);
        CHECK(window.hold(offset - 1, offset).owner == nullptr);  // it has not been read
        for (unsigned i = 0; i < 100; ++i) pass(10'007);
    }
    CHECK(apart.size() > 20);
    CHECK(apart == std::vector<std::size_t>(apart.size(), 0));
}

TEST_CASE("what a thread has read ahead is what stands there, wherever the window goes", "[window]") {
    const std::string text = numbers(60 * Window::step + 4321);
    Window window = window_of(text, true);
    const auto take = [&](std::size_t bytes) {
        REQUIRE(window.ensure(bytes));
        REQUIRE(window.view().substr(0, bytes) ==
                std::string_view(text).substr(static_cast<std::size_t>(window.offset()), bytes));
        window.consume(bytes);
        REQUIRE(window.source().stored_position() >= window.offset());
    };
    const auto take_up_to = [&](std::uint64_t offset) {
        while (window.offset() < offset) take(30'011);
    };
    take_up_to(prefetch_after + 5 * Window::step);
    REQUIRE(window.skip(Window::step + 7));  // a little, which has been read already
    take(10);
    REQUIRE(window.skip(5 * Window::step));  // much
    take_up_to(window.offset() + prefetch_after + 4 * Window::step);
    take(3 * Window::step);  // more at once than a block has room for
    take_up_to(window.offset() + prefetch_after + 4 * Window::step);
    window.seek(17);
    take_up_to(prefetch_after + 3 * Window::step);
    window.seek(50 * Window::step + 5);
    while (window.more()) window.consume(window.view().size());
    CHECK(window.at_end());
    CHECK(window.offset() == text.size());
    CHECK(window.last_bytes() == std::string_view(text).substr(text.size() - 64));
    CHECK_FALSE(window.skip(1));
}

TEST_CASE("an input that can't be read any further ends with the reason, read ahead or not", "[window]") {
    const std::string text = numbers(40 * Window::step);
    Window window(std::make_unique<TornFile>(text));
    window.prefetch_after = GENERATE(prefetch_after, Window::never);
    std::size_t read = 0;
    while (window.more()) {
        REQUIRE(window.view() == std::string_view(text).substr(read, window.view().size()));
        read += window.view().size();
        window.consume(window.view().size());
    }
    CHECK(window.ended());
    REQUIRE_FALSE(window.status());
    CHECK(window.status().error().message == "torn");
    CHECK(read <= text.size() / 2);
    CHECK(read + 2 * Window::step > text.size() / 2);
}
