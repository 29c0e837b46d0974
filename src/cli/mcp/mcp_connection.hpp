// SPDX-License-Identifier: Apache-2.0
// Messages of the Model Context Protocol, a line each: who asks may take a question back, or ask whether the server is
// still there, while an answer is worked on.
//
// Facts: modelcontextprotocol.io, revision 2025-11-25: `notifications/cancelled` names a request by `requestId`, after
// which no answer to it is sent; a request whose `_meta` has a `progressToken` may be told of with
// `notifications/progress`, whose `progress` grows each time; `ping` is answered promptly.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
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
    static constexpr std::size_t longest_message = std::size_t{1} << 20;  // bytes of a line

    Connection(int in, int out) : in_(in), out_(out) {}

    struct Message {
        std::string text;       ///< without its line end; empty where it was too long
        bool too_long = false;  ///< it had more than longest_message bytes
        nlohmann::json id{};    ///< of one that was too long; null: it told none
    };
    /// The oldest message that was not answered yet; waits for it. Nothing: there will be no more.
    std::optional<Message> next();
    /// Writes a message. False: nobody reads them any more, or (error()) they can't be written.
    bool send(const nlohmann::json& message);
    /// errno of the write that failed for another reason than that the reader is gone; 0: none.
    int error() const { return error_; }
    /// errno of standard input, where reading it failed; 0: it has ended, or goes on.
    int read_error() const { return read_error_; }

    /// From now on until finish() this request is worked on.
    void begin(const nlohmann::json& request);
    /// Whether it was taken back meanwhile: then it is not to be answered.
    bool finish();
    enum class Look : std::uint8_t { nothing, readable, cancelled };
    /// Takes in what has come meanwhile (pings are answered, what was taken back is forgotten, the rest waits for
    /// next()), and tells of the progress once a second where that was asked for, `doing` being what is done. Waits at
    /// most `milliseconds` for that, or for `descriptor` (-1: none) to become readable. Cancelled: the request was
    /// taken back, or its asker is gone.
    Look look(int descriptor, int milliseconds, std::string_view doing);

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t most_waiting = std::size_t{4} << 20;  // bytes of messages that wait
    std::optional<Message> take();
    bool receive();
    void absorb();
    void note(Message message);
    void tell_progress(std::string_view doing);

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
    nlohmann::json id_;     // of the request that is worked on; null: none
    nlohmann::json token_;  // of its progress; null: none wanted
    bool cancelled_ = false;
    Clock::time_point started_;
    Clock::time_point next_told_;
};

}  // namespace beamheap::cli
