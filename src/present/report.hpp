// SPDX-License-Identifier: Apache-2.0
// The report: one HTML file that tells what happened, made of the answers of verbs.
//
// Each section is a verb's document (document.hpp), written as every other format writes it: same tables, columns,
// sentences, redaction. So the page says what the command line says, and a column that is added there is here, too.
// It reads without a script. Beside the sections, tables that pictures are drawn from lie in one island of JSON,
//   {"strings": [...], "tables": {"stacks": {"columns": [{"name", "title", "unit", "doc"}], "rows": [[...]], "total":
//   N,
//    "command": "..."}, ...}, ...facts}
// where a text is written as -1 - its index in `strings` (a figure below zero is {"n": -5}), so that a name that 20,000
// rows share is written once. A script of ours, whose hash is the only one that the page's own policy allows, draws
// them. Nothing is loaded from anywhere.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "present/html_writer.hpp"
#include "present/render.hpp"

namespace beamheap::present {

struct ReportSection {
    std::string id;                    ///< its place in the page, "stacks"
    std::string title;                 ///< "Stacks"
    std::string command;               ///< what shows all of it, without "beamheap ": raw, as one types it
    std::vector<std::string> members;  ///< keys of the document's members, in this order; empty: all that people see
    bool places = false;               ///< rows of processes are the places that links lead to
    bool picture = false;              ///< the script draws one at its head
    int place = 0;                     ///< sections stand in the order of this, equals as they are added
};

struct ReportHead {
    std::string title;  ///< raw
    std::string input;  ///< raw: the input's name
    std::string level;  ///< of redaction
};

class Report {
public:
    /// `known`: whether the input has a process.
    explicit Report(std::function<bool(Pid)> known);

    /// Adds a section with the members that it names; a table of findings (finding_table, key "findings") as articles.
    /// Errors: those of choosing columns and rows.
    Status add(const ReportSection& section, const Document& document, const RenderOptions& options);
    /// Whether a process gets its place by add_process() later, and not by a table's row before.
    void promise(Pid pid, bool kept) {
        kept ? static_cast<void>(links_.placed.insert(pid)) : static_cast<void>(links_.placed.erase(pid));
    }
    /// Adds a part to the section that was added last: all of the document, folded, as the place of `pid`.
    Status add_process(Pid pid, const Document& document, const RenderOptions& options);
    /// Adds the document's warnings, those that lead and the others, and `sentences`, to the section that was added
    /// last.
    void add_limits(const Document& document, const RenderOptions& options, const std::vector<Text>& sentences);

    /// Puts a table into the island, at most `most` rows of it; `options` say how it is redacted. Rows are written by
    /// so many `threads` side by side, with the same result: more than one for tables whose cells are made of the
    /// snapshot alone, not for those of terms, which are read as they are asked for.
    Status data(std::string_view key, const Table& table, std::string_view command, const RenderOptions& options,
                std::size_t most, unsigned threads = 1);
    /// Puts a value into the island.
    Status fact(std::string_view key, Value value, Content content, const RenderOptions& options);

    /// Who is linked to and has no place yet, in the order of pids.
    std::vector<Pid> without_place() const;
    /// Writes the page.
    void finish(const ReportHead& head, const Document& first, const RenderOptions& options, Sink& sink);

private:
    struct Section {
        std::string id, title, html;
        int place = 0;
    };
    Result<View> view_of(const Document& document, const RenderOptions& options) const;
    Status findings(const Document& document, const RenderOptions& options);
    /// Texts, each with its number, in the order in which they were met first.
    class Strings {
    public:
        std::size_t number_of(std::string text);
        const std::vector<std::string_view>& all() const { return all_; }

    private:
        std::unordered_map<std::string, std::size_t> index_;
        std::vector<std::string_view> all_;  // into index_
    };
    class RowWriter;

    PageLinks links_;
    std::vector<Section> sections_;
    std::string tables_;         // members of "tables"
    std::string facts_;          // members beside it
    bool first_process_ = true;  // of add_process
    Strings strings_;
};

}  // namespace beamheap::present
