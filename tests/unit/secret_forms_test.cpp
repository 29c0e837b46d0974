// SPDX-License-Identifier: Apache-2.0
// Secrets of newer forms: packed into bytes, printed by formats, in records of libraries; and what only looks like one.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "present/secrets/redact.hpp"
#include "present/secrets/secret_bytes.hpp"

using namespace beamheap::present;

namespace {

std::string numbers(std::string_view bytes, std::string_view open = "<<", std::string_view close = ">>") {
    std::string out(open);
    for (const char c : bytes) {
        if (out.size() != open.size()) out += ',';
        out += std::to_string(static_cast<unsigned char>(c));
    }
    return out.append(close);
}
std::string of_16_bits(std::string_view text, bool big = false) {
    std::string out;
    for (const char c : text) out.append({big ? '\0' : c, big ? c : '\0'});
    return out;
}
using namespace std::string_literals;
// {password,<<"Hush01">>} and {user,<<"bob">>}, as term_to_binary/1 has them.
const std::string secret_term = "\x83h\2w\10passwordm\0\0\0\6Hush01"s, plain_term = "\x83h\2w\4userm\0\0\0\3bob"s;
// {"user":"bob","password":"Hush0122"} of zlib.compress().
const std::string deflated =
    "\x78\x9c\xab\x56\x2a\x2d\x4e\x2d\x52\xb2\x52\x4a\xca\x4f\x52\xd2\x51\x2a\x48\x2c\x2e\x2e\xcf\x2f\x4a\x01\x0a\x78\x94\x16\x67\x18\x18\x1a\x19\x29\xd5\x02\x00\xda\x3e\x0b\x6b"s;

}  // namespace

TEST_CASE("secrets in records of libraries are masked by their place", "[redact]") {
    const std::vector<std::pair<std::string, std::string>> cases{
        {R"({plaintext,<<"Hush01">>})", R"({plaintext,<<"***">>})"},
        {R"({encrypted,<<"Hush01">>})", R"({encrypted,<<"***">>})"},
        {R"({amqp_params_network,<<"guest">>,{plaintext,<<"Hush01">>},<<"/">>,"mq",5672})",
         R"({amqp_params_network,<<"guest">>,{plaintext,<<"***">>},<<"/">>,"mq",5672})"},
        {R"({internal_user,<<"guest">>,<<200,1,33,44>>,[administrator],sha256,#{}})",
         R"({internal_user,<<"guest">>,<<"***">>,[administrator],sha256,#{}})"},
        {"{session,<<1,2>>,<<>>,{cert,1},[],<<19,1>>,<<9,8,7>>,undefined}",
         R"({session,<<1,2>>,<<>>,{cert,1},[],<<19,1>>,<<"***">>,undefined})"},
        {"{cipher_state,<<1,2>>,<<3,4>>,undefined}", R"({cipher_state,<<"***">>,<<"***">>,undefined})"},
        {"{ed_pri,ed25519,<<1,2,3,4>>,<<5,6,7,8>>}", R"({ed_pri,ed25519,<<1,2,3,4>>,<<"***">>})"},
        {"#'RSAPrivateKey'{version = 0,modulus = 23,prime1 = 5}", "#'RSAPrivateKey''***'"},
        {"[65537," + std::string(110, '7') + ",99,11]", "[65537," + std::string(110, '7') + ",'***','***']"},
        {"[<<1,0,1>>," + numbers(std::string(64, '\x77')) + ",<<5,6,7>>]",
         "[<<1,0,1>>," + numbers(std::string(64, '\x77')) + R"(,<<"***">>])"},
        {R"([<<"Authorization: ">>,<<"Basic ">>,<<"Hush01">>])", R"([<<"Authorization: ">>,<<"Basic ">>,<<"***">>])"},
    };
    for (const auto& [text, shown] : cases) CHECK(mask_secrets(text) == shown);
    for (const char* kept : {"{kafka,plaintext,<<\"host\">>,9092}", "{plaintext,9092}", "{encrypted,true}",
                             "{session,<<1>>,b,c,d,e,f}", "[65537,2,3,4]", "{rabbit,internal_user,<<\"x\">>,y}"})
        CHECK(mask_secrets(kept) == kept);
}

TEST_CASE("what a format prints under a key is masked among its arguments", "[redact]") {
    const std::vector<std::pair<std::string, std::string>> cases{
        {R"({"token: ~s",["Hush01"]})", R"({"token: ~s",["***"]})"},
        {R"({log,error,<<"token: ~ts">>,[<<"Hush01">>],#{}})", R"({log,error,<<"token: ~ts">>,[<<"***">>],#{}})"},
        {R"({"user ~p has password ~p~n",[bob,<<"Hush01">>]})", R"({"user ~p has password ~p~n",[bob,<<"***">>]})"},
        {R"({"password of ~p is ~p",[bob,"Hush01"]})", R"({"password of ~p is ~p",[bob,"***"]})"},
        {R"({"user=~s~npass=~s~ntoken=~20ts~n",["bob","Hush01",<<"Hush02">>]})",
         R"({"user=~s~npass=~s~ntoken=~20ts~n",["bob","***",<<"***">>]})"},
        {R"({"100~~ token=~s",["Hush01"]})", R"({"100~~ token=~s",["***"]})"},
    };
    for (const auto& [text, shown] : cases) CHECK(mask_secrets(text) == shown);
    for (const char* kept : {R"({"token: ~s","x"})", R"({"password check took ~p ms",[12]})", R"({"~s of ~p",["a",b]})",
                             R"("password=~s")"})
        CHECK(mask_secrets(kept) == kept);
    CHECK(mask_secrets(R"(%{password: ~s"Hush01"})") == R"(%{password: "***"})");
}

TEST_CASE("names and values in turn are masked where the value is a text", "[redact]") {
    CHECK(mask_secrets(R"([password,"Hush01"])") == R"([password,"***"])");
    CHECK(mask_secrets(R"([user,"bob",password,<<"Hush01">>,x])") == R"([user,"bob",password,<<"***">>,x])");
    CHECK(mask_secrets(R"(["password","Hush01"])") == R"(["password","***"])");
    CHECK(mask_secrets(R"([password|<<"Hush01">>])") == R"([password|<<"***">>])");
    for (const char* kept : {R"(["username","password","email"])", R"([<<"password">>,<<"token">>,<<"secret">>])",
                             "[username,password,email]"})
        CHECK(mask_secrets(kept) == kept);
}

TEST_CASE("keys of codes and salts hide what looks like one", "[redact]") {
    for (const char* text : {"{pin,4711}", "#{pin => 4711}", "%{pin: 4711}", "[pin,4711]", "[{pin,[52,55,49,49]}]",
                             "{otp,<<\"123456\">>}", "pin=4711", "\"pin is 4711\"", "{hmac,<<1,2,3,4>>}",
                             "{salt,<<\"hU5h01\">>}", "{cvv,123}", "#{<<\"puk\">> => <<\"12345678\">>}"}) {
        INFO(text);
        const std::string shown = mask_secrets(text);
        CHECK(shown.find("***") != shown.npos);
        CHECK(shown.find_first_of("123456789") == shown.npos);
    }
    for (const char* kept :
         {"{salt,sha256}", "{mac,hmac,sha256}", "#{hmac => sha256}", "{hmac,\"sha256\"}", "[{pin,17},{otp,\"27.1\"}]",
          "%{otp: \"~> 1.2\"}", "{otp,27}", "{otp_release,27}", "{pin,<0.1.2>}", "crypto:mac(hmac, sha256, x)",
          "\"salt and pepper\"", "{pin,undefined}", "{salt,16}", "{mfa,{m,f,[2]}}", "#{salt_length => 20000}"})
        CHECK(mask_secrets(kept) == kept);
    const Redactor redactor{RedactOptions{}};
    CHECK(redactor.apply("4711", Content::term, "pin") == "'***'");
    CHECK(redactor.apply("17", Content::term, "pin") == "17");
}

TEST_CASE("secrets that are packed are looked for in what they are unpacked to", "[redact]") {
    const std::string utf16 = of_16_bits("password=Hush01");
    for (const std::string& text :
         {numbers(utf16), numbers(of_16_bits("token=Hush01", true)), numbers(utf16, "[", "]"), numbers(secret_term),
          numbers(deflated), numbers("\x83P\0\0\0\x18"s + deflated), R"(<<"g2gCdwhwYXNzd29yZG0AAAAGSHVzaDAx">>)"s,
          R"("cGFzc3dvcmQ9SHVzaDAxMQ==")"s, R"("cABhAHMAcwB3AG8AcgBkAD0ASAB1AHMAaAAwADEA")"s,
          R"({"body":"eyJwYXNzd29yZCI6Ikh1c2gwMTEifQ=="})"s}) {
        INFO(text);
        const std::string shown = mask_secrets(text);
        CHECK(shown.find("***") != shown.npos);
        CHECK(shown.size() < 24);
    }
    for (const std::string& kept :
         {numbers(plain_term), numbers(of_16_bits("nothing of a secret")), numbers(deflated.substr(0, 12)),
          numbers("\x83X\x58\x58\x58\x58"), R"("aGVsbG8gd29ybGQsIG5vdGhpbmc=")"s, "handle_info_of_something_long"s})
        CHECK(mask_secrets(kept) == kept);
}

TEST_CASE("unpacking ends at its bounds", "[redact]") {
    Unpacking unpacking = Unpacking::of("");
    CHECK(packed_text(deflated, unpacking) == R"({"user":"bob","password":"Hush0122"})");
    CHECK(packed_text(secret_term, unpacking) == R"({'password',<<"Hush01">>})");
    unpacking.left = 10;
    CHECK(packed_text(deflated, unpacking).size() == 10);
    CHECK(unpacking.left == 0);
    CHECK(packed_text(deflated, unpacking).empty());
    // Tuples in tuples, pids of pids, lists that say that they are longer than all memory.
    Unpacking more = Unpacking::of("");
    const std::string deep = "\x83" + std::string(200000, 'h') + "\1";
    CHECK(packed_text(deep, more).size() <= 300000);
    CHECK_NOTHROW(packed_text("\x83" + std::string(100000, 'X'), more));
    CHECK_NOTHROW(packed_text("\x83l\xff\xff\xff\xff"s + std::string(1000, 'j'), more));
    CHECK_NOTHROW(packed_text("\x83t\xff\xff\xff\xff"s, more));
}

TEST_CASE("sources without a scheme hide their password", "[redact]") {
    CHECK(mask_secrets("\"shop:Hush01@tcp(db:3306)/shop\"") == "\"shop:***@tcp(db:3306)/shop\"");
    CHECK(mask_secrets("root:hush@unix(/tmp/mysql.sock)/db") == "root:***@unix(/tmp/mysql.sock)/db");
    CHECK(mask_secrets("shop:Hush01@db:5432/shop") == "shop:***@db:5432/shop");
    for (const char* kept : {"sip:bob9@host:5060", "mailto:bob9x@host/x", "rabbit@host:5672", "git@github.com:org/repo",
                             "x@tcp(1)", "a:b@host"})
        CHECK(mask_secrets(kept) == kept);
}

TEST_CASE("a private key in lines that are cut is masked to its last line", "[redact]") {
    CHECK(mask_secrets("[\"-----BEGIN RSA PRIVATE KEY-----\",\"MIIEow\",\"AbCdEfHush\",\"More...") == "[\"***...");
    CHECK(mask_secrets("[<<\"-----BEGIN RSA PRIVATE KEY-----\\n\">>,<<\"MIIEow\\n\">>,<<\"AbCdHush\\n\">>,...") ==
          "[<<\"***\">>,...");
    CHECK(mask_secrets("[\"-----BEGIN RSA PRIVATE KEY-----\",\"Mii\",{user,\"bob\"}]").find("bob") !=
          std::string::npos);
}

TEST_CASE("tokens of more issuers are masked by their form", "[redact]") {
    for (const char* token :
         {"shptka_0123456789abcdef0123456789abcdef", "1//0gAbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefghijklmnop",
          "rzp_live_0123456789abcd",
          "AAAA1234567:"
          "APA91b0123456789abcdefghijABCDEFGHIJ0123456789abcdefghijABCDEFGHIJ0123456789abcdefghijABCDEFGHIJ0123456789",
          "MTIzNDU2Nzg5MDEyMzQ1Njc4.GabcDE.abcdefghijklmnopqrstuvwxyz0", "xoxd-0123456789abcdefghij",
          "mdb_sa_sk_0123456789abcdefghijABCDEFGHIJ01"}) {
        INFO(token);
        const std::string shown = mask_secrets(std::string("{\"") + token + "\"}");
        CHECK(shown.find("***") != shown.npos);
        CHECK(shown.find("456789") == shown.npos);
    }
}

TEST_CASE("at full no number of a term is left, at values no list of characters with others in between", "[redact]") {
    const auto values = [](std::string_view text) { return mask_values(text, false, {1, 2}); };
    const auto full = [](std::string_view text) { return mask_values(text, false, {1, 2}, true); };
    for (const char* text : {"[72,0,117,0,115,0,104,0]", "[104,105,106|107]"})
        CHECK(values(text).find("chars #") != std::string::npos);
    CHECK(values("{72,117,115,104}") == "{72,117,115,104}");
    CHECK(values("[1,2,3,4,5,72,117]") == "[1,2,3,4,5,72,117]");
    CHECK(full("{72,117,115,104}") == "{'integer','integer','integer','integer'}");
    CHECK(full("[[72,117],[115|104]]") == "[['integer','integer'],['integer'|'integer']]");
    CHECK(full("{-5,1.5,1.0e-10,0x7fff1234}") == "{'integer','float','float','integer'}");
    for (const char* kept : {"fun lists:map/2", "#Fun<m.1.2>", "{<0.1.2>,#Ref<0.1.2.3>,<<12 bytes>>}"})
        CHECK(full(kept) == kept);
    const Redactor redactor{RedactOptions{.level = RedactLevel::full}};
    CHECK(redactor.apply("{ok,72,1.5}", Content::term) == "{ok,'integer','float'}");
}

TEST_CASE("secrets that are named by what stands beside them", "[redact]") {
    const auto hidden = [](const std::string& text) {
        return mask_secrets(text, {}).find("x1y2Z3w4") == std::string::npos;
    };
    for (const char* text :
         {R"({"name":"DB_PASSWORD","value":"x1y2Z3w4"})", R"({"value":"x1y2Z3w4","name":"password"})",
          R"(#{<<"name">> => <<"api_key">>,<<"value">> => <<"x1y2Z3w4">>})",
          "[{key,password},{value,<<\"x1y2Z3w4\">>}]", R"({"kty":"oct","k":"x1y2Z3w4"})",
          R"({{smtp,password},"x1y2Z3w4"})", R"(#{[db,password] => <<"x1y2Z3w4">>})",
          R"({["ldap","bind","password"],"x1y2Z3w4"})", R"({ejabberd_auth,check_password,[<<"bob">>,<<"x1y2Z3w4">>]})",
          "rabbitmqctl add_user bob x1y2Z3w4", "htpasswd -b /etc/f bob x1y2Z3w4", "api key: x1y2Z3w4",
          "INSERT INTO users (name, password) VALUES ('bob', 'x1y2Z3w4')", "GET /cb?code=x1y2Z3w4&state=1",
          R"({<<"WHERE token = $1">>,[<<"x1y2Z3w4">>]})", R"({"auths":{"r.io":{"auth":"YW5uOngxeTJaM3c0"}}})",
          "pbkdf2_sha256$260000$c2FsdHNhbHQ$x1y2Z3w4kJ9sd8fYw2Qz", "{dn_lookup_bind,{\"cn=admin\",\"x1y2Z3w4\"}}"}) {
        INFO(text);
        CHECK(hidden(text));
    }
    // SASL PLAIN, AMQPLAIN and STOMP as bytes; hexadecimal.
    for (const char* text :
         {"<<0,98,111,98,0,120,49,121,50>>", "<<0,80,65,83,83,87,79,82,68,83,0,0,0,4,120,49,121,50>>",
          "<<\"70617373776F72643D7831793261\">>"})
        CHECK(mask_secrets(text, {}) != text);
    for (const char* text : {R"({"name":"PORT","value":"8080"})", "{{state,7},\"x1y2Z3w4\"}",
                             "{vault,check_password,2}", "HTTP status code=404", "{lists,map,[<<\"x1y2Z3w4\">>]}",
                             "<<0,1,2,3,0,5>>", "VALUES (1, 2)", "{value,\"x1y2\"}", "costs $1 [a]"})
        CHECK(mask_secrets(text, {}) == text);
}
