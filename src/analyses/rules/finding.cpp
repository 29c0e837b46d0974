// SPDX-License-Identifier: Apache-2.0
#include "analyses/rules/finding.hpp"

#include "erlang/erlang_syntax.hpp"
#include "model/characters.hpp"

namespace beamheap::analyses {
namespace {

/// Hashes what a finding is about. FNV-1a: the same on every machine and in every version.
class Fingerprint {
public:
    void words(std::string_view text) {
        for (const char c : text) mix(c);
    }
    void end() { mix('\0'); }
    // A name of the input. Pids, references and other numbers in it are different in every run: what is between '<' and
    // '>' counts as one '#' if it begins with a digit, and so does every run of two or more digits. A single digit
    // stays: arities are one.
    void name(std::string_view text) {
        for (std::size_t at = 0; at < text.size();) {
            std::size_t next = at + 1;
            if (text[at] == '<' && next < text.size() && is_digit(text[next])) {
                while (next < text.size() && (is_digit(text[next]) || text[next] == '.')) ++next;
                if (next < text.size() && text[next] == '>') ++next;
                mix('#');
            } else if (is_digit(text[at])) {
                while (next < text.size() && is_digit(text[next])) ++next;
                mix(next - at > 1 ? '#' : text[at]);
            } else {
                mix(text[at]);
            }
            at = next;
        }
    }
    std::string hexadecimal() const {
        constexpr std::string_view digits = "0123456789abcdef";
        std::string out(16, '0');
        std::uint64_t left = hash_;
        for (std::size_t i = out.size(); i-- > 0; left >>= 4) out[i] = digits[left & 15];
        return out;
    }

private:
    void mix(char c) {
        hash_ ^= static_cast<unsigned char>(c);
        hash_ *= 0x100000001B3ull;
    }
    std::uint64_t hash_ = 0xCBF29CE484222325ull;
};

// Of a subject, the words and names; a subject has no pids and no figures.
struct SubjectParts {
    const Snapshot& snapshot;
    Fingerprint& hash;
    void operator()(const Ours& words) const { hash.words(words.text()); }
    void operator()(const Name& name) const { hash.name(snapshot.text(name.text)); }
    void operator()(const Atom& atom) const { hash.name(atom.text); }
    void operator()(const InputText& text) const { hash.name(text.text); }
    void operator()(FunctionId function) const {
        if (function == FunctionId::none) hash.words("an unknown function");
        else hash.name(function_text(snapshot, function));
    }
    template <class Other>
    void operator()(const Other&) const {}
};

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

std::string fingerprint(std::string_view rule, const Subject& subject, const Snapshot& snapshot) {
    Fingerprint hash;
    hash.words(rule);
    hash.end();
    hash.words(name_of(subject.kind));
    hash.end();
    for (const Part& part : subject.text.parts()) std::visit(SubjectParts{snapshot, hash}, part);
    return hash.hexadecimal();
}

std::string fingerprint(std::string_view rule, SubjectKind kind, std::string_view name) {
    Fingerprint hash;
    hash.words(rule);
    hash.end();
    hash.words(name_of(kind));
    hash.end();
    hash.name(name);
    return hash.hexadecimal();
}

Evidence figure(Sentence name, Count value, AmountUnit unit, Confidence confidence) {
    Evidence evidence{std::move(name), {}, {}, unit, confidence};
    if (value.has()) evidence.number = static_cast<double>(*value);
    else evidence.text = Ours("not in the input");
    return evidence;
}

Evidence share(Sentence name, double percent, Confidence confidence) {
    return {std::move(name), percent, {}, AmountUnit::percent, confidence};
}

Evidence fact(Sentence name, Sentence text, Confidence confidence) {
    return {std::move(name), {}, std::move(text), AmountUnit::none, confidence};
}

}  // namespace beamheap::analyses
