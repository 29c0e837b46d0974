// SPDX-License-Identifier: Apache-2.0
// Messages of the Model Context Protocol, a line each: who asks may take a question back, or ask whether the server is
// still there, while answers are worked on.
//
// Facts: modelcontextprotocol.io, revision 2025-11-25: `notifications/cancelled` names a request by `requestId`, after
// which no answer to it is sent; a request whose `_meta` has a `progressToken` may be told of with
// `notifications/progress`, whose `progress` grows each time; `ping` is answered promptly.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "beamheap/error.hpp"

namespace beamheap::cli {

/// A line as JSON; discarded where it is none. What is nested deeper than a message of the protocol is not built, since
/// values are taken apart by recursion: it is left out, and `too_deep` is set.
nlohmann::json parse_message(const std::string& line, bool& too_deep);
inline constexpr int deepest_message = 64;

nlohmann::json error_of(const nlohmann::json& id, int code, std::string message);
nlohmann::json result_of(const nlohmann::json& id, nlohmann::json result);
/// A member of an object as a text; empty where it is none.
std::string text_in(const nlohmann::json& object, const char* name);

/// The id of a message that is not kept: what stands behind the key "id" of the outermost object, whatever else the
/// object has and however long it is.
class IdFinder {
public:
    void take(std::string_view text);
    /// Null where there is none, or it is neither a text nor a whole number.
    nlohmann::json id() const;

private:
    static constexpr std::size_t longest = 256;
    std::string key_, value_;
    int depth_ = 0;
    bool in_text_ = false, escaped_ = false, wants_key_ = false, reads_key_ = false, reads_value_ = false,
         found_ = false;
};

class Connection {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t longest_message = std::size_t{1} << 20;  // bytes of a line

    Connection(int in, int out) : in_(in), out_(out) {}

    struct Message {
        std::string text;       ///< without its line end; empty where it was too long
        bool too_long = false;  ///< it had more than longest_message bytes
        nlohmann::json id{};    ///< of one that was too long; null: it told none
    };
    /// The oldest message that came by look() and was not taken yet; nothing: there is none.
    std::optional<Message> next();
    bool has_next() const { return !waiting_.empty(); }
    /// Nothing more will come, or nobody is there to be answered.
    bool ended() const { return gone_ || (ended_ && waiting_.empty()); }
    /// Writes a message. False: nobody reads them any more, or (error()) they can't be written.
    bool send(const nlohmann::json& message);
    /// errno of the write that failed for another reason than that the reader is gone; 0: none.
    int error() const { return error_; }
    /// errno of standard input, where reading it failed; 0: it has ended, or goes on.
    int read_error() const { return read_error_; }

    /// A request that is worked on.
    struct Asked {
        nlohmann::json id;
        nlohmann::json token;    ///< of its progress; null: none wanted
        std::string doing;       ///< what its progress says
        bool cancelled = false;  ///< it was taken back: it is not to be answered
        Clock::time_point started{}, next_told{};
    };
    /// From now on until finish() this request is worked on.
    Asked& begin(const nlohmann::json& request, std::string_view doing);
    void finish(const Asked& asked);
    /// Nobody waits for its answer any more.
    bool given_up(const Asked& asked) const { return asked.cancelled || gone_; }
    /// Takes in what has come meanwhile (pings are answered, what was taken back is forgotten, the rest waits for
    /// next()), and tells of the progress of requests once a second where that was asked for. Waits at most
    /// `milliseconds` (-1: for ever) for that, or for one of `others` to become readable, as poll() does.
    void look(std::span<pollfd> others, int milliseconds);

private:
    void look_blindly(std::span<pollfd> others);
    static constexpr std::size_t most_waiting = std::size_t{4} << 20;  // bytes of messages that wait
    std::optional<Message> take();
    bool receive();
    void absorb();
    void note(Message message);
    void tell_progress();

    struct Waiting {
        Message message;
        nlohmann::json id;  // null: none
    };
    int in_;
    int out_;
    int error_ = 0;
    int read_error_ = 0;
    bool ended_ = false;  // nothing more comes in
    bool gone_ = false;   // nobody reads what goes out
    std::string piece_;   // what was read last
    std::size_t at_ = 0;  // how much of it was taken
    Message begun_;       // the line that has not ended
    IdFinder id_finder_;  // of that line, where it is too long
    std::deque<Waiting> waiting_;
    std::size_t waiting_bytes_ = 0;
    std::list<Asked> asked_;
};

}  // namespace beamheap::cli
