// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/metrics_listener.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>

namespace beamheap::cli {
namespace {

constexpr std::size_t most_bytes = 8192;  // of a request's head
constexpr auto patience = std::chrono::milliseconds(500);

struct Address {
    sockaddr_storage bytes{};
    socklen_t size = 0;
};

Result<Address> parse_address(std::string_view text) {
    const Error wrong{ErrorCode::usage, fmt::format("--listen: '{}' is no address of this machine's own", text),
                      "127.0.0.1:PORT or [::1]:PORT: what stands there is for this machine alone."};
    const std::size_t colon = text.rfind(':');
    if (colon == text.npos) return wrong;
    std::string host(text.substr(0, colon));
    std::uint16_t port = 0;
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (error != std::errc{} || end != digits.data() + digits.size()) return wrong;
    Address address;
    if (host == "[::1]") {
        auto& to = reinterpret_cast<sockaddr_in6&>(address.bytes);
        to.sin6_family = AF_INET6;
        to.sin6_addr = IN6ADDR_LOOPBACK_INIT;
        to.sin6_port = htons(port);
        address.size = sizeof to;
        return address;
    }
    auto& to = reinterpret_cast<sockaddr_in&>(address.bytes);
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    address.size = sizeof to;
    if (host == "localhost") host = "127.0.0.1";
    if (inet_pton(AF_INET, host.c_str(), &to.sin_addr) != 1 || ntohl(to.sin_addr.s_addr) >> 24 != 127) return wrong;
    return address;
}

struct Descriptor {
    int number;
    ~Descriptor() { close(number); }
};

}  // namespace

Result<MetricsListener> MetricsListener::open(std::string_view text) {
    BH_TRY(const Address address, parse_address(text));
    const auto failed = [&] {
        return Error{ErrorCode::resource_limit, fmt::format("--listen {}: {}", text, std::strerror(errno)), {}};
    };
    const int made = socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0) return failed();
    MetricsListener listener(made, 0);
    const int yes = 1;
    setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(made, reinterpret_cast<const sockaddr*>(&address.bytes), address.size) != 0 || listen(made, 8) != 0)
        return failed();
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    if (getsockname(made, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return failed();
    listener.port_ = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                                       : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
    return listener;
}

MetricsListener::~MetricsListener() {
    if (socket_ >= 0) close(socket_);
}

std::string http_answer(std::string_view request, const std::function<std::string()>& metrics) {
    const auto answer = [](std::string_view status, std::string_view type, std::string_view body, bool with_body) {
        return fmt::format("HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
                           status, type, body.size(), with_body ? body : std::string_view());
    };
    constexpr std::string_view plain = "text/plain; charset=utf-8";
    const std::string_view line = request.substr(0, request.find("\r\n"));
    const std::size_t first = line.find(' '), second = line.rfind(' ');
    if (first == line.npos || second <= first || !line.substr(second + 1).starts_with("HTTP/1."))
        return answer("400 Bad Request", plain, "no request of HTTP/1\n", true);
    const std::string_view method = line.substr(0, first);
    std::string_view path = line.substr(first + 1, second - first - 1);
    path = path.substr(0, path.find('?'));
    if (method != "GET" && method != "HEAD") return answer("405 Method Not Allowed", plain, "GET alone\n", true);
    if (path != "/metrics") return answer("404 Not Found", plain, "there is /metrics alone\n", method == "GET");
    return answer("200 OK", "application/openmetrics-text; version=1.0.0; charset=utf-8", metrics(), method == "GET");
}

void MetricsListener::answer(const std::function<std::string()>& metrics) const {
    const Descriptor client{accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC)};
    if (client.number < 0) return;
    const timeval time{0, std::chrono::duration_cast<std::chrono::microseconds>(patience).count()};
    setsockopt(client.number, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    setsockopt(client.number, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
    const auto end = std::chrono::steady_clock::now() + patience;
    std::string request;
    char piece[1024];
    while (request.find("\r\n\r\n") == request.npos) {
        if (request.size() > most_bytes || std::chrono::steady_clock::now() > end) return;
        const ssize_t got = recv(client.number, piece, sizeof piece, 0);
        if (got <= 0) return;
        request.append(piece, static_cast<std::size_t>(got));
    }
    const std::string answer = http_answer(request, metrics);
    for (std::string_view rest = answer; !rest.empty() && std::chrono::steady_clock::now() < end + patience;) {
        const ssize_t sent = send(client.number, rest.data(), rest.size(), MSG_NOSIGNAL);
        if (sent <= 0) return;
        rest.remove_prefix(static_cast<std::size_t>(sent));
    }
    shutdown(client.number, SHUT_WR);
}

}  // namespace beamheap::cli
