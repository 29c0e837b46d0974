// Small dumps as text, and how tests load them.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "beamheap/artifact.hpp"
#include "bytes/source.hpp"
#include "formats/crashdump/crash_dump.hpp"

namespace beamheap::test {

/// A source that gives its bytes in pieces of a few bytes and can't be read anywhere else: a slow pipe.
class Trickle final : public bytes::Source {
public:
    Trickle(std::string text, std::size_t piece) : text_(std::move(text)), piece_(piece) {}
    Result<std::size_t> read(std::span<char> into) override {
        const std::size_t got = std::min({into.size(), piece_, text_.size() - at_});
        std::copy_n(text_.data() + at_, got, into.data());
        at_ += got;
        return got;
    }
    std::uint64_t stored_position() const override { return at_; }
    std::uint64_t stored_size() const override { return 0; }

private:
    std::string text_;
    std::size_t piece_;
    std::size_t at_ = 0;
};

inline LoadPlan everything() {
    LoadPlan plan;
    plan.tables = plan.links = plan.stacks = plan.labels = plan.atoms = plan.modules = plan.to_the_end = true;
    return plan;
}

/// Loads `text` as a file that can be read anywhere, or (piece != 0) as a pipe that gives `piece` bytes at a time.
inline std::unique_ptr<Artifact> load(const std::string& text, const LoadPlan& plan = everything(), std::size_t piece = 0) {
    std::unique_ptr<bytes::Source> source;
    if (piece != 0) source = std::make_unique<Trickle>(text, piece);
    else source = std::move(*bytes::memory_source(text));
    auto artifact = crashdump::open(std::move(source), "test.dump", {});
    const Status status = artifact->load(plan);
    return status ? std::move(artifact) : nullptr;
}

inline std::string header(std::string_view slogan = "test", std::string_view version = "Erlang/OTP 25 [erts-13.1.5] [source] [64-bit] [smp:2:2] [jit:ns]",
                          std::string_view format = "0.5") {
    return "=erl_crash_dump:" + std::string(format) + "\nSat Nov 21 00:00:00 2026\nSlogan: " + std::string(slogan) +
           "\nSystem version: " + std::string(version) + "\nTaints: \nAtoms: 8530\nCalling Thread: scheduler:1\n";
}

inline std::string process(std::string_view pid, std::string_view fields = "") {
    return "=proc:" + std::string(pid) + "\nState: Waiting\nSpawned as: m:f/1\nSpawned by: <0.1.0>\n" +
           "Message queue length: 0\nReductions: 10\nStack+heap: 233\nOldHeap: 0\nHeap unused: 100\nOldHeap unused: 0\n" +
           std::string(fields);
}

}  // namespace beamheap::test
