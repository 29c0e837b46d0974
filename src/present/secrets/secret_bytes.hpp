// SPDX-License-Identifier: Apache-2.0
// Secrets that are packed into something else: texts of two bytes a character, compressed texts, terms in the external
// format, and any of these in base64. What is packed is unpacked as far as a bound, and read as any text is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace beamheap::present {

/// How much one text may be unpacked to, all of its parts together, and how deep: a few bytes may hold millions.
struct Unpacking {
    static constexpr unsigned deepest = 4;
    std::size_t left = 0;  ///< bytes
    unsigned depth = 0;

    static Unpacking of(std::string_view text) { return {(std::size_t{1} << 18) + 16 * text.size(), 0}; }
};

/// The text that `bytes` hold, which are none themselves: UTF-16 of either order, or one that gzip (RFC 1952) or zlib
/// (RFC 1950) made smaller, or a term of the external format (erl_ext_dist.txt) as Erlang writes it, as far as it is
/// known. Empty: they hold none, or `unpacking` allows no more.
std::string packed_text(std::string_view bytes, Unpacking& unpacking);

/// Whether bytes are of a protocol that writes how long a text is in front of it, and have a key of a secret among
/// their texts (Protocol Buffers, MessagePack, CBOR, BSON, HPACK, AMQP), or are a message that is there to carry one:
/// the password of PostgreSQL, a simple bind of LDAP (RFC 4511), a CONNECT of MQTT with a password.
bool secret_on_the_wire(std::string_view bytes);

/// What a word of base64 (RFC 4648, either alphabet) stands for, where that begins like a text or like bytes that
/// packed_text() reads. Empty: it is no such word.
std::string unpacked_base64(std::string_view word, Unpacking& unpacking);

/// What a word of hexadecimal digits stands for, where all of that is text. Empty: it is no such word.
std::string unpacked_hex(std::string_view word);

/// Where the word of base64 that begins at text[i] ends, behind its last "=".
std::size_t end_of_base64(std::string_view text, std::size_t i);

/// `quote` ends a text; where the last of the texts behind it ends that are lines of base64, elements of one list: at
/// its quote, or where it is cut. `quote` where none follows.
std::size_t end_of_base64_lines(std::string_view text, std::size_t quote);

}  // namespace beamheap::present
