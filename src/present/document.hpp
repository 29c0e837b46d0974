// SPDX-License-Identifier: Apache-2.0
// What a verb answers, before it has a form: an ordered tree of typed values and tables.
//
// Verbs build a Document; render() (render.hpp) turns it into text, JSON, NDJSON, CSV, TSV or Markdown. Every
// column of every table is defined once, with its name, unit and meaning: all outputs show the same columns under
// the same names. Texts in a Document are raw: sanitising and redaction happen in the renderer, nowhere else.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "beamheap/ids.hpp"

namespace beamheap::present {

/// How a value is to be shown to a person; machine formats print the bare value.
/// An identifier is a number that is a name (a process of the system, a channel): its digits are never grouped.
enum class Unit : std::uint8_t { none, count, bytes, words, percent, milliseconds, address, identifier };

/// What a text holds, so that redaction (redact.hpp) knows what to do with it.
enum class Content : std::uint8_t {
    plain,    ///< words, states and numbers of ours, and names of the VM's: only scanned for secrets
    name,     ///< names of the node: atoms, modules, m:f/a; `full` replaces those that are not OTP's
    term,     ///< a printed Erlang term: subject to `values`
    message,  ///< free text of the node (slogan): terms that it quotes are subject to `values`, names in it to `full`
    fingerprint,  ///< a hash of names that anybody can make: `full` shows a keyed hash of it
};

/// A sentence as it is spelled (spelling.hpp), in pieces of which each says what it holds: those that are ours leave
/// redaction as they came.
struct Text {
    struct Piece {
        std::string text;
        Content content = Content::plain;
        bool command = false;   ///< of a command, which is copied as one: no line breaks within
        Pid process{};          ///< the process that it names, where it names one: what can link links to that
        bool function = false;  ///< it is a function's name
    };
    std::vector<Piece> pieces;

    bool empty() const { return pieces.empty(); }
    Text& add(std::string text, Content content = Content::plain) {
        pieces.push_back({std::move(text), content, false, {}, false});
        return *this;
    }
    Text& add(const Text& other) {
        pieces.insert(pieces.end(), other.pieces.begin(), other.pieces.end());
        return *this;
    }
    /// As it is without redaction.
    std::string raw() const {
        std::string all;
        for (const Piece& piece : pieces) all += piece.text;
        return all;
    }
};

class Value;
using Array = std::vector<Value>;
using Object = std::vector<std::pair<std::string, Value>>;  ///< ordered

/// null, bool, integer, double, text, sentence, array or object, with a unit for people.
class Value {
public:
    using Data = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string,
                              std::shared_ptr<const Array>, std::shared_ptr<const Object>, std::shared_ptr<const Text>>;
    Value();
    Value(std::nullptr_t);
    Value(bool value);
    Value(int value);
    Value(std::int64_t value);
    Value(std::uint64_t value);
    Value(std::uint32_t value);
    Value(double value);
    Value(std::string value);
    Value(std::string_view value);
    Value(const char* value);
    Value(Count value);
    Value(Array value);
    Value(Object value);
    Value(Text value);
    // In document.cpp alone: what a variant does by itself would be made again for each file with a table.
    Value(const Value& other);
    Value(Value&& other) noexcept;
    Value& operator=(const Value& other);
    Value& operator=(Value&& other) noexcept;
    ~Value();

    bool is_null() const { return data_.index() == 0; }
    const Data& data() const { return data_; }

private:
    Data data_;
};

/// What a column's values are, for files whose columns have types. None of them is there in every row.
enum class Holds : std::uint8_t {
    by_unit,  ///< counts, bytes, words and milliseconds are integers, percents reals; without a unit it is text
    flag,
    integer,
    real,
    texts,  ///< a list of them
};

/// A text that stays for good, so that a column, of which there are hundreds, is a constant that owns nothing: a
/// literal, or what interned() keeps.
class Label : public std::string_view {
public:
    constexpr Label() = default;
#if defined(__clang__) && __clang_major__ < 15  // which breaks down over immediate functions in the braces of a column
    constexpr Label(const char* literal) : std::string_view(literal) {}
#else
    consteval Label(const char* literal) : std::string_view(literal) {}
#endif
    /// Of what stays as long as the program does, as literals elsewhere.
    static constexpr Label of(std::string_view stays) { return Label(stays); }
    /// Kept until the program ends; the same text is kept once. For names that are found only when it runs (of
    /// queries).
    static Label interned(std::string_view text);

private:
    constexpr explicit Label(std::string_view text) : std::string_view(text) {}
};

struct Column {
    Label name;   ///< as in JSON: snake_case with its unit
    Label title;  ///< short head for the text table
    Unit unit = Unit::none;
    Holds holds = Holds::by_unit;
    Label doc;  ///< one sentence
    Content content = Content::plain;
    bool wide = false;   ///< text tables leave it out unless asked for by --columns
    bool below = false;  ///< an array: text shows its entries as lines below the row
    bool wraps = false;  ///< a text that is read whole: where rows are wider than the terminal, it stands below them,
                         ///< in several lines
    bool own_line = false;    ///< a term that is the point of its table: where rows are wider than the terminal, it has
                              ///< a line of its own below them
    bool end_tells = false;   ///< cut in its middle, although it holds terms or free text
    std::uint8_t lesser = 0;  ///< where a row is wider than the terminal, larger ones are left out first; 0: never
    std::uint8_t least = 0;   ///< columns of a terminal to which it may be cut; 0: as what it holds has it
    std::uint8_t best = 0;    ///< to which it is cut before lesser columns are left out; 0: its least
    Label indent_by;          ///< column with the depth by which text indents this one
    Label keyed_by;           ///< column whose text names what this one holds (a dictionary's key), for redaction
    Label unit_by;            ///< column whose text is this one's unit, "bytes" or "count"
};

/// Rows are made on demand, so that a table over 100,000 processes costs no copy.
struct Table {
    std::vector<Column> columns;
    std::size_t rows = 0;
    std::function<Value(std::size_t row, std::size_t column)> cell;
    std::size_t total = 0;  ///< rows that there are before any cut; text says "... N more"
    std::string empty;      ///< what text says when there is no row
    std::string ranked_by;  ///< the column that its order is made by, which no terminal is too narrow for
    std::function<std::string(std::size_t row)>
        key;                     ///< if set, names what a row's keyed columns (keyed_by) hold: not that column
    std::size_t for_people = 0;  ///< rows that people see unless they say how many; 0: the usual number
};

/// A column and what it shows of a row, whose type is forgotten. The compiler would make some twenty functions of each
/// of hundreds of lambdas in a std::function, and as many of a vector for each type of rows; here it makes a few of
/// each.
struct ErasedColumn {
    Column column;
    std::shared_ptr<const void> closure;
    Value (*get)(const void* closure, const void* row);
};

/// A table is defined by a list of these over a row type (tables.cpp): the only place that names the column.
template <class Row>
struct ColumnOf : ErasedColumn {
    template <class Get>
    ColumnOf(Column defined, Get shows)
        : ErasedColumn{defined,
                       std::shared_ptr<const void>(static_cast<const void*>(new Get(std::move(shows))), &forget<Get>),
                       &call<Get>} {}

private:
    template <class Get>
    static void forget(const void* closure) {
        delete static_cast<const Get*>(closure);
    }
    template <class Get>
    static Value call(const void* closure, const void* row) {
        return (*static_cast<const Get*>(closure))(*static_cast<const Row*>(row));
    }
};

/// Columns over a row type, in their order.
template <class Row>
struct Columns : std::vector<ErasedColumn> {
    Columns() = default;
    Columns(std::initializer_list<ColumnOf<Row>> list) { append(list); }
    void append(std::initializer_list<ColumnOf<Row>> list) {
        for (const ErasedColumn& each : list) push_back(each);
    }
    void add(ColumnOf<Row> column) { push_back(std::move(column)); }
};

/// The rows of a table: `count` of `size` bytes from `first`, in what `keeper` keeps.
struct ErasedRows {
    std::shared_ptr<const void> keeper;
    const void* first;
    std::size_t size;
    std::size_t count;
};
/// The table that table_of() makes, where types are forgotten.
Table table_of_erased(std::vector<ErasedColumn> columns, ErasedRows rows, std::string empty);

template <class Row>
ErasedRows erased(std::vector<Row> rows) {
    const auto kept = new const std::vector<Row>(std::move(rows));
    const auto forget = +[](const void* all) { delete static_cast<const std::vector<Row>*>(all); };
    return {std::shared_ptr<const void>(static_cast<const void*>(kept), forget), kept->data(), sizeof(Row),
            kept->size()};
}

/// The table of `rows` (any cheap handle: an id, an index, a pointer) with these columns.
template <class Row>
Table table_of(Columns<Row> columns, std::vector<Row> rows, std::string empty) {
    return table_of_erased(std::move(columns), erased(std::move(rows)), std::move(empty));
}

/// The same where `key` of a row names what its keyed columns hold (Table::key).
template <class Row, class Key>
Table table_of(Columns<Row> columns, std::vector<Row> rows, std::string empty, Key key) {
    const ErasedRows all = erased(std::move(rows));
    Table table = table_of_erased(std::move(columns), all, std::move(empty));
    table.key = [all, key](std::size_t row) { return key(static_cast<const Row*>(all.first)[row]); };
    return table;
}

/// What a member of a document has: read by std::get_if and its like.
class Body : public std::variant<Value, Table> {
public:
    Body();
    Body(Value value);
    Body(Table table);
    template <class Plain>
    requires std::is_convertible_v<Plain, Value> Body(Plain&& value) : Body(Value(std::forward<Plain>(value))) {}
    Body(const Body& other);
    Body(Body&& other) noexcept;
    Body& operator=(const Body& other);
    Body& operator=(Body&& other) noexcept;
    ~Body();
};

/// A member of a document: a value, an object shown as "key  value" lines, or a table.
struct Member {
    std::string key;    ///< JSON name
    std::string title;  ///< heading for people; empty: none
    Body body;
    bool in_text = true;  ///< false: only in JSON
    bool in_json = true;  ///< false: only for people
    bool prose = false;   ///< an array of sentences, which text shows whole: not cut at 20, nor at the terminal's edge
    bool object = false;  ///< a table of one row that is shown as an object: {column: value}
    std::size_t kept =
        0;  ///< of `prose`: so many sentences at its end stand also where one screen has no room for all before them
    /// Where people get one screen (Document::lines): 0 always stands, the others as far as they fit, smallest first.
    std::uint8_t rank = 0;
    Unit unit = Unit::none;  ///< of a value; the entries of an object have the unit that their names end in
    Content content = Content::plain;
};

struct Warning {
    std::string name;
    std::uint64_t count = 0;
    std::string severity;  ///< "info", "data_loss", "error"
    Text text;
    bool leads = false;    ///< stands in front of every answer, whatever its format: all of it is in doubt
    bool unasked = false;  ///< of "info": people see it without -v, too
};

/// The time that a document is about, where it is about a while: what was sampled of a VM that runs.
struct TimeSpan {
    std::int64_t begin_ns = 0;  ///< since 1970, UTC
    std::uint64_t length_ns = 0;
    std::uint64_t period_ns = 0;  ///< CPU time that a sample stands for; 0: samples are not taken by CPU time
};

struct Document {
    std::string kind;               ///< the verb
    Object source;                  ///< JSON "source"; see source_of() in describe.hpp
    std::vector<Object> sources;    ///< of verbs over several inputs; then `source` is empty
    std::vector<Warning> warnings;  ///< on stderr in text mode, but for those that lead; member "warnings" in JSON
    std::optional<TimeSpan> span;   ///< of samples; profiles for other programs (pprof) tell it
    Text reading;  ///< of a VM that runs: when and how it was read, behind the answer; in JSON it is in `source`
    bool reading_leads = false;   ///< it goes before the answer: the VM is stopped, which is the answer's condition
    std::vector<Text> lead;       ///< sentences that open the text output; JSON member "summary"
    std::vector<Member> members;  ///< in order
    std::string primary;          ///< key of the table that CSV, TSV, NDJSON and Markdown print; default: the first
    std::size_t lines = 0;        ///< of a terminal: text is no longer than this; 0: all of it is shown
    Text rest;                    ///< with `lines`, the command that shows all of it
};

}  // namespace beamheap::present
