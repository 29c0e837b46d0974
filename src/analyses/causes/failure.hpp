// SPDX-License-Identifier: Apache-2.0
// A failure: a reason taken out of the layers that supervisors, applications and the code that starts a node put around
// it, down to what began it.
//
// What a node prints when it does not start is what happened last: the boot process ended since the application
// controller ended since an application did not start since a supervisor gave up since a child did not start since a
// function was called that does not exist. Each layer is a term around the next; the innermost is the cause, and the
// layers are the way to it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/logs/log_events.hpp"
#include "erlang/owned_term.hpp"
#include "erlang/term_reader.hpp"

namespace beamheap::analyses {

struct Failure {
    std::shared_ptr<OwnedTerm> term;           ///< where the elements live
    Element reason;                            ///< the innermost; kind `unknown` where the text was cut before it
    std::vector<LogFrame> stack;               ///< of the innermost exception, youngest first
    std::vector<std::string> children;         ///< supervisors' children on the way, outermost first
    std::string application;                   ///< that did not start or ended; empty: none on the way
    Element asked;                             ///< whose end that was, while it was called; unknown: nobody's
    std::string start_module, start_function;  ///< whose start function passed it on, the innermost; empty: unknown
    std::uint32_t start_arity = 0;
    bool exited = false;      ///< the application had run before
    bool words = false;       ///< the reason is no term, but a text, perhaps a cut one
    bool leaves_out = false;  ///< whoever printed it left out binaries and maps

    /// How much is known: a reason of which nothing is missing is better than one that was cut, one that went through
    /// children or has a stack better than a bare word. For choosing among several tellings of one death.
    int weight() const;
    /// Whether nothing of the reason is missing: no part that a slogan printed to a depth, or cut.
    bool is_whole() const;
};

/// Takes the layers off. {shutdown,R}, {failed_to_start_child,Id,R}, {R,{M,start,_}}, {R,Stack}, {'EXIT',R}, {error,R},
/// {badmatch,{error,R}} of the code that starts, {bad_return,{{M,F,A},R}}, {application_start_failure,App,R},
/// {cannot_start_application,App,R}, {nocatch,R}, {R,{gen_server,call,_}} of a call whose server ended,
/// {App,R} of application:ensure_all_started/1, {R,{child,...}} of supervisor:start_child/2, {could_not_start,App,R},
/// {App,failure_during_boot,R}, {_,App,{R,{M,start,_}}}, {badmatch,{'EXIT',{R,Stack}}}, and a printed term inside of a
/// string.
/// `stack`: of the reason, where it was taken off already.
Failure failure_of(std::shared_ptr<OwnedTerm> term, const Element& reason, std::vector<LogFrame> stack = {});

/// The same of a reason as the slogan prints it. What is no term is the reason as a text.
Failure failure_of_printed(std::string_view reason);

}  // namespace beamheap::analyses
