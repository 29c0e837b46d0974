// SPDX-License-Identifier: Apache-2.0
// Writes JSON as it is told, in one pass: keeps the commas and the quotes right, nothing else.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "present/sanitise.hpp"
#include "present/sink.hpp"

namespace beamheap::present {

/// begin_object(), key(), value ..., end_object(). The caller keeps to JSON's grammar; texts are made safe here.
class JsonWriter {
public:
    explicit JsonWriter(Sink& sink) : sink_(sink) {}

    void begin_object() { open('{'); }
    void end_object() { close('}'); }
    void begin_array() { open('['); }
    void end_array() { close(']'); }
    /// Puts what comes next on a new line: one row a line keeps outputs comparable by line.
    void line() { new_line_ = true; }

    void key(std::string_view name) {
        separate();
        quoted(name);
        sink_.put(':');
        first_ = true;  // no comma between the key and its value
    }
    void null() { raw("null"); }
    void boolean(bool value) { raw(value ? "true" : "false"); }
    void number(std::uint64_t value) { raw(fmt::format_int(value).c_str()); }
    void number(std::int64_t value) { raw(fmt::format_int(value).c_str()); }
    /// Infinities and not-a-number have no JSON form and become null.
    void number(double value) {
        if (!std::isfinite(value)) return null();
        separate();
        sink_.buffer() += fmt::format("{}", value);
        sink_.settle();
    }
    void text(std::string_view raw_text) {
        separate();
        quoted(raw_text);
    }

private:
    void separate() {
        if (!first_) sink_.put(',');
        if (new_line_) sink_.put('\n');
        first_ = new_line_ = false;
    }
    void open(char bracket) {
        separate();
        sink_.put(bracket);
        first_ = true;
    }
    void close(char bracket) {
        if (new_line_) sink_.put('\n');
        sink_.put(bracket);
        first_ = new_line_ = false;
    }
    void raw(std::string_view token) {
        separate();
        sink_.write(token);
    }
    void quoted(std::string_view text) {
        std::string& out = sink_.buffer();
        out += '"';
        append_json(text, out);
        out += '"';
        sink_.settle();
    }

    Sink& sink_;
    bool first_ = true;
    bool new_line_ = false;
};

}  // namespace beamheap::present
