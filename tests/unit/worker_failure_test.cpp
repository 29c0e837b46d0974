// SPDX-License-Identifier: Apache-2.0
// What a worker thread throws arrives in the thread that loads, where the program can say it; and two loads of one
// input, each as far as its question needs, may know different processes.
#include <catch2/catch.hpp>
#include <new>
#include <string>

#include "bytes/read_ahead.hpp"
#include "support/dump_text.hpp"

using namespace beamheap;

namespace {

std::string many_heaps(int count) {
    std::string text = test::header();
    std::string terms;
    for (int i = 1; i <= count; ++i) {
        const std::string pid = "<0." + std::to_string(i) + ".0>";
        text += test::process(pid);
        terms += "=proc_stack:" + pid + "\ny0:H7F00\n=proc_heap:" + pid + "\n";
        for (int cell = 0; cell < 2000; ++cell) terms += "7F00:lI1|N\n";
    }
    return text + terms + "=atoms\n=end\n";
}

/// A source that has no memory left behind its first bytes, as a decoder may have none.
class Exhausted final : public bytes::Source {
public:
    Result<std::size_t> read(std::span<char> into) override {
        if (given_ >= limit) throw std::bad_alloc();
        given_ += into.size();
        std::fill(into.begin(), into.end(), 'x');
        return into.size();
    }
    std::uint64_t stored_position() const override { return given_; }
    std::uint64_t stored_size() const override { return 0; }

private:
    static constexpr std::size_t limit = std::size_t{8} << 20;
    std::size_t given_ = 0;
};

}  // namespace

TEST_CASE("out of memory in a worker is thrown where the input is loaded") {
    const std::string dump = many_heaps(200);
    for (const unsigned workers : {1u, 2u, 5u}) {
        HeapRequest request;
        request.workers = workers;
        request.visit = [](const HeapVisit& visit) {
            if (index_of(visit.id) % 50 == 30) throw std::bad_alloc();
        };
        LoadPlan plan = test::everything();
        plan.heaps = &request;
        CHECK_THROWS_AS(test::load(dump, plan), std::bad_alloc);
    }
}

TEST_CASE("out of memory while reading ahead is thrown by the read that needs the bytes") {
    const auto source = bytes::read_ahead(std::make_unique<Exhausted>());
    std::string piece(1 << 20, '\0');
    const auto read_all = [&] {
        for (int i = 0; i < 100; ++i) {
            const auto got = source->read(piece);
            if (!got || *got == 0) return;
        }
    };
    CHECK_THROWS_AS(read_all(), std::bad_alloc);
}
