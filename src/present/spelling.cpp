// SPDX-License-Identifier: Apache-2.0
#include "present/spelling.hpp"

#include <fmt/format.h>

#include "analyses/causes/labels.hpp"
#include "erlang/elixir_names.hpp"
#include "erlang/functions.hpp"
#include "present/term_printer.hpp"
#include "present/units.hpp"

namespace beamheap::present {
namespace {

using analyses::Amount;
using analyses::AmountUnit;
using analyses::AnyProcess;
using analyses::Atom;
using analyses::Command;
using analyses::Counted;
using analyses::FunctionName;
using analyses::InputText;
using analyses::KnownFunction;
using analyses::Name;
using analyses::Ours;
using analyses::Part;
using analyses::Percent;
using analyses::PrintedTerm;
using analyses::Sentence;

Content content_of(InputText::Holds holds) {
    switch (holds) {
        case InputText::Holds::term: return Content::term;
        case InputText::Holds::name: return Content::name;
        case InputText::Holds::vm: return Content::plain;
        case InputText::Holds::message: break;
    }
    return Content::message;
}

/// Spells one part.
class Speller {
public:
    explicit Speller(const Names& names) : names_(names) {}

    Text operator()(const Ours& words) const { return Text{}.add(std::string(words.text())); }
    Text operator()(const analyses::ByLanguage& words) const {
        return (*this)(names_.syntax() == Syntax::elixir ? words.elixir : words.erlang);
    }
    Text operator()(const Amount& amount) const { return Text{}.add(amount_text(amount)); }
    Text operator()(const Percent& percent) const { return Text{}.add(human_percent(percent.value)); }
    Text operator()(const Counted& count) const {
        return Text{}.add(counted(count.value, count.one.text(), count.many.text()));
    }
    Text operator()(ProcId id) const {
        const Process& process = names_.snapshot()[id];
        Text text = spelled(process);
        for (Text::Piece& piece : text.pieces) piece.process = process.pid;
        return text;
    }
    Text spelled(const Process& process) const {
        Text text;
        if (process.name != TextId::none)
            return text.add(names_.bare(process.name), Content::name).add(' ' + names_.pid(process.pid));
        text.add(names_.pid(process.pid));
        const FunctionId call =
            process.real_initial_call != FunctionId::none ? process.real_initial_call : process.initial_call;
        if (process.label != TextId::none) {
            text.add(" (");
            const Sentence words = analyses::label_in_words(names_.snapshot().text(process.label));
            for (const Part& part : words.parts())
                for (Text::Piece& piece : std::visit(*this, static_cast<const analyses::AnyPart&>(part)).pieces)
                    text.pieces.push_back(std::move(piece));
            return text.add(")");
        }
        std::string kind = says_nothing(call) ? std::string() : names_.function(call);
        return kind.empty() ? text : text.add(" (").add(std::move(kind), Content::name).add(")");
    }
    Text operator()(const AnyProcess& process) const {
        const ProcId id = names_.snapshot().find(process.pid);
        if (id != ProcId::none) return (*this)(id);
        Text text = (*this)(process.pid);
        if (!process.pid.has() || process.pid.node == 0) return text;
        const TextId node = names_.snapshot().node_name(process.pid.node);
        if (node == TextId::none) return text.add(" of another node");
        return text.add(" of node ").add(std::string(names_.snapshot().text(node)), Content::name);
    }
    Text operator()(const Pid& pid) const {
        Text text = Text{}.add(names_.pid(pid));
        text.pieces.back().process = pid;
        return text;
    }
    Text operator()(FunctionId function) const {
        if (function == FunctionId::none) return Text{}.add("an unknown function");
        Text text = as_function(Text{}.add(names_.function(function), Content::name));
        if (const std::string head = names_.fun_head(function); !head.empty())
            text.add(" (").add(head, Content::name).add(")");
        return text;
    }
    Text operator()(const KnownFunction& f) const {
        const std::string_view own = erlang::elixirs_own(f.module.text(), f.name.text());
        if (names_.syntax() == Syntax::elixir && !own.empty())
            return as_function(Text{}.add(fmt::format("{}/{}", own, f.arity)));
        return as_function(Text{}.add(function_text(f.module.text(), f.name.text(), f.arity, names_.syntax())));
    }
    Text operator()(const Name& name) const { return Text{}.add(names_.bare(name.text), Content::name); }
    Text operator()(const Atom& atom) const {
        return Text{}.add(atom.quoted ? atom_text(atom.text, names_.syntax()) : bare_text(atom.text, names_.syntax()),
                          Content::name);
    }
    Text operator()(const PortName& port) const { return Text{}.add(names_.port(port)); }
    Text operator()(const InputText& text) const {
        switch (text.holds) {
            case InputText::Holds::term: return Text{}.add(printed_text(text.text, names_.syntax()), Content::term);
            case InputText::Holds::name: return Text{}.add(bare_text(text.text, names_.syntax()), Content::name);
            case InputText::Holds::vm:
            case InputText::Holds::message: break;
        }
        return Text{}.add(text.text, content_of(text.holds));
    }
    Text operator()(const FunctionName& f) const {
        return as_function(Text{}.add(function_text(f.module, f.function, f.arity, names_.syntax()), Content::name));
    }
    Text operator()(const PrintedTerm& term) const {
        return Text{}.add(term_text(*term.source, term.term,
                                    {.syntax = names_.syntax(),
                                     .max_bytes = term.max_bytes,
                                     .unknown = "...",
                                     .hide_secrets = names_.hides_secrets(),
                                     .visible_strings = true}),
                          Content::term);
    }
    Text operator()(const Command& command) const {
        // An argument that looks like an option stands behind all options, and "--".
        const auto* const name = std::get_if<Name>(&command.subject);
        const std::string_view subject = name == nullptr ? std::string_view() : names_.snapshot().text(name->text);
        const bool dashed = subject.starts_with('-');
        Text options;
        if (!names_.opened_with().empty()) options.add(" ").add(names_.opened_with(), Content::message);
        if (!command.options.empty()) options.add(fmt::format(" {}", command.options.text()));
        Text text;
        text.add(fmt::format("beamheap {}", command.verb.text()));
        if (dashed) text.add(options).add(" --");
        const std::string& input = names_.input();
        text.add(" ");
        if (input.empty() || input == "-") text.add("DUMP");
        else text.add(shell_word(input.starts_with('-') ? "./" + input : input), Content::message);
        if (const auto* pid = std::get_if<Pid>(&command.subject))
            text.add(fmt::format(" {}.{}.{}", pid->node, pid->number, pid->serial));
        if (name != nullptr) text.add(" ").add(shell_word(subject), Content::name);
        if (!dashed) text.add(options);
        for (Text::Piece& piece : text.pieces) piece.command = true;
        return text;
    }

private:
    static Text as_function(Text text) {
        for (Text::Piece& piece : text.pieces) piece.function = true;
        return text;
    }
    static std::string amount_text(const Amount& amount) {
        switch (amount.unit) {
            case AmountUnit::bytes: return human_bytes(amount.value);
            case AmountUnit::words: return grouped(amount.value) + " words";
            case AmountUnit::percent: return human_percent(static_cast<double>(amount.value));
            case AmountUnit::milliseconds: return human_duration(amount.value);
            case AmountUnit::plain: return fmt::format_int(amount.value).str();
            case AmountUnit::address: return fmt::format("{:#x}", amount.value);
            case AmountUnit::none:
            case AmountUnit::count: break;
        }
        return grouped(amount.value);
    }
    // Any fun that was spawned is called so.
    bool says_nothing(FunctionId call) const {
        return call == FunctionId::none || has_role(names_.snapshot(), call, erlang::FunctionRole::begins_funs);
    }
    const Names& names_;
};

std::string_view name_of(AmountUnit unit) {
    switch (unit) {
        case AmountUnit::bytes: return "bytes";
        case AmountUnit::words: return "words";
        case AmountUnit::percent: return "percent";
        case AmountUnit::milliseconds: return "milliseconds";
        case AmountUnit::address: return "address";
        case AmountUnit::none:
        case AmountUnit::count:
        case AmountUnit::plain: break;
    }
    return "count";
}

/// What kind of part it is, and what it has besides its text.
class Describer {
public:
    Describer(const Names& names, Object& object) : names_(names), object_(object) {}

    std::string_view operator()(const Ours&) const { return "text"; }
    std::string_view operator()(const analyses::ByLanguage&) const { return "text"; }
    std::string_view operator()(const Amount& amount) const {
        add("value", Value(amount.value));
        add("unit", Value(name_of(amount.unit)));
        return "amount";
    }
    std::string_view operator()(const Percent& percent) const {
        add("value", Value(percent.value));
        return "percent";
    }
    std::string_view operator()(const Counted& count) const {
        add("value", Value(count.value));
        add("unit", Value(count.many.text()));
        return "count";
    }
    std::string_view operator()(ProcId id) const { return process(names_.snapshot()[id].pid); }
    std::string_view operator()(const AnyProcess& any) const { return process(any.pid); }
    std::string_view operator()(const Pid& pid) const {
        add("pid", Value(names_.pid(pid)));
        return "pid";
    }
    std::string_view operator()(FunctionId) const { return "function"; }
    std::string_view operator()(const KnownFunction&) const { return "function"; }
    std::string_view operator()(const Name&) const { return "name"; }
    std::string_view operator()(const Atom&) const { return "name"; }
    std::string_view operator()(const PortName&) const { return "port"; }
    std::string_view operator()(const InputText& text) const {
        switch (text.holds) {
            case InputText::Holds::term: return "term";
            case InputText::Holds::name: return "names";
            case InputText::Holds::vm: return "vm";
            case InputText::Holds::message: break;
        }
        return "message";
    }
    std::string_view operator()(const FunctionName&) const { return "function"; }
    std::string_view operator()(const PrintedTerm&) const { return "term"; }
    std::string_view operator()(const Command& command) const {
        add("verb", Value(command.verb.text()));
        return "command";
    }

private:
    void add(std::string key, Value value) const { object_.emplace_back(std::move(key), std::move(value)); }
    std::string_view process(const Pid& pid) const {
        add("pid", Value(names_.pid(pid)));
        return "process";
    }
    const Names& names_;
    Object& object_;
};

const Names& no_names() {
    static const Snapshot none;
    static const Names names(none, Syntax::erlang);
    return names;
}

}  // namespace

Text spell(const Names& names, const Sentence& sentence) {
    const Speller speller(names);
    Text text;
    for (const Part& part : sentence.parts()) text.add(std::visit(speller, part));
    return text;
}

Text spell(const Sentence& sentence) { return spell(no_names(), sentence); }

Array sentence_parts(const Names& names, const Sentence& sentence) {
    const Speller speller(names);
    Array parts;
    for (const Part& part : sentence.parts()) {
        Object object{{"kind", {}}, {"text", std::visit(speller, part)}};
        object.front().second = std::visit(Describer(names, object), part);
        parts.emplace_back(std::move(object));
    }
    return parts;
}

std::string plain_text(const Snapshot& snapshot, const Sentence& sentence) {
    return spell(Names(snapshot, Syntax::erlang), sentence).raw();
}

std::string shell_word(std::string_view path) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/+=:@,%";
    if (!path.empty() && path.find_first_not_of(plain) == path.npos) return std::string(path);
    std::string word = "'";
    for (const char c : path) c == '\'' ? word += "'\\''" : word += c;
    return word + '\'';
}

}  // namespace beamheap::present
