// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/process_identity.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "bytes/scan.hpp"
#include "formats/crashdump/label_text.hpp"

namespace beamheap::crashdump {
namespace {

constexpr unsigned longest_ancestry = 64;
constexpr std::string_view own_name_key = "process_name,";

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

// The next place in [from, to) of the key that RabbitMQ's processes have, or npos. Of its letters '_' is the one that
// is rarest in heaps.
std::size_t find_own_name(std::string_view text, std::size_t from, std::size_t to) {
    constexpr std::size_t mark = 7;
    static_assert(own_name_key[mark] == '_');
    const char* const begin = text.data();
    const char* const end = begin + to;
    for (const char* hit = begin + std::min(from + mark, to); (hit = bytes::find_byte(hit, end, '_')) != end; ++hit) {
        const std::size_t at = static_cast<std::size_t>(hit - begin) - mark;
        if (text.substr(at).starts_with(own_name_key)) return at;
    }
    return text.npos;
}

// An address that a line begins with. The last digit is that of a multiple of eight; the two before it tell neighbours
// from each other, and stand together once in hundreds of places.
class LineAddress {
public:
    static constexpr std::size_t step = 64;  // bytes that are looked at together
    explicit LineAddress(std::string_view address) : address_(address) {}

    /// The line that begins with it and in text[from .. from + step), from <= last_start(text) - step; npos if none
    /// does.
    std::size_t line_in(std::string_view text, std::size_t from) const {
        const std::size_t told = address_.size() - digits;  // of the line, where the two digits stand
        std::uint64_t places = bytes::places_of_pair(text.data() + from + told, address_[told], address_[told + 1]);
        for (; places != 0; places &= places - 1)
            if (const std::size_t line = from + static_cast<std::size_t>(std::countr_zero(places)); begins(text, line))
                return line;
        return text.npos;
    }
    /// Behind it no line begins that is long enough; 0 if none is.
    std::size_t last_start(std::string_view text) const {
        return address_.size() < digits || text.size() < address_.size() ? 0
                                                                         : text.size() - address_.size() + digits - 1;
    }
    bool begins(std::string_view text, std::size_t line) const {
        return text.size() - line > address_.size() && text[line + address_.size()] == ':' &&
               (line == 0 || text[line - 1] == '\n') &&
               bytes::same_short(text.data() + line, address_.data(), address_.size());
    }

private:
    static constexpr std::size_t digits = 3;  // those two, and the last
    std::string_view address_;
};

}  // namespace

bool LabelFinder::is_own_name(std::string_view printed) { return printed.starts_with("{rabbit"); }

void LabelFinder::begin() {
    entries_.clear();
    entries_met_ = 0;
    searches_.clear();
    initial_call_ = FunctionId::none;
    label_ = application_ = TextId::none;
}

void LabelFinder::dictionary(std::string_view text) {
    dictionary_.resize(text.size());  // less work than assign()
    std::memcpy(dictionary_.data(), text.data(), text.size());
    std::string_view body = dictionary_;
    while (!body.empty()) {
        const std::string_view line = take_line(body);
        if (line.size() > 1 && line.size() < 20 && line[0] == 'H') entries_.emplace_back(line.substr(1));
    }
}

bool LabelFinder::unresolved() const {
    return std::ranges::any_of(searches_, [](const Search& search) { return !search.address.empty(); });
}

bool LabelFinder::found_call() const {
    return std::ranges::any_of(searches_, [](const Search& search) { return search.key == Key::initial_call; });
}

void LabelFinder::feed(Loader& loader, std::string_view text) {
    for (Search& search : searches_)
        while (!search.address.empty()) {
            if (is_label(search.key)) {
                label(loader, search, text);
                break;
            }
            const std::string_view body = find_line(text, 0, search.address);
            if (body.empty() || !follow(loader, search, body)) break;
        }

    if (find_last_entries(text)) {
        for (std::size_t i = places_.size(); i-- > 0;)
            look_at_entry(loader, text, places_[i] + entries_[entries_.size() - 1 - i].size());
        entries_met_ = entries_.size();
        return;
    }
    look_for_keys(loader, text, 0, text.size());
    // Most processes have no other entries than those, which have been met by now.
    look_for_own_names(loader, text, 0, text.size());
}

// A VM dumps what a process holds from its stack on, then from its messages, then from its dictionary, entry by entry
// and what each refers to behind it: their lines are mostly among the last ones. False: not all are there.
bool LabelFinder::find_last_entries(std::string_view text) {
    // So many bytes are looked at, and such a part of all: in vain that costs little.
    constexpr std::size_t always = 512, part = 8, most = 4096, step = LineAddress::step;
    places_.clear();
    if (entries_met_ == entries_.size()) return false;
    const std::size_t least = text.size() - std::min({text.size(), text.size() / part + always, most});
    if (usual_places_.size() < entries_.size()) usual_places_.resize(entries_.size());
    std::size_t before = text.size();  // the lines are looked for from there down to `least`
    for (std::size_t i = entries_.size(); i-- > entries_met_; places_.push_back(before)) {
        const LineAddress address(entries_[i]);
        before = std::min(before, address.last_start(text));
        std::size_t line = text.npos;
        // Processes of one kind have it at nearly the same place from the end.
        const std::size_t usual = text.size() - std::min(text.size(), usual_places_[i] + step / 2);
        if (usual >= least && usual + step <= before) line = address.line_in(text, usual);
        for (std::size_t at = before; line == text.npos && at > least;) {
            if (at >= step) line = address.line_in(text, at -= step);
            else if (address.begins(text, --at)) line = at;
        }
        if (line == text.npos) return false;
        before = line;
        usual_places_[i] = text.size() - line;
    }
    return true;
}

// The key of an entry is the first element of a pair, behind the address that its line begins with.
void LabelFinder::look_at_entry(Loader& loader, std::string_view text, std::size_t at) {
    constexpr std::string_view pair_of_atom = ":t2:A";
    constexpr std::size_t most_digits = 4;  // of an atom's length
    if (text.size() - at < pair_of_atom.size() ||
        std::memcmp(text.data() + at, pair_of_atom.data(), pair_of_atom.size()) != 0)
        return;
    at += pair_of_atom.size();
    const std::size_t limit = std::min(text.size(), at + most_digits + 1);
    while (at < limit && text[at] != ':') ++at;
    if (at == limit) return;
    if (const auto key = key_at({text.data() + at + 1, text.size() - at - 1})) met_key(loader, text, at + 1, *key);
}

std::optional<LabelFinder::Key> LabelFinder::key_at(std::string_view text) {
    if (text.starts_with('p')) return text.starts_with(own_name_key) ? std::optional(Key::own_name) : std::nullopt;
    if (!text.starts_with('$')) return std::nullopt;
    if (text.starts_with("$initial_call,")) return Key::initial_call;
    if (text.starts_with("$ancestors,")) return Key::ancestors;
    if (text.starts_with("$process_label,")) return Key::label;
    return std::nullopt;
}

void LabelFinder::look_for_keys(Loader& loader, std::string_view text, std::size_t from, std::size_t to) {
    const char* const begin = text.data();
    const char* const end = begin + to;
    for (const char* hit = begin + from;
         entries_met_ < entries_.size() && (hit = bytes::find_byte(hit, end, '$')) != end; ++hit) {
        const auto position = static_cast<std::size_t>(hit - begin);
        if (const auto key = key_at(text.substr(position))) met_key(loader, text, position, *key);
    }
}

void LabelFinder::look_for_own_names(Loader& loader, std::string_view text, std::size_t from, std::size_t to) {
    for (std::size_t at = from; entries_met_ < entries_.size() && (at = find_own_name(text, at, to)) != text.npos; ++at)
        met_key(loader, text, at, Key::own_name);
}

// A key stands there: of an entry of the dictionary, if its line is one of those.
void LabelFinder::met_key(Loader& loader, std::string_view text, std::size_t position, Key key) {
    const std::size_t start = line_start(text, position);
    std::string_view line = text.substr(start);
    const std::size_t colon = line.find(':');
    const std::string_view address = line.substr(0, colon);
    const auto entry = std::ranges::find(entries_, address);
    if (entry == entries_.end()) return;
    if (entry - entries_.begin() >= static_cast<std::ptrdiff_t>(entries_met_))
        std::swap(*entry, entries_[entries_met_++]);
    line.remove_prefix(colon + 1);
    if (!line.starts_with("t2:")) return;
    line.remove_prefix(3);
    if (take_element(line).empty() || !skip(line, ',')) return;
    const std::size_t before = searches_.size();
    found_key(loader, key, take_element(line));
    if (searches_.size() == before) return;
    Search& search = searches_.back();
    if (is_label(key)) return label(loader, search, text);
    std::size_t from = text.find('\n', position);
    while (!search.address.empty() && from != std::string_view::npos) {
        const std::string_view body = find_line(text, from + 1, search.address);
        if (body.empty()) break;
        from = static_cast<std::size_t>(body.data() - text.data());
        from = text.find('\n', from);
        if (!follow(loader, search, body)) break;
    }
}

void LabelFinder::found_key(Loader& loader, Key key, std::string_view value) {
    if (std::ranges::any_of(searches_, [key](const Search& search) { return search.key == key; })) return;
    if (value.starts_with("H")) {
        searches_.push_back({key, std::string(value.substr(1)), 0});
        return;
    }
    if (key != Key::label || value.empty()) return;  // an own name is a tuple
    label_ = value[0] == 'A' ? loader.intern_atom(atom_text(value)) : loader.text(label_text({}, value));
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

// An object as label: what this text holds of it.
void LabelFinder::label(Loader& loader, Search& search, std::string_view text) {
    const std::string label = label_text(text, "H" + search.address);
    if (label.empty()) return;
    if (search.key == Key::label || (label_ == TextId::none && is_own_name(label))) label_ = loader.text(label);
    search.address.clear();
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
        if (search.key != Key::ancestors && !search.address.empty())
            literals_.push_back({search.address, process, search.key});
}

void LabelFinder::feed_literals(Loader& loader, std::string_view text) {
    if (!literals_sorted_) std::ranges::sort(literals_, {}, &Pending::address);
    literals_sorted_ = true;
    const std::string_view all = text;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        const std::string_view address = line.substr(0, colon);
        for (auto at = std::ranges::lower_bound(literals_, address, {}, &Pending::address);
             at != literals_.end() && at->address == address; ++at) {
            resolve(loader, *at, line.substr(colon + 1), all);
        }
    }
}

void LabelFinder::find_literals(Loader& loader, std::string_view text) {
    for (const Pending& pending : literals_)
        if (const std::string_view body = find_line(text, 0, pending.address); !body.empty())
            resolve(loader, pending, body, text);
    literals_.clear();
}

// Gives a process what it refers to: the literal whose line's body this is.
void LabelFinder::resolve(Loader& loader, const Pending& pending, std::string_view body, std::string_view all) {
    Process& row = loader.snapshot[pending.process];
    if (pending.key == Key::initial_call) {
        row.real_initial_call = initial_call(loader, body);
        return;
    }
    const std::string label = label_text(all, "H" + pending.address);
    if (pending.key == Key::label || (row.label == TextId::none && is_own_name(label))) row.label = loader.text(label);
}

}  // namespace beamheap::crashdump
