// SPDX-License-Identifier: Apache-2.0
// What a process's label says of it, in words where its library is known (erlang/labels.hpp).
#pragma once

#include <optional>
#include <string_view>

#include "analyses/base/sentence.hpp"

namespace beamheap::analyses {

/// "queue <<"orders">> in vhost <<"/">>", of a label as it is printed; nothing where no row fits it.
std::optional<Sentence> known_label(std::string_view label);
/// The same; of another label the term itself.
Sentence label_in_words(std::string_view label);

}  // namespace beamheap::analyses
