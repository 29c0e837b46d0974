// SPDX-License-Identifier: Apache-2.0
#include "analyses/base/sentence.hpp"

#include <algorithm>
#include <array>

namespace beamheap::analyses {
namespace {

// "beamheap top DUMP --by memory": a command on the input; without DUMP it is a command on something else.
bool read_command(Ours words, Command& command) {
    constexpr std::string_view program = "beamheap ";
    constexpr std::string_view input = " DUMP";
    const std::string_view text = words.text();
    if (!text.starts_with(program)) return false;
    const std::size_t at = text.find(input);
    if (at == text.npos) return false;
    const std::size_t end = at + input.size();
    if (end != text.size() && text[end] != ' ') return false;
    command.verb = words.piece(program.size(), at - program.size());
    if (end != text.size()) command.options = words.piece(end + 1);
    return true;
}

// Calls and options that Elixir writes another way.
constexpr std::array<ByLanguage, 2> idioms{{
    {"process_flag(max_heap_size, ...)", "Process.flag(:max_heap_size, ...)"},
    {"{message_queue_data, off_heap}", "{:message_queue_data, :off_heap}"},
}};

// "binary:copy/1"
bool read_function(Ours words, KnownFunction& function) {
    const std::string_view text = words.text();
    const std::size_t colon = text.find(':');
    const std::size_t slash = text.find('/');
    if (colon == text.npos || slash == text.npos || slash < colon || slash + 2 != text.size()) return false;
    if (text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789:/") != text.npos) return false;
    function.module = words.piece(0, colon);
    function.name = words.piece(colon + 1, slash - colon - 1);
    function.arity = static_cast<std::uint32_t>(text[slash + 1] - '0');
    return true;
}

}  // namespace

Part::Part(Ours part) : AnyPart(part) {}
Part::Part(ByLanguage part) : AnyPart(part) {}
Part::Part(Amount part) : AnyPart(part) {}
Part::Part(Percent part) : AnyPart(part) {}
Part::Part(Counted part) : AnyPart(part) {}
Part::Part(ProcId part) : AnyPart(part) {}
Part::Part(AnyProcess part) : AnyPart(part) {}
Part::Part(Pid part) : AnyPart(part) {}
Part::Part(FunctionId part) : AnyPart(part) {}
Part::Part(KnownFunction part) : AnyPart(part) {}
Part::Part(Name part) : AnyPart(part) {}
Part::Part(Atom part) : AnyPart(std::move(part)) {}
Part::Part(PortName part) : AnyPart(std::move(part)) {}
Part::Part(InputText part) : AnyPart(std::move(part)) {}
Part::Part(FunctionName part) : AnyPart(std::move(part)) {}
Part::Part(PrintedTerm part) : AnyPart(std::move(part)) {}
Part::Part(Command part) : AnyPart(std::move(part)) {}
Part::Part(const Part& other) = default;
Part::Part(Part&& other) noexcept = default;
Part& Part::operator=(const Part& other) = default;
Part& Part::operator=(Part&& other) noexcept = default;
Part::~Part() = default;
bool operator==(const Part& a, const Part& b) {
    return static_cast<const AnyPart&>(a) == static_cast<const AnyPart&>(b);
}

Sentence::Sentence(Ours words) { add_words(words); }
Sentence::Sentence(const Sentence& other) = default;
Sentence::Sentence(Sentence&& other) noexcept = default;
Sentence& Sentence::operator=(const Sentence& other) = default;
Sentence& Sentence::operator=(Sentence&& other) noexcept = default;
Sentence::~Sentence() = default;
bool operator==(const Sentence& a, const Sentence& b) { return a.parts_ == b.parts_; }

void Sentence::add(Part part) { parts_.push_back(std::move(part)); }

void Sentence::add(const Sentence& other) { parts_.insert(parts_.end(), other.parts_.begin(), other.parts_.end()); }

Sentence Sentence::as_sentence(Part part) {
    Sentence made;
    made.add(std::move(part));
    return made;
}

Sentence& Sentence::say_all(Ours form, std::initializer_list<Sentence> in_its_places) {
    std::size_t at = 0;
    for (const Sentence& each : in_its_places) {
        const std::size_t end = form.text().find("{}", at);
        add_words(form.piece(at, end - at));
        add(each);
        at = end + 2;
    }
    add_words(form.piece(at));
    return *this;
}

void Sentence::add_words(Ours words) {
    const auto add_plain = [this](Ours plain) {
        if (!plain.empty()) parts_.emplace_back(plain);
    };
    std::size_t at = 0;
    const std::string_view text = words.text();
    while (at < text.size()) {
        const std::size_t open = text.find('`', at);
        const std::size_t close = open == text.npos ? open : text.find('`', open + 1);
        if (close == text.npos) break;
        add_plain(words.piece(at, open - at));
        const Ours code = words.piece(open + 1, close - open - 1);
        if (Command command{""}; read_command(code, command)) parts_.emplace_back(command);
        else if (KnownFunction function{"", ""}; read_function(code, function)) parts_.emplace_back(function);
        else if (const auto idiom = std::ranges::find(idioms, code, &ByLanguage::erlang); idiom != idioms.end())
            parts_.emplace_back(*idiom);
        else add_plain(code);
        at = close + 1;
    }
    if (at < text.size()) add_plain(words.piece(at));
}

bool Sentence::names_command(std::string_view verb) const {
    return std::ranges::any_of(parts_, [verb](const Part& part) {
        const auto* command = std::get_if<Command>(&part);
        return command != nullptr && command->verb.text() == verb && command->options.empty();
    });
}

Sentence joined(const std::vector<Sentence>& sentences, Ours between) {
    Sentence all;
    for (const Sentence& each : sentences) {
        if (!all.empty()) all.add(between);
        all.add(each);
    }
    return all;
}

}  // namespace beamheap::analyses
