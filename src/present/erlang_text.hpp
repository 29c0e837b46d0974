// SPDX-License-Identifier: Apache-2.0
// Names as Erlang or Elixir write them: atoms, functions, pids.
//
// The model keeps atom texts bare; what is shown must read back as the same atom. Erlang's rules are in
// erlang/erlang_syntax.hpp; Elixir's are those of Kernel.inspect/1 and Exception.format_mfa/3 (Elixir 1.14).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyses/processes/groups.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::present {

enum class Syntax : std::uint8_t { erlang, elixir };

/// Erlang: ok, 'hello world', 'Elixir.MyApp.Worker'. Elixir: :ok, nil, :"hello world", MyApp.Worker.
std::string atom_text(std::string_view atom, Syntax syntax);
/// An atom as itself, without quotes, and in Elixir without the "Elixir." of modules.
std::string bare_text(std::string_view atom, Syntax syntax);
/// Erlang: lists:map/2, 'Elixir.MyApp.Worker':handle_call/3.
/// Elixir: :lists.map/2, MyApp.Worker.handle_call/3, "anonymous fn/1 in MyApp.Worker.init/1" for funs.
std::string function_text(std::string_view module, std::string_view name, std::uint32_t arity, Syntax syntax);
/// <0.1.2> or #PID<0.1.2>; empty where there is none.
std::string pid_text(Pid pid, Syntax syntax);

/// A term as the input has it printed, which is in Erlang's syntax, in the syntax that is asked for:
/// {'Elixir.My.App',ok} is {My.App, :ok}. What is cut, or no term, is told as far as it goes.
std::string printed_text(std::string_view printed, Syntax syntax);

/// How the names of one snapshot are to be shown: what tables.cpp and the verbs make their cells with.
class Names {
public:
    /// `input`: what commands call the input, the path that it was opened by unless told otherwise.
    Names(const Snapshot& snapshot, Syntax syntax) : Names(snapshot, syntax, snapshot.source.path) {}
    Names(const Snapshot& snapshot, Syntax syntax, std::string input)
        : snapshot_(&snapshot), syntax_(syntax), input_(std::move(input)) {}
    const std::string& input() const { return input_; }
    /// What commands need beside the input to open it as it was opened ("--exe beam.smp"), as a shell reads it.
    const std::string& opened_with() const { return opened_with_; }
    void open_with(std::string options) { opened_with_ = std::move(options); }
    const Snapshot& snapshot() const { return *snapshot_; }
    Syntax syntax() const { return syntax_; }
    /// Whether terms are printed without their secrets, as they are unless somebody asks for all (--redact none).
    bool hides_secrets() const { return hides_secrets_; }
    void hide_secrets(bool hide) { hides_secrets_ = hide; }

    /// A name as itself, without quotes ("lager_event"), and in Elixir without the "Elixir." of modules; empty: none.
    std::string bare(TextId atom) const;
    std::string function(FunctionId function) const;
    /// Where a frame is in its source: "gen.erl:256", or "gen.erl:256 or 271"; empty where that is not known.
    std::string place(const Frame& frame) const;
    /// "cart.erl:12", where a fun stands in its source; empty for what is no fun, or where its line is not known.
    std::string fun_head(FunctionId function) const;
    /// What a process's label says: in words where its library is known, else the term.
    std::string label(TextId label) const;
    /// "cart:total/1 cart.erl:88".
    std::string function_at(const Frame& frame) const;
    std::string pid(Pid pid) const { return pid_text(pid, syntax_); }
    /// What a process belongs to: an atom, a label as it was printed, m:f/a; empty for none.
    std::string group(const analyses::GroupKey& key) const;
    /// "lager_event": its registered name, else its label, else its $initial_call; empty where it has none of them.
    std::string called(const Process& process) const;
    /// "lager_event <0.89.0>" of a process that has a name, label or $initial_call, else the pid alone.
    std::string process(const Process& process) const;
    /// "#Port<0.5>", in both.
    std::string port(const PortName& port) const;

private:
    const Snapshot* snapshot_;
    Syntax syntax_;
    std::string input_, opened_with_;
    bool hides_secrets_ = true;
};

/// Elixir where the snapshot names modules of Elixir, else Erlang (`--syntax auto`).
Syntax syntax_of(const Snapshot& snapshot);

}  // namespace beamheap::present
