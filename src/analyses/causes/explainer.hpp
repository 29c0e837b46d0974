// SPDX-License-Identifier: Apache-2.0
// What explains a reason: a class of one use, whose functions are kept in a file for each theme. See cause.hpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/causes/cause.hpp"
#include "analyses/causes/wordings.hpp"
#include "erlang/causes.hpp"
#include "erlang/term_reader.hpp"

namespace beamheap::analyses {

class Explainer {
public:
    Explainer(const Snapshot& snapshot, const Failure& failure, std::span<const LogEvent> events)
        : snapshot_(snapshot), failure_(failure), t_(*failure.term), events_(events) {}

    Cause run();

private:
    // cause.cpp: what is told by the form of the reason (erlang/causes.hpp)
    bool row(erlang::Turn turn);
    bool row(erlang::Turn turn, const Element& reason, const Element& inner);
    bool wrapped();
    bool syntax_within();
    bool in_circumstances(const erlang::CauseRow& row) const;
    Element inside() const;
    void about_server(CauseKind kind, const Element& server);
    // cause_code.cpp: code that is missing or does not load
    bool undefined();
    void hint_undefined(const std::string& module, bool loaded, std::string_view packaged, std::string_view near,
                        bool of_a_tool);
    bool without_loader(std::string_view module) const;
    bool not_loaded();
    bool refused_library(std::string_view module);
    bool accessed_struct(const LogFrame& called);
    void module_of_command_line();
    bool without_module(const LogFrame& called);
    bool has_lost_arguments(const LogFrame& called) const;
    // cause_services.cpp: the distribution, output, tables, files and ports
    bool distribution();
    bool output_gone();
    bool table();
    bool names_of_processes();
    bool posix();
    void own_sockets();
    // cause_supervisors.cpp: supervisors that gave up, and children that did not start
    bool gave_up();
    bool child_ended();
    bool of_start_function();
    bool without_a_word();
    bool killed_for_its_heap();
    // cause_values.cpp: what expressions have made of it
    bool value();
    bool full_table();
    bool prints_no_list(const LogFrame& frame) const;
    bool words();

    std::string_view similar_module(std::string_view name) const;
    bool bad_module(std::string_view module);
    void on_load_failed(std::string_view module, const LogEvent& event, std::string_view text);
    static bool is_of_otp(std::string_view module);
    bool hides_library(std::string_view module) const;
    std::vector<std::string> modules_not_loaded() const;
    bool name_taken(Sentence name);
    Sentence node_name(Ours otherwise) const;
    /// The port that stands beside eaddrinuse in another report: {port, N}; 0: none.
    std::uint32_t port_in_events() const;

    /// What a slogan printed to a depth has left: `_`, {_}, {{_},[_]}.
    bool says_nothing(const Element& reason) const;
    PrintedTerm printed(const Element& term) const { return {failure_.term, term, 120}; }
    Sentence plain(const Element& term) const { return analyses::plain(term, failure_.term); }
    void hint(Sentence sentence) { cause_.hints.push_back(std::move(sentence)); }
    void hint(Ours words) { cause_.hints.emplace_back(words); }
    /// ", in m:f/a (file:n)": the youngest frame of the application's own code, else the youngest.
    void where();
    /// ", called in m:f/a (file:n)", ", called by -eval"
    void called_by();
    /// The youngest frame that is not of OTP's own helpers: where the code of the application is; nullptr: none.
    const LogFrame* own_frame() const;
    /// Whether a module is of OTP, Elixir or another library that programs call.
    bool is_library(std::string_view module) const;
    static Sentence place(const LogFrame& frame);
    /// "m:f/a"; "m:f" where the number of its arguments was cut off.
    static Sentence function(const LogFrame& frame);

    const Snapshot& snapshot_;
    const Failure& failure_;
    TermReader t_;
    std::span<const LogEvent> events_;
    mutable std::optional<std::vector<std::string_view>> folders_;  // of builds of OTP and Elixir
    Cause cause_;
};

/// Whether a term has an atom somewhere near its root.
bool has_atom(OwnedTerm& term, std::string_view atom);

}  // namespace beamheap::analyses
