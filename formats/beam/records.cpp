// SPDX-License-Identifier: Apache-2.0
#include "formats/beam/records.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "bytes/compress.hpp"
#include "formats/beam/chunks.hpp"
#include "model/characters.hpp"

namespace beamheap::beam {
namespace {

constexpr std::uint8_t version_byte = 131, packed_term = 80;
constexpr std::size_t most_records = 20'000, most_record_fields = 10'000;

// Tags of the external term format that compilers write, and what stands behind each.
enum TermTag : std::uint8_t {
    tag_new_float = 70,
    tag_bits = 77,
    tag_small_integer = 97,
    tag_integer_32 = 98,
    tag_old_float = 99,
    tag_atom_latin1 = 100,
    tag_small_tuple = 104,
    tag_large_tuple = 105,
    tag_nil = 106,
    tag_text = 107,
    tag_list = 108,
    tag_binary = 109,
    tag_small_big = 110,
    tag_large_big = 111,
    tag_export = 113,
    tag_small_atom_latin1 = 115,
    tag_map = 116,
    tag_atom_text = 118,
    tag_small_atom = 119,
};

/// Reads terms off the front of their bytes, one after the other. What is asked for and not there leaves it where it
/// is; what is damaged ends it.
class TermBytes {
public:
    explicit TermBytes(std::string_view bytes) : bytes_(bytes) {}

    bool failed() const { return failed_; }

    /// How many elements the tuple has that comes next; 0: it is none. Its elements come next then.
    std::uint32_t tuple() {
        const std::size_t before = at_;
        switch (number(1)) {
            case tag_small_tuple: return count(number(1));
            case tag_large_tuple: return count(number(4));
            default: at_ = before; return 0;
        }
    }
    /// How many elements the list has that comes next; 0: it is none. Its elements come next then, and its tail.
    std::uint32_t list() {
        const std::size_t before = at_;
        if (number(1) == tag_list) return count(number(4));
        at_ = before;
        return 0;
    }
    /// How many pairs the map has that comes next; 0: it is none. Keys and values come next then, in turns.
    std::uint32_t map() {
        const std::size_t before = at_;
        if (number(1) == tag_map) return count(number(4));
        at_ = before;
        return 0;
    }
    /// The atom that comes next; false: it is none.
    bool atom(std::string& name) {
        const std::size_t before = at_;
        const std::uint32_t tag = number(1);
        const bool small = tag == tag_small_atom || tag == tag_small_atom_latin1;
        if (!small && tag != tag_atom_text && tag != tag_atom_latin1) {
            at_ = before;
            return false;
        }
        const std::string_view text = take(number(small ? 1 : 2));
        name = tag == tag_atom_latin1 || tag == tag_small_atom_latin1 ? from_latin1(text) : std::string(text);
        return !failed_;
    }
    bool atom_is(std::string_view wanted) {
        std::string name;
        return atom(name) && name == wanted;
    }
    /// Passes over `terms` terms, with all that is in them.
    void skip(std::uint64_t terms) {
        for (; terms != 0 && !failed_; --terms) terms += inside(number(1));
    }

private:
    // Passes over one term but for its elements; how many these are.
    std::uint64_t inside(std::uint32_t tag) {
        switch (tag) {
            case tag_nil: return 0;
            case tag_small_integer: return take(1), 0;
            case tag_integer_32: return take(4), 0;
            case tag_new_float: return take(8), 0;
            case tag_old_float: return take(31), 0;
            case tag_atom_latin1:
            case tag_atom_text:
            case tag_text: return take(number(2)), 0;
            case tag_small_atom:
            case tag_small_atom_latin1: return take(number(1)), 0;
            case tag_binary: return take(number(4)), 0;
            case tag_bits: return take(std::uint64_t{number(4)} + 1), 0;
            case tag_small_big: return take(std::uint64_t{number(1)} + 1), 0;
            case tag_large_big: return take(std::uint64_t{number(4)} + 1), 0;
            case tag_export: return 3;
            case tag_small_tuple: return count(number(1));
            case tag_large_tuple: return count(number(4));
            case tag_list: return std::uint64_t{count(number(4))} + 1;
            case tag_map: return 2 * std::uint64_t{count(number(4))};
            default: failed_ = true; return 0;
        }
    }
    // Every element takes a byte at least.
    std::uint32_t count(std::uint32_t elements) {
        if (elements > bytes_.size() - at_) failed_ = true;
        return failed_ ? 0 : elements;
    }
    std::uint32_t number(unsigned bytes) {
        std::uint32_t value = 0;
        for (const char byte : take(bytes)) value = value << 8 | static_cast<unsigned char>(byte);
        return value;
    }
    std::string_view take(std::uint64_t bytes) {
        if (bytes > bytes_.size() - at_) {
            failed_ = true;
            return {};
        }
        const std::string_view taken = bytes_.substr(at_, static_cast<std::size_t>(bytes));
        at_ += taken.size();
        return taken;
    }

    std::string_view bytes_;
    std::size_t at_ = 0;
    bool failed_ = false;
};

class RecordReader {
public:
    explicit RecordReader(std::string_view bytes) : terms_(bytes) {}

    Result<std::vector<RecordType>> run() {
        const Kind kind = to_content();
        if (kind == Kind::forms) {
            const std::uint32_t forms = terms_.list();
            for (std::uint32_t i = 0; i < forms && !terms_.failed(); ++i) form();
        } else if (kind == Kind::macros) {
            module();
        }
        if (terms_.failed()) return ended();
        return std::move(records_);
    }

private:
    static Result<std::vector<RecordType>> ended() { return damaged("its debug information ends early"); }

    enum class Kind { none, forms, macros };

    // {debug_info_v1, erl_abstract_code, {Forms, Options}}, {raw_abstract_v1, Forms}, or
    // {debug_info_v1, elixir_erl, {elixir_v1, Module, Specs}}.
    Kind to_content() {
        std::string kind, backend;
        const std::uint32_t arity = terms_.tuple();
        if (arity < 2 || !terms_.atom(kind)) return Kind::none;
        if (kind == "raw_abstract_v1") return Kind::forms;
        if (kind != "debug_info_v1" || arity != 3 || !terms_.atom(backend)) return Kind::none;
        if (backend == "erl_abstract_code") return terms_.tuple() == 2 ? Kind::forms : Kind::none;
        if (backend != "elixir_erl") return Kind::none;
        return terms_.tuple() == 3 && terms_.atom_is("elixir_v1") ? Kind::macros : Kind::none;
    }

    // #{definitions => [{{Name, Arity}, defmacro, Meta, [{Meta, Arguments, Guards, Body}]}], ...}
    void module() {
        const std::uint32_t pairs = terms_.map();
        std::string key;
        for (std::uint32_t i = 0; i < pairs && !terms_.failed(); ++i) {
            if (!terms_.atom(key)) {
                terms_.skip(2);
            } else if (key != "definitions") {
                terms_.skip(1);
            } else {
                const std::uint32_t definitions = terms_.list();
                for (std::uint32_t each = 0; each < definitions && !terms_.failed(); ++each) definition();
                terms_.skip(1);
            }
        }
    }
    void definition() {
        const std::uint32_t arity = terms_.tuple();
        if (arity != 4) return terms_.skip(arity == 0 ? 1 : arity);
        terms_.skip(1);
        std::string kind;
        if (!terms_.atom(kind)) return terms_.skip(3);
        if (kind != "defmacro" && kind != "defmacrop") return terms_.skip(2);
        terms_.skip(1);
        const std::uint32_t clauses = terms_.list();
        for (std::uint32_t i = 0; i < clauses && !terms_.failed(); ++i) {
            const std::uint32_t parts = terms_.tuple();
            terms_.skip(parts == 4 ? 3 : parts == 0 ? 1 : parts);
            if (parts == 4) body();
        }
        terms_.skip(1);
    }
    // What defrecord makes: {{'.', Meta, ['Elixir.Record', '__access__']}, Meta, [Tag, Fields, ...]}.
    void body() {
        const std::uint32_t parts = terms_.tuple();
        if (parts != 3) return terms_.skip(parts == 0 ? 1 : parts);
        const bool called = is_access();
        terms_.skip(1);
        const std::uint32_t arguments = terms_.list();
        if (arguments == 0) return terms_.skip(1);
        RecordType record;
        if (!called || arguments < 2 || !terms_.atom(record.name)) return terms_.skip(std::uint64_t{arguments} + 1);
        const bool known = keys(record.fields);
        terms_.skip(std::uint64_t{arguments} - 2 + 1);
        const bool twice = !records_.empty() && records_.back() == record;  // of each arity of the macro there is one
        if (known && !twice && !terms_.failed() && records_.size() < most_records)
            records_.push_back(std::move(record));
    }
    // Passes over {'.', Meta, [Module, Function]}, or whatever stands there; whether it is that of a record's macro.
    bool is_access() {
        std::string dot, called, function;
        const std::uint32_t parts = terms_.tuple();
        if (parts == 0) return terms_.skip(1), false;
        if (parts != 3 || !terms_.atom(dot)) return terms_.skip(parts), false;
        if (dot != ".") return terms_.skip(2), false;
        terms_.skip(1);
        const std::uint32_t names = terms_.list();
        if (names == 0) return terms_.skip(1), false;
        if (names != 2 || !terms_.atom(called)) return terms_.skip(std::uint64_t{names} + 1), false;
        if (!terms_.atom(function)) return terms_.skip(2), false;
        terms_.skip(1);
        return called == "Elixir.Record" && function == "__access__";
    }
    // Passes over [{Key, Default}, ...]; false: it is another list, or none.
    bool keys(std::vector<std::string>& names) {
        const std::uint32_t pairs = terms_.list();
        if (pairs == 0) return terms_.skip(1), false;
        bool known = pairs <= most_record_fields;
        for (std::uint32_t i = 0; i < pairs && !terms_.failed(); ++i) {
            std::string name;
            const std::uint32_t parts = terms_.tuple();
            const bool named = parts == 2 && terms_.atom(name);
            terms_.skip(named || parts == 0 ? 1 : parts);
            known = known && named;
            if (known) names.push_back(std::move(name));
        }
        terms_.skip(1);
        return known;
    }

    // {attribute, Anno, record, {Name, Fields}}; whatever else is passed over.
    void form() {
        const std::uint32_t arity = terms_.tuple();
        if (arity == 0) return terms_.skip(1);
        std::string name;
        if (!terms_.atom(name)) return terms_.skip(arity);
        if (name != "attribute" || arity != 4) return terms_.skip(arity - 1);
        terms_.skip(1);
        if (!terms_.atom(name)) return terms_.skip(2);
        if (name != "record") return terms_.skip(1);
        const std::uint32_t parts = terms_.tuple();
        if (parts == 0) return terms_.skip(1);
        RecordType record;
        if (parts != 2 || !terms_.atom(record.name)) return terms_.skip(parts);
        const std::uint32_t fields = terms_.list();
        if (fields > most_record_fields) return terms_.skip(std::uint64_t{fields} + 1);
        bool known = true;
        for (std::uint32_t i = 0; i < fields && !terms_.failed(); ++i) {
            std::string field;
            known &= field_name(field);
            record.fields.push_back(std::move(field));
        }
        terms_.skip(1);  // the tail, or what stands for no fields
        if (known && !terms_.failed() && records_.size() < most_records) records_.push_back(std::move(record));
    }

    // {record_field, Anno, {atom, Anno, Name}} with or without a default behind it;
    // {typed_record_field, {record_field, ...}, Type}. All of it is passed over.
    bool field_name(std::string& field) {
        std::uint64_t behind = 0;
        std::string kind;
        std::uint32_t arity = terms_.tuple();
        if (arity == 0) return terms_.skip(1), false;
        if (!terms_.atom(kind)) return terms_.skip(arity), false;
        if (kind == "typed_record_field" && arity == 3) {
            behind = 1;
            arity = terms_.tuple();
            if (arity == 0) return terms_.skip(1 + behind), false;
            if (!terms_.atom(kind)) return terms_.skip(arity + behind), false;
        }
        if (kind != "record_field" || arity < 3) return terms_.skip(arity - 1 + behind), false;
        terms_.skip(1);
        behind += arity - 3;
        const std::uint32_t parts = terms_.tuple();
        if (parts == 0) return terms_.skip(1 + behind), false;
        if (parts != 3 || !terms_.atom(kind)) return terms_.skip(parts + behind), false;
        terms_.skip(1);
        if (kind != "atom" || !terms_.atom(field)) return terms_.skip(1 + behind), false;
        terms_.skip(behind);
        return true;
    }

    TermBytes terms_;
    std::vector<RecordType> records_;
};

}  // namespace

Result<std::vector<RecordType>> records_of_debug_info(std::string_view term) {
    ByteReader head(term);
    if (term.empty() || head.byte() != version_byte) return std::vector<RecordType>{};  // encrypted
    if (term.size() < 2 || static_cast<unsigned char>(term[1]) != packed_term)
        return RecordReader(term.substr(1)).run();
    head.byte();
    const std::uint32_t size = head.four();
    if (head.failed()) return damaged("its debug information ends early");
    if (size > most_debug_bytes) return Error{ErrorCode::resource_limit, "its debug information is too large", {}};
    const std::string unpacked = bytes::inflated(head.take(head.left()), size);
    if (unpacked.size() != size) return damaged("its debug information does not unpack");
    return RecordReader(unpacked).run();
}

Result<std::vector<RecordType>> read_records(std::string_view module) {
    BH_TRY(const Chunks chunks, Chunks::read(module));
    for (const std::string_view name : {"Dbgi", "Abst"})
        if (const auto chunk = chunks.find(name); chunk && !chunk->empty()) return records_of_debug_info(*chunk);
    return std::vector<RecordType>{};
}

}  // namespace beamheap::beam
