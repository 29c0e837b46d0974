// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/processes/stack.hpp"

#include <string>

#include "formats/otp/vm/binaries.hpp"
#include "model/characters.hpp"

namespace beamheap::otp {
namespace {

using bytes::load;

constexpr std::size_t longest_file_name = 1024;

// A string term (list of code points) or a binary, as UTF-8; file names in line tables are strings.
std::string text_of(Reader& reader, Word term) {
    if (const auto bytes = small_binary(reader.memory, reader.vm.layout, term, longest_file_name))
        return std::string{*bytes};
    std::string text;
    while (is_cons(term) && text.size() < longest_file_name) {
        const std::byte* cell = reader.memory.at(address_of(term), 16);
        if (cell == nullptr) return {};
        const auto head = load<Word>(cell);
        if (!is_small(head)) return {};
        const auto c = static_cast<std::uint64_t>(small_value(head));
        if (c >= 0x110000) return {};
        append_utf8(text, static_cast<std::uint32_t>(c));
        term = load<Word>(cell + 8);
    }
    return text;
}

}  // namespace

const Frame& FrameCache::lookup(std::uint64_t address, bool returning) {
    if (entries_.empty() || used_ * 2 > entries_.size()) {
        std::vector<Entry> fresh(entries_.empty() ? 1024 : entries_.size() * 2);
        for (Entry& entry : entries_) {
            if (entry.key == 0) continue;
            std::size_t slot = entry.key * 0x9E3779B97F4A7C15ull >> 32 & (fresh.size() - 1);
            while (fresh[slot].key != 0) slot = (slot + 1) & (fresh.size() - 1);
            fresh[slot] = entry;
        }
        entries_ = std::move(fresh);
    }
    const std::uint64_t key = address << 1 | (returning ? 1 : 0);  // code is below 2^47
    std::size_t slot = key * 0x9E3779B97F4A7C15ull >> 32 & (entries_.size() - 1);
    while (entries_[slot].key != 0 && entries_[slot].key != key) slot = (slot + 1) & (entries_.size() - 1);
    if (entries_[slot].key == 0) {
        entries_[slot] = {key, make(address, returning)};
        ++used_;
    }
    return entries_[slot].frame;
}

namespace {

// A fun's name says in which function it stands, and not where: its code begins with the line of its head.
Code::Line head_of_fun(Reader& reader, const CodePlace& place, FunctionId function) {
    if (function == FunctionId::none) return {};
    const TextId name = reader.snapshot.functions[function].name;
    if (!reader.snapshot.text(name).starts_with('-')) return {};
    const auto lines = reader.vm.code.lines(reader.memory, place);
    return lines.empty() ? Code::Line{} : lines.front().second;
}

}  // namespace

Frame FrameCache::make(std::uint64_t address, bool returning) {
    Frame frame;
    if (address == 0) return frame;
    // A return address may be the first byte of the next function: the call is before it.
    const std::uint64_t call = returning ? address - reader_.vm.layout.return_address_back : address;
    const auto place = reader_.vm.code.find(reader_.memory, call);
    if (!place) return frame;
    frame.function = reader_.function(place->mfa);
    // As crash dumps have it: from the function's m, f, a, which stand before its code.
    frame.offset = static_cast<std::uint32_t>(address - (place->info + reader_.at.code_info_mfa));
    const Code::Line line = reader_.vm.code.line(reader_.memory, *place, call);
    frame.line = line.line;
    if (line.line != 0) frame.file = file(*place, line);
    const Code::Line head = head_of_fun(reader_, *place, frame.function);
    const TextId in = head.line == 0 ? TextId::none : file(*place, head);
    if (in != TextId::none) reader_.snapshot.frame_lines.add_head(frame.function, reader_.snapshot.text(in), head.line);
    return frame;
}

// The name of the module's own file stands in front of the others where the loader has put it there, so that these have
// their numbers; else they begin with the first (beam_file.c of 24 and later; beam_load.c before. Held against the VM's
// own stacks).
TextId FrameCache::file(const CodePlace& place, const Code::Line& line) {
    const TextId module = reader_.atom(place.mfa.module);
    const std::string own = module == TextId::none ? "" : std::string{reader_.snapshot.text(module)} + ".erl";
    std::string name = own;
    if (line.file != 0) {
        const auto at = [&](std::uint32_t i) -> std::string {
            const Word word = reader_.memory.word(line.names + 8ull * i).value_or(0);
            if (!is_atom(word)) return text_of(reader_, word);
            const TextId atom = reader_.atom(word);  // up to OTP 23
            return atom == TextId::none ? std::string() : std::string(reader_.snapshot.text(atom));
        };
        name = line.names == 0 ? "" : at(0) == own ? at(line.file) : at(line.file - 1);
    }
    return name.empty() ? TextId::none : reader_.snapshot.texts.intern(name);
}

std::uint64_t zeroed_words(const Vm& vm, const std::byte* words, std::uint64_t count) {
    std::uint64_t zeros = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        auto word = load<Word>(words + 8 * i);
        if (!is_header(word)) continue;
        if (vm.roots.frame_pointers && i + 1 < count) word = load<Word>(words + 8 * ++i);
        zeros += word == 0;
    }
    return zeros;
}

void read_frames(const Vm& vm, FrameCache& cache, const std::byte* words, std::uint64_t count,
                 std::vector<Frame>& out) {
    for (std::uint64_t i = 0; i < count && out.size() < most_frames; ++i) {
        auto word = load<Word>(words + 8 * i);
        if (!is_header(word)) continue;
        if (vm.roots.frame_pointers && i + 1 < count) word = load<Word>(words + 8 * ++i);
        // The oldest one returns into the emulator, which is no loaded code.
        const Frame& frame = cache.returning_to(word);
        if (frame.function != FunctionId::none) out.push_back(frame);
    }
}

}  // namespace beamheap::otp
