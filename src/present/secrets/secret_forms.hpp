// SPDX-License-Identifier: Apache-2.0
// Secrets that are known by their form alone: tokens by how they begin, payment cards by their check digit, credentials
// in base64 by what they decode to. Each function looks at one place of a printed text, a bounded number of times.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace beamheap::present {

struct SecretForm {
    std::string_view prefix;
    std::size_t least = 0;  ///< characters that follow at least; cut texts may have fewer
    std::string_view also;  ///< what may follow besides letters, digits, _ and -
    std::string_view issuer;
};

/// The rows of secret_forms.inc, by first letter.
std::span<const SecretForm> secret_forms();

/// Where the token that begins at text[i] ends; `i` where none of these forms does. A token that the text cuts is one
/// from its fourth character behind the prefix on, where "..." says so, from the eighth at the text's end.
std::size_t end_of_token(std::string_view text, std::size_t i);

/// The same of tokens that are known by a mark in their midst or at their end, whatever they begin with.
std::size_t end_of_marked_token(std::string_view text, std::size_t i);

/// Where the payment card number or bot token that begins at the digit text[i] ends; `i` where it is another number. A
/// card has the length and the first digits of one of the large issuers and the right check digit (ISO/IEC 7812, Luhn),
/// in one piece or in groups with one blank or hyphen in between. A bot token (Telegram's) is a number, a colon and 35
/// characters.
std::size_t end_of_number_token(std::string_view text, std::size_t i);

/// Where the hash of a password that begins at text[i], "$" or "{", ends ($2b$12$..., $argon2id$..., {SSHA}...); `i`
/// where there is none.
std::size_t end_of_password_hash(std::string_view text, std::size_t i);

/// Whether bytes begin like a private key in DER (PKCS #1, PKCS #8, RFC 5915): a sequence whose first element is the
/// number 0 or 1, and whose second is a sequence, a large number or octets.
bool is_private_key(std::string_view bytes);

/// Behind the public numbers of an RSA key as crypto has it, [E,N,D|_], where the comma in front of the private ones
/// stands: `i` is at the usual exponent, as a binary or with the bracket in front of it, and the next number is as
/// large as a modulus. 0: there is no such key.
std::size_t behind_public_numbers(std::string_view text, std::size_t i);

/// Whether a word is the base64 of a name and a password: "name:password" (RFC 7617), or between NULs (SASL PLAIN, RFC
/// 4616).
bool is_credentials(std::string_view base64);

/// Whether bytes are a name and a password as SASL PLAIN has them, behind another name that is mostly empty (RFC 4616).
bool is_plain_message(std::string_view bytes);

/// Whether a word has what rules for passwords ask for: at least eight letters, digits and signs, with small letters,
/// capitals and digits.
bool looks_like_password(std::string_view word);

/// Whether a word of free text is hardly one that people write: letters mixed with digits or with signs, or a capital
/// behind a small letter. At least five characters.
bool looks_secret(std::string_view word);

/// A list of characters or bytes that is printed as numbers: [112,97,115] or <<112,97,115,0>>.
struct NumberList {
    std::size_t end = 0;  ///< behind its bracket; 0: this is none
    std::string text;     ///< its numbers as bytes, larger ones as '?'
};
/// The list that begins at text[i], "[" or "<<". One that is cut ends with the text or its "...".
NumberList number_list(std::string_view text, std::size_t i);

}  // namespace beamheap::present
