// SPDX-License-Identifier: Apache-2.0
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

/// A file that can be read anywhere. It has its text itself: terms that are read out of it point into that.
class TextFile final : public bytes::Source {
public:
    explicit TextFile(std::string text) : text_(std::move(text)), file_(std::move(*bytes::memory_source(text_))) {}
    Result<std::size_t> read(std::span<char> into) override { return file_->read(into); }
    bool seekable() const override { return file_->seekable(); }
    void seek(std::uint64_t offset) override { file_->seek(offset); }
    Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) const override {
        return file_->read_at(offset, into);
    }
    Result<bytes::StableText> text_at(std::uint64_t offset, std::size_t bytes) const override {
        return file_->text_at(offset, bytes);
    }
    std::optional<std::uint64_t> size() const override { return file_->size(); }
    std::uint64_t stored_position() const override { return file_->stored_position(); }
    std::uint64_t stored_size() const override { return file_->stored_size(); }
    std::string_view compression() const override { return file_->compression(); }
    const std::string& damage() const override { return file_->damage(); }

private:
    std::string text_;
    std::unique_ptr<bytes::Source> file_;
};

inline LoadPlan everything() {
    LoadPlan plan;
    plan.tables = plan.links = plan.stacks = plan.labels = plan.atoms = plan.modules = plan.to_the_end = true;
    return plan;
}

/// Loads `text` as a file that can be read anywhere, or (piece != 0) as a pipe that gives `piece` bytes at a time. The
/// artifact keeps it.
inline std::unique_ptr<Artifact> load(std::string text, const LoadPlan& plan = everything(), std::size_t piece = 0) {
    std::unique_ptr<bytes::Source> source;
    if (piece != 0) source = std::make_unique<Trickle>(std::move(text), piece);
    else source = std::make_unique<TextFile>(std::move(text));
    auto artifact = crashdump::open(std::move(source), "test.dump", {});
    const Status status = artifact->load(plan);
    return status ? std::move(artifact) : nullptr;
}

inline std::string header(std::string_view slogan = "test",
                          std::string_view version = "Erlang/OTP 25 [erts-13.1.5] [source] [64-bit] [smp:2:2] [jit:ns]",
                          std::string_view format = "0.5") {
    return "=erl_crash_dump:" + std::string(format) + "\nSat Nov 21 00:00:00 2026\nSlogan: " + std::string(slogan) +
           "\nSystem version: " + std::string(version) + "\nTaints: \nAtoms: 8530\nCalling Thread: scheduler:1\n";
}

inline std::string process(std::string_view pid, std::string_view fields = "") {
    std::string text = "=proc:" + std::string(pid) + '\n';
    for (const std::string_view usual :
         {"State: Waiting\n", "Spawned as: m:f/1\n", "Spawned by: <0.1.0>\n", "Message queue length: 0\n",
          "Reductions: 10\n", "Stack+heap: 233\n", "OldHeap: 0\n", "Heap unused: 100\n", "OldHeap unused: 0\n"}) {
        const std::string_view key = usual.substr(0, usual.find(':') + 1);  // a field counts once: the caller's, if any
        const std::size_t at = fields.find(key);
        if (at == fields.npos || (at != 0 && fields[at - 1] != '\n')) text += usual;
    }
    return text.append(fields);
}

}  // namespace beamheap::test
