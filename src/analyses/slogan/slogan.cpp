// SPDX-License-Identifier: Apache-2.0
#include "analyses/slogan/slogan.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "analyses/base/sum.hpp"
#include "analyses/slogan/slogan_tables.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/error_words.hpp"
#include "model/characters.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::uint64_t gib = 1ull << 30;

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
Sentence size_text(std::uint64_t bytes) {
    Sentence text = sentence("{} bytes", Amount{bytes, AmountUnit::plain});
    if (bytes >= 10 * 1024) text.say(" ({})", Amount{bytes, AmountUnit::bytes});
    return text;
}

// The place behind the quoted part that begins at `at`, the end of the text where the quotes have no end; `at` itself
// where none begins there. Printed terms have escapes.
std::size_t behind_quotes(std::string_view text, std::size_t at) {
    const char quote = text[at];
    if (quote != '"' && quote != '\'') return at;
    for (++at; at < text.size() && text[at] != quote; ++at)
        if (text[at] == '\\') ++at;
    return std::min(at + 1, text.size());
}

// The inside of "(...)" at the start of what is left, to its matching bracket or to the end of a slogan that is cut.
// Quoted parts hide brackets.
std::string_view take_argument(std::string_view& text) {
    text = trim(text);
    if (text.empty() || text.front() != '(') return {};
    std::size_t depth = 0;
    for (std::size_t at = 0; at < text.size();) {
        if (const std::size_t next = behind_quotes(text, at); next != at) {
            at = next;
            continue;
        }
        if (text[at] == '(') ++depth;
        if (text[at] == ')' && --depth == 0) {
            const std::string_view inside = text.substr(1, at - 1);
            text.remove_prefix(at + 1);
            return inside;
        }
        ++at;
    }
    std::string_view inside = text.substr(1);
    text = {};
    if (inside.ends_with(')')) inside.remove_suffix(1);
    return inside;
}

// OTP 26 and later print a reason that is a string as one: "\"{application_start_failure,...}\"".
std::string reason_text(std::string_view argument) {
    argument = trim(argument);
    if (argument.size() < 2 || argument.front() != '"') return readable_term(argument);
    // A slogan has a bound, behind which the string of a term does not end.
    const bool term = argument[1] == '{';
    const bool cut = argument.back() != '"' || (term && argument.ends_with("\\\""));
    if (cut && !term) return readable_term(argument);
    const std::size_t end = cut ? argument.size() : argument.size() - 1;
    std::string inner;
    for (std::size_t at = 1; at < end; ++at) {
        if (argument[at] == '\\' && at + 1 < end) ++at;
        inner += argument[at];
    }
    return readable_term(inner);
}

// A term for use in a sentence: at most `most` bytes of it, not cut within a UTF-8 character.
struct Cut {
    InputText term;
    bool whole = true;
};
Cut cut(std::string_view text, std::size_t most = 160) {
    if (text.size() <= most) return {{std::string(text), InputText::Holds::term}, !text.ends_with("...")};
    std::size_t end = most;
    while (end > most - 4 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return {{std::string(text.substr(0, end)) + "...", InputText::Holds::term}, false};
}

// A term as the end of a sentence, which what is cut ends with its dots.
Sentence ending(std::string_view text, std::size_t most = 160) {
    const Cut shown = cut(text, most);
    return shown.whole ? sentence("{}.", shown.term) : sentence("{}", shown.term);
}

// The same of a text for people, whose words are no atoms.
Sentence ending_text(std::string_view text, std::size_t most) {
    Cut shown = cut(text, most);
    shown.term.holds = InputText::Holds::message;
    return shown.whole ? sentence("{}.", shown.term) : sentence("{}", shown.term);
}

// A slogan that is any text, in one line.
std::string one_text(std::string_view text) {
    std::string line;
    for (const char c : text) {
        const bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
        if (!blank) line += c;
        else if (!line.empty() && line.back() != ' ') line += ' ';
    }
    while (line.ends_with('.') || line.ends_with(' ')) line.pop_back();
    return line;
}

// The end of a sentence that gives the reason, cut where it is long.
Sentence why(const Slogan& slogan) {
    if (slogan.reason.empty()) return Ours("the slogan does not say why.");
    return sentence("the reason is {}", ending(slogan.reason));
}

// The first element of "A,B,C..." and what follows its comma: brackets and quotes hide commas.
std::string_view take_element(std::string_view& text) {
    std::size_t depth = 0;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t next = behind_quotes(text, at);
        if (next == at) {
            const char c = text[at];
            const bool closes = c == '}' || c == ']' || c == ')';
            if (depth == 0 && (closes || c == ',')) break;
            if (closes) --depth;
            if (c == '{' || c == '[' || c == '(') ++depth;
        }
        at = std::max(next, at + 1);
    }
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

Sentence cause_text(const Slogan& slogan) {
    Sentence text;
    for (const std::string& child : slogan.failed_children) {
        if (!text.empty()) text.say(" > ");
        text.say("{}", cut(child, 60).term);
    }
    if (!text.empty()) text.say(" failed with ");
    text.add(ending(slogan.cause));
    return text;
}

void add_hints(Slogan& slogan) {
    for (const Hint& hint : reason_hints)
        if (has_word(slogan.reason, hint.word)) slogan.next_steps.emplace_back(hint.sentence);
}

// A heap of 2 to 4 GiB whose size went through a signed number of 32 bits is printed as nearly 2^64 (old releases).
std::uint64_t without_sign(std::uint64_t bytes) {
    constexpr std::uint64_t ones = 0xFFFF'FFFF, sign = 0x8000'0000, word = 4;
    return bytes >> 32 == ones && (bytes & sign) != 0 && bytes % word == 0 ? bytes & ones : bytes;
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
    slogan.refused_bytes = slogan.allocator == "eheap_alloc" ? without_sign(*bytes) : *bytes;
    if (take(rest, " (of type \"")) {
        const std::size_t end = rest.find('"');
        slogan.memory_type = std::string(rest.substr(0, end));
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        if (take(rest, ", thread "))
            if (const auto thread = take_number(rest)) slogan.thread = *thread;
    }
    return true;
}

void explain_allocation(Slogan& slogan) {
    const std::uint64_t bytes = *slogan.refused_bytes;
    const AllocationUse* use = nullptr;
    for (const AllocationUse& candidate : allocation_uses) {
        if (!candidate.allocator.empty() && candidate.allocator != slogan.allocator) continue;
        if (!candidate.type.empty() && candidate.type != slogan.memory_type) continue;
        use = &candidate;
        break;
    }
    if (use->allocator.empty() && !use->type.empty()) slogan.purpose = use->what;
    // No heap or table grows by a tebibyte in one step, and working memory is freed within one call; what one message
    // or text takes there, in one piece, may be large.
    const InputText allocator{slogan.allocator, InputText::Holds::vm};
    const bool one_piece = !slogan.purpose.empty() && !slogan.memory_type.ends_with("stack");
    const bool absurd = bytes >= 1024 * gib || (slogan.allocator == "temp_alloc" && !one_piece && bytes >= gib);
    if (absurd) {
        slogan.kind = SloganKind::absurd_allocation;
        slogan.meaning.say("{} was asked for {} for {}: no node needs that at once, so a size was wrong.", allocator,
                           size_text(bytes), use->what);
    } else {
        slogan.kind = SloganKind::out_of_memory;
        slogan.meaning.say("The node ran out of memory: {} was refused {} for {}.", allocator, size_text(bytes),
                           use->what);
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
    const Atom application{slogan.application};
    slogan.reason = std::string(reason);
    find_cause(slogan);
    if (start) {
        slogan.kind = SloganKind::application_start_failure;
        slogan.meaning = sentence("Application {} did not start, and the node needs it: {}", application,
                                  slogan.reason.empty() ? why(slogan) : cause_text(slogan));
    } else {
        slogan.kind = SloganKind::application_terminated;
        slogan.meaning = sentence("Application {} ended with reason {}, and the node may not run without it",
                                  application, cut(slogan.reason).term);
        if (slogan.reason == "shutdown")
            slogan.meaning.say(
                ": its top supervisor gave up, most often because children failed faster than its restart intensity "
                "allows.");
        else slogan.meaning.say(".");
    }
}

InputText kernel_process(const Slogan& slogan) { return {slogan.kernel_process, InputText::Holds::name}; }

bool read_init(std::string_view text, Slogan& slogan) {
    std::string_view rest = text;
    if (take(rest, "Kernel pid terminated")) {
        slogan.kind = SloganKind::kernel_process_terminated;
        slogan.kernel_process = std::string(take_argument(rest));
        slogan.reason = reason_text(take_argument(rest));
        slogan.meaning =
            sentence("The kernel process {} ended, which ends the node: {}", kernel_process(slogan), why(slogan));
        slogan.cause = slogan.reason;
        read_application(slogan);
    } else if (take(rest, "could not start kernel pid") || take(rest, "Could not start kernel pid")) {
        slogan.kind = SloganKind::kernel_start_failure;
        slogan.kernel_process = std::string(take_argument(rest));
        slogan.reason = reason_text(take_argument(rest));
        slogan.meaning = sentence("The kernel process {} did not start, so the node did not: {}",
                                  kernel_process(slogan), why(slogan));
        slogan.cause = slogan.reason;
    } else if (take(rest, "init terminating in do_boot") || take(rest, "Runtime terminating during boot")) {
        slogan.kind = SloganKind::boot_failure;
        slogan.reason = reason_text(take_argument(rest));
        slogan.meaning.say(
            "The node stopped while it booted: the boot script, or what -s, -run or -eval called, failed");
        if (slogan.reason.empty()) slogan.meaning.say("; the reason is on its standard output only.");
        else slogan.meaning.say(": {}", why(slogan));
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
    Sentence limit;
    if (slogan.table_max.has())
        limit.say(" with its limit of {} entries", Amount{*slogan.table_max, AmountUnit::plain});
    if (slogan.table == "atom_tab") {
        slogan.kind = SloganKind::atom_table_full;
        slogan.meaning.say("The atom table is full{}: a program keeps making new atoms, which are never freed.", limit);
    } else {
        slogan.kind = SloganKind::table_full;
        slogan.meaning.say("The VM's table {} is full{}: modules or functions are generated without end.",
                           InputText{slogan.table, InputText::Holds::vm}, limit);
    }
    return true;
}

bool read_fixed(std::string_view text, Slogan& slogan) {
    for (const Fixed& fixed : fixed_slogans) {
        if (fixed.where == Where::start ? !text.starts_with(fixed.words) : !has(text, fixed.words)) continue;
        if (fixed.where == Where::source_line && !has(text, ", line ") && !has(text, ".c:")) continue;
        slogan.kind = fixed.kind;
        slogan.meaning = fixed.meaning.empty() ? Ours(
                                                     "The VM found its own data damaged: native code (a NIF or a "
                                                     "driver), hardware, or a bug in the VM wrote where it should not.")
                                               : fixed.meaning;
        if (!fixed.next.empty()) slogan.next_steps.emplace_back(fixed.next);
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
            slogan.meaning =
                sentence("A message of {} to another node was larger than the distribution can send in one piece.",
                         size_text(*bytes));
        }
    } else if (take(rest, "no next heap size found: ")) {
        if (const auto words = take_number(rest))
            slogan.meaning = sentence(
                "A process needed a heap of {} words, more than the VM can make: a term of that size can't be real, or "
                "is damaged.",
                Amount{*words, AmountUnit::plain});
    }
}

bool read_system_process(std::string_view text, Slogan& slogan) {
    if (!take(text, "System process ")) return false;
    const std::size_t at = text.find(" terminated: ");
    if (at == std::string_view::npos) return false;
    slogan.kind = SloganKind::system_process_terminated;
    slogan.subject = std::string(text.substr(0, at));
    slogan.reason = readable_term(text.substr(at + 13));
    slogan.meaning.say("The VM's own process {} ended, which ends the node: {}",
                       InputText{slogan.subject, InputText::Holds::name}, why(slogan));
    return true;
}

void add_steps_of_page(Slogan& slogan) {
    if (slogan.kind == SloganKind::requested && !slogan.next_steps.empty()) return;  // who asked is known
    if (const Explanation* page = explanation_of(slogan.kind))
        slogan.next_steps.insert(slogan.next_steps.end(), page->next.begin(), page->next.end());
}

}  // namespace

Ours name_of(SloganKind kind) {
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

Slogan read_slogan(std::string_view raw) {
    const std::string_view text = trim(raw);
    Slogan slogan;
    if (text.empty()) {
        slogan.kind = SloganKind::none;
        slogan.meaning = Ours("The dump gives no reason.");
        return slogan;
    }
    if (read_allocation(text, slogan)) {
        explain_allocation(slogan);
    } else if (!read_init(text, slogan) && !read_table_full(text, slogan) && !read_system_process(text, slogan)) {
        if (read_fixed(text, slogan)) read_details(text, slogan);
        else {
            slogan.last_words = ending_text(one_text(erlang::without_colours(text)), 100);
            slogan.meaning = sentence("A program ended the node with this text (erlang:halt/1): {}", slogan.last_words);
        }
    }
    add_steps_of_page(slogan);
    return slogan;
}

Ours signal_name(std::uint32_t number) {
    const auto* found = std::ranges::find(signals, number, &SignalKind::number);
    return found == signals.end() ? Ours("") : found->name;
}

constexpr std::uint32_t abort_signal = 6;

Sentence signal_text(const Signal& signal) {
    const Ours name = signal_name(signal.number);
    Sentence text = name.empty() ? sentence("signal {}", Amount{signal.number, AmountUnit::plain}) : Sentence(name);
    if (signal.address) text.say(" at address {}", Amount{*signal.address, AmountUnit::address});
    return text;
}

Sentence sender_text(const Signal& signal) {
    return signal.sender == 0 ? Sentence(Ours("a process outside of its container"))
                              : sentence("process {} of the machine", Amount{signal.sender, AmountUnit::plain});
}

bool is_crash(const Signal& signal) {
    const auto* found = std::ranges::find(signals, signal.number, &SignalKind::number);
    return found != signals.end() && found->crash;
}

Slogan read_signal(const Signal& signal) {
    Slogan slogan;
    const auto* found = std::ranges::find(signals, signal.number, &SignalKind::number);
    if (found == signals.end()) {
        slogan.meaning.say("The VM was ended by {}.", signal_text(signal));
        return slogan;
    }
    slogan.kind = found->kind;
    slogan.meaning = found->meaning;
    if (signal.sent == Signal::Sent::by_another) {  // then no code of the VM went wrong, whatever the signal is for
        slogan.kind = SloganKind::requested;
        slogan.meaning = sentence("The node was sent {}, by {} (heart, a service manager, a person).",
                                  signal_text(signal), sender_text(signal));
    } else if (signal.sent == Signal::Sent::by_itself && signal.number == abort_signal) {
        slogan.meaning = Ours("The VM, or native code in it, aborted itself, which says why on its standard error.");
    }
    add_steps_of_page(slogan);
    return slogan;
}

Slogan read_death(const Node& node) { return node.signal ? read_signal(*node.signal) : read_slogan(node.slogan); }

}  // namespace beamheap::analyses
