// SPDX-License-Identifier: Apache-2.0
// What is there in unusual number: an owner, what it has, how many.
//
// Theory. A leak is many of a kind before it is many bytes, and each kind is counted somewhere: elements of a term,
// monitors, links, timers, tables, ports, open files, modules of one form, processes each of which has started the
// next. So one search goes over all these counts. A number is unusual where no service of OTP has as many on a node
// that just began, and, of what is made for a process, where it is more than there are processes, or 50,000 of one that
// is no supervisor.
//
// Monitors, links and timers take memory that is on no heap. Where many monitor the same process again and again, the
// sum is theirs, and what they have in common is whom they monitor: it is counted there, unless one of them has nearly
// all of these. The repeated timers of the module timer are those of who
// has set them (processes/relations.hpp), and the monitors of its server are told as these.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyses/base/sentence.hpp"
#include "analyses/facts/facts.hpp"
#include "analyses/heaps/largest_collection.hpp"
#include "analyses/processes/relations.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

struct Multitude {
    enum class Of : std::uint8_t {
        elements,        ///< of a term of the owner's
        monitors_again,  ///< monitors of the owner's on whom it monitors more than once
        monitored,       ///< monitors on the owner of several who each hold more than one on it
        monitors,        ///< of the owner's
        links,           ///< of the owner's
        timers,          ///< that will send to the owner, or, where that is none, to whom `timers_of` names
        tables,          ///< of the owner's, of one form of names
        ports,           ///< that are connected to the owner, of one kind
        resources,       ///< of a library in C that watch the owner: open files, too (erlang::module_of_files)
        modules,         ///< that are loaded, of one form of names
        descents,        ///< processes of one kind, each started by the one before; the owner is the last
    } of = Of::elements;
    ProcId owner = ProcId::none;
    std::uint64_t count = 0;
    double times = 0;          ///< how many times what would be unusual
    Sentence where;            ///< elements: "its State > key sessions"
    Sentence what;             ///< elements: "a map of 3,000 reference => integer"
    bool handlers = false;     ///< elements: the handlers of an event manager; `what` says so
    bool plain = false;        ///< elements: integers in a list
    NamedProcesses processes;  ///< elements: that some of them name
    Relations relations;       ///< monitors_again, monitors, links
    Monitored monitored;       ///< monitored
    std::string form;          ///< tables, modules: "page_<int>"; ports: the driver; resources: the library
    TimersOfOne timers_of;     ///< timers
};

struct Multitudes {
    std::vector<Multitude> all;  ///< the most unusual first
};

Result<Multitudes> find_fact(FactOf<Multitudes>, const Facts& facts);

}  // namespace beamheap::analyses
