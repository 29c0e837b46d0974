#include "analyses/rules/finding.hpp"

#include "model/characters.hpp"

namespace beamheap::analyses {
namespace {

// FNV-1a: the same on every machine and in every version.
void mix(std::uint64_t& hash, char c) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001B3ull;
}

}  // namespace

std::string_view name_of(FindingSeverity severity) {
    switch (severity) {
        case FindingSeverity::info: return "info";
        case FindingSeverity::medium: return "medium";
        case FindingSeverity::high: return "high";
        case FindingSeverity::critical: break;
    }
    return "critical";
}

std::string_view name_of(FindingRole role) { return role == FindingRole::cause ? "cause" : "victim"; }

std::string_view name_of(SubjectKind kind) {
    switch (kind) {
        case SubjectKind::node: return "node";
        case SubjectKind::process: return "process";
        case SubjectKind::group: return "group";
        case SubjectKind::table: return "table";
        case SubjectKind::port: return "port";
        case SubjectKind::atoms: return "atoms";
        case SubjectKind::allocator: return "allocator";
        case SubjectKind::module: return "module";
        case SubjectKind::binaries: break;
    }
    return "binaries";
}

// Pids, references and other numbers in a text are different in every run: what is between '<' and '>' counts as one
// '#' if it begins with a digit, and so does every run of two or more digits. A single digit stays: arities are one.
std::string fingerprint(std::string_view rule, const Subject& subject) {
    std::uint64_t hash = 0xCBF29CE484222325ull;
    for (const char c : rule) mix(hash, c);
    mix(hash, '\0');
    for (const char c : name_of(subject.kind)) mix(hash, c);
    mix(hash, '\0');
    const std::string_view text = subject.text;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at + 1;
        if (text[at] == '<' && end < text.size() && is_digit(text[end])) {
            while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
            if (end < text.size() && text[end] == '>') ++end;
            mix(hash, '#');
        } else if (is_digit(text[at])) {
            while (end < text.size() && is_digit(text[end])) ++end;
            mix(hash, end - at > 1 ? '#' : text[at]);
        } else {
            mix(hash, text[at]);
        }
        at = end;
    }
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out(16, '0');
    for (std::size_t i = out.size(); i-- > 0; hash >>= 4) out[i] = digits[hash & 15];
    return out;
}

}  // namespace beamheap::analyses
