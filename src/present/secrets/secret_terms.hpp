// SPDX-License-Identifier: Apache-2.0
// Which terms of a process are secrets by where they stand: beside a key, within the value of one, behind one in a
// list.
//
// Ways out that show a term alone (an element, a row for each object, an address that somebody asks for) have no key in
// their text. So it is decided once for all objects, on the graph: each compound is looked at, what its keys name is
// marked, and so is all that the marked refer to. Time is linear in the objects, memory a bit for each. What stands
// beside its key when it is printed is judged by the text, too (redact.hpp); the two have the same keys.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyses/heaps/record_scope.hpp"
#include "beamheap/terms.hpp"
#include "present/secrets/redact.hpp"

namespace beamheap::present {

class SecretTerms {
public:
    /// Must not outlive the source and the scope. Nothing is read before the first question. What a record's field is
    /// called is a key, too, where it is a record of the scope's module.
    explicit SecretTerms(TermSource& source, const analyses::RecordScope* records = nullptr)
        : source_(source), records_(records) {}

    /// Whether an object is a secret or a part of one. What was decoded from external terms is judged by its text
    /// alone.
    bool hides(ObjectId id);
    /// Hides a term and its parts: what names it stands outside of the terms.
    void hide(const Element& element);
    /// The same of all elements of a tuple but the one at `key`, numbers and atoms among them.
    void hide_elements(ObjectId tuple, std::uint64_t key);
    /// Places of a tuple's elements, from 0 on, in order, that its keys name: {password, X}, {{token, _}, X},
    /// {header, "Authorization", X}. All of them, where the tuple itself is hidden.
    std::vector<std::uint64_t> elements_of(ObjectId tuple);
    /// Whether a term is a key that names a secret.
    bool names_secret(const Element& key);
    /// The same where it also depends on what the value looks like: {pin, 1234}, #{salt => <<...>>}.
    bool names_secret(const Element& key, const Element& value);

private:
    /// What an atom or a text says of what stands beside it.
    struct Key {
        Secrecy secrecy = Secrecy::none;
        bool credentials = false;  ///< a tuple that begins with it has a name and a password behind it
        bool record = false;       ///< all of such a tuple is a secret
        unsigned element = 0;      ///< this element of such a tuple is one, where it is a text; 0: none
        bool calls = false;        ///< a module whose functions are called with keys
        bool any() const { return secrecy != Secrecy::none || credentials || record || element != 0 || calls; }
    };
    struct TextHash : std::hash<std::string_view> {
        using is_transparent = void;
    };

    TermKind kind_of(const Element& element);
    const Key& key_of_atom(std::string_view name);
    Key key_of(const Element& element);
    void mark_all();
    void look_at(ObjectId id, TermKind kind);
    void look_at_cell(ObjectId id);
    void look_at_pair_of_pairs(const Element& head, const Element& tail);
    bool is_secret_path(const Element& key);
    void look_at_characters(ObjectId id);
    void look_at_siblings(const std::vector<Element>& elements);
    std::vector<std::uint64_t> secret_columns_of(const Element& names);
    void mark_columns(const Element& rows, const std::vector<std::uint64_t>& places);
    void mark_places(const Element& row, const std::vector<std::uint64_t>& places);
    std::string query_text(const Element& element);
    bool is_wrapped(const Element& element);
    void look_at_pieces(ObjectId id);
    bool names_what_follows(const std::string& before);
    bool add_text(const Element& element, std::string& text);
    void mark(const Element& element);
    void mark_parts();
    void mark_bytes_of(NodeId slice);
    void mark_hidden_binaries();
    std::vector<std::uint64_t> keyed_elements(ObjectId tuple);
    std::vector<std::uint64_t> elements_behind_keys(ObjectId tuple);
    bool credentials(std::string_view tag, const std::vector<Element>& elements, std::vector<std::uint64_t>& places);
    std::string short_text(const Element& term, std::size_t most = longest_key);
    bool is_text(const Element& element);
    std::vector<bool>* marks(ObjectId::Space space);

    static constexpr std::size_t longest_key = 96;

    void add_secret_fields(ObjectId tuple, std::vector<std::uint64_t>& places);

    TermSource& source_;
    const analyses::RecordScope* records_;
    std::unordered_map<std::uint32_t, std::uint64_t>
        all_but_;  // of tuples of the heap that hide_elements() was asked for
    bool marked_ = false;
    std::vector<bool> secret_, secret_literals_;
    std::vector<bool> no_tuple_;  ///< tuples that hold the keys of maps
    std::vector<bool> inner_;     ///< cells that are no beginning of their list
    std::vector<ObjectId> waiting_;
    std::unordered_set<std::uint64_t> hidden_binaries_;  // addresses of those that a hidden slice shows a part of
    std::vector<Element> elements_;                      ///< of the tuple that is looked at
    std::unordered_map<std::string, Key, TextHash, std::equal_to<>> atoms_;
    std::unordered_map<std::string, bool> befores_;  ///< what names_what_follows() has said
};

/// Whether a field of this name holds a secret: #state{password = <<"...">>}, {pin = 1234}; not #state{password =
/// undefined}.
bool is_secret_field(TermSource& source, std::string_view field, const Element& value);

/// A printed text, or what was cut off it is judged by: with its secrets masked, as the literal that it is. `escaped`
/// is what stands between its quotes.
std::string mask_literal(std::string_view escaped);

}  // namespace beamheap::present
