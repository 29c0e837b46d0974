// SPDX-License-Identifier: Apache-2.0
// Names as families: of each form one, with how many have it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyses/memory/atom_families.hpp"
#include "analyses/memory/name_codes.hpp"

namespace beamheap::analyses {

/// Names by their form. A form of which there is one only is that name itself. All names are looked at before the first
/// is added.
class NameFamilies {
public:
    void look_at(std::string_view name) { codes_.add(name); }
    std::size_t add(std::string_view name, std::uint64_t scope = 0) {
        std::string form = may_be_of_family(name) ? codes_.pattern(name) : std::string(name);
        const auto [place, fresh] = by_form_.try_emplace(form + '\0' + std::to_string(scope), forms_.size());
        if (fresh) forms_.push_back({std::move(form), std::string(name), 0});
        ++forms_[place->second].count;
        return place->second;
    }
    std::size_t size() const { return forms_.size(); }
    std::uint64_t count(std::size_t i) const { return forms_[i].count; }
    const std::string& text(std::size_t i) const { return count(i) == 1 ? forms_[i].name : forms_[i].form; }

private:
    struct Form {
        std::string form, name;
        std::uint64_t count = 0;
    };
    NameCodes codes_;
    std::unordered_map<std::string, std::size_t> by_form_;
    std::vector<Form> forms_;
};

}  // namespace beamheap::analyses
