// SPDX-License-Identifier: Apache-2.0
// From a Document to bytes: choose the columns, sort, cut, redact, sanitise, and write it in the format asked for.
//
// A new output format is one file that ends with its row (BH_DEFINE_FORMAT of view.hpp), and its name in formats.inc.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/error.hpp"
#include "present/document.hpp"
#include "present/secrets/redact.hpp"
#include "present/sink.hpp"

namespace beamheap::present {

struct RenderOptions {
    std::string format = "table";      ///< name of a presenter
    std::vector<std::string> columns;  ///< of the primary table, in this order; empty: its own
    std::string sort;                  ///< a column of the primary table; empty: the order the verb gave
    std::string table;  ///< key of the member that is the primary table in place of the verb's; text shows it alone
    std::optional<bool> descending;  ///< empty: numbers largest first, texts smallest first
    std::optional<std::size_t> top;  ///< rows of each table; 0 is all; empty: 20 for people, all for machines
    bool color = false;              ///< escape sequences of ours (never of the input)
    bool notes = false;              ///< also warnings of severity "info"
    std::size_t width = 0;           ///< columns of the terminal; 0: not a terminal, nothing is shortened
    RedactOptions redact;
};

/// Rows that people see of a table unless -n says otherwise.
inline constexpr std::size_t default_rows = 20;

/// Renders the document. Errors: a format, column or sort key that does not exist (ErrorCode::usage, with near misses
/// as advice). Rows are made one at a time; a sink that nobody reads any more ends the work without an error.
Status render(const Document& document, const RenderOptions& options, Sink& sink);

/// The document's warnings as lines for standard error: "warning: <text> (<count> times; first: <place>)"; what is
/// merely odd as "note: ..." where options.notes asks for it, or the note is for all (Warning::unasked). Wrapped at
/// options.width, which is that of standard error's terminal.
void render_warnings(const Document& document, const RenderOptions& options, Sink& sink);
/// Those that lead (Warning::leads), the same way. Formats for people and JSON have them in the answer; of others they
/// go to standard error before it.
void render_leading_warnings(const Document& document, const RenderOptions& options, Sink& sink);

class View;
/// One output format.
struct Presenter {
    std::string_view name;
    std::string_view doc;
    bool for_people = false;                          ///< 20 rows, wide columns left out, human units
    bool for_terminals = false;                       ///< colours, and lines that end at the terminal's edge
    bool holds_warnings = false;                      ///< they are in the answer itself; else they go to standard error
    bool bytes = false;                               ///< no text: nothing for a terminal
    std::span<const std::string_view> needs = {};     ///< columns of the main table that it can't do without
    std::span<const std::string_view> or_needs = {};  ///< others with which it does as well; empty: there are none
    std::string_view needs_advice = {};               ///< what to do where they are missing
    void (*present)(const View& view, Sink& sink) = nullptr;
};
std::span<const Presenter* const> presenters();
const Presenter* find_presenter(std::string_view name);

/// "did you mean a or b?" of those among `candidates` that `word` may have been meant for; empty if none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

/// The key of the table that CSV prints and --sort orders; empty: there is none.
std::string main_table(const Document& document);

}  // namespace beamheap::present
