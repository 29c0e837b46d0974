// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/stack.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "bytes/scan.hpp"
#include "formats/crashdump/readers.hpp"

namespace beamheap::crashdump {

Frame read_frame(Loader& loader, std::string_view text) {
    Frame frame;
    frame.function = loader.function(text);
    if (frame.function == FunctionId::none) return frame;
    if (text.starts_with(" + ")) {
        text.remove_prefix(3);
        std::from_chars(text.data(), text.data() + text.size(), frame.offset);
    }
    return frame;
}

namespace {

constexpr std::string_view return_mark = "SReturn addr ";
constexpr std::size_t kept_frames = 3;
constexpr std::size_t kept_values = 32;

struct LinePlace {
    const char* colon;  // the first one, if it is among the first longest_label bytes; it may be behind the line
    const char* end;    // null: the text ends before it
};
constexpr std::ptrdiff_t longest_label = 40;

// Of "SCatch 0x... (m:f/a + off)": the offset is no multiple of four; its last two digits tell.
bool is_unaligned(std::string_view value) {
    const std::size_t end = value.rfind(')');
    if (end == std::string_view::npos || end < 2) return false;
    const char tens = value[end - 2], ones = value[end - 1];
    if (ones < '0' || ones > '9') return false;
    return ((tens >= '0' && tens <= '9' ? 10 * (tens - '0') : 0) + (ones - '0')) % 4 != 0;
}

// The end of the line at `at`, by its length where the slot holds an atom, whose bytes may be line feeds.
LinePlace line_at(const char* at, const char* end) {
    const char* const colon = bytes::find_byte(at, end - at > longest_label ? at + longest_label : end, ':');
    const char* rest = colon;
    if (end - colon > 2 && colon[1] == 'A') {
        std::size_t length = 0;
        const auto [digits_end, error] = std::from_chars(colon + 2, end, length, 16);
        if (error == std::errc{} && length <= 1024) {
            if (static_cast<std::size_t>(end - digits_end) < length + 1) return {colon, nullptr};
            rest = digits_end + 1 + length;
        }
    }
    const char* const line_feed = bytes::find_byte(rest == colon ? at : rest, end, '\n');
    return {colon, line_feed == end ? nullptr : line_feed};
}

}  // namespace

void frames_of_registers(Loader& loader, const Process& process, const Frame& first_return,
                         std::vector<Frame>& frames) {
    if (process.current_function != FunctionId::none && process.program_counter != 0)
        frames.push_back({process.current_function, process.pc_offset, 0, TextId::none});
    if (loader.dialect.frames_end_with_return) return;
    for (std::uint32_t i = 0; i < process.extra_range.count; ++i) {
        const ExtraField& extra = loader.snapshot.extras[process.extra_range.first + i];
        if (loader.snapshot.text(extra.key) != "CP") continue;
        const std::string_view value = loader.snapshot.text(extra.value);
        const std::size_t bracket = value.find('(');
        if (bracket == std::string_view::npos) return;
        const Frame caller = read_frame(loader, value.substr(bracket + 1));
        if (caller.function != FunctionId::none && !(first_return == caller)) frames.push_back(caller);
        return;
    }
}

void StackReader::begin(bool keep_values) {
    keep_values_ = keep_values;
    values_used_ = 0;
    frames_.clear();
    slots_ = last_address_ = slots_behind_ = registers_ = catches_ = 0;
    behind_ = older_ = no_frame_seen;
    top_registers_ = FramePlace::unknown;
    torn_ = ends_ = false;
}

void StackReader::hold(std::string_view label, bool is_return, const Loader& loader) {
    if (label.starts_with('y')) {
        const Count number = parse_decimal(label.substr(1));
        torn_ = torn_ || number != Count(registers_);
        ++registers_;
        ++slots_behind_;
        return;
    }
    const auto address =
        label.starts_with("0x") || loader.dialect.bare_slot_addresses ? parse_hex(label) : std::nullopt;
    if (!address) {
        torn_ = true;
        return;
    }
    const std::uint64_t apart = (slots_behind_ + 1) * loader.snapshot.source.word_size;
    torn_ = torn_ || (last_address_ != 0 && *address - last_address_ != apart);
    last_address_ = *address;
    slots_behind_ = 0;
    if (is_return) registers_ = 0;
}

void StackReader::keep(std::string_view value) {
    if (values_used_ == values_.size()) values_.emplace_back();
    SlotText& slot = values_[values_used_++];
    slot.frame = static_cast<std::uint32_t>(frames_.size());
    slot.text.resize(value.size());  // mostly what it was: less work than assign()
    std::memcpy(slot.text.data(), value.data(), value.size());
}

std::size_t StackReader::frame(Loader& loader, std::string_view text) {
    std::size_t& recent = recent_[Loader::slot_of_function(text)];
    if (recent != 0 && texts_[static_cast<TextId>(recent - 1)] == text) return recent - 1;
    const auto id = static_cast<std::size_t>(texts_.intern(text));
    if (id == seen_.size()) {
        Seen& fresh = seen_.emplace_back();
        fresh.frame = read_frame(loader, text);
        fresh.ends = text.find("terminate process") != std::string_view::npos;
        // <terminate process>, unknown function: these have no colon
        fresh.damaged = fresh.frame.function == FunctionId::none && text.find(':') != std::string_view::npos;
    }
    recent = id + 1;
    return id;
}

// All that is behind a return address and above the next one was passed. Every stack that goes back to one place has as
// many registers there; should two not (a torn one), it is not known how many they are.
void StackReader::note_frame(Loader& loader) {
    const std::size_t frame = loader.dialect.frames_end_with_return ? behind_ : older_;
    if (frame == no_frame_seen || torn_ || seen_[frame].frame.function == FunctionId::none) return;
    std::vector<FramePlace>& places = loader.snapshot.frame_places;
    std::uint32_t& number = seen_[frame].place;
    if (number == 0) {
        const Frame& seen = seen_[frame].frame;
        places.push_back({seen.function, seen.offset, static_cast<std::uint32_t>(registers_), catches_});
        number = static_cast<std::uint32_t>(places.size());
    } else if (FramePlace& place = places[number - 1]; place.registers != registers_ || place.catches != catches_) {
        place.registers = FramePlace::unknown;
    }
}

// What is above the first return address, of whoever goes on at this place: nearly all processes wait at one of a few.
void StackReader::note_top(Loader& loader, const Process& process) {
    const std::uint64_t key = static_cast<std::uint64_t>(index_of(process.current_function)) << 32 | process.pc_offset;
    std::vector<FramePlace>& places = loader.snapshot.frame_places;
    if (key != last_top_ || last_top_place_ == 0) {
        std::uint32_t& number = tops_[key];
        if (number == 0) {
            places.push_back({process.current_function, process.pc_offset, top_registers_, top_catches_});
            number = static_cast<std::uint32_t>(places.size());
        }
        last_top_ = key;
        last_top_place_ = number;
    }
    FramePlace& place = places[last_top_place_ - 1];
    if (place.registers != top_registers_ || place.catches != top_catches_) place.registers = FramePlace::unknown;
}

// "SReturn addr 0x... (m:f/a + off)"
void StackReader::return_address(Loader& loader, std::string_view value) {
    constexpr std::string_view end_of_process = "terminate process";
    const std::size_t bracket = value.find('(');
    older_ = std::exchange(behind_, no_frame_seen);
    catches_ = 0;
    if (bracket == std::string_view::npos) {
        ends_ = value.find(end_of_process) != std::string_view::npos;
        return;
    }
    behind_ = frame(loader, value.substr(bracket + 1));
    const Seen& seen = seen_[behind_];
    ends_ = seen.ends || value.substr(0, bracket).find(end_of_process, return_mark.size()) != std::string_view::npos;
    torn_ |= seen.damaged;
    if (seen.frame.function != FunctionId::none) frames_.push_back(seen.frame);
}

std::size_t StackReader::feed(Loader& loader, std::string_view text, bool last) {
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end) {
        const LinePlace place = line_at(at, end);
        const char* stop = place.end;
        if (stop == nullptr) {
            if (!last) break;
            stop = end;
        }
        const std::string_view line(at, static_cast<std::size_t>(stop - at));
        const auto front = static_cast<std::size_t>(place.colon - at);
        const std::size_t colon = front < line.size() && line[front] == ':' ? front : line.find(':', front);
        if (colon != std::string_view::npos) {
            ++slots_;
            const std::string_view value = line.substr(colon + 1);
            const bool is_return = value.starts_with(return_mark);
            if (is_return && behind_ == no_frame_seen && older_ == no_frame_seen && slots_ == registers_ + 1)
                top_registers_ = static_cast<std::uint32_t>(registers_), top_catches_ = catches_;
            // "SReturn addr 0x... (m:f/a + off)", "SCatch 0x... (m:f/a + off)": nothing else of the VM's own is there.
            torn_ |= value.starts_with('S') &&
                     (!(is_return || value.starts_with("SCatch ")) || value.find('(') == std::string_view::npos);
            if (is_return) note_frame(loader);
            hold(line.substr(0, colon), is_return, loader);
            ends_ = false;
            if (is_return) {
                return_address(loader, value);
            } else if (value.starts_with("SC")) {
                if (registers_ <= 64 && registers_ != 0) catches_ |= std::uint64_t{1} << (registers_ - 1);
                if (is_unaligned(value)) loader.snapshot.source.unaligned_code = true;
            } else if (keep_values_ && frames_.size() < kept_frames && values_used_ < kept_values && !value.empty() &&
                       (value[0] == 'P' || value[0] == 'p' || value[0] == 'A' || value[0] == 'H')) {
                keep(value.back() == '\r' ? value.substr(0, value.size() - 1) : value);
            }
        } else if (!line.empty() && line != "\r") {
            torn_ = true;
        }
        at = stop == end ? end : stop + 1;
    }
    return static_cast<std::size_t>(at - text.data());
}

void StackReader::finish(Loader& loader, Process& process) {
    process.stack_words = slots_;
    if (!loader.dialect.frames_end_with_return) note_frame(loader);
    else if (process.program_counter != 0 && top_registers_ != FramePlace::unknown) note_top(loader, process);
    loader.frames.clear();
    frames_of_registers(loader, process, frames_.empty() ? Frame() : frames_[0], loader.frames);
    process.frames_before_returns = static_cast<std::uint32_t>(loader.frames.size());
    loader.frames.insert(loader.frames.end(), frames_.begin(), frames_.end());
    // Registers come before their frame's return address (23 and later), or behind it.
    for (std::size_t i = 0; i < values_used_; ++i) {
        std::uint32_t& frame = values_[i].frame;
        if (!loader.dialect.frames_end_with_return && frame != 0) --frame;
        frame += process.frames_before_returns == 0 ? 0 : process.frames_before_returns - 1;
    }
    if (loader.frames.empty()) return;
    // Neighbours are often alike.
    if (last_stack_ == StackId::none || !std::ranges::equal(loader.snapshot.stacks[last_stack_], loader.frames))
        last_stack_ = loader.snapshot.stacks.intern(loader.frames);
    process.stack = last_stack_;
}

}  // namespace beamheap::crashdump
