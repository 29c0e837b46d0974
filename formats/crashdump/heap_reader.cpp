// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/heap_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "formats/crashdump/data_text.hpp"
#include "formats/crashdump/digits.hpp"
#include "model/characters.hpp"

namespace beamheap::crashdump {
namespace {

/// Bytes that may be read behind any place up to `safe_`: no step but a jump over an atom or data goes further.
constexpr std::size_t look_ahead = HeapLines::look_ahead;
/// Characters of a pid or a port at most, with its brackets.
constexpr std::size_t longest_pid = 40;

/// Whether the text behind a return address's bracket names a function: <...>, "unknown function" and "invalid" do not.
bool is_function(const char* p, const char* end) {
    return p != end && *p != '<' && std::memchr(p, ':', static_cast<std::size_t>(end - p)) != nullptr;
}

}  // namespace

HeapReader::HeapReader(const HeapDialect& dialect) : dialect_(dialect), sizes_(&object_words(dialect.otp)) {}

void HeapReader::begin(const HeapFacts& facts) {
    facts_ = facts;
    graph_.begin(facts.mode, dialect_.word_bytes);
    lines_.begin();
    graph_.set_flat_extra(TermKind::refc_binary, static_cast<std::int8_t>(sizes_->refc_flat - sizes_->refc_line));
    graph_.set_plain_fun_words(static_cast<std::uint32_t>(sizes_->fun_line));
    graph_.set_flat_extra(TermKind::fun, static_cast<std::int8_t>(sizes_->fun_flat - sizes_->fun_line));
    damage_ = {};
    seen_ = 0;
    pending_skip_ = 0;
    pending_tail_ = pending_resync_ = false;
    messages_ = distribution_messages_ = distribution_bytes_ = 0;
    most_messages_ = all_messages;
    dictionary_entries_ = 0;
    stack_words_ = returns_ = last_return_address_ = slots_after_return_ = 0;
    counted_returns_ = frames_above_ = 0;
    last_return_counted_ = true;
    young_from_ = young_to_ = 0;
    young_known_ = false;
}

void HeapReader::expect_giant() {
    constexpr std::size_t objects = std::size_t{1} << 20;  // room that is not used costs nothing
    graph_.open_appender(objects, objects);
}

std::size_t HeapReader::feed(TermSection section, std::string_view text, std::uint64_t offset, bool last) {
    seen_ = static_cast<std::uint8_t>(seen_ | 1u << static_cast<unsigned>(section));
    if (section == TermSection::heap && !young_known_) {
        young_known_ = true;
        // The last return address is the bottom of the stack but for the slots behind it.
        std::uint64_t bytes = 0, unused = 0;
        const std::uint64_t end = last_return_address_ + dialect_.word_bytes * (1 + slots_after_return_);
        if (last_return_address_ != 0 && facts_.heap_unused_words <= facts_.heap_words &&
            !__builtin_mul_overflow(facts_.heap_words, dialect_.word_bytes, &bytes) && bytes <= end) {
            unused = facts_.heap_unused_words * dialect_.word_bytes;
            young_from_ = end - bytes;
            young_to_ = end - unused;
            graph_.set_young_area(young_from_, young_to_);
        }
    }
    const char* begin = text.data();
    const char* end = begin + text.size();
    const char* p = begin;
    while (p != end) {
        text_ = begin;
        text_offset_ = offset;
        if (pending_resync_) {
            const auto* feed_end = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
            p = feed_end == nullptr ? end : feed_end + 1;
            pending_resync_ = feed_end == nullptr;
            continue;
        }
        if (pending_tail_) {
            p = skip_pending(p, end);
            if (pending_tail_) break;
            continue;
        }
        const auto left = static_cast<std::size_t>(end - p);
        if (left > look_ahead) {
            const char* start = p;
            p += take_lines(section, p, end - look_ahead, offset + static_cast<std::uint64_t>(p - begin), false);
            if (p != start || pending_tail_ || pending_resync_) continue;
        }
        if (!last) break;
        // What is left may be read up to its end only: behind a copy there is room to look ahead.
        const auto from = offset + static_cast<std::uint64_t>(p - begin);
        const auto rest = static_cast<std::size_t>(end - p);
        if (tail_.size() < rest + look_ahead) tail_.resize(rest + look_ahead);
        std::memcpy(tail_.data(), p, rest);
        std::memset(tail_.data() + rest, 0, look_ahead);
        p += take_lines(section, tail_.data(), tail_.data() + rest, from, true);
        if (!pending_tail_) break;
    }
    if (last && pending_tail_) {
        if (damage_.cut_lines++ == 0) damage_.first_cut_line = offset + text.size();
        pending_tail_ = false;
        pending_skip_ = 0;
    }
    if (last) pending_resync_ = false;
    return last ? text.size() : static_cast<std::size_t>(p - begin);
}

/// What to do about a line at p that a step gave up: leaves p where to go on, false if nothing more can be taken now.
bool HeapReader::after_failure(const char*& p, const char* safe, bool tail) {
    const bool cut = step_ == Step::more;
    if (cut && !tail) return false;
    const auto* feed = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(safe - p)));
    if (cut || (tail && feed == nullptr)) {
        if (damage_.cut_lines++ == 0) damage_.first_cut_line = offset_of(p);
    } else {
        if (damage_.bad_lines++ == 0) damage_.first_bad_line = offset_of(p);
        damage_.bad_bytes += static_cast<std::uint64_t>((feed == nullptr ? safe : feed + 1) - p);
    }
    pending_resync_ = feed == nullptr && !tail;
    p = feed == nullptr ? safe : feed + 1;
    return feed != nullptr;
}

template <class Line>
const char* HeapReader::take_other_lines(const char* p, const char* safe, bool tail, Line line) {
    while (p < safe && !pending_tail_) {
        const std::size_t roots = graph_.roots_size();
        const char* next = line(p);
        if (next != nullptr) {
            p = next;
            continue;
        }
        graph_.rollback(graph_.size(), roots);
        if (!after_failure(p, safe, tail)) break;
    }
    return p;
}

std::size_t HeapReader::take_lines(TermSection section, const char* begin, const char* safe, std::uint64_t offset,
                                   bool tail) {
    text_ = begin;
    text_offset_ = offset;
    safe_ = safe;
    data_end_ = tail ? safe : safe + HeapLines::data_ahead;
    const char* p = begin;
    switch (section) {
        case TermSection::messages:
            p = take_other_lines(p, safe, tail, [this](const char* q) {
                const std::size_t roots = graph_.roots_size();
                const char* next = message_line(q);
                if (messages_ > most_messages_) graph_.rollback(graph_.size(), roots);
                return next;
            });
            break;
        case TermSection::dictionary:
            p = take_other_lines(p, safe, tail, [this](const char* q) { return dictionary_line(q); });
            break;
        case TermSection::stack:
            p = take_other_lines(p, safe, tail, [this](const char* q) { return stack_line(q); });
            break;
        default: p = take_heap_lines(p, safe, tail); break;
    }
    return static_cast<std::size_t>((tail ? std::min(p, safe) : p) - begin);
}

const char* HeapReader::end_of_line(const char* p) {
    if (*p == '\r') ++p;
    return *p == '\n' ? p + 1 : bad();
}

/// 1 to 16 hexadecimal digits and a colon.
const char* HeapReader::number(const char* p, std::uint64_t& value) {
    const HexNumber number = read_hex(p);
    p += number.digits;
    if (number.digits == 0 || *p != ':') return bad();
    value = number.value;
    return p + 1;
}

const char* HeapReader::atom(const char* p) {
    std::uint64_t length = 0;
    p = number(p, length);
    if (p == nullptr || length > max_atom_bytes) return bad();
    if (!dialect_.style.crlf) {
        if (length > static_cast<std::uint64_t>(safe_ - p) || p > safe_) return more();
        return p + length;
    }
    for (; length != 0; --length) {
        if (p >= safe_) return more();
        p += *p == '\r' && p[1] == '\n' ? 2 : 1;
    }
    return p;
}

/// Steps over an element that is no reference.
const char* HeapReader::immediate(const char* p) {
    const char kind = *p;
    if (kind == 'I') {
        p += 1;
        for (;;) {
            const unsigned digits = decimal_run(p);
            p += digits;
            if (digits < 16) return p;
            if (p > safe_) return more();
        }
    }
    if (kind == 'N') return p + 1;
    if (kind == 'A') return atom(p + 1);
    if (kind == 'P' || kind == 'p') {
        const auto* close = static_cast<const char*>(std::memchr(p, '>', longest_pid));
        if (close == nullptr) return bad();
        return close + 1;
    }
    return p;  // an immediate that the writer has no form for prints nothing
}

const char* HeapReader::element(const char* p) {
    if (*p != 'H') return immediate(p);
    const HexNumber address = read_hex(p + 1);
    if (address.digits == 0) return bad();
    graph_.add_reference(address.value);
    return p + 1 + address.digits;
}

const char* HeapReader::elements(const char* p, std::uint64_t count) {
    for (std::uint64_t i = 0;;) {
        p = element(p);
        if (p == nullptr) return nullptr;
        if (++i == count) return end_of_line(p);
        if (*p != ',') return bad();
        if (++p > safe_) return more();
    }
}

/// The common lines by HeapLines, each other one by the grammar.
const char* HeapReader::take_heap_lines(const char* p, const char* safe, bool tail) {
    const bool common =
        dialect_.fast_lines && dialect_.word_bytes == 8 && dialect_.style.base64 && !dialect_.style.crlf;
    while (p < safe) {
        if (common) {
            p = lines_.take(graph_, p, safe, offset_of(p));
            if (p >= safe) break;
        }
        const std::size_t objects = graph_.size();
        line_ = p;
        const HexNumber address = read_hex(p);
        const char* q = p + address.digits;
        q = address.digits == 0 || *q != ':' ? bad() : heap_line(q + 1, address.value);
        if (q != nullptr) {
            p = q;
            continue;
        }
        graph_.rollback(objects, graph_.roots_size());
        if (!after_failure(p, safe, tail)) break;
    }
    return p;
}

const char* HeapReader::root_element(const char* p, RootKind kind, std::uint32_t index, std::uint32_t frame) {
    if (*p == 'H') {
        const HexNumber address = read_hex(p + 1);
        if (address.digits == 0) return bad();
        graph_.add_root(kind, index, frame, address.value, offset_of(p));
        return p + 1 + address.digits;
    }
    graph_.add_immediate_root(kind, index, frame, offset_of(p));
    return element(p);
}

const char* HeapReader::dictionary_line(const char* p) {
    p = root_element(p, RootKind::dictionary, static_cast<std::uint32_t>(dictionary_entries_), 0);
    if (p == nullptr || (p = end_of_line(p)) == nullptr) return nullptr;
    ++dictionary_entries_;
    return p;
}

const char* HeapReader::message_line(const char* p) {
    const auto index = static_cast<std::uint32_t>(messages_);
    std::uint64_t address = 0;
    if (p[0] == 'H' && p[13] == ':' && p[14] == 'N' && p[15] == '\n' &&
        read_hex12(p + 1, address)) {  // nearly all of them
        if (messages_++ < most_messages_) graph_.add_root(RootKind::message, index, 0, address, offset_of(p));
        return p + 16;
    }
    if (*p == 'D') {
        graph_.add_immediate_root(RootKind::message, index, 0, offset_of(p));
        std::uint64_t atoms = 0;
        p = number(p + 1, atoms);
        if (p == nullptr) return nullptr;
        for (; atoms != 0 && *p != 'E'; --atoms) {
            if (p > safe_) return more();
            const char* before = p;
            p = element(p);
            if (p == nullptr) return nullptr;
            if (p == before) return bad();
            if (p > safe_) return more();
        }
        if (*p != 'E') return bad();
        std::uint64_t length = 0;
        p = number(p + 1, length);
        if (p == nullptr || length >= std::uint64_t{1} << 48) return bad();
        pending_tail_ = true;
        pending_skip_ = encoded_size(dialect_.style, length);
        ++messages_;
        ++distribution_messages_;
        distribution_bytes_ += length;
        return p;
    }
    p = root_element(p, RootKind::message, index, 0);
    if (p == nullptr) return nullptr;
    if (*p != ':') return bad();
    if (++p > safe_) return more();
    if (*p == 'H') p = root_element(p, RootKind::seq_trace_token, index, 0);
    else p = element(p);
    if (p == nullptr || (p = end_of_line(p)) == nullptr) return nullptr;
    ++messages_;
    return p;
}

/// Goes on behind the length of a distribution message's data: the data, which is not looked at, its further
/// fragments, and the token. Takes what is there; pending_tail_ tells whether the line's end was among it.
const char* HeapReader::skip_pending(const char* p, const char* end) {
    const auto skipped = std::min(pending_skip_, static_cast<std::uint64_t>(end - p));
    p += skipped;
    pending_skip_ -= skipped;
    if (pending_skip_ != 0) return p;
    while (p != end && is_data_character(*p)) ++p;
    const auto* feed = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
    if (feed == nullptr) return p;
    pending_tail_ = false;
    if (*p != ':') {
        if (damage_.bad_lines++ == 0) damage_.first_bad_line = offset_of(p);
    } else if (p[1] == 'H' && messages_ <= most_messages_) {
        std::array<char, 24> digits{};
        std::memcpy(digits.data(), p + 2, std::min<std::size_t>(17, static_cast<std::size_t>(feed - p) - 1));
        graph_.add_root(RootKind::seq_trace_token, static_cast<std::uint32_t>(messages_ - 1), 0,
                        read_hex(digits.data()).value, offset_of(p + 1));
    }
    return feed + 1;
}

const char* HeapReader::stack_line(const char* p) {
    // Labels: y<N>, or 0x and the slot's address, lower case and padded; of R10B also without 0x (loader.hpp).
    constexpr std::uint32_t r10b = 10;
    std::uint64_t slot = 0;
    if (p[0] == '0' && p[1] == 'x') {
        const HexNumber number = read_hex<'a'>(p + 2);
        slot = number.value;
        p += 2 + number.digits;
    } else if (*p == 'y') {
        do ++p;
        while (is_digit(*p));
    } else if (dialect_.otp == r10b) {
        const HexNumber number = read_hex<'a'>(p);
        slot = number.value;
        p += number.digits;
    }
    if (*p != ':') return bad();
    ++p;
    // A frame's registers come before its return address (23 and later), or behind the saved address of its caller,
    // which is the entry before in the backtrace.
    const std::uint32_t frame = dialect_.frames_end_with_return && !last_return_counted_ ? no_frame : frames_above_;
    if (p > safe_) return more();
    if (*p == 'S') {
        const auto* feed = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(safe_ - p)));
        if (feed == nullptr) return more();
        if (p[1] == 'R') {
            const std::uint32_t before = counted_returns_;
            const auto* bracket = static_cast<const char*>(std::memchr(p, '(', static_cast<std::size_t>(feed - p)));
            // <terminate process>, unknown function: no entry of the backtrace
            last_return_counted_ = bracket != nullptr && is_function(bracket + 1, feed);
            counted_returns_ += last_return_counted_;
            frames_above_ = dialect_.frames_end_with_return ? counted_returns_ : before;
            ++returns_;
            last_return_address_ = slot;
            slots_after_return_ = 0;
        } else {
            graph_.add_immediate_root(RootKind::stack, static_cast<std::uint32_t>(slots_after_return_), frame,
                                      offset_of(p));
            ++slots_after_return_;
        }
        ++stack_words_;
        return feed + 1;
    }
    p = root_element(p, RootKind::stack, static_cast<std::uint32_t>(slots_after_return_), frame);
    if (p == nullptr || (p = end_of_line(p)) == nullptr) return nullptr;
    ++slots_after_return_;
    ++stack_words_;
    return p;
}

HeapGraph& HeapReader::finish() {
    graph_.finish();
    graph_.move_frames(facts_.frames_before_returns - 1);
    settle_slices();
    return graph_;
}

}  // namespace beamheap::crashdump
