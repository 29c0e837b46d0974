// SPDX-License-Identifier: Apache-2.0
// Where rendered bytes go: a buffer that is handed on in big pieces, so that a row costs no system call.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace beamheap::present {

class Sink {
public:
    /// Takes a piece; false: nobody reads any more (a closed pipe), what follows is dropped without a word.
    using Write = bool (*)(void* context, std::string_view piece);
    Sink(Write to, void* context) : write_(to), context_(context) {}
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;
    ~Sink() { flush(); }

    void write(std::string_view text) {
        buffer_.append(text);
        if (buffer_.size() >= piece_bytes) flush();
    }
    void put(char c) { buffer_.push_back(c); }
    /// The buffer itself, to append to; call settle() afterwards.
    std::string& buffer() { return buffer_; }
    void settle() {
        if (buffer_.size() >= piece_bytes) flush();
    }
    void flush() {
        if (!buffer_.empty() && !closed_) closed_ = !write_(context_, buffer_);
        buffer_.clear();
    }
    /// Long loops stop when nobody reads.
    bool closed() const { return closed_; }

private:
    static constexpr std::size_t piece_bytes = 256 * 1024;
    Write write_;
    void* context_;
    bool closed_ = false;
    std::string buffer_;
};

/// A sink into a string, for tests and for texts that are needed whole.
class StringSink : public Sink {
public:
    StringSink() : Sink(&append, &text_) {}
    ~StringSink() { buffer().clear(); }  // nobody can ask for it any more
    const std::string& text() {
        flush();
        return text_;
    }

private:
    static bool append(void* context, std::string_view piece) {
        static_cast<std::string*>(context)->append(piece);
        return true;
    }
    std::string text_;
};

}  // namespace beamheap::present
