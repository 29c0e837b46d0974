// SPDX-License-Identifier: Apache-2.0
// Views as HTML: sentences with links, objects, lists, tables, findings. Internal to present.
//
// What is written reads without a script and without a style sheet: headings, definition lists, tables, <details> for
// what is long. Every text goes through the view's redaction and through safe_text, and is escaped last; no attribute
// but href, id, class, title and data-v holds anything of the input, and no style or handler stands in an attribute, so
// that the page works under a policy that allows neither.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "erlang/elixir_names.hpp"
#include "present/view.hpp"

namespace beamheap::present {

/// Appends `safe` (as safe_text gives it) with the characters that mean something to HTML written as references.
void append_html(std::string_view safe, std::string& out);
/// <0.1.2> or #PID<0.1.2> of this node, and nothing else.
std::optional<Pid> local_pid(std::string_view text);
/// "p0.1.2": the name of a process's place in the page.
std::string process_anchor(Pid pid);

/// "ets-code_server": the name of a table's place in the page, of its name as it is shown.
std::string table_anchor(std::string_view shown);

/// Processes and ETS tables that are linked to, and those that have a place already: the same for a whole page.
struct PageLinks {
    std::function<bool(Pid)> known;  ///< whether the input has this process
    std::set<Pid> linked;            ///< linked to so far
    std::set<Pid> placed;            ///< that have a place
    std::set<std::string> tables;    ///< places of ETS tables that are linked to
    std::set<std::string> tables_placed;
};

class HtmlWriter {
public:
    /// `places`: rows of tables of processes (whose first column is `pid`) become the places that links lead to.
    HtmlWriter(const View& view, PageLinks& links, bool places, std::string& out)
        : view_(view), links_(links), places_(places), out_(out) {}

    /// One member of the document as it is shown to people, with its title as a heading of level 3.
    void item(const View::Item& item);
    /// A table of findings (finding_table) as articles: sentence, evidence, what to do.
    void findings(const TableView& table);
    /// A sentence, without an element around it.
    void sentence(const Text& text);
    void heading(int level, std::string_view title);
    void paragraph(const Text& text, std::string_view css_class);

private:
    void text(std::string_view safe) { append_html(safe, out_); }
    void open_cell(const Value& value, Unit unit);
    void value(const Value& value, Unit unit, Content content, std::string_view key);
    void string(std::string_view raw, Content content, std::string_view key);
    void link(Pid pid, std::string_view shown);
    void object(const Object& object, const std::string& prefix, Content content);
    void object_row(const TableView& table);
    void list(const Member& member, const Array& array);
    void frames(const Array& array, Content content);
    void table(const TableView& table, std::size_t folded_from);
    static std::vector<std::size_t> filled_columns(const TableView& table);
    void rows(const TableView& table, const std::vector<std::size_t>& filled, std::size_t from, std::size_t to);
    void evidence(const Value& value);
    bool is_table(std::string_view name) const { return name == table_ || erlang::without_elixir(name) == table_; }
    /// The place that a row of a table has by what it is about, if it is the first one; else empty.
    std::string place_of(const TableView& table, std::size_t row);

    const View& view_;
    PageLinks& links_;
    bool places_;
    std::string table_;  // raw: the ETS table that the sentences are about, whose name in them is a link
    std::string& out_;
};

}  // namespace beamheap::present
