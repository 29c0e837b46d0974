// SPDX-License-Identifier: Apache-2.0
// What is told of one death: a sentence, the JSON of `analyze`, the report, the tables; then its own file, where that
// is kept. The sentence is told whether anything can be written or not. Where the folder's bounds leave no room, the
// JSON is the findings' and what the node was, a few KiB that are written below --free, too, and what was left out is
// said.
//
// Each answer is made by a process of its own that gives up its rights before it reads, as if it were the program's one
// question. A file that it makes has no name until it is whole, so that an end by force at any moment leaves files that
// are whole, or none.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/catch/death_folder.hpp"
#include "cli/catch/last_words.hpp"
#include "cli/console/output_file.hpp"
#include "cli/frame/context.hpp"

namespace beamheap::cli {

/// Says something of a death: on standard error, which a unit of systemd hands to the journal; `to_system_log` says it
/// to syslog as well, for who is started by the kernel and has no standard error.
void tell(std::string_view text, bool to_system_log = false);

/// The exit code of a process that does `what` and nothing else; 128 and the signal's number where one ended it. At
/// `until_ns` (bytes/clock.hpp: monotonic_ns()) it is killed.
int in_a_process(std::int64_t until_ns, const std::function<int()>& what);

struct DeathRequest {
    std::string input;  ///< what is opened: a file, or a pid
    std::string shown;  ///< what the answers call it; `{node}` in it is the node's name
    std::string time;   ///< DeathFolder::free_time()
    std::string how;    ///< what is known of the end beside the input, for the sentence: "of signal 11"; may be empty
    std::string cut;    ///< why the input is not whole, as a clause; empty: it is
    std::uint32_t signal = 0;      ///< that it died of, where that is known beside the input
    LastWords::Words before = {};  ///< what grew before, where somebody watched
    bool system_log = false;
    std::int64_t until_ns = 0;  ///< when all answers must be there
};

/// The answers of one death, in the order in which they are made.
class DeathAnswers {
public:
    DeathAnswers(const Options& options, DeathFolder& folder, DeathRequest request)
        : options_(options), folder_(folder), request_(std::move(request)) {}

    /// The sentence and the JSON. False: it is nothing that can be read; that was said.
    bool first();
    /// Of a node that left nothing but what is known from before.
    void only_before(std::string_view node);
    /// The report and the tables.
    void others();
    /// Puts a file at its place among them: `ending` is ".dump.zst".
    void keep(OutputFile file, std::string_view ending);
    /// Of what is not written, a word for finish(), and why.
    void leave_out(std::string what, NotWritten why) { left_out_.push_back({std::move(what), std::move(why)}); }
    /// Says which files there are, and starts --exec with their names. False: there is none.
    bool finish();
    /// TIME-NODE; TIME-node where the node's name is not known.
    const std::string& name() const { return name_; }

private:
    struct LeftOut {
        std::string what;
        NotWritten why;
    };
    std::optional<NotWritten> failed(std::string_view ending, int error) const;
    std::optional<NotWritten> failed(const Error& error) const;
    std::optional<NotWritten> put(OutputFile& file, std::string_view ending);
    std::optional<NotWritten> put_text(int from, std::string_view ending);
    bool put_answer(int whole, int least, const NotWritten& not_whole);
    bool late(int code) const;
    void answer(std::string_view verb, std::string_view ending);
    void put_before();
    Options options_of(std::string_view verb) const;

    const Options& options_;
    DeathFolder& folder_;
    DeathRequest request_;
    std::string name_;
    std::vector<std::string> files_;
    std::vector<LeftOut> left_out_;
};

}  // namespace beamheap::cli
