// SPDX-License-Identifier: Apache-2.0
// =proc:PID, one per process. Written by print_process_info() in erts/emulator/beam/erl_process_dump.c / break.c;
// the rows below are in writing order and span R10B to 29.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>

#include "formats/crashdump/digits.hpp"
#include "formats/crashdump/fields.hpp"
#include "formats/crashdump/readers.hpp"
#include "formats/crashdump/stack.hpp"

namespace beamheap::crashdump {
namespace {

ProcessState state_of(std::string_view text) {
    if (text == "Waiting") return ProcessState::waiting;
    if (text == "Scheduled") return ProcessState::runnable;
    if (text == "Running") return ProcessState::running;
    if (text == "Garbing") return ProcessState::garbage_collecting;
    if (text == "Suspended") return ProcessState::suspended;
    if (text == "Exiting") return ProcessState::exiting;
    if (text == "Non Existing") return ProcessState::free;
    return ProcessState::unknown;
}

void read_state(Loader& loader, Process& process, std::string_view value, std::uint64_t offset) {
    process.state = state_of(value);
    if (process.state == ProcessState::unknown) loader.anomalies().add(Anomaly::bad_line, offset, value);
}
// "ACT_PRIO_NORMAL | USR_PRIO_NORMAL | PRQ_PRIO_NORMAL | OFF_HEAP_MSGQ": words, among which one of each priority.
bool is_internal_state(std::string_view value) {
    constexpr std::array<std::string_view, 3> priorities{"ACT_PRIO_", "USR_PRIO_", "PRQ_PRIO_"};
    constexpr std::array<std::string_view, 4> levels{"MAX", "HIGH", "NORMAL", "LOW"};
    std::array<unsigned, 3> found{};
    while (!value.empty()) {
        const std::size_t bar = value.find(" | ");
        const std::string_view word = value.substr(0, bar);
        value.remove_prefix(bar == std::string_view::npos ? value.size() : bar + 3);
        for (std::size_t i = 0; i < priorities.size(); ++i) {
            if (!word.starts_with(priorities[i])) continue;
            if (std::ranges::find(levels, word.substr(priorities[i].size())) == levels.end()) return false;
            ++found[i];
        }
        const auto fits = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
        if (word.empty() || !std::ranges::all_of(word, fits)) return false;
    }
    return std::ranges::all_of(found, [](unsigned count) { return count == 1; });
}
void read_internal_state(Loader& loader, Process& process, std::string_view value, std::uint64_t offset) {
    if (is_internal_state(value)) process.internal_state = loader.text(value);
    else loader.anomalies().add(Anomaly::bad_line, offset, value);
}
void read_name(Loader& loader, Process& process, std::string_view value, std::uint64_t) {
    process.name = loader.atom(value);
}
void read_initial_call(Loader& loader, Process& process, std::string_view value, std::uint64_t offset) {
    process.initial_call = loader.function(value);
    // The module of an exiting process is overwritten by its cleanup state (u.terminate in erl_process.h), and prints
    // as "<cp/header:0x...>" (observed on 23 to 29).
    const bool overwritten = process.state == ProcessState::exiting && value.starts_with('<');
    if (process.initial_call == FunctionId::none && !overwritten)
        loader.anomalies().add(Anomaly::bad_line, offset, value);
}
void read_current_call(Loader& loader, Process& process, std::string_view value, std::uint64_t) {
    process.current_function = loader.function(value);
}
void read_parent(Loader& loader, Process& process, std::string_view value, std::uint64_t offset) {
    const auto pid = parse_pid(value);
    if (pid) process.parent = *pid;
    else if (value != "[]") loader.anomalies().add(Anomaly::bad_line, offset, value);
}

void take_counter(Process& process, const Loader::KnownCounter& known) {
    process.program_counter = known.address;
    if (known.frame.function == FunctionId::none) return;
    process.pc_offset = known.frame.offset;
    process.current_function = known.frame.function;
}
void read_program_counter(Loader& loader, Process& process, std::string_view value, std::uint64_t) {
    Loader::KnownCounter& known = loader.known_counters[Loader::slot_of_counter(value)];
    if (known.text != value) {
        const std::size_t blank = value.find(" (");
        known.text = value;
        known.address = parse_hex(value.substr(0, blank)).value_or(0);
        known.frame = blank == std::string_view::npos ? Frame() : read_frame(loader, value.substr(blank + 2));
        known.has_zeros = value.find('\0') != std::string_view::npos;
    }
    take_counter(process, known);
}

void read_arity(Loader& loader, Process& process, std::string_view value, std::uint64_t offset) {
    process.arity = static_cast<std::uint32_t>(std::min<std::uint64_t>(loader.number(value, offset).value_or(0), 255));
}

// The last of the four is "overflow" when the limit is passed; writers of 20.3 to 22.1 print a wrapped number instead.
void read_old_vheap_unused(Loader& loader, Process& process, std::string_view value, std::uint64_t offset) {
    if (value == "overflow") return;
    const Count unused = loader.number(value, offset);
    if (unused.has() && *unused < 1ull << 48) process.old_bin_vheap_unused_words = unused;
}
void read_vheap_unused(Loader& loader, Process& process, std::string_view value, std::uint64_t offset) {
    if (value == "overflow") return;
    const Count unused = loader.number(value, offset);
    if (unused.has() && *unused < 1ull << 48) process.bin_vheap_unused_words = unused;
}

// ------------------------------------------------------------------------------------------------ link list

bool take_text(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

// #Ref<node.c.b.a>: the last three numbers.
bool take_reference(std::string_view& text, Link& link) {
    if (!take_text(text, "#Ref<")) return false;
    const std::size_t end = text.find('>');
    if (end == std::string_view::npos) return false;
    std::string_view words = text.substr(0, end);
    text.remove_prefix(end + 1);
    for (std::size_t i = 3; i-- > 0;) {
        const std::size_t dot = words.rfind('.');
        link.ref[i] = static_cast<std::uint32_t>(parse_decimal(words.substr(dot + 1)).value_or(0));
        if (dot == std::string_view::npos) break;
        words = words.substr(0, dot);
    }
    return true;
}

bool take_target(Loader& loader, std::string_view& text, Link& link) {
    if (const auto pid = take_pid(text)) return link.pid = *pid, true;
    if (const auto port = take_port(text)) return link.port = *port, true;
    if (take_text(text, "{")) {  // {Name,Node}, {Module,Resource}
        const auto name = take_atom(text, loader.atom_storage);
        if (!name) return false;
        link.name = loader.intern_atom(*name);
        if (!take_text(text, ",")) return false;
        const auto node = take_atom(text, loader.atom_storage);
        if (!node) return false;
        link.node = loader.intern_atom(*node);
        return take_text(text, "}");
    }
    const auto name = take_atom(text, loader.atom_storage);
    if (!name) return false;
    link.name = loader.intern_atom(*name);
    return true;
}

// One entry of the list: a pid or port, {to|from,Target,Ref}, or {suspending|suspended_by,...} of debug builds.
bool take_link(Loader& loader, std::string_view& text, Link& link) {
    if (!take_text(text, "{")) return take_target(loader, text, link);
    if (take_text(text, "to,")) link.kind = LinkKind::monitors;
    else if (take_text(text, "from,")) link.kind = LinkKind::monitored_by;
    else return false;
    if (!take_target(loader, text, link) || !take_text(text, ",")) return false;
    if (take_text(text, "[]")) {
        link.kind = LinkKind::node_monitor;
    } else {
        if (link.kind == LinkKind::monitored_by && link.node != TextId::none) link.kind = LinkKind::resource;
        if (!take_reference(text, link)) return false;
    }
    if (!take_text(text, "}")) return false;
    while (take_text(text, "}")) {
    }  // 17.4 and 17.5 write one bracket too many (OTP-12537)
    return true;
}

void read_links(Loader& loader, Process& process, std::string_view value, std::uint64_t offset) {
    std::vector<Link>& links = loader.snapshot.links;
    process.link_range.first = static_cast<std::uint32_t>(links.size());
    if (!take_text(value, "[")) return;
    while (!value.empty() && value[0] != ']') {
        Link link;
        if (!take_link(loader, value, link)) {
            loader.anomalies().add(Anomaly::bad_line, offset, value);
            break;
        }
        process.links += link.kind == LinkKind::link;
        process.monitors += link.kind == LinkKind::monitors || link.kind == LinkKind::node_monitor;
        if (loader.plan.links) links.push_back(link);
        while (take_text(value, ",") || take_text(value, " ")) {
        }
    }
    process.link_range.count = static_cast<std::uint32_t>(links.size()) - process.link_range.first;
}

// What lines that are the same in many processes give them. What was odd is read, and counted, each time.
bool repeat_state(Process& to, const Process& from) {
    return to.state = from.state, from.state != ProcessState::unknown;
}
bool repeat_initial_call(Process& to, const Process& from) {
    return to.initial_call = from.initial_call, from.initial_call != FunctionId::none;
}
bool repeat_current_call(Process& to, const Process& from) {
    return to.current_function = from.current_function, from.current_function != FunctionId::none;
}
bool repeat_parent(Process& to, const Process& from) { return to.parent = from.parent, from.parent.has(); }
bool repeat_arity(Process& to, const Process& from) { return to.arity = from.arity, true; }
bool repeat_internal_state(Process& to, const Process& from) {
    return to.internal_state = from.internal_state, from.internal_state != TextId::none;
}

constexpr Field<Process> process_fields[] = {
    {"State: ", {}, {}, read_state, repeat_state},
    {"Name: ", {}, {}, read_name},
    {"Spawned as: ", {}, {}, read_initial_call, repeat_initial_call},
    {"Last scheduled in for: ", {}, {}, read_current_call, repeat_current_call},
    {"Current call: ", {}, {}, read_current_call, repeat_current_call},
    {"Spawned by: ", {}, {}, read_parent, repeat_parent},
    {"Message queue length: ", &Process::msgq_len},
    {"Number of heap fragments: ", &Process::fragments},
    {"Heap fragment data: ", &Process::fragment_words},
    {"Link list: ", {}, {}, read_links},
    {"Reductions: ", &Process::reductions},
    {"Stack+heap: ", &Process::heap_words},
    {"OldHeap: ", &Process::old_heap_words},
    {"Heap unused: ", &Process::heap_unused_words},
    {"OldHeap unused: ", &Process::old_heap_unused_words},
    {"BinVHeap: ", &Process::bin_vheap_words},
    {"OldBinVHeap: ", &Process::old_bin_vheap_words},
    {"BinVHeap unused: ", &Process::bin_vheap_unused_words, {}, read_vheap_unused},
    {"OldBinVHeap unused: ", &Process::old_bin_vheap_unused_words, {}, read_old_vheap_unused},
    {"Memory: ", &Process::memory_bytes},
    {"Program counter: ",
     {},
     {},
     read_program_counter},  // an unknown place leaves the function that another line has told
    {"arity = ", {}, {}, read_arity, repeat_arity},
    {"Internal State: ", {}, {}, read_internal_state, repeat_internal_state},
};

/// The number of the field with this key.
consteval std::size_t row_of(std::string_view key) {
    return static_cast<std::size_t>(std::ranges::find(process_fields, key, &Field<Process>::key) - process_fields);
}
static_assert(row_of("Spawned as: ") < std::size(process_fields) && row_of("arity = ") < std::size(process_fields) &&
              row_of("Spawned by: ") < std::size(process_fields) &&
              row_of("Program counter: ") < std::size(process_fields));

constexpr std::size_t program_counter_row = row_of("Program counter: ");

// A row of a number, its key as words of eight bytes: text is held against it without a loop.
struct NumberLine {
    static constexpr std::size_t width = 16;
    using Words = std::array<std::uint64_t, 2>;
    std::size_t size = std::size_t{1} << 48;  // of the key; other rows fit nowhere
    Count Process::*count = nullptr;
    Words front{}, in_front{};  // its first bytes, and which those are
    Words end{};                // its last ones, where it has more
    /// `text` has as many bytes as the key, and as many as two words.
    bool begins(const char* text) const {
        Words met;
        std::memcpy(met.data(), text, width);
        if ((met[0] & in_front[0]) != front[0] || (met[1] & in_front[1]) != front[1]) return false;
        if (size <= width) return true;
        std::memcpy(met.data(), text + size - width, width);
        return met == end;
    }
};
constexpr auto number_lines = [] {
    static_assert(process_fields[std::size(process_fields) - 1].count == nullptr);  // a number has a row behind it
    std::array<NumberLine, std::size(process_fields)> lines{};
    const auto words = [](std::string_view key, char in_key) {
        std::array<char, NumberLine::width> bytes{};
        for (std::size_t i = 0; i < key.size(); ++i) bytes[i] = in_key != 0 ? in_key : key[i];
        return std::bit_cast<NumberLine::Words>(bytes);
    };
    for (std::size_t row = 0; row < lines.size(); ++row) {
        const Field<Process>& field = process_fields[row];
        NumberLine line;  // each row is assigned: GCC 12 leaves those of zeros that are not
        if (field.count != nullptr) {
            line.size = field.key.size();
            line.count = field.count;
            line.front = words(field.key.substr(0, NumberLine::width), 0);
            line.in_front = words(field.key.substr(0, NumberLine::width), static_cast<char>(0xFF));
            if (line.size > NumberLine::width) line.end = words(field.key.substr(line.size - NumberLine::width), 0);
        }
        lines[row] = line;
    }
    return lines;
}();
static_assert(std::ranges::all_of(process_fields, [](const auto& field) {
    return field.count == nullptr || field.key.size() <= 2 * NumberLine::width;
}));

// Fields that whole entries may lack.
constexpr std::string_view not_of_all[] = {"Name: ",      "Last scheduled in for: ", "Current call: ", "Spawned by: ",
                                           "Link list: ", "Program counter: ",       "arity = "};

// Fields with no member of their own are kept as text; these are known, so nothing is said about them.
constexpr std::string_view kept_as_text[] = {
    "Started",   "Run queue",      "CP",           "Last calls",   "New heap start", "New heap top", "Stack top",
    "Stack end", "Old heap start", "Old heap top", "Old heap end", "Message queue",  "Dictionary",   "Group leader"};

// "arity = " tells how many x registers a process was scheduled out with: the arguments of the function that it is to
// enter, above all of erlang:hibernate/3, where they are all that is left of it. Who waits in a receive has none. A
// dump never writes what they hold (erts_program_counter_info), and of one that runs not even how many they are.
bool registers_lost(const Process& process) {
    return process.arity != 0 || process.state == ProcessState::running ||
           process.state == ProcessState::garbage_collecting;
}

// Where the blocks of a process in collection lie: "New heap start: 7F2219CF7060" and so on, of Garbing ones alone.
struct Blocks {
    std::uint64_t heap_start = 0, heap_top = 0, stack_top = 0, stack_end = 0;
    std::uint64_t old_start = 0, old_top = 0, old_end = 0;
};
struct BlockField {
    std::string_view key;
    std::uint64_t Blocks::*address;
};
constexpr BlockField block_fields[] = {
    {"New heap start", &Blocks::heap_start}, {"New heap top", &Blocks::heap_top},    {"Stack top", &Blocks::stack_top},
    {"Stack end", &Blocks::stack_end},       {"Old heap start", &Blocks::old_start}, {"Old heap top", &Blocks::old_top},
    {"Old heap end", &Blocks::old_end},
};

// The words from one address to another one; missing where that is no whole number of them.
Count words_between(std::uint64_t from, std::uint64_t to, std::uint32_t word) {
    if (from == 0 || to < from || (to - from) % word != 0) return {};
    return (to - from) / word;
}

// What is said of the heaps of a process in collection may be of two blocks: a process that can't be collected at once
// goes on in a fragment, with its stack, and "Stack+heap" is the size of the block that it left, "Heap unused" what is
// free in the fragment (delay_garbage_collection in erl_gc.c, OTP 19 and later); and while terms are moved, the block
// that they come from is both full and done with. So a figure counts only if the addresses of the blocks agree with it.
void judge_blocks(Process& process, const Blocks& blocks, std::uint32_t word) {
    process.stack_words = words_between(blocks.stack_top, blocks.stack_end, word);
    const Count block = words_between(blocks.heap_start, blocks.stack_end, word);
    const Count unused = words_between(blocks.heap_top, blocks.stack_end, word);
    // Before OTP 19 there are no addresses. A block with nothing but free words and stack is that of the process then:
    // the one that terms are moved to has at least one.
    const bool empty = blocks.heap_start == 0 && process.heap_unused_words == process.heap_words;
    const bool agrees = block.has() && block == process.heap_words && unused == process.heap_unused_words;
    if (!agrees && !empty) process.heap_unused_words = Count();
    const bool old_agrees =
        blocks.old_start == 0
            ? (blocks.heap_start != 0 || empty) && process.old_heap_words == Count(0)
            : words_between(blocks.old_start, blocks.old_end, word) == process.old_heap_words &&
                  words_between(blocks.old_top, blocks.old_end, word) == process.old_heap_unused_words;
    if (!old_agrees) process.old_heap_unused_words = Count();
}

constexpr std::size_t longest_extra = 8192;  // of a field that is kept as text

/// Reads the lines of one entry.
class EntryReader {
public:
    EntryReader(Loader& loader, const Section& section, Process& process)
        : loader_(loader),
          section_(section),
          process_(process),
          keeps_extras_(!loader.plan.only_processes() || loader.plan.links) {}

    void read(std::string_view body) {
        std::string_view rest = body;
        for (;;) {
            rest.remove_prefix(take_expected(rest.data(), rest.size()));
            if (rest.empty()) break;
            const std::uint64_t offset = section_.body_offset + (body.size() - rest.size());
            const std::string_view line = take_line(rest);
            if (!line.empty()) other_line(line, offset);
        }
        end_extra();
    }
    /// Which fields it has, as bits by their rows.
    std::uint32_t fields() const { return static_cast<std::uint32_t>(place_.seen); }
    /// Something in it is out of order, or one of two lines that come together is not there.
    bool torn() const {
        return torn_ || (has(row_of("Spawned as: ")) && !has(row_of("Spawned by: "))) ||
               (has(row_of("arity = ")) && !has(row_of("Program counter: ")));
    }
    const Blocks& blocks() const { return blocks_; }

private:
    bool has(std::size_t row) const { return (place_.seen >> row & 1) != 0; }
    /// Takes lines from the front of `text` as long as each is the one that is looked for first, and a plain number or
    /// what that line was the last time, as nearly all are: their bytes. Rows are as they followed each other then.
    std::size_t take_expected(const char* const text, const std::size_t size) {
        const char* at = text;
        const char* const end = text + size;
        while (at != end) {
            if (number_lines[place_.hint].count != nullptr) at = take_numbers(at, end);
            const std::size_t row = place_.hint;
            if (at == end || place_.seen >> row != 0) break;
            const std::size_t line = expected(row, at, static_cast<std::size_t>(end - at));
            if (line == 0) break;
            at += line;
            place_.seen |= std::uint64_t{1} << row;
            row_ = row;
            place_.hint = behind(row);
        }
        return static_cast<std::size_t>(at - text);
    }
    /// Likewise, of short numbers alone.
    [[gnu::noinline]] const char* take_numbers(const char* at, const char* const end) {
        constexpr std::ptrdiff_t behind_key = 16;  // the digits of a number that is read at once, LF, and some
        std::size_t row = place_.hint, last = row_;
        std::uint64_t seen = place_.seen;
        Process& process = process_;
        const std::uint8_t* const next = loader_.field_behind.data();
        while (seen >> row == 0) {
            const NumberLine& line = number_lines[row];
            const auto key = static_cast<std::ptrdiff_t>(line.size);
            if (end - at < behind_key + key || !line.begins(at)) break;
            const ShortNumber number = read_short_number(at + key);
            if (number.digits == 0 || at[key + number.digits] != '\n') break;
            process.*line.count = number.value;
            at += key + number.digits + 1;
            seen |= std::uint64_t{1} << row;
            last = row;
            row = next[row] != 0 ? next[row] : row + 1;
        }
        place_ = {row, seen};
        row_ = last;
        return at;
    }
    /// The length of the line at the front of `text`, LF included, if it can be taken as this row's; 0: it has to be
    /// read.
    std::size_t expected(std::size_t row, const char* text, std::size_t size) {
        const Field<Process>& field = process_fields[row];
        if (field.repeat != nullptr) {
            const Loader::RepeatedLine& last = loader_.repeated_lines[row];
            if (last.size == 0 || size < last.size || std::memcmp(text, last.text.data(), last.size) != 0) return 0;
            return field.repeat(process_, last.row) ? last.size : 0;
        }
        if (field.count != nullptr) return longer_number(row, text, size);
        return row == program_counter_row ? known_counter(text, size) : 0;
    }
    /// Likewise, where it is a number of more digits, below 10^14.
    std::size_t longer_number(std::size_t row, const char* text, std::size_t size) {
        constexpr std::size_t most = 14;  // digits: no field takes such a number for odd
        const std::size_t key = process_fields[row].key.size();
        if (size < key + most + 1 || std::memcmp(text, process_fields[row].key.data(), key) != 0) return 0;
        const char* const digits = text + key;
        std::uint64_t value = 0;
        std::size_t count = 0;
        for (; count < most && digits[count] >= '0' && digits[count] <= '9'; ++count)
            value = value * 10 + static_cast<unsigned>(digits[count] - '0');
        if (count == 0 || digits[count] != '\n') return 0;
        process_.*process_fields[row].count = value;
        return key + count + 1;
    }
    /// Likewise, where it is the line of a program counter that was met before.
    std::size_t known_counter(const char* text, std::size_t size) {
        constexpr std::string_view key = process_fields[program_counter_row].key;
        constexpr std::size_t least = 20;  // bytes of the value, of which its slot is told
        if (size < key.size() + least || std::memcmp(text, key.data(), key.size()) != 0) return 0;
        const Loader::KnownCounter& known = loader_.known_counters[Loader::slot_of_counter({text + key.size(), least})];
        const std::size_t line = key.size() + known.text.size();
        if (known.text.size() < least || known.has_zeros || line >= size || text[line] != '\n' ||
            std::memcmp(text + key.size(), known.text.data(), known.text.size()) != 0)
            return 0;
        take_counter(process_, known);
        return line + 1;
    }
    void remember(std::size_t row, std::string_view line) {
        Loader::RepeatedLine& last = loader_.repeated_lines[row];
        if (process_fields[row].repeat == nullptr || line.size() >= last.text.size()) return;
        std::memcpy(last.text.data(), line.data(), line.size());
        last.text[line.size()] = '\n';
        last.size = line.size() + 1;
        last.row = process_;
    }
    /// A line was of this row: the next one is of the row that came behind it the last time.
    void went_on_to(std::size_t row) {
        if (row_ != none) loader_.field_behind[row_] = static_cast<std::uint8_t>(row);
        row_ = row;
        place_.hint = behind(row);
    }
    std::size_t behind(std::size_t row) const {
        const std::size_t behind = loader_.field_behind[row];
        return behind != 0 ? behind : row + 1 == std::size(process_fields) ? 0 : row + 1;
    }
    void found(std::size_t row) {
        static_assert(std::size(process_fields) <= std::tuple_size_v<decltype(Loader::field_behind)>);
        torn_ |= place_.seen >> row != 0;  // it, or one that comes behind it, was there already
        place_.seen |= std::uint64_t{1} << row;
    }
    void end_extra() {
        if (extra_key_ != TextId::none) loader_.snapshot.extras.push_back({extra_key_, loader_.text(extra_)});
        extra_key_ = TextId::none;
    }
    void other_line(std::string_view line, std::uint64_t offset) {
        torn_ |= line.find('\0') != std::string_view::npos;
        const std::uint64_t before = place_.seen;
        if (read_field(loader_, std::span<const Field<Process>>(process_fields), place_, process_, line, offset)) {
            const std::size_t row = place_.hint == 0 ? std::size(process_fields) - 1 : place_.hint - 1;
            const bool again = place_.seen == before;
            place_.seen = before;
            found(row);
            if (!again) remember(row, line);
            went_on_to(row);
            return;
        }
        if (line[0] == ' ') {  // goes on with "Last calls", or x registers of releases before R13
            if (extra_key_ != TextId::none && extra_.size() < longest_extra) extra_ += line.substr(0, longest_extra);
            return;
        }
        const std::size_t colon = line.find(": ");
        const std::string_view key = line.substr(0, colon);
        if (colon == std::string_view::npos || std::ranges::find(kept_as_text, key) == std::end(kept_as_text)) {
            if (key != "send" && key != "'receive'" && key != "timeout") {  // glued entries of "Last calls" up to 23
                const bool field = colon != std::string_view::npos && is_field_name(key);
                torn_ |= !field;
                if (field) loader_.unknown_field(offset, line);
                else loader_.anomalies().add(Anomaly::bad_line, offset, line);
            }
            if (colon == std::string_view::npos) return;
        }
        if (const auto known = std::ranges::find(kept_as_text, key); known != std::end(kept_as_text)) {
            const std::uint64_t bit = std::uint64_t{1} << (known - std::begin(kept_as_text));
            if ((kept_ & bit) != 0) {
                end_extra();
                loader_.anomalies().add(Anomaly::repeated_field, offset, line);
                return;
            }
            kept_ |= bit;
        }
        for (const BlockField& field : block_fields)
            if (field.key == key) blocks_.*field.address = parse_hex(line.substr(colon + 2)).value_or(0);
        if (!keeps_extras_) return;
        end_extra();
        extra_key_ = loader_.snapshot.texts.intern(key.substr(0, longest_extra));
        extra_ = line.substr(colon + 2, longest_extra);
    }

    Loader& loader_;
    const Section& section_;
    Process& process_;
    const bool keeps_extras_;
    static constexpr std::size_t none = ~std::size_t{0};
    FieldPlace place_;
    std::size_t row_ = none;  // of the last line
    std::uint64_t kept_ = 0;  // of the fields that are kept as text, those that were there: bits
    bool torn_ = false;
    Blocks blocks_;
    TextId extra_key_ = TextId::none;
    std::string extra_;  // the value of that key so far: it may go on over lines
};

/// Room for one more, and for many more: pages that nothing is written to cost nothing, but each time that a table of
/// millions moves all of it is there twice.
void make_room(std::vector<Process>& processes) {
    constexpr std::size_t few = 512, many = 65536, step = 4;
    if (processes.size() != processes.capacity()) return;
    try {
        processes.reserve(processes.empty() ? few : std::max(many, step * processes.size()));
    } catch (const std::bad_alloc&) {  // of address space, which may be limited: then as vectors grow
    }
}

}  // namespace

void read_process(Loader& loader, const Section& section, std::string_view body) {
    Snapshot& snapshot = loader.snapshot;
    const auto pid = parse_pid(section.id);
    if (!pid) {
        loader.anomalies().add(Anomaly::bad_line, section.offset, section.id);
        return;
    }
    const auto id = static_cast<ProcId>(snapshot.processes.size());
    make_room(snapshot.processes);
    Process& process = snapshot.processes.emplace_back();  // rows are large: it is filled where it stays
    process.pid = *pid;
    process.offset = section.offset;
    process.extra_range.first = static_cast<std::uint32_t>(snapshot.extras.size());
    EntryReader entry(loader, section, process);
    entry.read(body);
    process.registers_lost = registers_lost(process);
    process.extra_range.count = static_cast<std::uint32_t>(snapshot.extras.size()) - process.extra_range.first;
    const bool collecting = process.state == ProcessState::garbage_collecting;
    if (collecting) judge_blocks(process, entry.blocks(), snapshot.source.word_size);
    if (collecting && loader.plan.stacks) {  // its =proc_stack, if there is one, tells more
        loader.frames.clear();
        frames_of_registers(loader, process, Frame(), loader.frames);
        if (!loader.frames.empty()) process.stack = snapshot.stacks.intern(loader.frames);
    }

    // A dirty scheduler is to collect it: until then it may go on in a fragment, of which the dump does not tell, but
    // that its free words and stack may be more than the block holds that it left. Where they are all of the block, no
    // term is on it: a fragment has another size.
    if (loader.state_awaits_collection(process.internal_state)) {
        const bool empty = process.heap_unused_words == process.heap_words;
        process.heap_unused_words = collecting || empty ? process.heap_unused_words : Count();
        loader.anomalies().add(Anomaly::collection_awaited, section.offset, section.id);
    }
    if (!snapshot.index_process(id)) {
        // From OTP 22 on the VM lists who is being taken down again where run queues still have it.
        const bool by_vm = process.state == ProcessState::free;
        snapshot.processes.pop_back();
        loader.anomalies().add(by_vm ? Anomaly::duplicate_process : Anomaly::duplicate_section, section.offset,
                               section.id);
        return;
    }
    loader.losses.entry(entry.fields(), entry.torn());
}

void judge_process_entries(Loader& loader) {
    std::uint32_t constant = 0;
    for (std::size_t row = 0; row < std::size(process_fields); ++row)
        if (std::ranges::find(not_of_all, process_fields[row].key) == std::end(not_of_all)) constant |= 1u << row;
    loader.losses.judge_entries(loader.snapshot, constant);
}

}  // namespace beamheap::crashdump
