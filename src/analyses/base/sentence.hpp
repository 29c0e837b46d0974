// SPDX-License-Identifier: Apache-2.0
// Sentences made of typed parts, from the rule that writes them to the presenter that spells them.
//
// A finished string can't tell our words from the node's: whoever reads it again to turn a pid into Elixir's syntax, to
// hide a private name or to find the command in it has to guess. So a sentence stays a sequence of parts, each of which
// says what it is: words of ours (literals, which the compiler checks), figures with their units, processes, functions,
// names, printed terms, commands. How a part is written, what of it is hidden, and where a line ends is decided once,
// by present/spelling.hpp. Nobody reads a finished sentence again.
//
//     sentence("{} has {} in its queue", id, Counted{messages, "message", "messages"})
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "beamheap/ids.hpp"
#include "erlang/ours.hpp"
#include "erlang/owned_term.hpp"

namespace beamheap::analyses {

using beamheap::Ours;

/// Words of ours that are others in each language: "#{" of a map in Erlang, "%{" in Elixir.
struct ByLanguage {
    Ours erlang, elixir;
    friend bool operator==(const ByLanguage&, const ByLanguage&) = default;
};

/// What a figure is a figure of. `plain` is a number to be written as its digits ("8162366936"), `address` one in
/// hexadecimal ("0x7f0c").
enum class AmountUnit : std::uint8_t { none, count, bytes, words, percent, milliseconds, plain, address };

struct Amount {
    std::uint64_t value = 0;
    AmountUnit unit = AmountUnit::count;
    friend bool operator==(const Amount&, const Amount&) = default;
};
/// A share: "87 %".
struct Percent {
    double value = 0;
    friend bool operator==(const Percent&, const Percent&) = default;
};
/// "1 process", "12,345 processes".
struct Counted {
    std::uint64_t value = 0;
    Ours one, many;
    friend bool operator==(const Counted&, const Counted&) = default;
};
/// A process by a pid that may be no longer in the process table, or be one of another node. Of a process that is in
/// the table, its ProcId does: "lager_event <0.89.0>", "<0.89.0> (my:init/1)". A Pid alone is just the pid.
struct AnyProcess {
    Pid pid;
    friend bool operator==(const AnyProcess&, const AnyProcess&) = default;
};
/// A name of the node as itself, without quotes: a registered process, a table, a module, a node.
struct Name {
    TextId text = TextId::none;
    friend bool operator==(const Name&, const Name&) = default;
};
/// An atom by its text, quoted as the language does it, or (not `quoted`) as itself.
struct Atom {
    std::string text;
    bool quoted = true;
    friend bool operator==(const Atom&, const Atom&) = default;
};
/// A function that words of ours name: "`binary:copy/1`" in a literal.
struct KnownFunction {
    Ours module, name;
    std::uint32_t arity = 0;
    friend bool operator==(const KnownFunction&, const KnownFunction&) = default;
};
/// A text of the input. What it holds says how it is redacted.
struct InputText {
    enum class Holds : std::uint8_t {
        term,     ///< a printed term, in Erlang's syntax
        name,     ///< names: a label, a driver, libraries, atoms of one pattern
        vm,       ///< a word of the VM's own, which is nobody's secret: an allocator, a type of memory
        message,  ///< free text: a slogan, a reason, the name of a file
    };
    std::string text;
    Holds holds = Holds::message;
    friend bool operator==(const InputText&, const InputText&) = default;
};
/// A function by its names, where the node need not have it.
struct FunctionName {
    std::string module, function;
    std::uint32_t arity = 0;
    friend bool operator==(const FunctionName&, const FunctionName&) = default;
};
/// A term that stands by itself (owned_term.hpp), printed in the reader's language, at most about `max_bytes` of it.
struct PrintedTerm {
    std::shared_ptr<OwnedTerm> source;
    Element term;
    std::size_t max_bytes = 200;
    friend bool operator==(const PrintedTerm& a, const PrintedTerm& b) {
        return a.source == b.source && a.term.id == b.term.id && a.term.text == b.term.text;
    }
};
/// A command on the input that the sentence is about: "beamheap proc erl_crash.dump 0.89.0 --full".
struct Command {
    Ours verb;
    std::variant<std::monostate, Pid, Name> subject;
    Ours options = "";
    friend bool operator==(const Command&, const Command&) = default;
};

using AnyPart = std::variant<Ours, ByLanguage, Amount, Percent, Counted, ProcId, AnyProcess, Pid, FunctionId,
                             KnownFunction, Name, Atom, PortName, InputText, FunctionName, PrintedTerm, Command>;

/// A part of a sentence: one of these kinds, read by std::visit and its like. What a variant does by itself is defined
/// in sentence.cpp alone, and not made again for each file that says something.
class Part : public AnyPart {
public:
    Part(Ours part);
    Part(ByLanguage part);
    Part(Amount part);
    Part(Percent part);
    Part(Counted part);
    Part(ProcId part);
    Part(AnyProcess part);
    Part(Pid part);
    Part(FunctionId part);
    Part(KnownFunction part);
    Part(Name part);
    Part(Atom part);
    Part(PortName part);
    Part(InputText part);
    Part(FunctionName part);
    Part(PrintedTerm part);
    Part(Command part);
    Part(const Part& other);
    Part(Part&& other) noexcept;
    Part& operator=(const Part& other);
    Part& operator=(Part&& other) noexcept;
    ~Part();
    friend bool operator==(const Part& a, const Part& b);
};

/// Words of ours with a place "{}" for each of `parts` things; another number of them does not compile.
template <std::size_t parts>
struct Form {
    Ours words;
    consteval Form(const char* literal) : words(literal) {
        std::size_t places = 0;
        const std::string_view text(literal);
        for (std::size_t at = text.find("{}"); at != text.npos; at = text.find("{}", at + 2)) ++places;
        if (places != parts) throw "as many places {} as there are parts";
    }
};

class Sentence {
public:
    Sentence() = default;
    /// Words of ours alone. Commands and functions in them stand between backticks, and DUMP in them for the input:
    /// "See them: `beamheap waits DUMP`", "`binary:copy/1` makes a copy".
    Sentence(Ours words);
    Sentence(const Sentence& other);
    Sentence(Sentence&& other) noexcept;
    Sentence& operator=(const Sentence& other);
    Sentence& operator=(Sentence&& other) noexcept;
    ~Sentence();

    const std::vector<Part>& parts() const { return parts_; }
    bool empty() const { return parts_.empty(); }
    /// Whether it names this command of beamheap, without options.
    bool names_command(std::string_view verb) const;

    /// Appends the form with a part, or all parts of another sentence, in each of its places.
    template <class... Args>
    Sentence& say(Form<sizeof...(Args)> form, Args&&... args) {
        return say_all(form.words, {as_sentence(std::forward<Args>(args))...});
    }
    /// Appends one part, or all of another sentence.
    void add(Part part);
    void add(Ours words) { add_words(words); }
    void add(const Sentence& other);

    friend bool operator==(const Sentence& a, const Sentence& b);

private:
    static Sentence as_sentence(Part part);
    static Sentence as_sentence(Ours words) { return words; }
    static const Sentence& as_sentence(const Sentence& other) { return other; }
    static Sentence as_sentence(Sentence&& other) { return std::move(other); }
    Sentence& say_all(Ours form, std::initializer_list<Sentence> in_its_places);
    void add_words(Ours words);
    std::vector<Part> parts_;
};

template <class... Args>
Sentence sentence(Form<sizeof...(Args)> form, Args&&... args) {
    Sentence made;
    made.say(form, std::forward<Args>(args)...);
    return made;
}

/// Parts of several sentences with words of ours between them: "a, b, c".
Sentence joined(const std::vector<Sentence>& sentences, Ours between);

}  // namespace beamheap::analyses
