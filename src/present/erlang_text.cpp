#include "present/erlang_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyses/names.hpp"

namespace beamheap::present {
namespace {

constexpr bool upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool word(char c) { return (c >= 'a' && c <= 'z') || upper(c) || digit(c) || c == '_'; }

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

// In Elixir a function's name is an atom without its colon: map, +, "hello world".
void append_elixir_function_name(std::string_view name, std::string& out) {
    const bool is_operator = !name.empty() && name.size() <= 3 && name.find_first_not_of("!=<>+-*/|&^~@.") == name.npos;
    if (is_operator) {
        out += name;
        return;
    }
    std::string atom;
    append_atom(atom, name, Syntax::elixir);
    out.append(atom, atom.starts_with(':') ? 1 : 0, atom.npos);
}

}  // namespace

std::string atom_text(std::string_view atom, Syntax syntax) {
    std::string out;
    append_atom(out, atom, syntax);
    return out;
}

std::string function_text(std::string_view module, std::string_view name, std::uint32_t arity, Syntax syntax) {
    if (syntax == Syntax::erlang)
        return fmt::format("{}:{}/{}", atom_text(module, syntax), atom_text(name, syntax), arity);
    const auto fun = fun_name(name);
    std::string out;
    if (fun) out += fmt::format("anonymous fn/{} in ", arity);
    append_atom(out, module, syntax);
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

std::string Names::bare(TextId atom) const {
    const std::string_view text = snapshot_->text(atom);
    if (syntax_ == Syntax::elixir)
        if (const auto alias = elixir_alias(text)) return std::string(*alias);
    return std::string(text);
}

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

std::string Names::process(const Process& process) const {
    const std::string own = pid(process.pid);
    if (process.name != TextId::none) return fmt::format("{} {}", bare(process.name), own);
    if (process.label != TextId::none) return fmt::format("{} {}", snapshot_->text(process.label), own);
    if (process.real_initial_call != FunctionId::none)
        return fmt::format("{} {}", function(process.real_initial_call), own);
    return own;
}

Syntax syntax_of(const Snapshot& snapshot) {
    if (snapshot.texts.find("Elixir.Kernel") != TextId::none) return Syntax::elixir;
    for (std::size_t i = 0; i < snapshot.functions.size(); ++i) {
        const Function& f = snapshot.functions[static_cast<FunctionId>(i)];
        if (elixir_alias(snapshot.text(f.module))) return Syntax::elixir;
    }
    return Syntax::erlang;
}

}  // namespace beamheap::present
