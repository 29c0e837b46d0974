// What callbacks, expressions and settings have made of it: values that do not fit.
#include <algorithm>
#include <array>

#include "analyses/causes/explainer.hpp"

namespace beamheap::analyses {

bool Explainer::returned() {
    for (const std::string_view tag : {"bad_return_value", "bad_return"}) {
        const auto p = t_.tagged(failure_.reason, tag, 2);
        if (p.empty() || says_nothing(p[1])) continue;
        cause_.kind = CauseKind::bad_return;
        const auto inner = t_.tuple(p[1], 2);
        const auto mfa = inner.empty() ? std::vector<Element>{} : t_.tuple(inner[0], 3);
        if (!mfa.empty() && TermReader::is_atom(mfa[0]) && TermReader::is_atom(mfa[1]))
            cause_.what = sentence("{} returned {}",
                                   FunctionName{std::string(mfa[0].text), std::string(mfa[1].text),
                                                static_cast<std::uint32_t>(t_.list(mfa[2], 255).size())},
                                   printed(inner[1]));
        else if (const auto call = t_.tuple(p[1], 3); tag == "bad_return" && !call.empty() &&
                                                      TermReader::is_atom(call[0]) && TermReader::is(call[1], "init"))
            cause_.what = sentence("{} returned {}", FunctionName{std::string(call[0].text), "init", 1},
                                   printed(call[2]));  // of a supervisor
        else cause_.what = sentence("a callback returned or threw {}", printed(p[1]));
        return true;
    }
    return false;
}

// Child specifications (supervisor.erl) and settings of kernel (logger.erl).
bool Explainer::specification() {
    for (const std::string_view tag : {"start_spec", "supervisor_data", "bad_start_spec"}) {
        const auto p = t_.tagged(failure_.reason, tag, 2);
        if (p.empty()) continue;
        cause_.kind = CauseKind::bad_specification;
        if (const auto twice = t_.tagged(p[1], "duplicate_child_name", 2); !twice.empty())
            cause_.what = sentence("a supervisor has two children of one name, {}", plain(twice[1]));
        else if (const auto wrong = t_.tuple(p[1], 2); !wrong.empty() && TermReader::is_atom(wrong[0]))
            cause_.what =
                sentence("a supervisor's child specification is wrong: {}: {}", plain(wrong[0]), printed(wrong[1]));
        else cause_.what = sentence("a supervisor's child specification is wrong: {}", printed(p[1]));
        hint(
            "The init/1 of the supervisor that is named first returns it: supervisor:check_childspecs/1 tells what is "
            "wrong.");
        return true;
    }
    if (const auto p = t_.tagged(failure_.reason, "bad_config", 2); !p.empty()) {
        cause_.kind = CauseKind::bad_specification;
        const auto of = t_.tuple(p[1], 2);
        if (!of.empty() && TermReader::is(of[0], "kernel"))
            cause_.what = sentence("a setting of kernel is wrong: {}", printed(of[1]));
        else cause_.what = sentence("a setting is wrong: {}", printed(p[1]));
        hint("It stands in the configuration file (-config), under the application of that name.");
        return true;
    }
    return false;
}

// Elixir's exceptions say it themselves; those without a message are told by their fields.
bool Explainer::exception() {
    if (!t_.is_map(failure_.reason)) return false;
    const Element type = t_.get(failure_.reason, "__struct__");
    if (!TermReader::is_atom(type)) return false;
    const auto field = [&](std::string_view key) { return t_.get(failure_.reason, key); };
    const auto word = [&](std::string_view key) {
        return t_.text(field(key), 300).value_or(std::string(field(key).text));
    };
    const Atom name{std::string(type.text), false};
    const auto told = [](std::string text) { return InputText{one_line(text), InputText::Holds::message}; };
    cause_.kind = CauseKind::bad_value;
    if (type.text == "Elixir.File.Error" || type.text == "Elixir.File.CopyError" ||
        type.text == "Elixir.File.RenameError") {
        cause_.kind = CauseKind::no_file;
        cause_.what = sentence("could not {} {}: {}", told(word("action")),
                               told(word(type.text == "Elixir.File.Error" ? "path" : "source")), told(word("reason")));
    } else if (type.text == "Elixir.System.EnvError") {
        cause_.what = sentence("the environment variable {} is not set", told(word("env")));
    } else if (!word("message").empty()) {
        cause_.what = sentence("{}: {}", name, told(word("message")));
        if (type.text == "Elixir.Mix.Error") cause_.kind = CauseKind::message;
    } else if (!word("description").empty()) {
        cause_.kind = CauseKind::bad_code;
        cause_.what =
            sentence("{} in {}:{}: {}", name, told(word("file")),
                     Amount{static_cast<std::uint64_t>(std::max<std::int64_t>(t_.number(field("line")).value_or(0), 0)),
                            AmountUnit::plain},
                     told(word("description")));
    } else if (type.text == "Elixir.KeyError") {
        cause_.what = sentence("{}: key {} not found", name, printed(field("key")));
    } else if (field("term").kind != ElementKind::unknown) {
        cause_.what = sentence("{}: {}", name, printed(field("term")));
    } else if (field("original").kind != ElementKind::unknown) {
        cause_.what = sentence("{}: {}", name, printed(field("original")));
    } else if (!word("function").empty()) {
        cause_.what = sentence("{}: {}", name,
                               FunctionName{word("module"), word("function"),
                                            static_cast<std::uint32_t>(t_.number(field("arity")).value_or(0))});
    } else {
        cause_.what = sentence("{}", printed(failure_.reason));
    }
    where();
    return true;
}

// badarg, badmatch, function_clause and their kin, with the place.
bool Explainer::value() {
    if (failure_.stack.empty()) return false;
    const LogFrame& frame = failure_.stack.front();
    if (TermReader::is_one_of(failure_.reason,
                              {"badarg", "function_clause", "badarith", "system_limit", "if_clause"})) {
        cause_.kind = CauseKind::bad_value;
        cause_.what = sentence("{} in {}", printed(failure_.reason), function(frame));
        if (const auto arguments = t_.list(frame.arguments, 255); !arguments.empty()) {
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
    if (cause_.where.empty() && frame.module == "erl_eval") cause_.where = Sentence(", in -eval");
    return true;
}

// A large reason that holds a text for people: the text.
bool Explainer::words() {
    std::vector<Element> left{failure_.reason};
    std::string found;
    Element tag;
    for (std::size_t i = 0; i < left.size() && i < 60; ++i) {
        const Element& each = left[i];
        if (each.kind == ElementKind::object)
            if (const auto text = t_.text(each, 400); text && text->size() > 3) {
                const bool sentence = text->find(' ') != text->npos && text->size() >= 12;
                if (found.empty() && sentence) found = *text;
                continue;
            }
        if (TermReader::is_atom(each) && found.empty()) tag = each;
        if (each.kind != ElementKind::object) continue;
        ElementCursor cursor = failure_.term->elements(each.id);
        for (Element element; left.size() < 80 && failure_.term->next(cursor, element);) left.push_back(element);
    }
    if (found.empty() || left.size() < 7) return false;
    cause_.kind = CauseKind::message;
    cause_.what = sentence("{}", InputText{one_line(found, 110), InputText::Holds::message});
    if (TermReader::is_atom(tag)) cause_.what.say(" ({})", plain(tag));
    where();
    return true;
}

}  // namespace beamheap::analyses
