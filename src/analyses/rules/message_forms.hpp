// SPDX-License-Identifier: Apache-2.0
// Forms of messages, as sentences name them, and what messages of such forms are called.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {

/// A form (shape_of() of heaps/messages.hpp) that is short: "{'DOWN',...}" of
/// {'DOWN',reference(),process,pid(),normal},
/// "{'$gen_cast',{update_lru,...}}"; empty where it has no such.
std::string short_form(std::string_view form);

/// Percent of a queue's messages that are told by one form, where they are called by it.
inline constexpr double known_percent = 75;

/// Percent of the messages of a process whose form begins with one of these ("{trace,"), of those that were looked at;
/// 0 where its terms were not read.
double share_of_messages(const Facts& facts, ProcId id, std::initializer_list<std::string_view> forms);
/// "42,313 trace messages", "900 'EXIT' messages", "12 messages": `queued` of them.
Counted what_they_are(const Facts& facts, ProcId id, std::uint64_t queued);

}  // namespace beamheap::analyses::rule
