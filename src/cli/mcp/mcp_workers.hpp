// SPDX-License-Identifier: Apache-2.0
// Answers that are being found, several side by side: each by a child process, of this one where no input is asked
// about, of the input's reader (mcp_readers.hpp) else. A long one keeps no short one waiting, and one that is taken
// back costs nothing more than its child.
//
// All that they and the readers hold together is bounded: inputs that nobody asks about are let go, and then who holds
// most is ended, before the machine has nothing left.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/mcp/mcp_answer.hpp"
#include "cli/mcp/mcp_connection.hpp"
#include "cli/mcp/mcp_readers.hpp"

namespace beamheap::cli {

class Workers {
public:
    static constexpr std::size_t most = 8;  ///< answers at once; who asks for more waits

    /// `most_bytes`: of memory that all of them may have.
    Workers(Connection& connection, InputReaders& readers, std::uint64_t most_bytes)
        : connection_(connection), readers_(readers), most_bytes_(most_bytes) {}
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    /// The whole message that answers the request.
    using Reply = std::function<nlohmann::json(Answer answer)>;
    /// Has a child find the answer to a request, which is finished then; where the system gives none it is found here.
    /// `name`: what finds it, for who is told that it failed.
    void find(Connection::Asked& asked, std::string_view name, const std::function<Answer()>& find, Reply reply);
    /// Has it found by the reader of an input.
    void ask(Connection::Asked& asked, std::string_view name, const std::string& path,
             const std::vector<std::string>& words, Reply reply);

    bool room() const { return works_.size() < most; }
    bool idle() const { return works_.empty(); }
    /// Waits at most `milliseconds` for anything to happen on the connection or here, and sends what was found.
    void look(int milliseconds);

private:
    struct Work {
        Connection::Asked& asked;
        std::string name;
        pid_t child;  // 0: not known yet
        int pipe;
        Reply reply;
        std::shared_ptr<InputReader> reader = {};  // null: the child is this process's own
        std::uint64_t number = 0;                  // by which the reader knows it
        std::string got{};
        bool whole = false;     // nothing more comes
        bool live = false;      // the reader says that it is about a VM that runs
        std::string why_not{};  // it was ended by us: why
    };
    std::vector<int> pipes() const;
    void take(Work& work);
    void end(Work& work);
    void stop(Work& work);
    Answer answer_of(Work& work, int status);
    std::string failure_of(const Work& work, int status) const;
    void give_up(Work& work, std::string_view why);
    void bound_memory();

    Connection& connection_;
    InputReaders& readers_;
    std::uint64_t most_bytes_;
    std::uint64_t last_number_ = 0;
    Connection::Clock::time_point next_measured_{};
    std::list<Work> works_;
};

}  // namespace beamheap::cli
