// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp/mcp_connection.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "cli/console/terminal.hpp"
#include "present/sanitise.hpp"

namespace beamheap::cli {

using nlohmann::json;

namespace {

constexpr std::chrono::seconds between_progress{1};
constexpr std::size_t each_waiting = 64;  // bytes that a message takes beside its text

json member(const json& object, const char* name) {
    if (!object.is_object()) return nullptr;
    const auto found = object.find(name);
    return found == object.end() ? json() : *found;
}

}  // namespace

json parse_message(const std::string& line, bool& too_deep) {
    const auto keep = [&too_deep](int depth, json::parse_event_t, const json&) {
        too_deep = too_deep || depth > deepest_message;
        return depth <= deepest_message;
    };
    return json::parse(line, keep, false);
}

json error_of(const json& id, int code, std::string message) {
    return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", std::move(message)}}}};
}
json result_of(const json& id, json result) { return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}}; }

std::string text_in(const json& object, const char* name) {
    const json found = member(object, name);
    return found.is_string() ? found.get<std::string>() : std::string();
}

void IdFinder::take(std::string_view text) {
    for (const char c : text) {
        const bool outermost = depth_ == 1;
        if (reads_value_ && (in_text_ || (c != ',' && c != '}')) && value_.size() < longest) value_ += c;
        if (in_text_) {
            if (escaped_) escaped_ = false;
            else if (c == '\\') escaped_ = true;
            else if (c == '"') in_text_ = reads_key_ = false;
            if (reads_key_ && key_.size() < longest) key_ += c;
            continue;
        }
        switch (c) {
            case '"':
                in_text_ = true;
                reads_key_ = outermost && wants_key_;
                if (reads_key_) key_.clear();
                break;
            case '{':
            case '[': wants_key_ = ++depth_ == 1 && c == '{'; break;
            case '}':
            case ']':
                if (outermost) reads_value_ = false;
                --depth_;
                break;
            case ':':
                if (!outermost) break;
                wants_key_ = false;
                if (key_ == "id") value_.clear(), reads_value_ = found_ = true;
                break;
            case ',':
                if (outermost) wants_key_ = true, reads_value_ = false;
                break;
            default: break;
        }
    }
}

json IdFinder::id() const {
    const json id = found_ && value_.size() < longest ? json::parse(value_, nullptr, false) : json();
    return id.is_string() || id.is_number_integer() ? id : json();
}

bool Connection::send(const json& message) {
    if (gone_) return false;
    const std::string line = message.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
    if (const int error = write_all(out_, line); error != 0) {
        gone_ = true;
        if (error != EPIPE) error_ = error;
    }
    return !gone_;
}

bool Connection::receive() {
    constexpr std::size_t piece = 64 * 1024;
    piece_.resize(piece);
    at_ = 0;
    ssize_t got = 0;
    while ((got = ::read(in_, piece_.data(), piece)) < 0 && errno == EINTR) {
    }
    if (got < 0) read_error_ = errno;
    piece_.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    ended_ = got <= 0;
    return !ended_;
}

std::optional<Connection::Message> Connection::take() {
    const std::size_t end = piece_.find('\n', at_);
    const std::size_t upto = std::min(end, piece_.size());
    const std::string_view piece = std::string_view(piece_).substr(at_, upto - at_);
    if (!begun_.too_long && begun_.text.size() + piece.size() > longest_message) {
        begun_.too_long = true;
        id_finder_ = {};
        id_finder_.take(begun_.text);
        begun_.text.clear();
    }
    if (begun_.too_long) id_finder_.take(piece);
    else begun_.text.append(piece);
    at_ = upto;
    if (end != piece_.npos) ++at_;
    else if (!ended_ || (begun_.text.empty() && !begun_.too_long)) return std::nullopt;
    if (begun_.too_long) begun_.id = id_finder_.id();
    return std::exchange(begun_, {});
}

std::optional<Connection::Message> Connection::next() {
    if (waiting_.empty()) return std::nullopt;
    Message oldest = std::move(waiting_.front().message);
    waiting_.pop_front();
    waiting_bytes_ -= oldest.text.size() + each_waiting;
    return oldest;
}

Connection::Asked& Connection::begin(const json& request, std::string_view doing) {
    json token = member(member(member(request, "params"), "_meta"), "progressToken");
    if (!token.is_string() && !token.is_number_integer()) token = nullptr;
    const Clock::time_point now = Clock::now();
    asked_.push_back({.id = member(request, "id"),
                      .token = std::move(token),
                      .doing = std::string(doing),
                      .started = now,
                      .next_told = now + between_progress});
    return asked_.back();
}

void Connection::finish(const Asked& asked) {
    asked_.remove_if([&asked](const Asked& each) { return &each == &asked; });
}

void Connection::note(Message message) {
    bool too_deep = false;  // then who takes it says so
    const json request = message.too_long ? json() : parse_message(message.text, too_deep);
    const std::string method = text_in(request, "method");
    const json id = member(request, "id");
    if (method == "notifications/cancelled" && id.is_null()) {
        const json of = member(member(request, "params"), "requestId");
        if (of.is_null()) return;
        for (Asked& each : asked_) each.cancelled = each.cancelled || each.id == of;
        const auto taken_back = std::ranges::find(waiting_, of, &Waiting::id);
        if (taken_back == waiting_.end()) return;
        waiting_bytes_ -= taken_back->message.text.size() + each_waiting;
        waiting_.erase(taken_back);
        return;
    }
    if (method == "ping" && !too_deep && (id.is_string() || id.is_number_integer())) {
        send(result_of(id, json::object()));
        return;
    }
    waiting_bytes_ += message.text.size() + each_waiting;
    waiting_.push_back({std::move(message), id});
}

void Connection::absorb() {
    while (auto message = take()) note(std::move(*message));
}

void Connection::tell_progress() {
    const Clock::time_point now = Clock::now();
    for (Asked& each : asked_) {
        if (each.token.is_null() || each.cancelled || now < each.next_told) continue;
        each.next_told = now + between_progress;
        const double seconds = std::chrono::duration<double>(now - each.started).count();
        send({{"jsonrpc", "2.0"},
              {"method", "notifications/progress"},
              {"params",
               {{"progressToken", each.token}, {"progress", seconds}, {"message", present::safe_text(each.doing)}}}});
    }
}

// Where the system can't say what has come: waits for one of them, an answer before a question.
void Connection::look_blindly(std::span<pollfd> others) {
    if (!others.empty()) {
        others.front().revents = POLLIN;
    } else if (!ended_) {
        receive();
        absorb();
    }
}

void Connection::look(std::span<pollfd> others, int milliseconds) {
    tell_progress();
    // Who sends more than can wait is not listened to until it is answered.
    const bool listens = !ended_ && waiting_bytes_ < most_waiting;
    std::vector<pollfd> watched{{listens ? in_ : -1, POLLIN, 0}, {out_, 0, 0}};
    watched.insert(watched.end(), others.begin(), others.end());
    const int ready = ::poll(watched.data(), watched.size(), milliseconds);
    for (std::size_t i = 0; i < others.size(); ++i) others[i].revents = ready > 0 ? watched[i + 2].revents : short{0};
    if (ready < 0 && errno != EINTR && milliseconds != 0) return look_blindly(others);
    if (ready <= 0) return;
    if (watched[0].revents != 0) {
        receive();
        absorb();
    }
    if ((watched[1].revents & (POLLERR | POLLHUP)) != 0) gone_ = true;
}

}  // namespace beamheap::cli
