// SPDX-License-Identifier: Apache-2.0
// Values that do not fit, and reasons that hold a text for people.
#include <algorithm>

#include "analyses/causes/explainer.hpp"
#include "erlang/error_words.hpp"
#include "erlang/functions.hpp"

namespace beamheap::analyses {

using erlang::FunctionRole;

// badarg, badmatch, function_clause and their kin, with the place.
bool Explainer::value() {
    if (failure_.stack.empty()) return false;
    const LogFrame& frame = failure_.stack.front();
    if (TermReader::is_one_of(failure_.reason,
                              {"badarg", "function_clause", "badarith", "system_limit", "if_clause"})) {
        cause_.kind = CauseKind::bad_value;
        // With no argument nothing can be wrong about it: init left out the only one (a map, a binary).
        LogFrame shown = frame;
        shown.cut = shown.cut || (frame.arguments.kind == ElementKind::nil &&
                                  TermReader::is_one_of(failure_.reason, {"badarg", "function_clause"}));
        cause_.lost_arguments = shown.cut;
        cause_.what = sentence("{} in {}", printed(failure_.reason), function(shown));
        const bool full = TermReader::is(failure_.reason, "system_limit") && full_table();
        if (const auto arguments = t_.list(frame.arguments, 255); !arguments.empty() && !full) {
            const bool known = std::ranges::any_of(
                arguments, [&](const Element& e) { return !says_nothing(e) || e.kind == ElementKind::nil; });
            if (frame.cut) {  // the text that it was given says most
                std::string text;
                for (const Element& each : t_.list(arguments.back(), 60))
                    if (each.kind == ElementKind::small && each.number >= 32 && each.number < 127)
                        text += static_cast<char>(each.number);
                if (text.size() > 2) cause_.what.say(" of \"{}\"", InputText{text + "...", InputText::Holds::message});
            } else if (known) {
                cause_.what.say(" of {}", PrintedTerm{failure_.term, frame.arguments, 80});
            }
        }
        // {device, format} (erl_stdlib_errors.erl): the device could not format it.
        if (const auto device = t_.tagged(frame.error_cause, "device", 2);
            !device.empty() && TermReader::is(device[1], "format"))
            cause_.what.say(": the format does not fit its values");
        // {Segment, Type, Error, Value} (erl_erts_errors.erl, format_bs_fail/2)
        static constexpr erlang::Pattern of_segment("{Segment, Type :: atom(), Error :: atom(), Value}");
        if (const erlang::Match match = of_segment.match(*failure_.term, frame.error_cause))
            if (const auto number = t_.number(match["Segment"]); number && *number > 0)
                cause_.what.say(
                    TermReader::is(match["Error"], "type")
                        ? Form<3>(": segment {} of the binary that it builds is to be of type {}, and is {}")
                        : Form<3>(": segment {} of the binary that it builds, of type {}, does not take {}"),
                    Amount{static_cast<std::uint64_t>(*number), AmountUnit::plain}, plain(match["Type"]),
                    PrintedTerm{failure_.term, match["Value"], 40});
        if (prints_no_list(frame))
            hint("What a format prints stands in a list, also where it is one value: io:format(\"~p~n\", [Value]).");
        if (own_frame() == &frame)
            cause_.where = frame.line == 0
                               ? Sentence()
                               : sentence(", {}:{}", InputText{frame.file.substr(frame.file.rfind('/') + 1)},
                                          Amount{frame.line, AmountUnit::plain});
        else called_by();
        return true;
    }
    const auto p = t_.tuple(failure_.reason, 2);
    if (p.empty() || !TermReader::is_one_of(p[0], {"badmatch", "case_clause", "badkey", "badmap", "try_clause",
                                                   "badfun", "badarity", "bad_generator", "bad_filter"}))
        return false;
    if (words()) return true;
    cause_.kind = CauseKind::bad_value;
    cause_.what = sentence("{}", printed(failure_.reason));
    where();
    if (cause_.where.empty() && erlang::has_role(frame.module, erlang::FunctionRole::evaluates_text))
        cause_.where = Sentence(", in -eval");
    return true;
}

// Whether what a format is to print was given as one value, in no list.
bool Explainer::prints_no_list(const LogFrame& frame) const {
    if (frame.cut || !erlang::has_role(frame.module, frame.function, erlang::FunctionRole::formats_output))
        return false;
    const auto arguments = t_.list(frame.arguments, 4);
    return !arguments.empty() && arguments.back().kind != ElementKind::unknown && !t_.is_list(arguments.back());
}

// Which of the VM's tables has no place left: the one of processes, or of ports.
bool Explainer::full_table() {
    bool full = false;
    const auto say = [&](std::size_t used, Count limit, Ours of) {
        constexpr std::size_t nearly = 50;  // those that the failure itself has ended are not in the dump any more
        if (!limit.has() || used + *limit / nearly < *limit) return;
        full = true;
        cause_.what.say(" ({} of {} {})", Amount{used, AmountUnit::count}, Amount{*limit, AmountUnit::count}, of);
    };
    say(snapshot_.processes.size(), snapshot_.node.process_limit, "processes");
    say(snapshot_.ports.size(), snapshot_.node.port_limit, "ports");
    // Those that a failed start has ended are gone: the function tells what it could not make.
    const LogFrame& frame = failure_.stack.front();
    const auto name = [&](FunctionRole role, Count limit, Ours of) {
        if (full || !limit.has() || !erlang::has_role(frame.module, frame.function, role)) return;
        full = true;
        cause_.what.say(" (the limit is {} {})", Amount{*limit, AmountUnit::count}, of);
    };
    name(FunctionRole::spawns, snapshot_.node.process_limit, "processes");
    name(FunctionRole::opens_port, snapshot_.node.port_limit, "ports");
    return full;
}

// A reason that holds a text for people: the innermost text that is about an error, by its own words or by the tag or
// key that it stands under (erlang/error_words.hpp). Any other text is what the program worked on.
bool Explainer::words() {
    constexpr std::size_t most = 80, shortest = 12;
    struct Inner {
        Element element;
        bool of_error;  ///< stands under a tag or key that names an error
    };
    std::vector<Inner> left{{failure_.reason, false}};
    std::string found;
    Element tag;
    for (std::size_t i = 0; i < left.size() && i < most; ++i) {
        const auto [each, of_error] = left[i];
        if (TermReader::is_atom(each) && found.empty()) tag = each;
        if (each.kind != ElementKind::object) continue;
        if (const auto text = t_.text(each, 400); text && text->size() > 3) {
            const bool sentence = text->find(' ') != text->npos && text->size() >= shortest;
            if (sentence && (of_error || erlang::has_error_word(*text))) found = *text;
            continue;
        }
        const auto begin = t_.begin_of(each);
        bool tagged =
            of_error || (begin && TermReader::is_atom(begin->first) && erlang::is_error_tag(begin->first.text));
        ElementCursor cursor = failure_.term->elements(each.id);
        for (Element element; left.size() < most && failure_.term->next(cursor, element);)
            left.push_back({element, tagged});
    }
    if (found.empty() || left.size() < 7) return false;
    cause_.kind = CauseKind::message;
    cause_.what = sentence("{}", InputText{one_line(found, 110), InputText::Holds::message});
    if (TermReader::is_atom(tag)) cause_.what.say(" ({})", plain(tag));
    where();
    return true;
}

}  // namespace beamheap::analyses
