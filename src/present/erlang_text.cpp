#include "present/erlang_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyses/base/erlang_syntax.hpp"
#include "present/redact_lex.hpp"

namespace beamheap::present {
namespace {

using lex::digit;
using lex::lower;
using lex::upper;
using lex::word;

// Between double quotes, as Elixir reads it back.
void append_quoted(std::string_view text, std::string& out) {
    out += '"';
    for (const char c : text) {
        switch (c) {
            case '\n': out += "\\n"; break;
            case '\t': out += "\\t"; break;
            case '\r': out += "\\r"; break;
            case '\\': out += "\\\\"; break;
            case '\x1b': out += "\\e"; break;
            case '"': out += "\\\""; break;
            case '#': out += "\\#"; break;
            default:
                if ((static_cast<unsigned char>(c) & 0xE0) == 0 || c == 0x7F)
                    fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
                else
                    out += c;
        }
    }
    out += '"';
}

// MyApp.Worker of 'Elixir.MyApp.Worker': every part begins with a capital and is a word.
std::optional<std::string_view> elixir_alias(std::string_view atom) {
    constexpr std::string_view prefix = "Elixir.";
    if (!atom.starts_with(prefix)) return std::nullopt;
    atom.remove_prefix(prefix.size());
    bool start = true;
    for (const char c : atom) {
        if (start ? !upper(c) : !(word(c) || c == '.')) return std::nullopt;
        start = c == '.';
    }
    if (start) return std::nullopt;
    return atom;
}

bool elixir_operator(std::string_view name) {
    return !name.empty() && name.size() <= 3 && name.find_first_not_of("!=<>+-*/|&^~@.") == name.npos;
}

bool elixir_bare(std::string_view name) {
    if (name.empty() || !(lower(name[0]) || name[0] == '_')) return false;
    const std::string_view body = name.back() == '?' || name.back() == '!' ? name.substr(0, name.size() - 1) : name;
    return std::ranges::all_of(body, [](char c) { return word(c) || c == '@'; });
}

// "-init/1-fun-0-" is the fun that init/1 makes.
struct FunName {
    std::string_view name, arity;
};
std::optional<FunName> fun_name(std::string_view text) {
    if (text.size() < 9 || text.front() != '-' || text.back() != '-') return std::nullopt;
    const std::size_t fun = text.rfind("-fun-");
    if (fun == text.npos || fun == 0) return std::nullopt;
    const std::size_t slash = text.rfind('/', fun);
    if (slash == text.npos || slash < 2) return std::nullopt;
    const std::string_view arity = text.substr(slash + 1, fun - slash - 1);
    if (arity.empty() || !std::ranges::all_of(arity, digit)) return std::nullopt;
    return FunName{text.substr(1, slash - 1), arity};
}

void append_elixir_function_name(std::string_view name, std::string& out) {
    if (elixir_bare(name) || elixir_operator(name))
        out += name;
    else
        append_quoted(name, out);
}

void append_elixir_atom(std::string_view atom, std::string& out) {
    if (atom == "nil" || atom == "true" || atom == "false") {
        out += atom;
    } else if (const auto alias = elixir_alias(atom)) {
        out += *alias;
    } else {
        out += ':';
        append_elixir_function_name(atom, out);
    }
}

}  // namespace

std::string atom_text(std::string_view atom, Syntax syntax) {
    if (syntax == Syntax::erlang) return analyses::atom_text(atom);
    std::string out;
    append_elixir_atom(atom, out);
    return out;
}

std::string function_text(std::string_view module, std::string_view name, std::uint32_t arity, Syntax syntax) {
    if (syntax == Syntax::erlang)
        return fmt::format("{}:{}/{}", analyses::atom_text(module), analyses::atom_text(name), arity);
    const auto fun = fun_name(name);
    std::string out;
    if (fun) out += fmt::format("anonymous fn/{} in ", arity);
    append_elixir_atom(module, out);
    out += '.';
    append_elixir_function_name(fun ? fun->name : name, out);
    out += '/';
    fun ? out += fun->arity : out += fmt::format_int(arity).c_str();
    return out;
}

std::string pid_text(Pid pid, Syntax syntax) {
    std::string text = analyses::pid_text(pid);
    return syntax == Syntax::elixir && !text.empty() ? "#PID" + text : text;
}

std::string bare_text(std::string_view atom, Syntax syntax) {
    if (syntax == Syntax::elixir)
        if (const auto alias = elixir_alias(atom)) return std::string(*alias);
    return std::string(atom);
}

std::string Names::bare(TextId atom) const { return bare_text(snapshot_->text(atom), syntax_); }

std::string Names::function(FunctionId function) const {
    if (function == FunctionId::none) return {};
    const Function& f = snapshot_->functions[function];
    return function_text(snapshot_->text(f.module), snapshot_->text(f.name), f.arity, syntax_);
}

std::string Names::group(const analyses::GroupKey& key) const {
    using Kind = analyses::GroupKey::Kind;
    switch (key.kind) {
        case Kind::none: break;
        case Kind::ancestor: return atom_text(snapshot_->text(key.text), syntax_);
        case Kind::label: return std::string(snapshot_->text(key.text));
        case Kind::initial_call:
        case Kind::spawned_as: return function(key.function);
    }
    return {};
}

std::string Names::called(const Process& process) const {
    if (process.name != TextId::none) return bare(process.name);
    if (process.label != TextId::none) return std::string(snapshot_->text(process.label));
    return function(process.real_initial_call);
}

std::string Names::process(const Process& process) const {
    const std::string name = called(process);
    return name.empty() ? pid(process.pid) : fmt::format("{} {}", name, pid(process.pid));
}

std::string Names::port(const PortName& port) const { return analyses::port_text(port); }

Syntax syntax_of(const Snapshot& snapshot) {
    if (snapshot.texts.find("Elixir.Kernel") != TextId::none) return Syntax::elixir;
    for (std::size_t i = 0; i < snapshot.functions.size(); ++i) {
        const Function& f = snapshot.functions[static_cast<FunctionId>(i)];
        if (elixir_alias(snapshot.text(f.module))) return Syntax::elixir;
    }
    return Syntax::erlang;
}

}  // namespace beamheap::present
