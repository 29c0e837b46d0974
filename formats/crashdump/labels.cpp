#include "formats/crashdump/labels.hpp"

#include <algorithm>
#include <charconv>

#include "bytes/scan.hpp"

namespace beamheap::crashdump {
namespace {

constexpr unsigned longest_ancestry = 64;

// An element of a heap line: its text, without what follows. Empty where it is malformed.
std::string_view take_element(std::string_view& text) {
    if (text.empty()) return {};
    if (text[0] == 'A') {
        std::size_t length = 0;
        const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), length, 16);
        const auto head = static_cast<std::size_t>(end - text.data()) + 1;
        if (error != std::errc{} || head > text.size() || length > text.size() - head) return {};
        const std::string_view element = text.substr(0, head + length);
        text.remove_prefix(head + length);
        return element;
    }
    const std::size_t end = text.find_first_of(",|\r\n");
    const std::string_view element = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end);
    return element;
}

std::string_view atom_text(std::string_view element) {
    const std::size_t colon = element.find(':');
    return colon == std::string_view::npos ? std::string_view{} : element.substr(colon + 1);
}

bool skip(std::string_view& text, char separator) {
    if (text.empty() || text[0] != separator) return false;
    text.remove_prefix(1);
    return true;
}

// The start of the line that holds text[at].
std::size_t line_start(std::string_view text, std::size_t at) {
    const std::size_t before = text.rfind('\n', at);
    return before == std::string_view::npos ? 0 : before + 1;
}

// The body of the line "ADDRESS:body" in text, from `from` (a line's start) on.
std::string_view find_line(std::string_view text, std::size_t from, const std::string& address) {
    const auto matches = [&](std::size_t at) {
        return text.size() - at > address.size() && text.compare(at, address.size(), address) == 0 &&
               text[at + address.size()] == ':';
    };
    std::size_t at = from;
    for (int near = 0; near < 16 && at < text.size(); ++near) {  // nearly always the very next line
        if (matches(at)) return text.substr(at + address.size() + 1);
        const std::size_t end = text.find('\n', at);
        if (end == std::string_view::npos) return {};
        at = end + 1;
    }
    const std::string needle = "\n" + address + ":";
    if (at != 0) --at;
    const std::size_t hit = text.find(needle, at);
    return hit == std::string_view::npos ? std::string_view{} : text.substr(hit + needle.size());
}

}  // namespace

void LabelFinder::begin() {
    entries_.clear();
    searches_.clear();
    initial_call_ = FunctionId::none;
    label_ = application_ = TextId::none;
}

void LabelFinder::dictionary(std::string_view body) {
    while (!body.empty()) {
        const std::string_view line = take_line(body);
        if (line.size() > 1 && line.size() < 20 && line[0] == 'H') entries_.emplace_back(line.substr(1));
    }
}

bool LabelFinder::unresolved() const {
    return std::ranges::any_of(searches_, [](const Search& search) { return !search.address.empty(); });
}

void LabelFinder::feed(Loader& loader, std::string_view text) {
    for (Search& search : searches_)
        while (!search.address.empty()) {
            const std::string_view body = find_line(text, 0, search.address);
            if (body.empty() || !follow(loader, search, body)) break;
        }

    const char* const begin = text.data();
    const char* const end = begin + text.size();
    for (const char* hit = begin; (hit = bytes::find_byte(hit, end, '$')) != end; ++hit) {
        const auto position = static_cast<std::size_t>(hit - begin);
        Key key{};
        if (text.substr(position).starts_with("$initial_call,")) key = Key::initial_call;
        else if (text.substr(position).starts_with("$ancestors,")) key = Key::ancestors;
        else if (text.substr(position).starts_with("$process_label,")) key = Key::label;
        else continue;
        const std::size_t start = line_start(text, position);
        std::string_view line = text.substr(start);
        const std::size_t colon = line.find(':');
        const std::string_view address = line.substr(0, colon);
        if (std::ranges::find(entries_, address) == entries_.end()) continue;
        line.remove_prefix(colon + 1);
        if (!line.starts_with("t2:")) continue;
        line.remove_prefix(3);
        if (take_element(line).empty() || !skip(line, ',')) continue;
        const std::size_t before = searches_.size();
        found_key(loader, key, take_element(line));
        if (searches_.size() == before) continue;
        Search& search = searches_.back();
        std::size_t from = text.find('\n', position);
        while (!search.address.empty() && from != std::string_view::npos) {
            const std::string_view body = find_line(text, from + 1, search.address);
            if (body.empty()) break;
            from = static_cast<std::size_t>(body.data() - begin);
            from = text.find('\n', from);
            if (!follow(loader, search, body)) break;
        }
    }
}

void LabelFinder::found_key(Loader& loader, Key key, std::string_view value) {
    if (std::ranges::any_of(searches_, [key](const Search& search) { return search.key == key; })) return;
    if (value.starts_with("H")) {
        searches_.push_back({key, std::string(value.substr(1)), 0});
        return;
    }
    if (key != Key::label || value.empty()) return;
    switch (value[0]) {
        case 'A': label_ = loader.intern_atom(atom_text(value)); break;
        case 'I': label_ = loader.text(value.substr(1)); break;
        case 'P': label_ = loader.text(value.substr(1)); break;
        default: break;
    }
}

// The function of a {Module, Name, Arity} tuple, whose line's body this is.
FunctionId LabelFinder::initial_call(Loader& loader, std::string_view body) {
    if (!body.starts_with("t3:")) return FunctionId::none;
    body.remove_prefix(3);
    const std::string_view module = take_element(body);
    if (!skip(body, ',')) return FunctionId::none;
    const std::string_view name = take_element(body);
    if (!skip(body, ',')) return FunctionId::none;
    const std::string_view arity = take_element(body);
    std::uint32_t number = 0;
    if (!module.starts_with("A") || !name.starts_with("A") || !arity.starts_with("I")) return FunctionId::none;
    const auto [digits, error] = std::from_chars(arity.data() + 1, arity.data() + arity.size(), number);
    if (error != std::errc{} || digits != arity.data() + arity.size()) return FunctionId::none;
    const TextId module_id = loader.intern_atom(atom_text(module));
    return loader.snapshot.functions.intern({module_id, loader.intern_atom(atom_text(name)), number});
}

// Reads the object that was looked for. False: nothing more to look for.
bool LabelFinder::follow(Loader& loader, Search& search, std::string_view body) {
    search.address.clear();
    if (search.key == Key::initial_call) {
        initial_call_ = initial_call(loader, body);
        return false;
    }
    if (search.key == Key::ancestors) {
        if (!body.starts_with("l") || ++search.steps > longest_ancestry) return false;
        body.remove_prefix(1);
        const std::string_view element = take_element(body);
        ancestor(loader, element);
        if (application_ != TextId::none || !skip(body, '|')) return false;
        const std::string_view tail = take_element(body);
        if (!tail.starts_with("H")) return false;
        search.address = tail.substr(1);
        return true;
    }
    return false;
}

// The nearest ancestor with a name: an atom, or a pid that is registered.
void LabelFinder::ancestor(Loader& loader, std::string_view element) {
    if (element.starts_with("A")) {
        application_ = loader.intern_atom(atom_text(element));
    } else if (element.starts_with("P")) {
        const auto pid = parse_pid(element.substr(1));
        const ProcId id = pid ? loader.snapshot.find(*pid) : ProcId::none;
        if (id != ProcId::none) application_ = loader.snapshot[id].name;
    }
}

void LabelFinder::finish(Loader& loader, ProcId process) {
    Process& row = loader.snapshot[process];
    row.real_initial_call = initial_call_;
    row.label = label_;
    row.application = application_;
    for (const Search& search : searches_)
        if (search.key == Key::initial_call && !search.address.empty()) literals_.push_back({search.address, process});
}

void LabelFinder::feed_literals(Loader& loader, std::string_view text) {
    if (!literals_sorted_) std::ranges::sort(literals_, {}, &Pending::address);
    literals_sorted_ = true;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos || !line.substr(colon + 1).starts_with("t3:")) continue;
        const auto found = std::ranges::equal_range(literals_, line.substr(0, colon), {}, &Pending::address);
        if (found.empty()) continue;
        const FunctionId function = initial_call(loader, line.substr(colon + 1));
        for (const Pending& pending : found) loader.snapshot[pending.process].real_initial_call = function;
    }
}

}  // namespace beamheap::crashdump
