#include "analyses/slogan.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "analyses/names.hpp"
#include "analyses/sum.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::uint64_t gib = 1ull << 30;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trim(std::string_view text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

std::optional<std::uint64_t> take_number(std::string_view& text) {
    if (text.empty() || !is_digit(text.front())) return std::nullopt;
    std::uint64_t value = 0;
    for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1))
        value = saturating_add(saturating_multiply(value, 10), static_cast<std::uint64_t>(text.front() - '0'));
    return value;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// "8162366936 bytes (7.6 GiB)": the exact figure and one to talk about.
std::string size_text(std::uint64_t bytes) {
    std::string text = std::to_string(bytes) + " bytes";
    constexpr std::array<const char*, 6> units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 10 * 1024) return text;
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    return text + fmt::format(" ({:.1f} {})", value, units[unit]);
}

// The inside of "(...)" at the start of what is left, to its matching bracket or to the end of a slogan that is cut.
// Quoted parts hide brackets.
std::string_view take_argument(std::string_view& text) {
    text = trim(text);
    if (text.empty() || text.front() != '(') return {};
    std::size_t depth = 0;
    char quote = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (quote != 0) {
            if (c == '\\')
                ++at;
            else if (c == quote)
                quote = 0;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '(') {
            ++depth;
        } else if (c == ')' && --depth == 0) {
            const std::string_view inside = text.substr(1, at - 1);
            text.remove_prefix(at + 1);
            return inside;
        }
    }
    std::string_view inside = text.substr(1);
    text = {};
    if (inside.ends_with(')')) inside.remove_suffix(1);
    return inside;
}

// OTP 26 and later print a reason that is a string as one: "\"{application_start_failure,...}\"".
std::string reason_text(std::string_view argument) {
    argument = trim(argument);
    if (argument.size() < 2 || argument.front() != '"' || argument.back() != '"') return readable_term(argument);
    std::string inner;
    for (std::size_t at = 1; at + 1 < argument.size(); ++at) {
        if (argument[at] == '\\' && at + 2 < argument.size()) ++at;
        inner += argument[at];
    }
    return readable_term(inner);
}

// At most `most` bytes of a term for use in a sentence; not cut within a UTF-8 character.
std::string cut(std::string_view text, std::size_t most = 160) {
    if (text.size() <= most) return std::string(text);
    std::size_t end = most;
    while (end > most - 4 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return std::string(text.substr(0, end)) + "...";
}

// The first element of "A,B,C..." and what follows its comma: brackets and quotes hide commas.
std::string_view take_element(std::string_view& text) {
    std::size_t depth = 0;
    char quote = 0;
    std::size_t at = 0;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (quote != 0) {
            if (c == '\\')
                ++at;
            else if (c == quote)
                quote = 0;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '{' || c == '[' || c == '(') {
            ++depth;
        } else if (c == '}' || c == ']' || c == ')') {
            if (depth == 0) break;
            --depth;
        } else if (c == ',' && depth == 0) {
            break;
        }
    }
    at = std::min(at, text.size());
    const std::string_view element = text.substr(0, at);
    text.remove_prefix(at < text.size() && text[at] == ',' ? at + 1 : at);
    return element;
}

// Supervisors wrap what their child gave in {shutdown,{failed_to_start_child,Id,Reason}} (supervisor.erl), and
// application_master adds {Reason,{Module,start,Args}}: unwraps to what began it.
void find_cause(Slogan& slogan) {
    std::string_view reason = trim(slogan.reason);
    if (std::string_view inner = reason; take(inner, "{")) {
        const std::string_view given = take_element(inner);
        const std::string_view start = take_element(inner);
        if (inner == "}" && start.starts_with('{') && has(start, ",start,[")) reason = given;
    }
    constexpr std::size_t most_layers = 64;
    constexpr std::string_view failed = "{failed_to_start_child,";
    while (slogan.failed_children.size() < most_layers) {
        std::string_view inner = reason;
        while (take(inner, "{shutdown,") || (inner.starts_with("{{") && (inner.remove_prefix(1), true))) {
        }
        if (!take(inner, failed)) break;
        slogan.failed_children.emplace_back(take_element(inner));
        reason = take_element(inner);
    }
    slogan.cause = std::string(reason);
}

std::string cause_text(const Slogan& slogan) {
    std::string text;
    for (const std::string& child : slogan.failed_children) text += (text.empty() ? "" : " > ") + cut(child, 60);
    return text.empty() ? cut(slogan.cause) : text + " failed with " + cut(slogan.cause);
}

struct Hint {
    std::string_view part;
    std::string_view sentence;
};
// What words inside a reason say about its cause.
constexpr std::array<Hint, 15> reason_hints{{
    {"dist_port_already_used", "The port of the distribution is taken: most likely this node was running already."},
    {"nodistribution",
     "Distribution did not start: the node's name is taken, epmd can't be reached, or the host name does "
     "not resolve."},
    {"eaddrinuse", "A port that it wanted to listen on is in use, often by another copy of the same node."},
    {"Eaddrinuse", "A port that it wanted to listen on is in use, often by another copy of the same node."},
    {"econnrefused", "A service that it needs at start refused the connection."},
    {"emfile", "The process had no file descriptor left: raise the limit (ulimit -n, LimitNOFILE=)."},
    {"enospc", "A disk is full."},
    {"eacces", "The operating system denied permission: check the owner of its files and folders."},
    {"enoent", "A file or a program that it needs does not exist."},
    {"invalid_current_directory", "Its current directory does not exist or can't be read by this user."},
    {"nouser", "The terminal driver (user) did not start; -noinput or a working terminal avoids it."},
    {"error in config file", "The configuration file has a syntax error; the reason names file and line."},
    {"non existing application", "The release or boot script names an application that is not installed."},
    {"undef", "A function that was called does not exist: the module is missing from the code path, or misspelt."},
    {"killed", "A process was killed: by exit(Pid, kill), or for exceeding max_heap_size."},
}};

void add_hints(Slogan& slogan) {
    for (const Hint& hint : reason_hints)
        if (has(slogan.reason, hint.part)) slogan.next_steps.emplace_back(hint.sentence);
}

bool read_allocation(std::string_view text, Slogan& slogan) {
    const std::size_t colon = text.find(": Cannot ");
    if (colon == std::string_view::npos || colon > 40 || !text.substr(0, colon).ends_with("alloc")) return false;
    std::string_view rest = text.substr(colon + 9);
    const std::size_t blank = rest.find(' ');
    if (blank == std::string_view::npos) return false;
    const std::string_view operation = rest.substr(0, blank);
    if (operation != "allocate" && operation != "reallocate") return false;
    rest.remove_prefix(blank + 1);
    const auto bytes = take_number(rest);
    if (!bytes || !take(rest, " bytes of memory")) return false;
    slogan.allocator = std::string(text.substr(0, colon));
    slogan.operation = std::string(operation);
    slogan.refused_bytes = *bytes;
    if (take(rest, " (of type \"")) {
        const std::size_t end = rest.find('"');
        slogan.memory_type = std::string(rest.substr(0, end));
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        if (take(rest, ", thread "))
            if (const auto thread = take_number(rest)) slogan.thread = *thread;
    }
    return true;
}

struct AllocationUse {
    std::string_view allocator;
    std::string_view type;  // empty: any of this allocator
    std::string_view what;
    std::string_view next;
};
constexpr std::array<AllocationUse, 16> allocation_uses{{
    {"eheap_alloc", "old_heap", "the old heap of a process in garbage collection",
     "The process in garbage collection, or the one with the most memory, is the first suspect: beamheap top DUMP --by "
     "memory"},
    {"eheap_alloc", "heap", "the heap of a process",
     "The process in garbage collection, or the one with the most memory, is the first suspect: beamheap top DUMP --by "
     "memory"},
    {"eheap_alloc", "heap_frag", "a heap fragment: a term that was built or received outside a heap",
     "Look for the process with the most memory and the longest queue: beamheap top DUMP --by msgq"},
    {"eheap_alloc", "message", "a message", "Look for the longest queues: beamheap top DUMP --by msgq"},
    {"eheap_alloc", "", "the heap of a process", "Look at the largest processes: beamheap top DUMP --by memory"},
    {"binary_alloc", "drv_binary", "a binary of a driver or a socket",
     "Look at who holds binaries and what the ports have queued: beamheap binaries DUMP; beamheap ports DUMP"},
    {"binary_alloc", "", "a binary outside the heaps",
     "Look at the largest binaries and who holds them: beamheap binaries DUMP"},
    {"ets_alloc", "", "an ETS table", "Look at the largest tables and their owners: beamheap ets DUMP"},
    {"literal_alloc", "", "literals: constants of modules and persistent terms",
     "The area for literals has a fixed size, 1 GB by default on 64-bit (+MIscs changes it): beamheap alloc DUMP"},
    {"driver_alloc", "", "a driver or a NIF",
     "Look at the ports, and at which drivers and NIF libraries were loaded (Taints): beamheap ports DUMP"},
    {"temp_alloc", "", "working memory of the VM",
     "It was handling one very large term: look at the running process: beamheap schedulers DUMP"},
    {"fix_alloc", "", "one of the VM's small fixed structures",
     "So small a block is refused only when everything is used up: look at the largest users: beamheap analyze DUMP"},
    {"sl_alloc", "", "something short-lived of the VM", "Look at the largest users of memory: beamheap analyze DUMP"},
    {"ll_alloc", "", "something long-lived of the VM: code, atoms, tables",
     "Look at atoms and modules: beamheap atoms DUMP; beamheap modules DUMP"},
    {"std_alloc", "", "a structure of the VM", "Look at the largest users of memory: beamheap analyze DUMP"},
    {"", "", "the VM", "Look at the largest users of memory: beamheap analyze DUMP"},
}};

void explain_allocation(Slogan& slogan) {
    const std::uint64_t bytes = *slogan.refused_bytes;
    const AllocationUse* use = nullptr;
    for (const AllocationUse& candidate : allocation_uses) {
        if (!candidate.allocator.empty() && candidate.allocator != slogan.allocator) continue;
        if (!candidate.type.empty() && candidate.type != slogan.memory_type) continue;
        use = &candidate;
        break;
    }
    // No heap or table grows by a tebibyte in one step, and working memory is freed within one call.
    const bool absurd = bytes >= 1024 * gib || (slogan.allocator == "temp_alloc" && bytes >= gib);
    if (absurd) {
        slogan.kind = SloganKind::absurd_allocation;
        slogan.meaning = slogan.allocator + " was asked for " + size_text(bytes) + " for " + std::string(use->what) +
                         ": no node needs that at once, so a size was wrong.";
    } else {
        slogan.kind = SloganKind::out_of_memory;
        slogan.meaning = "The node ran out of memory: " + slogan.allocator + " was refused " + size_text(bytes) +
                         " for " + std::string(use->what) + ".";
    }
    slogan.next_steps.emplace_back(use->next);
}

void read_application(Slogan& slogan) {
    std::string_view reason = trim(slogan.reason);
    const bool start = take(reason, "{application_start_failure,");
    if (!start && !take(reason, "{application_terminated,")) return;
    std::size_t used = 0;
    bool quoted = false;
    if (!read_name(reason, slogan.application, used, quoted)) return;
    reason.remove_prefix(used);
    take(reason, ",");
    if (reason.ends_with('}')) reason.remove_suffix(1);
    const std::string application = atom_text(slogan.application);
    slogan.reason = std::string(reason);
    find_cause(slogan);
    if (start) {
        slogan.kind = SloganKind::application_start_failure;
        slogan.meaning = "Application " + application + " did not start, and the node needs it: " +
                         (slogan.reason.empty() ? std::string("the slogan does not say why") : cause_text(slogan)) +
                         ".";
    } else {
        slogan.kind = SloganKind::application_terminated;
        slogan.meaning = "Application " + application + " ended with reason " + cut(slogan.reason) +
                         ", and the node may not run without it" +
                         (slogan.reason == "shutdown"
                              ? ": its top supervisor gave up, most often because children failed faster than its "
                                "restart intensity allows."
                              : ".");
    }
}

bool read_init(std::string_view text, Slogan& slogan) {
    std::string_view rest = text;
    if (take(rest, "Kernel pid terminated")) {
        slogan.kind = SloganKind::kernel_process_terminated;
        slogan.kernel_process = std::string(take_argument(rest));
        slogan.reason = reason_text(take_argument(rest));
        slogan.meaning = "The kernel process " + slogan.kernel_process + " ended, which ends the node: the reason is " +
                         cut(slogan.reason) + ".";
        slogan.cause = slogan.reason;
        read_application(slogan);
    } else if (take(rest, "could not start kernel pid") || take(rest, "Could not start kernel pid")) {
        slogan.kind = SloganKind::kernel_start_failure;
        slogan.kernel_process = std::string(take_argument(rest));
        slogan.reason = reason_text(take_argument(rest));
        slogan.meaning = "The kernel process " + slogan.kernel_process +
                         " did not start, so the node did not: the reason is " + cut(slogan.reason) + ".";
        slogan.cause = slogan.reason;
    } else if (take(rest, "init terminating in do_boot") || take(rest, "Runtime terminating during boot")) {
        slogan.kind = SloganKind::boot_failure;
        slogan.reason = reason_text(take_argument(rest));
        slogan.meaning = slogan.reason.empty()
                             ? "The node stopped while it booted: the boot script, or what -s, -run or -eval "
                               "called, failed; the reason is on its standard output only."
                             : "The node stopped while it booted: the boot script, or what -s, -run or -eval called, "
                               "failed with " +
                                   cut(slogan.reason) + ".";
        slogan.cause = slogan.reason;
    } else {
        return false;
    }
    add_hints(slogan);
    return true;
}

bool read_table_full(std::string_view text, Slogan& slogan) {
    if (!take(text, "no more index entries in ")) return false;
    const std::size_t blank = text.find(' ');
    slogan.table = std::string(text.substr(0, blank));
    if (blank != std::string_view::npos) {
        text.remove_prefix(blank + 1);
        if (take(text, "(max="))
            if (const auto max = take_number(text)) slogan.table_max = *max;
    }
    const std::string limit = slogan.table_max.has() ? " of " + std::to_string(*slogan.table_max) + " entries" : "";
    if (slogan.table == "atom_tab") {
        slogan.kind = SloganKind::atom_table_full;
        slogan.meaning = "The atom table is full" + (limit.empty() ? "" : " with its limit" + limit) +
                         ": a program keeps making new atoms, which are never freed.";
    } else {
        slogan.kind = SloganKind::table_full;
        slogan.meaning = "The VM's table " + slogan.table + " is full" +
                         (limit.empty() ? "" : " with its limit" + limit) +
                         ": modules or functions are generated without end.";
    }
    return true;
}

// Slogans that begin with, or hold, fixed words.
struct Fixed {
    enum class Where : std::uint8_t {
        start,
        anywhere,
        source_line,  // anywhere, but the text must name a place in the VM's source: programs use these words too
    };
    std::string_view words;
    Where where;
    SloganKind kind;
    std::string_view meaning;
};
using Where = Fixed::Where;
constexpr std::array<Fixed, 39> fixed_slogans{{
    {"Received SIGUSR1", Where::start, SloganKind::requested,
     "Somebody sent SIGUSR1 to the node, which asks for a crash dump."},
    {"Crash dump requested by user", Where::start, SloganKind::requested,
     "Somebody chose A (abort with dump) in the break menu of the node's terminal."},
    {"erl_child_setup closed", Where::start, SloganKind::child_setup,
     "erl_child_setup, the helper that starts the node's external programs, ended, and the node with it."},
    {"Failed to write to erl_child_setup", Where::start, SloganKind::child_setup,
     "The node could not reach erl_child_setup, the helper that starts its external programs."},
    {"Failed to read from erl_child_setup", Where::start, SloganKind::child_setup,
     "The node could not reach erl_child_setup, the helper that starts its external programs."},
    {"Can not execute ", Where::start, SloganKind::child_setup, "A helper program of the node could not be started."},
    {"Absurdly large distribution output data buffer", Where::start, SloganKind::distribution_overload,
     "A message to another node was larger than the distribution can send in one piece."},
    {"Out of virtual memory in ", Where::start, SloganKind::out_of_memory,
     "The node ran out of memory: a driver's allocation (malloc) was refused."},
    {"Can't allocate ", Where::start, SloganKind::out_of_memory,
     "The node ran out of memory: a small allocation was refused."},
    {"no next heap size found", Where::start, SloganKind::absurd_allocation,
     "A process needed a heap larger than the VM can make: a term of that size can't be real, or is damaged."},
    {"The code server called the unloaded module", Where::start, SloganKind::code_server,
     "The code server needed a module that was not loaded, and only it could have loaded it."},
    {"Driver_select called with too large file descriptor", Where::start, SloganKind::limits,
     "A driver used a file descriptor above the limit that the VM was started with (ulimit -n)."},
    {"Internal error: System limit", Where::start, SloganKind::limits, "A limit of the VM was reached."},
    {"system_limit", Where::anywhere, SloganKind::limits, "A limit of the VM was reached."},
    {"Overrun stack and heap", Where::source_line, SloganKind::corruption, {}},
    {"Catch not found", Where::start, SloganKind::corruption, {}},
    {"Wild pointer found", Where::anywhere, SloganKind::corruption, {}},
    {">: Wild stack pointer", Where::anywhere, SloganKind::corruption, {}},
    {">: Stack underflow", Where::anywhere, SloganKind::corruption, {}},
    {">: Stack overflow", Where::anywhere, SloganKind::corruption, {}},
    {"Damaged process dictionary", Where::start, SloganKind::corruption, {}},
    {"in process dictionary at position", Where::anywhere, SloganKind::corruption, {}},
    {"heap overrun by", Where::source_line, SloganKind::corruption, {}},
    {"bad header", Where::start, SloganKind::corruption, {}},
    {"bad term:", Where::source_line, SloganKind::corruption, {}},
    {"buffer overflow:", Where::source_line, SloganKind::corruption, {}},
    {"bad primary tag", Where::anywhere, SloganKind::corruption, {}},
    {"bad hashmap type", Where::anywhere, SloganKind::corruption, {}},
    {": bad tag for", Where::anywhere, SloganKind::corruption, {}},
    {"Invalid tag in ", Where::anywhere, SloganKind::corruption, {}},
    {"Invalid reference count found", Where::anywhere, SloganKind::corruption, {}},
    {"unexpected op code", Where::anywhere, SloganKind::corruption, {}},
    {"beam_catches_delmod:", Where::anywhere, SloganKind::corruption, {}},
    {"non-existing distribution table entry", Where::anywhere, SloganKind::corruption, {}},
    {"non-existing node table entry", Where::anywhere, SloganKind::corruption, {}},
    {"Internal data structure error (", Where::start, SloganKind::corruption, {}},
    {"Internal error", Where::start, SloganKind::corruption, {}},
    {": Internal error", Where::source_line, SloganKind::corruption, {}},
    {"Uninitialized HAlloc'ed memory", Where::anywhere, SloganKind::corruption, {}},
}};

bool read_fixed(std::string_view text, Slogan& slogan) {
    for (const Fixed& fixed : fixed_slogans) {
        if (fixed.where == Where::start ? !text.starts_with(fixed.words) : !has(text, fixed.words)) continue;
        if (fixed.where == Where::source_line && !has(text, ", line ") && !has(text, ".c:")) continue;
        slogan.kind = fixed.kind;
        slogan.meaning = fixed.kind == SloganKind::corruption
                             ? "The VM found its own data damaged: native code (a NIF or a driver), hardware, or a "
                               "bug in the VM wrote where it should not."
                             : std::string(fixed.meaning);
        return true;
    }
    return false;
}

// Numbers and names that fixed slogans carry.
void read_details(std::string_view text, Slogan& slogan) {
    std::string_view rest = text;
    if (take(rest, "Out of virtual memory in ")) {
        slogan.allocator = "malloc";
        slogan.operation = rest.starts_with("realloc") ? "reallocate" : "allocate";
    } else if (take(rest, "Can't allocate ")) {
        if (const auto bytes = take_number(rest)) slogan.refused_bytes = *bytes;
    } else if (take(rest, "The code server called the unloaded module `")) {
        slogan.subject = std::string(rest.substr(0, rest.find('\'')));
    } else if (take(rest, "Can not execute ")) {
        slogan.subject = std::string(rest.substr(0, rest.find(" : ")));
        if (const std::size_t at = rest.find(" : "); at != std::string_view::npos)
            slogan.reason = std::string(rest.substr(at + 3));
    } else if (take(rest, "Absurdly large distribution output data buffer (")) {
        if (const auto bytes = take_number(rest)) {
            slogan.refused_bytes = *bytes;
            slogan.meaning = "A message of " + size_text(*bytes) +
                             " to another node was larger than the distribution can send in one piece.";
        }
    } else if (take(rest, "no next heap size found: ")) {
        if (const auto words = take_number(rest))
            slogan.meaning = "A process needed a heap of " + std::to_string(*words) +
                             " words, more than the VM can make: a term of that size can't be real, or is damaged.";
    }
}

bool read_system_process(std::string_view text, Slogan& slogan) {
    if (!take(text, "System process ")) return false;
    const std::size_t at = text.find(" terminated: ");
    if (at == std::string_view::npos) return false;
    slogan.kind = SloganKind::system_process_terminated;
    slogan.subject = std::string(text.substr(0, at));
    slogan.reason = readable_term(text.substr(at + 13));
    slogan.meaning = "The VM's own process " + slogan.subject + " ended, which ends the node: the reason is " +
                     cut(slogan.reason) + ".";
    return true;
}

// One element of a byte list; false where it is no number of a printable character.
bool take_printable(std::string_view text, std::size_t& at, std::string& out) {
    std::size_t digits = 0;
    unsigned value = 0;
    for (; at < text.size() && is_digit(text[at]) && digits < 4; ++at, ++digits)
        value = value * 10 + static_cast<unsigned>(text[at] - '0');
    if (digits == 0 || !((value >= 32 && value < 127) || value == 9 || value == 10 || value == 13)) return false;
    switch (value) {
        case 9: out += "\\t"; break;
        case 10: out += "\\n"; break;
        case 13: out += "\\r"; break;
        case '"': out += "\\\""; break;
        case '\\': out += "\\\\"; break;
        default: out += static_cast<char>(value);
    }
    return true;
}

// A list "[97,98]" or binary "<<97,98>>" at `at`: its text with quotes, and `at` behind it; false leaves `at` alone.
bool take_bytes(std::string_view text, std::size_t& at, std::string& out) {
    const bool binary = text.substr(at).starts_with("<<");
    const std::string_view close = binary ? ">>" : "]";
    std::size_t next = at + (binary ? 2 : 1);
    std::string bytes;
    std::size_t count = 0;
    while (true) {
        if (!take_printable(text, next, bytes)) return false;
        ++count;
        if (text.substr(next).starts_with(close)) break;
        if (next >= text.size() || text[next] != ',') return false;
        ++next;
    }
    if (count < 2) return false;
    out += binary ? "<<\"" + bytes + "\">>" : "\"" + bytes + "\"";
    at = next + close.size();
    return true;
}

}  // namespace

std::string_view name_of(SloganKind kind) {
    switch (kind) {
        case SloganKind::unknown: return "unknown";
        case SloganKind::none: return "none";
        case SloganKind::out_of_memory: return "out_of_memory";
        case SloganKind::absurd_allocation: return "absurd_allocation";
        case SloganKind::atom_table_full: return "atom_table_full";
        case SloganKind::table_full: return "table_full";
        case SloganKind::boot_failure: return "boot_failure";
        case SloganKind::kernel_start_failure: return "kernel_start_failure";
        case SloganKind::application_start_failure: return "application_start_failure";
        case SloganKind::application_terminated: return "application_terminated";
        case SloganKind::kernel_process_terminated: return "kernel_process_terminated";
        case SloganKind::system_process_terminated: return "system_process_terminated";
        case SloganKind::requested: return "requested";
        case SloganKind::child_setup: return "child_setup";
        case SloganKind::limits: return "limits";
        case SloganKind::distribution_overload: return "distribution_overload";
        case SloganKind::corruption: return "corruption";
        case SloganKind::code_server: return "code_server";
    }
    return "unknown";
}

std::string readable_term(std::string_view printed) {
    std::string out;
    out.reserve(printed.size());
    char quote = 0;
    for (std::size_t at = 0; at < printed.size();) {
        const char c = printed[at];
        if (quote != 0) {
            if (c == '\\' && at + 1 < printed.size())
                out += printed[at++];
            else if (c == quote)
                quote = 0;
            out += printed[at++];
            continue;
        }
        if (c == '"' || c == '\'') quote = c;
        if ((c == '[' || printed.substr(at).starts_with("<<")) && take_bytes(printed, at, out)) continue;
        out += printed[at++];
    }
    return out;
}

Slogan read_slogan(std::string_view raw) {
    const std::string_view text = trim(raw);
    Slogan slogan;
    if (text.empty()) {
        slogan.kind = SloganKind::none;
        slogan.meaning = "The dump gives no reason.";
        return slogan;
    }
    if (read_allocation(text, slogan)) {
        explain_allocation(slogan);
    } else if (!read_init(text, slogan) && !read_table_full(text, slogan) && !read_system_process(text, slogan)) {
        if (read_fixed(text, slogan))
            read_details(text, slogan);
        else
            slogan.meaning =
                "None of the VM's own reasons: a program asked for this dump with this text "
                "(erlang:halt/1).";
    }
    if (const Explanation* page = explanation_of(slogan.kind))
        for (const std::string_view step : page->next) slogan.next_steps.emplace_back(step);
    return slogan;
}

}  // namespace beamheap::analyses
