// SPDX-License-Identifier: Apache-2.0
// Secrets that are known by what stands around them: arguments of well-known commands, lines of text protocols,
// addresses that whoever has them may post to. Each function looks at one place of a printed text, a bounded number of
// times.
#pragma once

#include <string_view>

#include "present/secrets/redact_lex.hpp"

namespace beamheap::present {

/// The secret that follows the option whose hyphen is text[i]: curl -u name:SECRET, mysql -pSECRET, redis-cli -a
/// SECRET; in one text, or as elements of a list. Empty (begin == end): there is none.
TextSpan secret_of_option(std::string_view text, std::size_t i);

/// The same of a text that is one literal and nothing else, as rows of single objects have it: "name:SECRET",
/// "-pSECRET". The command stands in another row, so only what looks like a password is one.
TextSpan secret_argument(std::string_view text);

/// The secret in the line of a protocol that begins with the word [i, end): AUTH x (Redis), PASS x (FTP, POP3, IRC),
/// LOGIN name x (IMAP), IDENTIFIED BY 'x' (SQL); also where Redis' protocol puts lengths between, or as elements of a
/// list.
TextSpan secret_of_line(std::string_view text, std::size_t i, std::size_t end);

/// The part of the address that begins (behind its scheme) at text[begin] by which anybody may post in somebody's name
/// (webhooks of Slack, Discord, Teams, bots of Telegram). Empty: there is none.
TextSpan secret_of_address(std::string_view text, std::size_t begin);

/// The name and password of the address that begins (behind its scheme) at text[begin], or what secret_of_address()
/// finds. `end` becomes where the address's host ends, as far as it was looked at.
TextSpan secret_of_url(std::string_view text, std::size_t begin, std::size_t& end);

/// The text of the XML element whose name has the key text[key] in it and ends at `end`: <password>x</password>,
/// <ns:Password Type="text">x</ns:Password>. Empty: there is none.
TextSpan secret_of_xml(std::string_view text, std::size_t key, std::size_t end);

/// The element of a list at text[i] is nothing but a separator (": ", <<"=">>, $= as a number): where the one behind it
/// begins. 0: it is not.
std::size_t behind_separator(std::string_view text, std::size_t i);

/// Whether a header of this name has a secret up to the end of its line, whatever it looks like.
bool secret_to_end_of_line(std::string_view header);

/// Which element of a tuple that begins with this atom is a secret text or bytes: {plaintext,<<"x">>} (RabbitMQ), the
/// master secret of TLS' {session,...}. 0: none.
unsigned secret_element(std::string_view tag);
/// Whether all that a record of this name holds is a secret: keys and states of ciphers.
bool secret_record(std::string_view tag);

/// Where the secret begins that the format at text[i], "~s", prints: in "token: ~s",["x"] that is the element of the
/// list of arguments which comes to stand there. text.size(): no arguments follow the text that the format is in.
std::size_t format_argument(std::string_view text, std::size_t i);
/// Whether a format that prints a value begins at text[i]: ~s, ~ts, ~20p, ~0p.
bool format_of_value(std::string_view text, std::size_t i);

/// The password in front of the "@" at text[i] of a source without a scheme: name:SECRET@tcp(host:3306)/db of MySQL,
/// name:SECRET@host:5432/db. Empty: there is none.
TextSpan secret_of_source(std::string_view text, std::size_t i);

/// Whether a tuple that begins with this atom has a name and a password behind it: {basic,"name","x"},
/// {plain,<<"name">>,<<"x">>}.
bool names_credentials(std::string_view tag);
/// Whether a text (or its literal) behind such an atom is both of them: "name:x", or that in base64.
bool holds_credentials(std::string_view text);

}  // namespace beamheap::present
