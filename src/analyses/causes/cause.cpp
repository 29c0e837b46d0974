#include "analyses/causes/cause.hpp"

#include <algorithm>
#include <array>

#include "analyses/causes/explainer.hpp"

namespace beamheap::analyses {
namespace {

// Modules whose frames tell how something was called, not who called it.
bool is_library(std::string_view module) {
    constexpr std::array<std::string_view, 29> erlang{
        "supervisor_bridge",  "erlang",    "lists",    "maps",        "ets",     "proplists", "gen_server", "gen",
        "gen_statem",         "gen_event", "proc_lib", "supervisor",  "io",      "file",      "init",       "erl_eval",
        "erl_expand_records", "gen_tcp",   "string",   "binary",      "unicode", "io_lib",    "dict",       "os",
        "application_master", "prim_file", "filename", "application", "user_sup"};
    constexpr std::array<std::string_view, 28> elixir{"System",
                                                      "GenServer",
                                                      "Supervisor",
                                                      "IO",
                                                      "Keyword",
                                                      "File",
                                                      "Map",
                                                      "Enum",
                                                      "String",
                                                      "Kernel",
                                                      "Code",
                                                      "Path",
                                                      "Agent",
                                                      "Task",
                                                      "Task.Supervised",
                                                      "Registry",
                                                      "List",
                                                      "Stream",
                                                      "Regex",
                                                      "Integer",
                                                      "Float",
                                                      "Application",
                                                      "Module",
                                                      "Process",
                                                      "Access",
                                                      "DynamicSupervisor",
                                                      "URI",
                                                      "Base"};
    constexpr std::string_view prefix = "Elixir.";
    if (module == "elixir" || module.starts_with("elixir_") || module.starts_with("Elixir.Config")) return true;
    if (module.starts_with(prefix)) return std::ranges::find(elixir, module.substr(prefix.size())) != elixir.end();
    return std::ranges::find(erlang, module) != erlang.end();
}

constexpr std::array<std::string_view, 22> cause_names{
    "unknown",           "none",       "no_function", "bad_module", "bad_code",  "port_taken",
    "name_taken",        "bad_name",   "cookie",      "no_file",    "refused",   "not_registered",
    "no_application",    "no_table",   "bad_value",   "bad_return", "no_output", "timeout",
    "bad_specification", "no_library", "stopped",     "message"};

}  // namespace

std::string_view name_of(CauseKind kind) { return cause_names[static_cast<std::size_t>(kind)]; }

std::string one_line(std::string_view text, std::size_t most) {
    std::string lines;
    std::string line;
    const auto take_line = [&] {
        while (!line.empty() && line.front() == ' ') line.erase(0, 1);
        while (!line.empty() && line.back() == ' ') line.pop_back();
        // "(elixir 1.14) lib/..." and "lib/my.ex:3: My.f/1" are frames: what went wrong stands before them.
        const bool frame = !lines.empty() && line.starts_with('(');
        if (!frame && !line.empty()) lines += (lines.empty() ? "" : " ") + line;
        line.clear();
        return !frame;
    };
    bool more = true;
    for (const char c : text) {
        if (!more || lines.size() > most) break;
        if (c == '\n' || c == '\r') more = take_line();
        else if (c == '\t' || (c == ' ' && line.ends_with(' '))) line += line.ends_with(' ') ? "" : " ";
        else line += c;
    }
    if (more) take_line();
    while (lines.ends_with('.') || lines.ends_with(' ')) lines.pop_back();
    if (lines.size() <= most) return lines;
    std::size_t end = most;
    while (end > most - 4 && (static_cast<unsigned char>(lines[end]) & 0xC0) == 0x80) --end;
    return lines.substr(0, end) + "...";
}

bool has_atom(OwnedTerm& term, std::string_view atom) {
    std::vector<Element> left{term.term()};
    for (std::size_t i = 0; i < left.size() && i < 2000; ++i) {
        if (TermReader::is(left[i], atom)) return true;
        if (left[i].kind != ElementKind::object) continue;
        ElementCursor cursor = term.elements(left[i].id);
        for (Element element; term.next(cursor, element);) left.push_back(element);
    }
    return false;
}

Cause Explainer::run() {
    // The first that knows the reason says it.
    const bool known = text() || gave_up() || boot() || distribution() || undefined() || terminal() || output_gone() ||
                       code() || native_library() || application() || registered() || table() || mnesia() || tls() ||
                       returned() || specification() || exception() || posix() || value() || words();
    if (!known && says_nothing(failure_.reason)) {
        cause_.kind = CauseKind::none;
        const LogFrame* frame = own_frame();
        if (frame == nullptr && !failure_.stack.empty() && failure_.stack.front().module != "init" &&
            failure_.stack.front().module != "erl_eval")
            frame = &failure_.stack.front();
        if (frame != nullptr) {
            cause_.kind = CauseKind::unknown;
            cause_.what = sentence("{} failed, with a reason that the slogan leaves out", place(*frame));
        }
    } else if (!known) {
        cause_.what = sentence("{}", printed(failure_.reason));
        where();
    }
    return std::move(cause_);
}

bool Explainer::says_nothing(const Element& reason) const {
    std::vector<Element> left{reason};
    for (std::size_t i = 0; i < left.size() && i < 40; ++i) {
        if (left[i].kind == ElementKind::unknown || left[i].kind == ElementKind::nil) continue;
        if (!t_.is_kind(left[i], TermKind::tuple) && !t_.is_kind(left[i], TermKind::cons)) return false;
        ElementCursor cursor = failure_.term->elements(left[i].id);
        for (Element element; left.size() < 60 && failure_.term->next(cursor, element);) left.push_back(element);
    }
    return true;
}

Sentence Explainer::plain(const Element& term) const {
    if (TermReader::is_atom(term)) return sentence("{}", Atom{std::string(term.text), false});
    if (const auto text = t_.text(term, 255); text && term.kind != ElementKind::nil)
        return sentence("{}", InputText{*text, InputText::Holds::name});
    return sentence("{}", printed(term));
}

void Explainer::where() {
    if (!cause_.where.empty()) return;
    if (const LogFrame* frame = own_frame(); frame != nullptr) cause_.where.say(", in {}", place(*frame));
}

void Explainer::called_by() {
    for (std::size_t i = 1; i < failure_.stack.size(); ++i) {
        const LogFrame& frame = failure_.stack[i];
        if (is_library(frame.module)) {
            if (frame.module == "init" || frame.module == "application_master" ||
                frame.module.starts_with("supervisor"))
                return;
            if (frame.module == "erl_eval") {
                const bool boot =
                    std::ranges::any_of(failure_.stack, [](const LogFrame& f) { return f.module == "init"; });
                if (boot) cause_.where = Sentence(", called by -eval");
                return;
            }
            continue;
        }
        cause_.where.say(", called in {}", place(frame));
        return;
    }
}

const LogFrame* Explainer::own_frame() const {
    for (const LogFrame& frame : failure_.stack)
        if (!is_library(frame.module)) return &frame;
    return nullptr;
}

Sentence Explainer::function(const LogFrame& frame) {
    if (frame.cut) return sentence("{}:{}", Atom{frame.module}, Atom{frame.function});
    return sentence("{}", FunctionName{frame.module, frame.function, frame.arity});
}

Sentence Explainer::place(const LogFrame& frame) {
    Sentence text = function(frame);
    if (!frame.file.empty() && frame.line != 0) {
        const std::size_t slash = frame.file.rfind('/');
        text.say(" ({}:{})", InputText{slash == std::string::npos ? frame.file : frame.file.substr(slash + 1)},
                 Amount{frame.line, AmountUnit::plain});
    }
    return text;
}

Cause cause_of(const Snapshot& snapshot, const Failure& failure, std::span<const LogEvent> events) {
    return Explainer(snapshot, failure, events).run();
}

}  // namespace beamheap::analyses
