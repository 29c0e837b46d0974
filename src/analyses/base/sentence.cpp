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
        if (Command command{""}; read_command(code, command))
            parts_.emplace_back(command);
        else if (KnownFunction function{"", ""}; read_function(code, function))
            parts_.emplace_back(function);
        else if (const auto idiom = std::ranges::find(idioms, code, &ByLanguage::erlang); idiom != idioms.end())
            parts_.emplace_back(*idiom);
        else
            add_plain(code);
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
