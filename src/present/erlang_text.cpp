// SPDX-License-Identifier: Apache-2.0
#include "present/erlang_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyses/causes/labels.hpp"
#include "erlang/elixir_names.hpp"
#include "erlang/erlang_syntax.hpp"
#include "present/secrets/redact_lex.hpp"
#include "present/spelling.hpp"

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
                    out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
                else out += c;
        }
    }
    out += '"';
}

// MyApp.Worker of 'Elixir.MyApp.Worker': every part begins with a capital and is a word.
std::optional<std::string_view> elixir_alias(std::string_view atom) {
    if (!erlang::is_elixir(atom)) return std::nullopt;
    atom.remove_prefix(erlang::elixir_prefix.size());
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
    if (elixir_bare(name) || elixir_operator(name)) out += name;
    else if (const auto alias =
                 elixir_alias(name))  // the module in {supervisor, Module, 1}, which proc_lib has as a function
        out += *alias;
    else append_quoted(name, out);
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

// Reads a printed term token by token.
class Retelling {
public:
    explicit Retelling(std::string_view printed) : text_(printed) {}

    std::string run() {
        while (at_ < text_.size()) token();
        return std::move(out_);
    }

private:
    void token() {
        const char c = text_[at_];
        if (c == '\'') {
            append_elixir_atom(quoted(), out_);
            function();
        } else if (c == '"') {
            out_ += "~c\"";
            out_ += quoted_as_is();
            out_ += '"';
        } else if (lower(c)) {
            const std::size_t begin = at_;
            while (at_ < text_.size() && (word(text_[at_]) || text_[at_] == '@')) ++at_;
            const std::string_view name = text_.substr(begin, at_ - begin);
            if (follows("()")) {  // integer() of a shape is no atom
                out_ += name;
                return;
            }
            append_elixir_atom(name, out_);
            function();
        } else if (digit(c) || upper(c) || c == '_') {
            while (at_ < text_.size() && (word(text_[at_]) || text_[at_] == '.' || text_[at_] == '#'))
                out_ += text_[at_++];
        } else if (follows("<<\"")) {
            at_ += 2;
            out_ += '"';
            out_ += quoted_as_is();
            out_ += '"';
            if (follows(">>")) at_ += 2;
        } else if (follows("<<")) {
            through(">>");
        } else if (c == '<' && at_ + 1 < text_.size() && digit(text_[at_ + 1])) {
            out_ += "#PID";
            through(">");
        } else if (follows("#{")) {
            out_ += "%{";
            at_ += 2;
        } else if (c == '#') {  // #Ref<0.1.2.3>, and #Ref of a shape
            do out_ += text_[at_++];
            while (at_ < text_.size() && word(text_[at_]));
            if (at_ < text_.size() && text_[at_] == '<') through(">");
        } else if (c == ',') {
            out_ += at_ + 1 < text_.size() && text_[at_ + 1] == ' ' ? "," : ", ";
            ++at_;
        } else if (follows("=>")) {
            out_ += " => ";
            at_ += 2;
        } else {
            out_ += text_[at_++];
        }
    }
    // lists:map/2: behind a module, the name of its function.
    void function() {
        if (!follows(":") || at_ + 1 >= text_.size() || !(lower(text_[at_ + 1]) || text_[at_ + 1] == '\'')) return;
        ++at_;
        out_ += '.';
        if (text_[at_] == '\'') return append_elixir_function_name(quoted(), out_);
        while (at_ < text_.size() && (word(text_[at_]) || text_[at_] == '@')) out_ += text_[at_++];
    }
    bool follows(std::string_view what) const { return text_.substr(at_).starts_with(what); }
    void through(std::string_view end) {
        const std::size_t found = text_.find(end, at_);
        const std::size_t next = found == text_.npos ? text_.size() : found + end.size();
        out_ += text_.substr(at_, next - at_);
        at_ = next;
    }
    // What stands between quotes, with its escapes.
    std::string_view quoted_as_is() {
        const char quote = text_[at_++];
        const std::size_t begin = at_;
        while (at_ < text_.size() && text_[at_] != quote) at_ += text_[at_] == '\\' ? 2 : 1;
        at_ = std::min(at_, text_.size());
        const std::string_view inner = text_.substr(begin, at_ - begin);
        if (at_ < text_.size()) ++at_;
        return inner;
    }
    std::string quoted() {
        const std::string_view inner = quoted_as_is();
        std::string plain;
        for (std::size_t i = 0; i < inner.size(); ++i) {
            if (inner[i] == '\\' && i + 1 < inner.size()) ++i;
            plain += inner[i];
        }
        return plain;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::string out_;
};

}  // namespace

std::string printed_text(std::string_view printed, Syntax syntax) {
    return syntax == Syntax::erlang ? std::string(printed) : Retelling(printed).run();
}

std::string atom_text(std::string_view atom, Syntax syntax) {
    if (syntax == Syntax::erlang) return beamheap::atom_text(atom);
    std::string out;
    append_elixir_atom(atom, out);
    return out;
}

std::string function_text(std::string_view module, std::string_view name, std::uint32_t arity, Syntax syntax) {
    if (syntax == Syntax::erlang)
        return fmt::format("{}:{}/{}", beamheap::atom_text(module), beamheap::atom_text(name), arity);
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
    std::string text = pid_text(pid);
    return syntax == Syntax::elixir && !text.empty() ? "#PID" + text : text;
}

std::string bare_text(std::string_view atom, Syntax syntax) {
    if (syntax == Syntax::elixir) {
        if (const auto alias = elixir_alias(atom)) return std::string(*alias);
        // A pattern of aliases, whose changing parts stand in <>.
        const std::string_view alias = erlang::without_elixir(atom);
        const auto fits = [](char c) { return word(c) || c == '.' || c == '<' || c == '>'; };
        if (alias.size() < atom.size() && upper(alias[0]) && std::ranges::all_of(atom, fits)) return std::string(alias);
    }
    return std::string(atom);
}

std::string Names::bare(TextId atom) const { return bare_text(snapshot_->text(atom), syntax_); }

std::string Names::function(FunctionId function) const {
    if (function == FunctionId::none) return {};
    const Function& f = snapshot_->functions[function];
    return function_text(snapshot_->text(f.module), snapshot_->text(f.name), f.arity, syntax_);
}

std::string Names::place(const Frame& frame) const {
    const FrameLine line = snapshot_->line_of(frame);
    if (line.certainty == LineCertainty::none) return {};
    // A path from the root is that of the machine where it was compiled.
    std::string_view file = line.file;
    if (file.starts_with('/')) file.remove_prefix(file.rfind('/') + 1);
    return fmt::format("{}:{}", file, fmt::join(line.lines, " or "));
}

std::string Names::fun_head(FunctionId function) const {
    if (function == FunctionId::none || snapshot_->frame_lines.empty() ||
        !snapshot_->text(snapshot_->functions[function].name).starts_with('-'))
        return {};
    const FrameLine head = snapshot_->frame_lines.head_of(function);
    if (head.line() == 0) return {};
    return fmt::format("{}:{}", head.file.substr(head.file.rfind('/') + 1), head.line());
}

std::string Names::function_at(const Frame& frame) const {
    const std::string at = place(frame);
    return at.empty() ? function(frame.function) : fmt::format("{}  {}", function(frame.function), at);
}

std::string Names::group(const analyses::GroupKey& key) const {
    using Kind = analyses::GroupKey::Kind;
    switch (key.kind) {
        case Kind::none: break;
        case Kind::ancestor: return bare(key.text);
        case Kind::label: return printed_text(snapshot_->text(key.text), syntax_);
        case Kind::initial_call:
        case Kind::spawned_as: return function(key.function);
    }
    return {};
}

std::string Names::label(TextId label) const {
    const std::string_view term = snapshot_->text(label);
    const std::optional<analyses::Sentence> words = analyses::known_label(term);
    if (!words) return printed_text(term, syntax_);
    std::string text;
    for (const Text::Piece& piece : spell(*this, *words).pieces) text += piece.text;
    return text;
}

std::string Names::called(const Process& process) const {
    if (process.name != TextId::none) return bare(process.name);
    if (process.label != TextId::none) return label(process.label);
    return function(process.real_initial_call);
}

std::string Names::process(const Process& process) const {
    const std::string name = called(process);
    return name.empty() ? pid(process.pid) : fmt::format("{} {}", name, pid(process.pid));
}

std::string Names::port(const PortName& port) const { return port_text(port); }

Syntax syntax_of(const Snapshot& snapshot) {
    if (snapshot.texts.find(erlang::elixir_kernel) != TextId::none) return Syntax::elixir;
    for (std::size_t i = 0; i < snapshot.functions.size(); ++i) {
        const Function& f = snapshot.functions[static_cast<FunctionId>(i)];
        if (elixir_alias(snapshot.text(f.module))) return Syntax::elixir;
    }
    return Syntax::erlang;
}

}  // namespace beamheap::present
