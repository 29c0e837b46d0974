// SPDX-License-Identifier: Apache-2.0
// A sentence that a terminal's edge may break between words, but not within a command, which is copied as one.
#pragma once

#include <string>

#include "present/document.hpp"
#include "present/secrets/redact.hpp"

namespace beamheap::present {

/// Redacted and sanitised; the blanks of its commands are glued_blank, for wrapped().
std::string glued_text(const Text& sentence, const Redactor& redactor);

/// Figures and their units stay on one line: "1.7 %", "15.2 MiB".
void glue_units(std::string& text);

}  // namespace beamheap::present
