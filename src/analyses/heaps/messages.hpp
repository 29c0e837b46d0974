// SPDX-License-Identifier: Apache-2.0
// What messages in a queue are: who sent them, as far as their form says it, and their shape.
#pragma once

#include <string>

#include "beamheap/ids.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::analyses {

/// The sender that a message names in a form that OTP fixes: {'$gen_call', {Pid, _}, _}, {'EXIT', Pid, _},
/// {'DOWN', _, process, Pid, _}, {system, {Pid, _}, _}, {io_request, Pid, _, _}, {tcp, Port, _}, {Port, {data, _}}, ...
/// A crash dump has no other sender; a core image has the one that the VM keeps with each message.
struct Sender {
    Pid pid;
    PortName port;
    bool has() const { return pid.has() || port.has(); }
    friend auto operator<=>(const Sender&, const Sender&) = default;
};
Sender sender_of(TermSource& source, const Element& message);
/// The sender of the message that is root `root`: the one that the VM recorded, else the one that its form names.
Sender sender_of_root(TermSource& source, std::size_t root);

/// A term's form with its atoms, as a type: {'$gen_call',{pid(),reference()},{insert,integer(),list()}}. Equal for
/// messages of one kind. Bounded: four levels, 16 elements a level, 400 bytes.
std::string shape_of(TermSource& source, const Element& term);

}  // namespace beamheap::analyses
