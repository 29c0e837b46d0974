// SPDX-License-Identifier: Apache-2.0
// Answers that are being found, several side by side: each by a child process, on memory that it shares with the server
// until one of the two writes to it. A long one keeps no short one waiting, and one that is taken back costs nothing
// more than its child.
#pragma once

#include <sys/types.h>

#include <functional>
#include <list>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/mcp/mcp_answer.hpp"
#include "cli/mcp/mcp_connection.hpp"

namespace beamheap::cli {

class Workers {
public:
    static constexpr std::size_t most = 8;  ///< answers at once; who asks for more waits

    explicit Workers(Connection& connection) : connection_(connection) {}
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    /// The whole message that answers the request.
    using Reply = std::function<nlohmann::json(Answer answer)>;
    /// Has a child find the answer to a request, which is finished then; where the system gives none it is found here.
    /// `name`: what finds it, for who is told that it failed.
    void find(Connection::Asked& asked, std::string_view name, const std::function<Answer()>& find, Reply reply);

    bool room() const { return works_.size() < most; }
    bool idle() const { return works_.empty(); }
    /// Waits at most `milliseconds` for anything to happen on the connection or here, and sends what was found.
    void look(int milliseconds);

private:
    struct Work {
        Connection::Asked& asked;
        std::string name;
        pid_t child;
        int pipe;
        Reply reply;
        std::string got{};
        bool whole = false;  // nothing more comes
    };
    static void take(Work& work);
    void end(Work& work);

    Connection& connection_;
    std::list<Work> works_;
};

}  // namespace beamheap::cli
