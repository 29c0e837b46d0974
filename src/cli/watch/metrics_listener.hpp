// SPDX-License-Identifier: Apache-2.0
// HTTP for one thing: whoever asks for /metrics on this machine gets a text (RFC 9112, as far as that takes).
//
// One request a connection, one connection at a time, each with half a second and 8 KiB; addresses of loopback alone.
// The socket is made before rights are given up, and answers while the watch waits for its next round.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "beamheap/error.hpp"

namespace beamheap::cli {

class MetricsListener {
public:
    /// Listens on "127.0.0.1:PORT" or "[::1]:PORT" (port 0: one that is free). Errors: usage (no such address, or none
    /// of loopback), resource_limit (the system's reason).
    static Result<MetricsListener> open(std::string_view address);
    MetricsListener(MetricsListener&& other) noexcept : socket_(std::exchange(other.socket_, -1)), port_(other.port_) {}
    MetricsListener& operator=(MetricsListener&&) = delete;
    ~MetricsListener();

    unsigned port() const { return port_; }
    int descriptor() const { return socket_; }
    /// Answers one connection that is there, with what `metrics` gives.
    void answer(const std::function<std::string()>& metrics) const;

private:
    MetricsListener(int socket, unsigned port) : socket_(socket), port_(port) {}
    int socket_ = -1;
    unsigned port_ = 0;
};

/// The answer to the head of a request; `metrics` is asked where it is for them.
std::string http_answer(std::string_view request, const std::function<std::string()>& metrics);

}  // namespace beamheap::cli
