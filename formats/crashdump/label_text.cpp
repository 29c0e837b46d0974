// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/label_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <vector>

#include "formats/crashdump/data_text.hpp"

namespace beamheap::crashdump {
namespace {

constexpr unsigned most_objects = 24;       // looked up for one label
constexpr std::size_t most_elements = 32;   // of one tuple or list
constexpr std::size_t longest_text = 64;    // of a string or binary
constexpr TermStyle style{.base64 = true};  // labels are younger than base64 in dumps

bool is_printable(std::uint64_t c) { return c >= 32 && c < 127; }

void append_quoted(std::string_view text, char quote, std::string& out) {
    out += quote;
    for (const char c : text) {
        if (c == quote || c == '\\') out += '\\';
        out += c;
    }
    out += quote;
}

void append_atom(std::string_view name, std::string& out) {
    const auto is_name = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '@';
    };
    const bool bare = !name.empty() && name[0] >= 'a' && name[0] <= 'z' && std::ranges::all_of(name, is_name);
    if (bare) out += name;
    else append_quoted(name, '\'', out);
}

void append_binary(std::string_view data, std::string& out) {
    std::string bytes;
    append_data(style, data, bytes, longest_text);
    const bool text = std::ranges::all_of(bytes, [](char c) { return is_printable(static_cast<unsigned char>(c)); });
    out += "<<";
    if (text && !bytes.empty()) append_quoted(bytes, '"', out);
    for (std::size_t i = 0; !text && i < bytes.size(); ++i)
        out += (i == 0 ? "" : ",") + std::to_string(static_cast<unsigned char>(bytes[i]));
    out += ">>";
}

// What is left to print, last first: a value to look at, or text of ours to append.
struct Work {
    std::string_view text;
    bool value = false;
};

class Label {
public:
    explicit Label(std::string_view text) : text_(text) {}

    std::string print(std::string_view element) {
        work_.push_back({element, true});
        while (!work_.empty() && out_.size() < label_bytes) {
            const Work next = work_.back();
            work_.pop_back();
            if (next.value) value(next.text);
            else out_ += next.text;
        }
        if (!work_.empty()) out_ += "...";
        return std::move(out_);
    }

private:
    void value(std::string_view element) {
        if (element.empty()) return void(out_ += "...");
        switch (element[0]) {
            case 'A': return append_atom(element.substr(std::min(element.size(), element.find(':') + 1)), out_);
            case 'I':
            case 'P': return void(out_ += element.substr(1));
            case 'p': return void((out_ += "#Port") += element.substr(1));
            case 'N': return void(out_ += "[]");
            case 'H': break;
            default: return void(out_ += "...");
        }
        const std::string_view body = ++objects_ > most_objects ? "" : find_line(text_, 0, element.substr(1));
        object(body.substr(0, body.find('\n')));
    }

    void object(std::string_view body) {
        if (body.starts_with("t")) return tuple(body.substr(1));
        if (body.starts_with("l")) return list(body);
        if (body.starts_with("B")) return void(out_ += body.substr(1));
        if (body.starts_with("Yh")) return append_binary(body.substr(std::min(body.size(), body.find(':') + 1)), out_);
        out_ += "...";
    }

    void push(const std::vector<std::string_view>& elements, std::string_view open, std::string_view close) {
        work_.push_back({close, false});
        for (std::size_t i = elements.size(); i-- > 0;) {
            work_.push_back({elements[i], true});
            work_.push_back({i == 0 ? open : std::string_view(","), false});
        }
        if (elements.empty()) work_.push_back({open, false});
    }

    void tuple(std::string_view body) {
        const std::size_t colon = body.find(':');
        body.remove_prefix(colon == std::string_view::npos ? body.size() : colon + 1);
        std::vector<std::string_view> elements;
        while (!body.empty() && elements.size() < most_elements) {
            elements.push_back(take_element(body));
            if (body.empty() || body[0] != ',') break;
            body.remove_prefix(1);
        }
        push(elements, "{", "}");
    }

    // Proper lists of immediates and objects; a list of printable characters is a string.
    void list(std::string_view body) {
        std::vector<std::string_view> elements;
        std::string characters;
        for (std::string_view tail;; body = find_line(text_, 0, tail.substr(1))) {
            if (!body.starts_with("l") || elements.size() == longest_text) {
                elements.emplace_back();  // prints as `...`
                break;
            }
            body.remove_prefix(1);
            const std::string_view head = take_element(body);
            elements.push_back(head);
            std::uint64_t code = 0;
            if (head.starts_with("I")) std::from_chars(head.data() + 1, head.data() + head.size(), code);
            if (is_printable(code)) characters += static_cast<char>(code);
            if (body.starts_with("|")) body.remove_prefix(1);
            tail = take_element(body);
            if (tail == "N") break;
            if (!tail.starts_with("H")) {
                elements.emplace_back();
                break;
            }
        }
        if (characters.size() == elements.size()) return append_quoted(characters, '"', out_);
        push(elements, "[", "]");
    }

    std::string_view text_;
    std::vector<Work> work_;
    std::string out_;
    unsigned objects_ = 0;
};

}  // namespace

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

std::string_view find_line(std::string_view text, std::size_t from, std::string_view address) {
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
    std::string needle = "\n";
    (needle += address) += ':';
    if (at != 0) --at;
    const std::size_t hit = text.find(needle, at);
    return hit == std::string_view::npos ? std::string_view{} : text.substr(hit + needle.size());
}

std::string label_text(std::string_view text, std::string_view element) {
    if (element.starts_with("H") && find_line(text, 0, element.substr(1)).empty()) return {};
    return Label(text).print(element);
}

}  // namespace beamheap::crashdump
