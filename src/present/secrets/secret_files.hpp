// SPDX-License-Identifier: Apache-2.0
// Values of keys in what is no term: files of settings, forms and addresses of the web, lines of protocols, prompts,
// output of other languages' printers. Each function looks at one place of a printed text, a bounded number of times.
#pragma once

#include <string_view>

#include "present/secrets/redact_lex.hpp"

namespace beamheap::present {

/// The value of the key text[key, end) where it is separated otherwise than terms and texts have it:
/// "%22password%22%3A%22x", user%5Bpassword%5D=x, s:8:"password";s:1:"x" (PHP), password<tab>x, "Password:" and x on
/// the next line, a part of a form of that name, $8 password $1 x (Redis), "password:: eA==" (LDIF), Password:x (Go),
/// all words of a phrase. Empty: there is none.
TextSpan value_of_file(std::string_view text, std::size_t key, std::size_t end);

/// The secret of a line that begins with, or has, the word text[i, end), which is no key itself: host:5432:db:name:x of
/// .pgpass, the lines of a private key of PuTTY, inline:x of a session's description (RFC 4568), crypt('x') and SET
/// PASSWORD FOR y = 'x' of SQL. Empty: there is none.
TextSpan secret_of_setting(std::string_view text, std::size_t i, std::size_t end);

/// What is echoed to a program that reads a password: echo x | sudo -S. `end` is behind the word "echo".
TextSpan secret_of_echo(std::string_view text, std::size_t end);

/// Where the arguments begin with which a function of crypto or public_key is called, whose name ends at `end`:
/// {crypto,mac,[hmac,sha256,<<"x">>,_]}. 0: none.
std::size_t arguments_of_crypto(std::string_view text, std::size_t begin, std::size_t end);

/// Whether the element of a tuple at text[i] is a value in brackets, as {old,"x"} and ["x"] are behind a key in its
/// midst.
bool wrapped_value(std::string_view text, std::size_t i);

/// Behind what other languages write around a value that begins at text[i]: Some( of Rust, b of Python. `i`: nothing.
std::size_t behind_wrapper(std::string_view text, std::size_t i);

}  // namespace beamheap::present
