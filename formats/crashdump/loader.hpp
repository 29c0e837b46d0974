// SPDX-License-Identifier: Apache-2.0
// What the readers of the sections share while a dump is loaded: the snapshot being filled, what was asked for, and
// the conventions of the release that wrote the dump.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/artifact.hpp"
#include "formats/crashdump/losses.hpp"
#include "formats/crashdump/text_values.hpp"
#include "model/characters.hpp"

namespace beamheap::crashdump {

/// Facts about the writer that change how text is read; set by the header.
struct Dialect {
    std::uint32_t otp = 0;               ///< major release, 10 for R10B ... 29; 0 unknown (read as the newest)
    std::uint32_t version = 5;           ///< 1 for "0.1" ... 5 for "0.5"
    bool latin1_atoms = false;           ///< up to R15 atoms are latin-1 bytes
    bool bare_slot_addresses = false;    ///< of R10B: those of stack slots may lack their 0x, as its %p has none
    bool frames_end_with_return = true;  ///< y registers come before their return address: OTP 23 and later (OTP-15077)
};

/// A section as the scanner found it: `=tag:id`, and where its body begins.
struct Section {
    std::string_view id;       ///< after the first colon, without CR and LF
    std::uint64_t offset = 0;  ///< of the '='
    std::uint64_t body_offset = 0;
    std::string_view tag;  ///< of the row; empty: the header
};

/// Tags that no release up to this one writes are damaged ones.
inline constexpr std::uint32_t newest_known_release = 29;

struct Loader {
    Snapshot& snapshot;
    LoadPlan plan;
    Dialect dialect;
    FunctionStorage function_storage;
    std::string atom_storage, latin1_storage;
    std::vector<Frame> frames;  ///< scratch
    Losses losses;

    struct KnownFunction {
        std::string text;  ///< m:f/a, as it was read
        FunctionId id = FunctionId::none;
    };
    std::array<KnownFunction, 64> known_functions{};
    /// Places in code where processes wait are few, too.
    struct KnownCounter {
        std::string text;  ///< 0xADDRESS (m:f/a + offset), as it was read
        std::uint64_t address = 0;
        Frame frame;
        bool has_zeros = false;  ///< bytes, as no line has
    };
    std::array<KnownCounter, 64> known_counters{};
    /// A line of a =proc section as it stood the last time, with its LF, and a row that it was read into: most
    /// processes are as many others are in what they do and where they come from.
    struct RepeatedLine {
        std::array<char, 96> text{};
        std::size_t size = 0;
        Process row;
    };
    std::array<RepeatedLine, 24> repeated_lines{};  ///< by the field's row
    std::array<std::uint8_t, 24> field_behind{};    ///< by the field's row: which one came next the last time
    static std::size_t slot_of_counter(std::string_view text) {
        constexpr std::size_t digits = 10;  // "0x" and those of an address that all have in common
        std::uint64_t last = 0;
        if (text.size() >= digits + sizeof last) std::memcpy(&last, text.data() + digits, sizeof last);
        return (last * 0x9E3779B97F4A7C15ull) >> 58;
    }
    /// Whether an "Internal State" says that a dirty scheduler is to collect the process.
    bool state_awaits_collection(TextId state) {
        if (state != judged_state) {
            judged_state = state;
            judged_awaits = snapshot.text(state).find("DIRTY_ACTIVE_SYS") != std::string_view::npos;
        }
        return judged_awaits;
    }
    TextId last_text = TextId::none;  ///< what text() gave last
    TextId judged_state = TextId::none;
    bool judged_awaits = false;
    bool binaries_passed = false;  ///< all sections of binaries were passed: reading went to what comes behind them
    bool beyond_heaps = false;  ///< reading stopped at a section that comes behind all heaps: all of those were there
    static std::size_t slot_of_function(std::string_view text) {
        std::uint64_t first = 0, last = 0;
        if (text.size() >= sizeof first) {
            std::memcpy(&first, text.data(), sizeof first);
            std::memcpy(&last, text.data() + std::min<std::size_t>(text.size(), 20) - sizeof last, sizeof last);
        }
        return ((first ^ last << 1) * 0x9E3779B97F4A7C15ull) >> 58;
    }

    Anomalies& anomalies() { return snapshot.anomalies; }

    /// A line whose key no section of its kind has. All releases up to the newest known one have none that is not in
    /// the tables: there it is what is left of another line.
    void unknown_field(std::uint64_t offset, std::string_view line) {
        const bool all_known = dialect.otp != 0 && dialect.otp <= newest_known_release;
        anomalies().add(all_known ? Anomaly::bad_line : Anomaly::unknown_field, offset, line);
    }
    /// No line of a section has zero bytes; what stands beside them is read.
    void look_for_zeros(std::uint64_t offset, std::string_view line) {
        if (line.find('\0') != std::string_view::npos) anomalies().add(Anomaly::zeroed, offset, line);
    }

    /// Interns bytes of an atom as UTF-8.
    TextId intern_atom(std::string_view raw) {
        if (!dialect.latin1_atoms) return snapshot.texts.intern(raw);
        latin1_storage.clear();
        append_latin1(latin1_storage, raw);
        return snapshot.texts.intern(latin1_storage);
    }
    /// The whole text as an atom (quoted or not); the text itself where it is none.
    TextId atom(std::string_view text) {
        std::string_view rest = text;
        const auto raw = take_atom(rest, atom_storage);
        return raw && rest.empty() ? intern_atom(*raw) : snapshot.texts.intern(text);
    }
    TextId text(std::string_view value) {
        if (value.empty()) return TextId::none;
        // "Internal State" of most processes is that of the one before.
        if (last_text == TextId::none || snapshot.text(last_text) != value) last_text = snapshot.texts.intern(value);
        return last_text;
    }
    /// m:f/a at the front of `text`, which is shortened by it; FunctionId::none where there is none.
    FunctionId function(std::string_view& text) {
        // Most processes are in one of a few functions: the texts of those that were met last are remembered.
        KnownFunction& known = known_functions[slot_of_function(text)];
        const std::size_t size = known.text.size();
        if (size != 0 && text.starts_with(known.text) &&
            (text.size() == size || text[size] < '0' || text[size] > '9')) {
            text.remove_prefix(size);
            return known.id;
        }
        const std::string_view before = text;
        const auto f = take_function(text, function_storage);
        if (!f) return FunctionId::none;
        const TextId module = intern_atom(f->module);
        const FunctionId id = snapshot.functions.intern({module, intern_atom(f->name), f->arity});
        known.text.assign(before.substr(0, before.size() - text.size()));
        known.id = id;
        return id;
    }
    /// A decimal number of a field; anything else is counted as bad_number and missing. Units behind it are ignored.
    Count number(std::string_view text, std::uint64_t offset) {
        const std::string_view digits = text.substr(0, text.find(' '));
        const Count value = parse_decimal(digits);
        if (!value.has()) anomalies().add(Anomaly::bad_number, offset, text);
        return value;
    }
};

/// Takes the next line off `body`, without LF and CR.
inline std::string_view take_line(std::string_view& body) {
    const std::size_t end = body.find('\n');
    std::string_view line = body.substr(0, end);
    body.remove_prefix(end == std::string_view::npos ? body.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
}

}  // namespace beamheap::crashdump
