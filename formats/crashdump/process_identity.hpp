// SPDX-License-Identifier: Apache-2.0
// What a process is for, out of its dictionary: $initial_call, $ancestors and $process_label, and process_name, which
// RabbitMQ had before there were labels (rabbit_misc:store_proc_name/2).
//
// Without them every OTP process is proc_lib:init_p/5. They are found without decoding the heap: the dictionary
// section holds the addresses of {Key, Value} tuples, and those tuples are lines of the heap section whose first
// element is an atom that begins with '$', a byte that is rare in heaps (base64 has none).
// Source: proc_lib.erl (init_p, set_label), supervisor.erl and gen*.erl; the line forms of crashdump heaps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/crashdump/loader.hpp"

namespace beamheap::crashdump {

class LabelFinder {
public:
    /// Forgets the process before.
    void begin();
    /// Takes the body of =proc_dictionary, which is whole.
    void dictionary(std::string_view body);
    /// Whether the process has a dictionary, so that its heap is worth a look.
    bool wanted() const { return !entries_.empty(); }

    /// Searches one piece of the heap section, which begins at a line's start and ends at a line's end. Pieces come
    /// in order. What is referred to is nearly always written behind the line that refers to it.
    void feed(Loader& loader, std::string_view text);
    /// Whether a value was referred to that no piece has shown so far; feeding the pieces again may find it.
    bool unresolved() const;
    /// Whether the initial call is known, or known to be a literal if anything.
    bool found_call() const;
    /// Gives what was found to `process`. An initial call that no piece has shown is a literal (those that proc_lib
    /// translates for gen_event and the kernel's own servers are): it is looked for in feed_literals().
    void finish(Loader& loader, ProcId process);

    /// Whether initial calls or labels are left for the literals.
    bool wants_literals() const { return !literals_.empty(); }
    /// Takes whole lines of =literals.
    void feed_literals(Loader& loader, std::string_view text);
    /// Looks for the few that are left in all of =literals, and forgets them.
    void find_literals(Loader& loader, std::string_view text);

private:
    enum class Key : std::uint8_t { initial_call, ancestors, label, own_name };
    struct Search {
        Key key{};
        std::string address;  // of the object that is looked for; empty: settled
        unsigned steps = 0;   // cells of the ancestors list that were followed
    };
    static bool is_label(Key key) { return key == Key::label || key == Key::own_name; }
    static bool is_own_name(std::string_view printed);
    bool find_last_entries(std::string_view text);
    void look_at_entry(Loader& loader, std::string_view text, std::size_t at);
    static std::optional<Key> key_at(std::string_view text);
    void look_for_keys(Loader& loader, std::string_view text, std::size_t from, std::size_t to);
    void look_for_own_names(Loader& loader, std::string_view text, std::size_t from, std::size_t to);
    void met_key(Loader& loader, std::string_view text, std::size_t position, Key key);
    void found_key(Loader& loader, Key key, std::string_view value);
    bool follow(Loader& loader, Search& search, std::string_view body);
    void label(Loader& loader, Search& search, std::string_view text);
    void ancestor(Loader& loader, std::string_view element);

    static FunctionId initial_call(Loader& loader, std::string_view body);

    struct Pending {
        std::string address;
        ProcId process = ProcId::none;
        Key key{};
    };
    static void resolve(Loader& loader, const Pending& pending, std::string_view body, std::string_view all);
    std::vector<Pending> literals_;  // initial calls and labels that are literals, sorted once they are looked for
    bool literals_sorted_ = false;
    std::string dictionary_;
    std::vector<std::string_view> entries_;  // addresses in it: first those whose lines were met
    std::size_t entries_met_ = 0;            // once these are all, the rest of the heap has nothing for us
    std::vector<std::size_t> usual_places_;  // of the last process: of the line of each entry, from the heap's end
    std::vector<std::size_t> places_;        // of their lines, where find_last_entries() has found them, last first
    std::vector<Search> searches_;
    FunctionId initial_call_ = FunctionId::none;
    TextId label_ = TextId::none;
    TextId application_ = TextId::none;
};

}  // namespace beamheap::crashdump
