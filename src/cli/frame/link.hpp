// SPDX-License-Identifier: Apache-2.0
// Messages between two processes of one program, with open files: the one that reads a hostile input has given up the
// rights to open them (sandbox.hpp), and gets from the other one those that its user has named.
//
// A message is its size, four bytes of this machine's order, with which the descriptors go (SCM_RIGHTS, unix(7)), then
// its bytes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace beamheap::cli {

/// Texts as one, and back: each ends with a zero byte. Of a text without any, one empty field.
std::string joined(const std::vector<std::string>& fields);
std::vector<std::string> fields_of(std::string_view text);

class DescriptorLink {
public:
    static constexpr std::size_t longest = std::size_t{64} << 20;  ///< bytes of a message
    static constexpr std::size_t most_descriptors = 2;             ///< with one message

    struct Message {
        std::string text;
        std::vector<int> descriptors;  ///< to be closed by who receives them
    };

    /// Two ends, one for each process; -1 in both: the system gives none.
    static std::pair<DescriptorLink, DescriptorLink> make();
    explicit DescriptorLink(int socket) : socket_(socket) {}
    DescriptorLink(DescriptorLink&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
    DescriptorLink& operator=(DescriptorLink&& other) noexcept {
        std::swap(socket_, other.socket_);
        return *this;
    }
    ~DescriptorLink() { close(); }
    void close();
    bool good() const { return socket_ >= 0; }
    int descriptor() const { return socket_; }

    /// False: the other process is gone, or the message too long.
    bool send(std::string_view text, const std::vector<int>& descriptors = {}) const;
    /// False: the other process is gone, or breaks what is agreed on. Goes on waiting after signals.
    bool receive(Message& message) const;

private:
    int socket_;
};

}  // namespace beamheap::cli
