// SPDX-License-Identifier: Apache-2.0
#include "cli/ui/answer_wire.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "cli/console/terminal.hpp"
#include "cli/frame/link.hpp"
#include "present/sanitise.hpp"

namespace beamheap::cli::ui {

namespace {

constexpr std::uint64_t most_reserved = 1u << 30;  // what is longer grows as it comes

}  // namespace

Head head_of(Reply::Kind kind, std::uint32_t question) {
    Head head;
    head.kind = static_cast<std::uint32_t>(kind);
    head.question = question;
    return head;
}

bool send(int descriptor, Head head, std::string_view bytes) {
    head.size = bytes.size();
    char first[sizeof head];
    std::memcpy(first, &head, sizeof head);
    return write_all(descriptor, {first, sizeof first}) == 0 && write_all(descriptor, bytes) == 0;
}

bool send_error(int descriptor, std::uint32_t question, const Error& error) {
    Head head = head_of(Reply::Kind::failed, question);
    const std::string text = present::safe_text(error.message);
    head.code = static_cast<std::uint32_t>(error.code);
    head.part = static_cast<std::uint32_t>(text.size());
    return send(descriptor, head, text + present::safe_text(error.advice));
}

std::optional<Head> whole_head(std::string_view bytes) {
    Head head;
    if (bytes.size() < sizeof head) return std::nullopt;
    std::memcpy(&head, bytes.data(), sizeof head);
    if (bytes.size() - sizeof head < head.size) return std::nullopt;
    return head;
}

bool read_some(int descriptor, std::string& to) {
    char piece[64 * 1024];
    if (Head head; to.size() >= sizeof head) {
        std::memcpy(&head, to.data(), sizeof head);
        if (head.size < most_reserved) to.reserve(sizeof head + head.size);
    }
    const ssize_t size = ::read(descriptor, piece, sizeof piece);
    if (size > 0) to.append(piece, static_cast<std::size_t>(size));
    return size > 0 || (size < 0 && (errno == EINTR || errno == EAGAIN));
}

std::string take_message(std::string& from) {
    const std::optional<Head> head = whole_head(from);
    if (!head) return {};
    if (from.size() == sizeof(Head) + head->size) return std::exchange(from, {});
    std::string message = from.substr(0, sizeof(Head) + head->size);
    from.erase(0, message.size());
    return message;
}

Asked::Asked(std::string message) : message_(std::move(message)) { std::memcpy(&head_, message_.data(), sizeof head_); }

Asked Asked::of(const Wanted& wanted) {
    const std::string words = joined(wanted.words);
    std::string bytes = words + present::packed(wanted.wish);
    Head head;
    head.kind = static_cast<std::uint32_t>(wanted.lane);
    head.question = wanted.number;
    head.code = wanted.before;
    head.part = static_cast<std::uint32_t>(words.size());
    if (wanted.file) {
        head.block = wanted.file->block;
        head.form = static_cast<std::uint32_t>(wanted.file->form) + 1;
    }
    head.size = bytes.size();
    std::string message(sizeof head, '\0');
    std::memcpy(message.data(), &head, sizeof head);
    return Asked(message + bytes);
}

std::size_t Asked::lane() const { return head_.kind % lanes; }

std::string_view Asked::words() const { return std::string_view(message_).substr(sizeof head_, head_.part); }

Result<present::PageWish> Asked::wish() const {
    return present::unpacked_wish(std::string_view(message_).substr(sizeof head_ + words().size()));
}

std::optional<WantedFile> Asked::file() const {
    if (head_.form == 0) return std::nullopt;
    return WantedFile{head_.block, head_.form == 1 ? FileForm::separated : FileForm::json};
}

std::optional<Asked> Questions::next() {
    std::string message = take_message(got_);
    if (message.empty()) return std::nullopt;
    return Asked(std::move(message));
}

}  // namespace beamheap::cli::ui
