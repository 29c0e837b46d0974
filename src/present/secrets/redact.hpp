// SPDX-License-Identifier: Apache-2.0
// What leaves the screen without the node's secrets: `--redact none|secrets|values|full`.
//
// A dump holds everything the node held: the cookie, session tokens, private keys, customers' data. Redaction works on
// printed texts, right before they are sanitised, so that no output can forget it:
//   secrets  masks what is a secret by its form (PEM blocks, JSON web tokens, keys of the big providers, user:password@
//            in URLs), by the key in front of it (password => ..., {token, ...}, api_key: ...), or by being known
//            (the node's cookie). A masked text reads "***" in the place of the literal: "***", <<"***">>, '***'.
//   values   besides, replaces every string, binary and charlist of a term by its size and a salted hash, and integers
//            of 2^32 and more: {user,<<12 bytes #a1b2c3>>}. Equal values keep equal hashes within an output; shape and
//            atoms stay.
//   full     besides, replaces all numbers of terms, and names that are not OTP's: x_a1b2c3:x_d4e5f6/2.
// Recognising secrets by form and key is a heuristic: it catches what is usual, and cannot catch a password that
// stands alone in a list. That is what `values` is for.
//
// The functions are pure, linear in the text, and never make an unredacted text longer than a small factor of itself.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "present/document.hpp"

namespace beamheap::present {

enum class RedactLevel : std::uint8_t { none, secrets, values, full };
/// As --redact has it: "none", ...
std::string_view name_of(RedactLevel level);

/// The key of the hashes in placeholders. Who has it can try out what a placeholder stands for.
using Salt = std::array<std::uint64_t, 2>;
/// Drawn at random when it is first asked for, and the same from then on: in all that one run of the program writes,
/// equal values have equal placeholders; in what another run writes, others. Nothing of it is made of the input.
const Salt& salt_of_run();
/// The salt that a secret makes; equal secrets make equal ones.
Salt salt_of(std::string_view secret);
constexpr std::size_t shortest_salt = 16;  ///< bytes of a secret that nobody tries out

struct RedactOptions {
    RedactLevel level = RedactLevel::secrets;
    /// Texts that are secrets wherever they appear; those under three bytes are ignored.
    std::vector<std::string> known_secrets;
    /// Names of this input (atoms, modules) to be replaced in its free texts by `full`; those of OTP are left out.
    std::vector<std::string> private_names;
    Salt salt = salt_of_run();
};

class Redactor {
public:
    explicit Redactor(RedactOptions options);
    RedactLevel level() const { return options_.level; }

    /// The text as it may be shown. `key` is what the text is filed under, where that is known (a dictionary key):
    /// then a key like "password" masks all of it.
    std::string apply(std::string_view text, Content content, std::string_view key = {}) const;
    /// The same for each piece of a sentence, by what it holds; our own words and figures are left as they are.
    std::string apply(const Text& sentence) const;

private:
    RedactOptions options_;
};

/// What a key tells of its value: nothing; that it is a secret if it looks like one (pin, otp, salt, hmac); that it is
/// one.
enum class Secrecy : std::uint8_t { none, by_value, always };
Secrecy secrecy_of(std::string_view key);
/// Whether a key names a secret: password, api_key, "x-auth-token", secretKeyBase, ...; not token_count.
bool sensitive_key(std::string_view key);
/// Whether a printed value is a number of four to ten digits, or bytes or a text that hardly anybody writes by hand.
bool looks_like_code(std::string_view value);
/// SipHash-2-4 of the bytes.
std::uint64_t keyed_hash(const Salt& key, std::string_view bytes);
/// [begin, end) of the secrets in a name or a line, in order: what mask_secrets() replaces, but for what is a number.
std::vector<std::pair<std::size_t, std::size_t>> secret_parts(std::string_view text);
/// Whether a value is one that any key may have: undefined, true, default, ...
bool tells_nothing(std::string_view value);
/// Whether an atom belongs to Erlang/OTP (or Elixir's own libraries) and tells nothing about the system that ran.
bool otp_name(std::string_view atom);

// The passes that Redactor::apply runs one after the other; for the tests.
std::string mask_known(std::string_view text, const std::vector<std::string>& secrets);
/// `known` are looked for in what is printed as numbers, too.
std::string mask_secrets(std::string_view text, const std::vector<std::string>& known = {});
/// The same also within strings that hold printed terms: ("{failed,{\"token\",<<\"...\">>}}"). `quoted`: levels of
/// quotes around the text.
std::string mask_all_secrets(std::string_view text, const std::vector<std::string>& known = {}, unsigned quoted = 0);
/// `only_nested`: strings outside of { [ and << are left alone (free text that quotes a term). `numbers`: small ones
/// are hidden, too.
std::string mask_values(std::string_view text, bool only_nested, const Salt& salt, bool numbers = false);
std::string mask_names(std::string_view text, const Salt& salt);
/// The words that names are made of ("Elixir.MyShop.Worker": MyShop, Worker), sorted; without those of OTP.
std::vector<std::string> name_words(const std::vector<std::string>& names);
/// The words of a free text that are written as a program's names are, and as no word of English is: order_cache,
/// shop@host, myShop, node12; within braces and brackets, of a path, of a release or an application, any. What of them
/// is OTP's is for name_words() to tell.
std::vector<std::string> identifiers_of(std::string_view text);
/// Replaces the words of a free text that are among the sorted `names`, as name_words gives them.
std::string mask_words(std::string_view text, const std::vector<std::string>& names, const Salt& salt);

}  // namespace beamheap::present
