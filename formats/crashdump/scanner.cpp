// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/scanner.hpp"

#include <algorithm>
#include <cstring>

#include "bytes/scan.hpp"
#include "formats/crashdump/digits.hpp"

namespace beamheap::crashdump {
namespace {

constexpr std::size_t longest_tag = 40;
constexpr std::size_t longest_id = 64 * 1024;

// The tag at text[at] == '='; empty if none stands there; `cut` if the text ends before that is certain. Reads up to 16
// bytes behind the text: what a window has there, is no letter.
std::string_view tag_at(std::string_view text, std::size_t at, bool& cut) {
    std::size_t end = at + 1;
    for (unsigned run = 16; run == 16 && end < text.size() && end - at <= longest_tag; end += run)
        run = tag_run(text.data() + end);
    end = std::min({end, at + 1 + longest_tag, text.size()});
    if (end == text.size()) {
        cut = true;
        return {};
    }
    const char next = text[end];
    if (end == at + 1 || (next != ':' && next != '\n' && next != '\r')) return {};
    return {text.data() + at + 1, end - at - 1};
}

void take_id(std::string& id, const char* text, std::size_t size) {
    if (id.size() != size) id.resize(size);  // mostly it is what it was: less work than assign()
    std::memcpy(id.data(), text, size);
}

}  // namespace

// The tag line that the window stands at, if that is what accept() saw last.
bool Scanner::next_accepted(Head& head) {
    if (accepted_ == nullptr || accepted_at_ != window_.offset()) return false;
    const std::string_view view = window_.view();
    const std::size_t behind = accepted_->tag.size() + 1;
    if (view.size() <= behind || (view[behind] != ':' && view[behind] != '\n')) return false;
    const char* const id = view.data() + behind + (view[behind] == ':');
    const char* const limit = view.data() + std::min(view.size(), longest_id);
    const char* const end = bytes::find_byte(id, limit, '\n');
    if (end == limit) return false;
    head.row = accepted_;
    head.tag = accepted_->tag;
    head.offset = accepted_at_;
    take_id(head.id, id, static_cast<std::size_t>(end - id) - (end != id && end[-1] == '\r'));
    head.head_bytes = static_cast<std::size_t>(end - view.data()) + 1;
    window_.consume(head.head_bytes);
    return true;
}

bool Scanner::next_unseen(Head& head) {
    std::size_t line_end = npos;
    std::size_t searched = 0;
    for (;;) {
        const std::string_view view = window_.view();
        line_end = view.find('\n', searched);
        if (line_end != npos || view.size() > longest_id) break;
        searched = view.size();
        if (!window_.more()) break;
    }
    const std::string_view view = window_.view();
    std::string_view line = view.substr(0, std::min(line_end, longest_id));
    if (line.empty() || line[0] != '=') return false;
    if (line.back() == '\r') line.remove_suffix(1);
    head.offset = window_.offset();
    const std::size_t known_end = accepted_ == nullptr ? npos : accepted_->tag.size() + 1;
    if (accepted_at_ == head.offset &&
        (line.size() == known_end || (line.size() > known_end && line[known_end] == ':'))) {
        // What begins here was found out when the section before ended.
        head.row = accepted_;
        head.tag = accepted_->tag;
    } else {
        unknown_tag_.assign(line.substr(1, line.find(':') - 1));
        head.tag = unknown_tag_;
        head.row = find_tag(head.tag);
    }
    const std::size_t id = std::min(line.size(), head.tag.size() + 2);  // behind "=tag:"
    take_id(head.id, line.data() + id, line.size() - id);
    head.head_bytes = line_end == npos ? view.size() : line_end + 1;
    window_.consume(head.head_bytes);
    return true;
}

// The header ends at the first tag behind the line "System version: ", where fields of the header stand since the VM
// wrote them; the slogan before it may hold anything, an imitation of that line without those fields included.
bool Scanner::accept_header(std::size_t at) const {
    const std::string_view text = window_.view().substr(0, at);
    const std::size_t version = text.find("System version: ");
    return version != npos && text.find("\nAtoms: ", version) != npos;
}

const SectionTag* Scanner::usual_next(const Head& head, std::string_view text, std::size_t at) const {
    const SectionTag* const usual = head.row == nullptr ? nullptr : last_behind_[number_of(*head.row)];
    if (usual == nullptr || text.size() - at < usual->tag.size() + 2) return nullptr;
    const char* const tag = text.data() + at + 1;
    const char behind = tag[usual->tag.size()];
    if (behind != ':' && behind != '\n' && behind != '\r') return nullptr;
    return bytes::same_short(tag, usual->tag.data(), usual->tag.size()) ? usual : nullptr;
}

bool Scanner::accept(const Head& head, std::size_t at, bool& undecided) {
    const std::string_view view = window_.view();
    const SectionTag* row = usual_next(head, view, at);
    std::string_view tag;
    if (row != nullptr) {
        tag = row->tag;
    } else {
        bool cut = false;
        tag = tag_at(view, at, cut);
        if (cut && window_.ended()) return find_tag(view.substr(at + 1)) != nullptr;  // "=end" without a line feed
        if (cut) {
            undecided = true;
            return false;
        }
        if (tag.empty()) return false;
        row = tag == head.tag ? head.row : find_tag(tag);
        if (head.row != nullptr) last_behind_[number_of(*head.row)] = row;
    }
    bool accepted = true;
    if (row != nullptr && row->body == Body::dump_abort) {
        // The size limit cuts a line anywhere and writes this as the last line of the file, so the line before
        // proves nothing; being the last one does.
        const std::size_t line_end = view.find('\n', at);
        if (!window_.ended() && (line_end == npos || line_end + 1 == view.size())) {
            undecided = true;
            return false;
        }
        if (line_end == npos || line_end + 1 == view.size()) return true;
    }
    if (head.row != nullptr && head.row->body == Body::dump_start) {
        accepted = row != nullptr && (header_without_version || accept_header(at));
    } else if (head.row != nullptr && head.row->body == Body::term_lines) {
        accepted = line_starts_after(head.row->terms.value_or(TermSection::heap), style, {view.data(), at},
                                     body_start_in_view_) == LineStart::yes;
    } else if (head.row != nullptr && head.row->free_text) {
        accepted = row != nullptr && (row->order >= head.row->order || row->body == Body::dump_start);
    }
    accepted_ = row;
    accepted_at_ = window_.offset() + at;
    if (!accepted && accepted_at_ > forged_at_) {
        anomalies_.add(Anomaly::forged_section, accepted_at_, tag);
        forged_at_ = accepted_at_;
    }
    return accepted;
}

std::size_t Scanner::find_boundary(const Head& head, std::size_t& from) {
    const std::string_view view = window_.view();
    const char* const begin = view.data();
    const char* const end = begin + view.size();
    const char* at = begin + std::min(from, view.size());
    while ((at = bytes::find_byte(at, end, '=')) != end) {
        const auto position = static_cast<std::size_t>(at - begin);
        if (position == 0 ? body_start_in_view_ : at[-1] == '\n') {
            bool undecided = false;
            if (accept(head, position, undecided)) return position;
            if (undecided) {
                from = position;
                return npos;
            }
        }
        ++at;
    }
    from = view.size();
    return npos;
}

std::string_view Scanner::body(const Head& head, std::size_t limit, bool& whole) {
    std::size_t from = 0;
    whole = true;
    ended_inside_ = false;
    for (;;) {
        found_ = find_boundary(head, from);
        if (found_ != npos) return {window_.view().data(), found_};
        if (window_.view().size() >= limit) {
            whole = false;
            return window_.view().substr(0, limit);
        }
        if (!window_.more(limit + bytes::Window::step)) {
            // A tag without a line end ("=end" at the very end) still is one.
            const std::string_view view = window_.view();
            if (from < view.size() && (from == 0 || view[from - 1] == '\n') &&
                find_tag(view.substr(from + 1)) != nullptr) {
                found_ = from;
                return view.substr(0, found_);
            }
            whole = false;
            ended_inside_ = true;
            found_ = view.size();
            return view;
        }
    }
}

void Scanner::finish(const Head& head) {
    finish(head, [](std::string_view text, bool) { return text.size(); });
}

Scanner::BinaryLine Scanner::skip_binary(const Head& head, std::size_t first) {
    while (window_.view().size() < 24 + first && window_.more()) {
    }
    const std::string_view view = window_.view();
    const std::size_t colon = view.substr(0, 24).find(':');
    const auto size = colon == npos ? std::nullopt : parse_hex({view.data(), colon});
    if (!size || *size > 1ull << 48) {
        if (!window_.at_end() || !view.empty()) anomalies_.add(Anomaly::bad_line, window_.offset(), view.substr(0, 40));
        finish(head);
        return {};
    }
    const std::uint64_t data = style.base64 ? (*size + 2) / 3 * 4 : *size * 2;
    BinaryLine line{*size, window_.offset() + colon + 1, {}};
    if (first != 0) line.first_text = view.substr(colon + 1, std::min<std::uint64_t>(first, data));
    if (!window_.skip(colon + 1 + data)) {
        ended_inside_ = true;
        window_.consume(window_.view().size());
        return line;
    }
    while (window_.view().size() < 3 && window_.more()) {
    }
    std::string_view rest = window_.view();
    if (rest.empty()) ended_inside_ = true;
    else if (rest[0] == '\n') window_.consume(1);
    else if (rest.size() > 1 && rest[0] == '\r' && rest[1] == '\n') window_.consume(2);
    else anomalies_.add(Anomaly::bad_line, window_.offset(), rest.substr(0, 40));
    body_start_in_view_ = true;
    finish(head);
    return line;
}

}  // namespace beamheap::crashdump
