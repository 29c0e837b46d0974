// SPDX-License-Identifier: Apache-2.0
// Secrets whose key is no word in front of them: members "value" beside a "name", numbers of a key in JSON (RFC 7517),
// keys of several parts, arguments of functions and of commands, columns and parameters of queries. Each function
// looks at one place of a printed text, a bounded number of times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "present/secrets/redact.hpp"
#include "present/secrets/redact_lex.hpp"

namespace beamheap::present {

/// What the word [begin, end) says of its value: secrecy_of() it, or what stands beside it in the same object says
/// that:
/// {"name":"DB_PASSWORD","value":"x"}, {"kty":"oct","k":"x"}, [{key,password},{value,x}], ?code=x of an address.
Secrecy secrecy_beside(std::string_view text, std::size_t begin, std::size_t end);

/// Of a member of a map by its name, where others of the map say more: "value" beside a name, numbers of a key.
bool names_its_value(std::string_view member);
/// A member whose value is the name of another one: #{name => <<"DB_PASSWORD">>, value => <<"x">>}.
bool has_name(std::string_view member);
/// A member that is a secret of a key where another one, "kty", is there.
bool member_of_key(std::string_view member);
/// Whether the name of a struct or class says that all of it is secret: 'Elixir.Shop.Credentials'.
bool secret_struct(std::string_view name);

/// The word text[key] is the last part of a key of several parts, which ends at `i`: where the value begins in
/// {{smtp,password},x}, #{[db,password] => x}. 0: it is not.
std::size_t behind_path(std::string_view text, std::size_t key, std::size_t i);

/// The word text[key] begins a line, its colon is at `i`, and what follows without a blank looks like a secret:
/// "passcode:x1y2" of STOMP; no function ("password:check/1").
bool line_of_protocol(std::string_view text, std::size_t key, std::size_t i);

/// The word that begins (with its quote) at `key` and ends at `i` is a function that is called with a list:
/// {ejabberd_auth,check_password,[...]}. Where the list begins; 0: it is none.
std::size_t arguments_of_call(std::string_view text, std::size_t key, std::size_t i);

/// The secret among the arguments of the command [begin, end): rabbitmqctl add_user name SECRET. Empty: there is none.
TextSpan secret_of_command(std::string_view text, std::size_t begin, std::size_t end);

/// The word [begin, end) is VALUES: where the values of the columns begin that are secrets by their name, in
/// INSERT INTO t (name, password) VALUES ('x', 'y').
std::vector<std::size_t> secret_columns(std::string_view text, std::size_t begin, std::size_t end);

/// Places, from 0 on and in order, of the parameters ($1, or a question mark each) of a query that are secrets by the
/// name of their column: "token" = $2, INSERT INTO t (a, password) VALUES (?, ?).
std::vector<std::uint64_t> secret_parameters(std::string_view query);

/// The parameter $1 of a query at text[i]: where it begins in the list that follows the text. text.size(): none does.
std::size_t query_parameter(std::string_view text, std::size_t i);

}  // namespace beamheap::present
