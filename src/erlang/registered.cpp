// SPDX-License-Identifier: Apache-2.0
#include "erlang/registered.hpp"

#include <algorithm>

#include "erlang/name_pattern.hpp"

namespace beamheap::erlang {
namespace {

struct RegisteredRow {
    RegisteredRole role;
    NamePattern name;
};
constexpr RegisteredRow registered_rows[] = {
#define BH_REGISTERED(role, name) {RegisteredRole::role, name},
#include "erlang/registered.inc"
#undef BH_REGISTERED
};

}  // namespace

bool has_role(std::string_view name, RegisteredRole role) {
    return std::ranges::any_of(registered_rows,
                               [&](const RegisteredRow& row) { return row.role == role && row.name.fits(name); });
}

}  // namespace beamheap::erlang
