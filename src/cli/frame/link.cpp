// SPDX-License-Identifier: Apache-2.0
#include "cli/frame/link.hpp"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace beamheap::cli {
namespace {

constexpr std::size_t room_for_descriptors = CMSG_SPACE(sizeof(int) * DescriptorLink::most_descriptors);

union DescriptorRoom {
    cmsghdr aligned;
    char bytes[room_for_descriptors];
};

bool send_all(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

bool receive_all(int socket, char* into, std::size_t size) {
    while (size != 0) {
        const ssize_t got = ::recv(socket, into, size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        into += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

}  // namespace

std::string joined(const std::vector<std::string>& fields) {
    std::string text;
    for (const std::string& field : fields) text.append(field).push_back('\0');
    return text;
}

std::vector<std::string> fields_of(std::string_view text) {
    std::vector<std::string> fields;
    for (std::size_t end = text.find('\0'); end != text.npos; end = text.find('\0')) {
        fields.emplace_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    if (fields.empty()) fields.emplace_back();
    return fields;
}

std::pair<DescriptorLink, DescriptorLink> DescriptorLink::make() {
    int ends[2] = {-1, -1};
    (void)::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
    return {DescriptorLink(ends[0]), DescriptorLink(ends[1])};
}

void DescriptorLink::close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

bool DescriptorLink::send(std::string_view text, const std::vector<int>& descriptors) const {
    if (text.size() > longest || descriptors.size() > most_descriptors) return false;
    std::uint32_t size = static_cast<std::uint32_t>(text.size());
    iovec piece{&size, sizeof size};
    DescriptorRoom room{};
    msghdr head{};
    head.msg_iov = &piece;
    head.msg_iovlen = 1;
    if (!descriptors.empty()) {
        const std::size_t bytes = descriptors.size() * sizeof(int);
        head.msg_control = room.bytes;
        head.msg_controllen = CMSG_SPACE(bytes);
        cmsghdr* const with = CMSG_FIRSTHDR(&head);
        with->cmsg_level = SOL_SOCKET;
        with->cmsg_type = SCM_RIGHTS;
        with->cmsg_len = CMSG_LEN(bytes);
        std::memcpy(CMSG_DATA(with), descriptors.data(), bytes);
    }
    ssize_t sent = 0;
    do sent = ::sendmsg(socket_, &head, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == sizeof size && send_all(socket_, text);
}

bool DescriptorLink::receive(Message& message) const {
    message = {};
    std::uint32_t size = 0;
    iovec piece{&size, sizeof size};
    DescriptorRoom room{};
    msghdr head{};
    head.msg_iov = &piece;
    head.msg_iovlen = 1;
    head.msg_control = room.bytes;
    head.msg_controllen = sizeof room.bytes;
    ssize_t got = 0;
    do got = ::recvmsg(socket_, &head, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got > 0) {
        for (cmsghdr* with = CMSG_FIRSTHDR(&head); with != nullptr; with = CMSG_NXTHDR(&head, with)) {
            if (with->cmsg_level != SOL_SOCKET || with->cmsg_type != SCM_RIGHTS) continue;
            message.descriptors.resize((with->cmsg_len - CMSG_LEN(0)) / sizeof(int));
            std::memcpy(message.descriptors.data(), CMSG_DATA(with), message.descriptors.size() * sizeof(int));
        }
    }
    // So few bytes are in one piece.
    if (got != sizeof size || size > longest) return false;
    message.text.resize(size);
    return receive_all(socket_, message.text.data(), size);
}

}  // namespace beamheap::cli
