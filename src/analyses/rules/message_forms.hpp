// SPDX-License-Identifier: Apache-2.0
// Forms of messages, as sentences name them.
#pragma once

#include <string>
#include <string_view>

namespace beamheap::analyses::rule {

/// A form (shape_of() of heaps/messages.hpp) that is short: "{'DOWN',...}" of
/// {'DOWN',reference(),process,pid(),normal},
/// "{'$gen_cast',{update_lru,...}}"; empty where it has no such.
std::string short_form(std::string_view form);

}  // namespace beamheap::analyses::rule
