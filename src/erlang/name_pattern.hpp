// SPDX-License-Identifier: Apache-2.0
// Names as rows write them: one name, or all that begin, end, or have a part alike.
//
//     "gen_server"     this name alone
//     "logger*"        all that begin so
//     "*_dist"         all that end so
//     "*supervisor*"   all that have it
//     "_"              any
#pragma once

#include <cstdint>
#include <string_view>

namespace beamheap::erlang {

class NamePattern {
public:
    /// Of a literal of the program; a star elsewhere than at an end does not compile.
    consteval NamePattern(const char* literal) : text_(literal) {
        if (text_ == "_") kind_ = Kind::any;
        const bool open_begin = text_.starts_with('*'), open_end = text_.ends_with('*');
        if (open_begin) text_.remove_prefix(1);
        if (open_end) text_.remove_suffix(1);
        if (text_.empty() || text_.find('*') != text_.npos)
            throw "no pattern of names: a star in the midst, or nothing";
        if (open_begin) kind_ = open_end ? Kind::part : Kind::end;
        else if (open_end) kind_ = Kind::begin;
    }
    constexpr bool fits(std::string_view name) const {
        if (kind_ == Kind::whole) return name.size() == text_.size() && name == text_;
        switch (kind_) {
            case Kind::begin: return name.starts_with(text_);
            case Kind::end: return name.ends_with(text_);
            case Kind::part: return name.find(text_) != name.npos;
            case Kind::whole:
            case Kind::any: break;
        }
        return true;
    }

private:
    enum class Kind : std::uint8_t { whole, begin, end, part, any };
    std::string_view text_;
    Kind kind_ = Kind::whole;
};

}  // namespace beamheap::erlang
