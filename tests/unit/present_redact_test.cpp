// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <chrono>
#include <ctime>
#include <string>

#include "present/secrets/redact.hpp"
#include "present/secrets/redact_lex.hpp"
#include "present/secrets/secret_forms.hpp"

using namespace beamheap::present;

namespace {

constexpr std::array<std::uint64_t, 2> salt{1, 2};
std::string values(std::string_view text) { return mask_values(text, false, salt); }
std::string names(std::string_view text) { return mask_names(text, salt); }
std::string at_level(RedactLevel level, std::string_view text, Content content = Content::term) {
    RedactOptions options;
    options.level = level;
    options.salt = salt;
    return Redactor(options).apply(text, content);
}
bool hides(std::string_view shown, std::string_view secret) { return shown.find(secret) == shown.npos; }

}  // namespace

TEST_CASE("SipHash-2-4 agrees with its reference vectors", "[redact]") {
    const std::array<std::uint64_t, 2> key{0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull};
    std::string message;
    CHECK(keyed_hash(key, message) == 0x726fdb47dd0e0e31ull);
    for (char c = 0; c < 15; ++c) message += c;
    CHECK(keyed_hash(key, message) == 0xa129ca6149be45e5ull);
}

TEST_CASE("keys that name a secret", "[redact]") {
    for (const char* key :
         {"password", "PASSWORD", "db_password", "passwd", "secret", "secret_key_base", "api_key", "apiKey", "api-key",
          "x-auth-token", "accessToken", "cookie", "set_cookie", "authorization", "private_key", "session_id", "dsn"})
        CHECK(sensitive_key(key));
    for (const char* key :
         {"pass_through_count", "token_count", "password_policy", "cookie_ttl", "passive", "tokenizer", "secretary",
          "compass", "key", "id", "session", "auth", "monkey", "max_token_size"})
        CHECK_FALSE(sensitive_key(key));
}

TEST_CASE("values behind secret keys are masked, their shape stays", "[redact]") {
    CHECK(mask_secrets("#{password => <<\"hunter2\">>,user => <<\"bob\">>}") ==
          "#{password => <<\"***\">>,user => <<\"bob\">>}");
    CHECK(mask_secrets("[{password,\"hunter2\"},{port,5432}]") == "[{password,\"***\"},{port,5432}]");
    CHECK(mask_secrets("%{password: \"hunter2\", port: 5432}") == "%{password: \"***\", port: 5432}");
    CHECK(mask_secrets("%{\"api_key\" => \"abc\"}") == "%{\"api_key\" => \"***\"}");
    CHECK(mask_secrets("#{<<\"token\">> => <<1,2,3>>}") == "#{<<\"token\">> => <<\"***\">>}");
    CHECK(mask_secrets("{secret,abcdef,123}") == "{secret,'***','***'}");
    CHECK(mask_secrets("{:password, \"x\"}") == "{:password, \"***\"}");
    CHECK(mask_secrets("{auth,'PASSWORD',[{token,#{a => <<\"b\">>}}]}") == "{auth,'PASSWORD',[{token,'***'}]}");
    CHECK(mask_secrets("<<\"{\\\"password\\\":\\\"hunter2\\\",\\\"n\\\":1}\">>") ==
          "<<\"{\\\"password\\\":\\\"***\\\",\\\"n\\\":1}\">>");
    CHECK(mask_secrets("GET /x?token=abcdef&page=2") == "GET /x?token=***&page=2");
    CHECK(mask_secrets("Authorization: Bearer abc.def") == "Authorization: Bearer ***");
    CHECK(mask_secrets("{password,\"cut off he...") == "{password,\"***\"");
    CHECK(mask_secrets("{password,~c\"abc\"}") == "{password,\"***\"}");
}

TEST_CASE("what tells nothing stays readable", "[redact]") {
    CHECK(mask_secrets("Error when reading /srv/x/.erlang.cookie: eacces") ==
          "Error when reading /srv/x/.erlang.cookie: eacces");
    CHECK(mask_secrets("db.cookie: eacces") == "db.cookie: '***'");
    for (const char* text :
         {"{password,undefined}", "#{token => nil}", "{secret,<0.12.0>}", "#{cookie => []}", "#{token => <<>>}",
          "{token,#Ref<0.1.2.3>}", "password:check/1", "MyApp.Token.verify/2", "[password,secret]",
          "{token,#PID<0.1.2>}", "a password", "gen_server:call/3", "{ok,\"plain\"}", "password::type"})
        CHECK(mask_secrets(text) == text);
}

TEST_CASE("secrets are known by their form", "[redact]") {
    const std::string jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r";
    CHECK(mask_secrets("{ok,<<\"" + jwt + "\">>}") == "{ok,<<\"***\">>}");
    CHECK(mask_secrets("k AKIAIOSFODNN7EXAMPLE k") == "k *** k");
    CHECK(mask_secrets("[<<\"ghp_0123456789abcdefghijABCDEFGHIJ012345\">>]") == "[<<\"***\">>]");
    CHECK(mask_secrets("postgres://bob:hunter2@db/x") == "postgres://***@db/x");
    CHECK(mask_secrets("amqp://u:p@ss@h:5672") == "amqp://***@h:5672");
    CHECK(mask_secrets("http://example.com/a@b") == "http://example.com/a@b");
    CHECK(mask_secrets("<<\"-----BEGIN RSA PRIVATE KEY-----\\nMIIEow\\n-----END RSA PRIVATE KEY-----\\n\">>") ==
          "<<\"***\\n\">>");
    CHECK(mask_secrets("x <<\"-----BEGIN EC PRIVATE KEY-----\\nMIIEow...") == "x <<\"***");
    CHECK(mask_secrets("<<\"AKIAIOSFOD...") == "<<\"***...");  // cut before its end
    CHECK(mask_secrets("AKIAN") == "AKIAN");
}

TEST_CASE("each form of token is known, cut or whole; names that begin like one are not", "[redact]") {
    for (const SecretForm& form : secret_forms()) {
        INFO(form.prefix << " of " << form.issuer);
        std::string tail;
        for (std::size_t i = 0; i < form.least; ++i) tail += "aB3dE6gH9k"[i % 10];
        const std::string token = std::string(form.prefix) + tail;
        CHECK(mask_secrets("{ok,<<\"" + token + "\">>}") == "{ok,<<\"***\">>}");
        CHECK(mask_secrets("see " + token + ", please") == "see ***, please");
        CHECK(mask_secrets("<<\"" + token.substr(0, form.prefix.size() + 5) + "...") == "<<\"***...");
        CHECK(mask_secrets("x_" + token) == "x_" + token);
        const std::string name = std::string(form.prefix) + "worker";
        CHECK(mask_secrets("{" + name + ",1}") == "{" + name + ",1}");
    }
    for (const char* text :
         {"npm_install_everything_that_is_in_there", "sk-learn-tools-for-the-whole-family", "hf_worker", "dapi"})
        CHECK(mask_secrets(text) == text);
}

TEST_CASE("tokens with a mark in their midst or at their end", "[redact]") {
    const std::string random = "aB3dE6gH9kaB3dE6gH9kaB3dE6gH9kaB3dE6gH9kaB3dE6gH9kaB3dE6gH9kaB3dE6gH9k";
    const std::string hex = "0123456789abcdef0123456789abcdef";
    for (const std::string& token :
         {random.substr(0, 14) + ".atlasv1." + random.substr(0, 64), "a1_7Q~" + random.substr(0, 34),
          "7Bc8Q~" + random.substr(0, 31), random.substr(0, 6) + "_" + random.substr(0, 29) + "_mmk", hex + "-us12",
          "s." + random.substr(0, 24)}) {
        CHECK(mask_secrets("{ok,<<\"" + token + "\">>}") == "{ok,<<\"***\">>}");
        CHECK(mask_secrets("see " + token + ", please") == "see ***, please");
        CHECK(mask_secrets("x_" + token) == "x_" + token);
    }
    for (const char* text : {"s.handle_call_of_the_server/3", "s.abcdefghijklmnopqrstuvwx", "abcQ~",
                             "0123456789abcdef0123456789abcdef-us", "worker_0123456789_mmk", "atlasv1.x"})
        CHECK(mask_secrets(text) == text);
}

TEST_CASE("what commands are given, also where only one argument is seen", "[redact]") {
    CHECK(mask_secrets("net use \\\\h\\s /user:bob hunter2 /y") == "net use \\\\h\\s /user:bob *** /y");
    CHECK(mask_secrets("[\"net\",\"use\",\"/user:bob\",\"hunter2\"]") == "[\"net\",\"use\",\"/user:bob\",\"***\"]");
    CHECK(mask_secrets("wmic /user:bob /password:hunter2 x") == "wmic /user:bob /password:*** x");
    CHECK(mask_secrets("GET /user:bob HTTP") == "GET /user:bob HTTP");
    CHECK(mask_secrets("\"-pHunter2xVw\"") == "\"-p***\"");
    CHECK(mask_secrets("\"alice:Hunter2xVw\"") == "\"alice:***\"");
    CHECK(mask_secrets("<<\"alice:Hunter2xVw\">>") == "<<\"alice:***\">>");
    CHECK(mask_secrets("~c\"alice:Hunter2xVw\"") == "~c\"alice:***\"");
    for (const char* text :
         {"\"-pthread\"", "\"redis:7-alpine\"", "\"localhost:8080\"", "\"lists:map/2\"", "\"http://Host12345\"",
          "\"sha256:0123456789abcdef\"", "[\"alice:Hunter2xVw\"", "alice:Hunter2xVw"})
        CHECK(mask_secrets(text) == text);
}

TEST_CASE("a key of forty characters is one where it is cut, too", "[redact]") {
    CHECK(mask_secrets("{aws,\"wJalrXUtn5EMI/K7MDENG...") == "{aws,\"***...");
    for (const char* text : {"\"MyApp2Server3Handler4Worker...", "\"abcdefghijklmnopqrst...",
                             "\"0123456789abcdef0123...", "\"Elixir.Phoenix.Endpoint.Cowboy2Adapter..."})
        CHECK(mask_secrets(text) == text);
}

TEST_CASE("random bytes in base64 that are a literal of their own are keys", "[redact]") {
    const std::string bytes = "q7Rk2/PxV0sLm9TzB4hNwE+yJ8cUfD3oGaX1tZ6vKiSeMbQpYrHnWuC5dOjAlgFqT0xR2LkPz8VbNm4sJ7hWc3";
    for (const std::string& key :
         {bytes.substr(0, 43) + "=", bytes.substr(1, 43), bytes.substr(0, 64), bytes.substr(0, 86) + "=="}) {
        CHECK(mask_secrets("<<\"" + key + "\">>") == "<<\"***\">>");
        CHECK(mask_secrets("{a, \"" + key + "\"}") == "{a, \"***\"}");
    }
    for (const char* text : {"\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"",
                             "\"TheQuickBrownFoxJumpsOverTheLazyDogAndTheQuickBrownFoxJumpsAgain12\"",
                             "\"some_long_name_of_a_function_that_has_64_characters_in_all_AbC12_x\""})
        CHECK(mask_secrets(text) == text);
    CHECK(mask_secrets("[live_view: [signing_salt: \"aB3dE6gH\"]]") == "[live_view: [signing_salt: \"***\"]]");
}

TEST_CASE("short words that begin like a token are names", "[redact]") {
    for (const char* text : {"SKUNKWORKS", "SKYWALKER...", "API-GATEWAY", "{'API-GATEWAY',1}", "pat.Smith...",
                             "EAAServer", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"})
        CHECK(mask_secrets(text) == text);
}

TEST_CASE("numbers of payment cards have the right check digit", "[redact]") {
    for (const char* text : {"4111111111111111", "5555555555554444", "378282246310005", "4111 1111 1111 1111",
                             "4111-1111-1111-1111", "6011111111111117", "30569309025904", "2223003122003222"}) {
        CHECK(mask_secrets(text) == "'***'");
        CHECK(mask_secrets(std::string("{card,<<\"") + text + "\">>}") == "{card,<<\"'***'\">>}");
    }
    for (const char* text :
         {"4111111111111112", "1700000000000000000", "<0.4111111111111111.0>", "41111111111111111",
          "#Ref<0.4111111111111111.1>", "4.111111111111111", "9999999999999999", "{1,2,3}", "id4111111111111111"})
        CHECK(mask_secrets(text) == text);
    CHECK(mask_secrets("bot 123456789:AAabcdefghijklmnopqrstuvwxyz0123456 runs") == "bot '***' runs");
}

TEST_CASE("secrets whose key stands elsewhere", "[redact]") {
    // options of a command line, as a text and as a list
    CHECK(mask_secrets("erl -name a -setcookie AbC123 -noshell") == "erl -name a -setcookie *** -noshell");
    CHECK(mask_secrets("[\"-setcookie\",\"AbC123\",\"-noshell\"]") == "[\"-setcookie\",\"***\",\"-noshell\"]");
    CHECK(mask_secrets("[<<\"-setcookie\">>,<<\"AbC123\">>,<<\"x\">>]") ==
          "[<<\"-setcookie\">>,<<\"***\">>,<<\"x\">>]");
    CHECK(mask_secrets("{setcookie,[\"AbC123\"]}") == "{setcookie,'***'}");
    CHECK(mask_secrets("run --password hunter --port 1") == "run --password '***' --port 1");
    CHECK(mask_secrets("run --password --port 1") == "run --password --port 1");
    // a scheme without a key, also behind another masked word
    CHECK(mask_secrets("token=abc Bearer zzzzzz.yy") == "token=*** Bearer ***");
    CHECK(mask_secrets("got Bearer abc123def, then") == "got Bearer ***, then");
    CHECK(mask_secrets("the bearer of news") == "the bearer of news");
    CHECK(mask_secrets("Basic dXNlcjpodW50ZXIy") == "Basic ***");
    CHECK(mask_secrets("AUTH PLAIN AHVzZXIAaHVudGVyMg==") == "AUTH PLAIN ***");
    CHECK(mask_secrets("Basic knowledge") == "Basic knowledge");
    // pairs of keys, and keys in the midst
    CHECK(mask_secrets("{{password,\"bob\"},\"hunter2\"}") == "{{password,\"***\"},\"***\"}");
    CHECK(mask_secrets("[{{password,7},<<\"hunter2\">>},{a,<<\"b\">>}]") ==
          "[{{password,'***'},<<\"***\">>},{a,<<\"b\">>}]");
    CHECK(mask_secrets("{http_header,7,'Authorization',undefined,\"abc\"}") ==
          "{http_header,7,'Authorization',undefined,\"***\"}");
    CHECK(mask_secrets("{http_header,7,'Authorization',<<\"authorization\">>,<<\"abc\">>}").find("abc") ==
          std::string::npos);
    CHECK(mask_secrets("{h,7,'Authorization',u,\"" + std::string(2000, 'k') + "\",x}") ==
          "{h,7,'Authorization',u,\"***\",x}");
    CHECK(mask_secrets("[id,password,\"name\"]") == "[id,password,\"name\"]");
    // elements of an iolist
    CHECK(mask_secrets("[\"password=\",<<\"hunter2\">>,\"&x=1\"]") == "[\"password=\",<<\"***\">>,\"&x=1\"]");
    CHECK(mask_secrets("[\"Authorization: Bearer \"|<<\"abc\">>]") == "[\"Authorization: Bearer \"|<<\"***\">>]");
    CHECK(mask_secrets("[\"Authorization: Bearer \" | \"abc\"]") == "[\"Authorization: Bearer \" | \"***\"]");
    CHECK(mask_secrets("[<<\"Bearer \">>, <<\"abc\">>]") == "[<<\"Bearer \">>, <<\"***\">>]");
    CHECK(mask_secrets("#{authorization => <<\"Bearer abc\">>,x => <<\"y\">>}") ==
          "#{authorization => <<\"***\">>,x => <<\"y\">>}");  // a pair beside it is no part of it
    CHECK(mask_secrets("[<<\"token\">>,61,<<\"abc\">>]") == "[<<\"token\">>,61,<<\"***\">>]");
    CHECK(mask_secrets("[\"password\",\": \",\"abc\"]") == "[\"password\",\": \",\"***\"]");
    // numbers
    CHECK(mask_secrets("#{pin_code => 4711,password => 12345678}") == "#{pin_code => '***',password => '***'}");
    CHECK(mask_secrets("%{card_number: 1234, cvv: \"123\"}") == "%{card_number: '***', cvv: \"***\"}");
    // addresses and connection strings
    CHECK(mask_secrets("https://h/x?sv=1&sig=aB%2Bc&se=2") == "https://h/x?sv=1&sig=***&se=2");
    CHECK(mask_secrets("AccountName=a;AccountKey=aB/c==;Suffix=x") == "AccountName=a;AccountKey=***;Suffix=x");
}

TEST_CASE("secrets in what is printed as numbers", "[redact]") {
    const auto numbers = [](std::string_view text, const char* open, const char* close) {
        std::string out = open;
        for (const char c : text) out += std::to_string(static_cast<unsigned char>(c)) + ",";
        out.back() = ' ';
        out.pop_back();
        return out + close;
    };
    const std::string header("Authorization: Bearer aB3.dE6\0", 30);
    CHECK(mask_secrets(numbers(header, "<<", ">>")) == "<<\"***\">>");
    CHECK(mask_secrets("{a," + numbers("password=hunter2\xff", "[", "]") + "}") == "{a,\"***\"}");
    CHECK(mask_secrets(numbers("token=abc", "<<", ",3:4>>")) == "<<\"***\">>");
    CHECK(mask_secrets(numbers("token=abcdef", "[", "...")).find("97") == std::string::npos);
    const std::string plain = numbers("just some text", "<<", ">>");
    CHECK(mask_secrets(plain) == plain);
    CHECK(mask_secrets(numbers("xKQWERTZUIOPASDFG", "<<", ">>"), {"KQWERTZUIOPASDFG"}) == "<<\"***\">>");
}

TEST_CASE("log messages: a sensitive word, and a word that is hardly written", "[redact]") {
    CHECK(mask_secrets("login with password hunter2 failed") == "login with password *** failed");
    CHECK(mask_secrets("password for bob is hunter2.") == "password for bob is ***.");
    CHECK(mask_secrets("the new password is \\\"x y\\\"") == "the new password is \\\"***\\\"");
    CHECK(mask_secrets("[\"the password of bob is \",\"xyz\"]") == "[\"the password of bob is \",\"***\"]");
    CHECK(mask_secrets("secret of alice was 471147") == "secret of alice was ***");
    for (const char* text :
         {"password check failed", "a token of the parser", "the cookie is missing", "no password was given by bob",
          "secret santa", "cookie mismatch", "token is expired", "password"})
        CHECK(mask_secrets(text) == text);
}

TEST_CASE("the placeholder of a text that a copy holds stays what it is", "[redact]") {
    const std::string once = values("{\"to a name\",1}");
    CHECK(once.starts_with("{\"9 chars #"));
    CHECK(values(once) == once);
    CHECK(values("{\"9 chars #00000g\"}") != "{\"9 chars #00000g\"}");
    CHECK(values("{\"x9 chars #000000\"}") != "{\"x9 chars #000000\"}");
}

TEST_CASE("secrets in texts that are built of pieces", "[redact]") {
    CHECK(mask_secrets("[\"password=\",[<<>>,[<<\"hunter2\">>]]]").find("hunter2") == std::string::npos);
    CHECK(mask_secrets("[[\"password\"],\"=\",[\"\",<<\"hunter2\">>],\"&x=1\"]") ==
          "[[\"password\"],\"=\",[\"\",<<\"***\">>],\"&x=1\"]");
    CHECK(mask_secrets("[[[<<\"Authorization: \">>],\"Bearer \"],[<<\"hunter2\">>]]") ==
          "[[[<<\"Authorization: \">>],\"Bearer \"],[<<\"***\">>]]");
    CHECK(mask_secrets("[password,58,104,117,110]") == "[password,58,\"***\"]");
    CHECK(mask_secrets("[:password, 58, ~c\"hunter2\"]") == "[:password, 58, ~c\"***\"]");
    CHECK(mask_secrets("[\"pass\",\"word=\",<<\"hunter2\">>]") == "[\"pass\",\"word=\",<<\"***\">>]");
    CHECK(mask_secrets("[112,97,115,115,119,111,114,100,61|<<\"hunter2\">>]") ==
          "[112,97,115,115,119,111,114,100,61|<<\"***\">>]");
    CHECK(mask_secrets("{a,[{b,c},[token,\"=\",<<\"hun\">>,\"ter2\"],{d}]}") ==
          "{a,[{b,c},[token,\"=\",<<\"***\">>,\"***\"],{d}]}");
    CHECK(mask_secrets("[\"x\",[\"token=\",\"hunt").find("hunt") == std::string::npos);
    CHECK(mask_secrets("[\"a KQWERTZ\",<<\"UIOPASDFG b\">>]", {"KQWERTZUIOPASDFG"}) == "[\"a ***\",<<\"*** b\">>]");
    CHECK(mask_secrets("[[\"password=\",[<<\"hunter1\">>]],[[\"password\"],\"=\",[[],<<\"hunter2\">>]]]")
              .find("hunter") == std::string::npos);
    CHECK(mask_secrets("[\"mysql -uroot -phunter1 shop\",\"openssl rsa -passin pass:hunter2 -in k\"]").find("hunter") ==
          std::string::npos);
    // a list of tokens is no text: each is one by itself
    const std::string token = "dop_v1_" + std::string(64, 'A'), other = "hvs." + std::string(26, 'B');
    CHECK(mask_secrets("[\"" + token + "\",\"" + other + "\"]") == "[\"***\",\"***\"]");
    for (const char* text : {"[id,password,\"name\"]", "[\"token\",\"count\"]", "[{password_policy,3}]",
                             "[info] token of x", "[[1,2],[3,4,5]]", "[\"a\",\"b\"|c]", "[<<12 bytes #a1b2c3>>,\"x\"]",
                             "[", "[[[", "]", "[a", "[\"", "[<<", "[~c\""})
        CHECK(mask_secrets(text) == text);
}

TEST_CASE("secrets that follow what asks for them", "[redact]") {
    for (const char* text : {"curl -u alice:hunter2 https://h/x",
                             "[\"curl\",\"-u\",\"alice:hunter2\"]",
                             "[~c\"curl\", ~c\"-u\", ~c\"alice:hunter2\"]",
                             "[{args,[\"-u\",\"bob:hunter2\"]}]",
                             "x --user=bob:hunter2",
                             "mysql -uroot -phunter2 shop",
                             "[\"mysqldump\",\"-uroot\",\"-phunter2\"]",
                             "sshpass -p hunter2 ssh x",
                             "redis-cli -h x -a hunter2",
                             "ldapsearch -D cn=x -w hunter2",
                             "docker login -u x -p hunter2",
                             "PGPASSWORD=hunter2 psql",
                             "{\"PGPASSWORD\",\"hunter2\"}",
                             "[{~c\"PGPASSWORD\", ~c\"hunter2\"}]",
                             "openssl rsa -passin pass:hunter2 -in k",
                             "AUTH hunter2",
                             "[<<\"AUTH\">>,<<\"hunter2\">>]",
                             "<<\"*2\\r\\n$4\\r\\nAUTH\\r\\n$7\\r\\nhunter2\\r\\n\">>",
                             "[\"AUTH\",\"bob\",\"hunter2\"]",
                             "<<\"USER bob\\r\\nPASS hunter2\\r\\n\">>",
                             "<<\"a1 LOGIN bob hunter2\\r\\n\">>",
                             "ALTER USER x IDENTIFIED BY 'hunter2'",
                             "CREATE ROLE x LOGIN PASSWORD 'hunter2'",
                             "<<\"Cookie: a=1; sid=hunter2; theme=dark\\r\\nHost: x\">>",
                             "Authorization: Digest username=\\\"bob\\\", response=\\\"hunter2\\\"",
                             "Authorization: AWS4-HMAC-SHA256 Credential=x, Signature=hunter2",
                             "{basic,\"alice\",\"hunter2\"}",
                             "{:basic, ~c\"alice\", ~c\"hunter2\"}",
                             "{auth,{basic,<<\"alice\">>,<<\"hunter2\">>}}",
                             "{proxy_auth,{\"u\",\"hunter2\"}}",
                             "#{auth => {basic,<<\"u:hunter2\">>}}",
                             "{plain,<<\"kafka\">>,<<\"hunter2\">>}",
                             "{scram_sha_256,<<\"kafka\">>,<<\"hunter2\">>}",
                             "{scram,<<\"hunter2\">>,<<\"b\">>,<<\"c\">>,4096}",
                             "{login,<<\"bob\">>,<<\"hunter2\">>}",
                             "{amqp_params_network,<<\"guest\">>,<<\"hunter2\">>,<<\"/\">>,\"host\",5672}",
                             "{'RSAPrivateKey','two-prime',17,<<\"hunter2\">>}",
                             "https://discord.com/api/webhooks/123/hunter2",
                             "https://x.webhook.office.com/webhookb2/hunter2/y",
                             "jdbc:oracle:thin:scott/hunter2@db:1521:x",
                             "%{\"cookies\" => %{\"sid\" => \"hunter2\"}}",
                             "%{\"sid\" => \"hunter2\"}",
                             "#{dbpassword => <<\"hunter2\">>}",
                             "{:header, ~c\"x-api-key\", ~c\"hunter2\"}",
                             "<add key=\\\"Password\\\" value=\\\"hunter2\\\"/>",
                             "<wsse:Password Type=\\\"text\\\">hunter2</wsse:Password>",
                             "<<\"password: |\\n  hunter2\">>",
                             "password%3Dhunter2%26x",
                             "{security_parameters,<<0,1>>,1,<<\"hunter2\">>}",
                             "#{recovery_codes => [<<\"hunter2\">>]}"})
        CHECK(mask_secrets(text).find("hunter2") == std::string::npos);
    CHECK(mask_secrets("curl -u alice:hunter2 https://h/x") == "curl -u alice:*** https://h/x");
    CHECK(mask_secrets("{amqp_params_network,<<\"guest\">>,<<\"hunter2\">>,<<\"/\">>,\"host\",5672}") ==
          "{amqp_params_network,<<\"guest\">>,<<\"***\">>,<<\"/\">>,\"host\",5672}");
    for (const char* text : {"docker run -u 1000:1000 -p 8080:80 x",
                             "mkdir -p /a/b",
                             "ps -u root",
                             "erl -user a -p 7",
                             "grep -p x",
                             "LOGIN failed",
                             "AUTH PLAIN LOGIN",
                             "syntax error: unexpected token 'x'",
                             "{plain,\"text\"}",
                             "{plain,<<\"text\">>,7}",
                             "{login,<<\"bob\">>}",
                             "{auth,ok,[]}",
                             "{basic,1,2}",
                             "{digest,<<1,2,3>>}",
                             "PASS",
                             "x AUTH y z",
                             "the cookie: none",
                             "-u",
                             "\"-u\",",
                             "costs $1 and $2",
                             "a thin:line",
                             "<a:b>text</a:b>",
                             "{scram,x}"})
        CHECK(mask_secrets(text) == text);
}

TEST_CASE("hashes of passwords, private keys and Amazon's secret keys have no key of their own", "[redact]") {
    CHECK(mask_secrets("{x,<<\"$2b$12$LJ3m4ys3Lk0TSwHjpVRdO.aBcDeF\">>}") == "{x,<<\"***\">>}");
    CHECK(mask_secrets("$argon2id$v=19$m=65536,t=3$c2FsdA$aGFzaA") == "***");
    CHECK(mask_secrets("\"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\"") == "\"***\"");
    CHECK(mask_secrets("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC== x") == "*** x");
    CHECK(mask_secrets("<<48,130,4,189,2,1,0,48,13,6,9>>") == "<<\"***\">>");
    CHECK(mask_secrets("https://api.telegram.org/bot123456789:" + std::string(35, 'A') + "/send").find("AAAA") ==
          std::string::npos);
    for (const char* text : {"da39a3ee5e6b4b0d3255bfef95601890afd80709", "MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkq",
                             "<<48,130,3,119,48,130,2,95>>", "$1 each", "ThisIsAVeryLongModuleNameOfFortyLetters1",
                             "/usr/lib/erlang/lib/kernel-8.5.3/ebin/a"})
        CHECK(mask_secrets(text) == text);
    CHECK(is_private_key("\x30\x2e\x02\x01" + std::string(1, '\0') + "\x30\x05"));
    CHECK_FALSE(is_private_key("\x30\x2e\x02\x01"));
    CHECK_FALSE(is_private_key(""));
}

TEST_CASE("what a cut leaves of a known secret is masked", "[redact]") {
    const std::vector<std::string> secrets{"KQWERTZUIOPASDFG"};
    CHECK(mask_known("<<\"KQWERTZU...", secrets) == "<<\"***...");
    CHECK(mask_known("x KQWERTZ... y", secrets) == "x ***... y");
    CHECK(mask_known("<<\"ZUIOPASDFG\">>", secrets) == "<<\"***\">>");
    CHECK(mask_known("KQW...", secrets) == "KQW...");
    CHECK(mask_known("<<\"FG\">>", secrets) == "<<\"FG\">>");
}

TEST_CASE("known secrets are masked wherever they are", "[redact]") {
    const std::vector<std::string> secrets{"KQWERTZUIOPASDFG", "abc"};
    CHECK(mask_known("{auth,'KQWERTZUIOPASDFG'} xKQWERTZUIOPASDFGx", secrets) == "{auth,'***'} x***x");
    CHECK(mask_known("abc abcd {abc}", secrets) == "*** abcd {***}");
    CHECK(mask_known("nothing", {}) == "nothing");
}

TEST_CASE("placeholders are of a salt that is drawn, or of a secret that the caller has", "[redact]") {
    const auto shown = [](const Salt& salt) { return mask_values("{<<\"abc\">>,<<\"abc\">>}", false, salt); };
    CHECK(salt_of_run() == salt_of_run());
    CHECK(salt_of_run() != Salt{});
    CHECK(RedactOptions{}.salt == salt_of_run());
    CHECK(shown(salt_of("a secret of mine")) == shown(salt_of("a secret of mine")));
    CHECK(shown(salt_of("a secret of mine")) != shown(salt_of("a secret of Mine")));
    CHECK(salt_of("a secret of mine")[0] != salt_of("a secret of mine")[1]);
    const Redactor full{RedactOptions{.level = RedactLevel::full}}, values{RedactOptions{.level = RedactLevel::values}};
    CHECK(full.apply("ecc35c0cb1a98d7d", Content::fingerprint) != "ecc35c0cb1a98d7d");
    CHECK(full.apply("ecc35c0cb1a98d7d", Content::fingerprint).size() == 16);
    CHECK(values.apply("ecc35c0cb1a98d7d", Content::fingerprint) == "ecc35c0cb1a98d7d");
}

TEST_CASE("a text filed under a secret key is masked as a whole", "[redact]") {
    const Redactor redactor{RedactOptions{}};
    CHECK(redactor.apply("\"hunter2\"", Content::term, "password") == "'***'");
    CHECK(redactor.apply("\"bob\"", Content::term, "user") == "\"bob\"");
    RedactOptions none;
    none.level = RedactLevel::none;
    CHECK(Redactor(none).apply("\"hunter2\"", Content::term, "password") == "\"hunter2\"");
}

TEST_CASE("values: strings, binaries, charlists and big integers become placeholders", "[redact]") {
    const std::string shown =
        values("{user,<<\"alice@example.com\">>,\"secret text\",[104,101,108,108,111],4111111111111111,42,ok,<0.1.2>}");
    CHECK(hides(shown, "alice"));
    CHECK(hides(shown, "text"));
    CHECK(hides(shown, "104,"));  // the digits alone may be of a placeholder
    CHECK(hides(shown, "4111111"));
    CHECK(shown.find("{user,<<17 bytes #") == 0);
    CHECK(shown.find("\"11 chars #") != shown.npos);
    CHECK(shown.find("\"5 chars #") != shown.npos);
    CHECK(shown.find(",42,ok,<0.1.2>}") != shown.npos);
    CHECK(values("<<\"same\">>") == values("<<\"same\">>"));
    CHECK(values("<<\"same\">>") != values("<<\"sane\">>"));
    CHECK(mask_values("<<\"same\">>", false, salt) != mask_values("<<\"same\">>", false, {3, 4}));
    CHECK(values("<<1,2,3>>").find("<<3 bytes #") == 0);
    CHECK(values("<<\"a\\\"b\",0>>").find("<<4 bytes #") == 0);
    CHECK(values("<<\"cut off...").find("<<at least ") == 0);
    CHECK(hides(values("\"cut off"), "cut"));
}

TEST_CASE("values keep references, floats, short lists and what has no value", "[redact]") {
    for (const char* text :
         {"#Ref<0.505260167.3853910018.16091>", "[1,2,3]", "[80,443]", "1.5e10", "<<>>", "\"\"", "'quoted \" atom'",
          "#{a => 1}", "<<1024 bytes, not in the dump>>", "#Fun<erl_eval.44.65746770>", "{'a b',4294967295}",
          "0x00007f9c12345678", "#Port<0.5>", "{\"***\",<<\"***\">>}"})
        CHECK(values(text) == text);
}

TEST_CASE("free text is masked only in the terms that it quotes", "[redact]") {
    const std::string memory = "eheap_alloc: Cannot allocate 318267088 bytes of memory (of type \"heap\").";
    CHECK(at_level(RedactLevel::values, memory, Content::message) == memory);
    const std::string boot =
        at_level(RedactLevel::values, "init terminating in do_boot ({{badmatch,{error,\"the text\"}},[{a,b,2,[]}]})",
                 Content::message);
    CHECK(hides(boot, "the text"));
    CHECK(boot.find("{{badmatch,{error,\"8 chars #") != boot.npos);
    CHECK(hides(at_level(RedactLevel::values, "don't say {\"it's\",<<\"abc\">>}", Content::message), "abc"));
}

TEST_CASE("full: names that are not OTP's become pseudonyms", "[redact]") {
    CHECK(names("gen_server:loop/7") == "gen_server:loop/7");
    CHECK(names("{ok,undefined,'$gen_call'}") == "{ok,undefined,'$gen_call'}");
    const std::string shown = names("my_shop:handle_payment/2");
    CHECK(hides(shown, "shop"));
    CHECK(hides(shown, "payment"));
    CHECK(shown.find("x_") == 0);
    CHECK(shown.find("/2") != shown.npos);
    CHECK(hides(names("'Elixir.MyShop.Worker':init/1"), "MyShop"));
    CHECK(hides(names("MyShop.Worker.init/1"), "MyShop"));
    CHECK(names("lists:my_own/1") == "lists:my_own/1");
    CHECK(names("my_shop") == names("my_shop"));
    const std::string twice = at_level(RedactLevel::full, "{my_shop,<<\"abc\">>,{password,\"x\"}}");
    CHECK(hides(twice, "shop"));
    CHECK(twice.find("<<3 bytes #") != twice.npos);
    CHECK(twice.find("\"***\"") != twice.npos);
    RedactOptions options;
    options.level = RedactLevel::full;
    // In free text of the node every word of its names counts; what is ours is no such text.
    options.private_names = {"shop_sup", "lists",      "Elixir.MyShop.Carts", "Elixir.Ag", "shop@host1.shop.warehouse",
                             "waits",    "handle_pay", "Elixir.GenServer"};
    const Redactor redactor(options);
    CHECK(redactor.apply("shop_sup waits in lists", Content::plain) == "shop_sup waits in lists");
    const std::string spoken = redactor.apply(
        "MyShop.Carts #PID<0.1.0> waits in GenServer.handle_pay/3 and 'Elixir.MyShop.Carts':handle_pay/1 "
        "for Ag of shop@host1.shop.warehouse and shop_sup",
        Content::message);
    for (const char* word : {"MyShop", "Carts", "Ag", "host1", "warehouse", "waits", "shop_sup"})
        CHECK(hides(spoken, word));
    CHECK(spoken.find(" in GenServer.handle_pay/3 and ") != spoken.npos);
    CHECK(spoken.find("':handle_pay") == spoken.npos);
    CHECK(hides(names("Ag"), "Ag"));
    CHECK(names("x") == "x");
    // What a slogan says of the node's own is known by how it is written and by where it stands.
    const auto in_slogan = [](std::string_view text) {
        RedactOptions of_slogan;
        of_slogan.level = RedactLevel::full;
        of_slogan.private_names = identifiers_of(text);
        return Redactor(of_slogan).apply(text, Content::message);
    };
    for (const char* own :
         {"stop of order_cache", "stop of orders12", "stop of myShop", "{shutdown,orders}",
          "Illegal library /srv/ann/rel", "Release hive uses non existing application hive", "nodedown shop@site"}) {
        const std::string shown = in_slogan(own);
        for (const char* word : {"order", "myShop", "ann", "hive", "site"}) CHECK(hides(shown, word));
    }
    for (const char* ours :
         {"Crash dump requested by user", "init terminating in do_boot ()", "Received SIGUSR1",
          "Kernel pid terminated (application_controller)",
          "eheap_alloc: Cannot allocate 441485240 bytes of memory (of type \"old_heap\", thread 2)."})
        CHECK(in_slogan(ours) == ours);
    // Names that begin with a digit are names; numbers are not, nor what stands for the changing part of a pattern.
    CHECK(hides(names("13a236ab-ctl-shop@db1"), "13a236ab"));
    CHECK(names("{12,16#ff,1.0e10}") == "{12,16#ff,1.0e10}");
    CHECK(names("<hex8>-<int>") == "<hex8>-<int>");
    // Elixir's quoted atoms are names, not values.
    CHECK(at_level(RedactLevel::values, "{:\"$gen_call\", \"a secret\", token:\"abcdef\"}").find(":\"$gen_call\"") ==
          1);
    CHECK(hides(at_level(RedactLevel::values, "{:\"$gen_call\", \"a secret\"}"), "secret"));
    CHECK(hides(at_level(RedactLevel::values, "{msg:\"a tale\"}"), "tale"));
    CHECK(names("{:\"$gen_call\", #Reference<0.1.2.3>}") == "{:\"$gen_call\", #Reference<0.1.2.3>}");
    CHECK(hides(names(":\"my-shop\""), "shop"));
}

TEST_CASE("none shows everything", "[redact]") {
    CHECK(at_level(RedactLevel::none, "{password,\"hunter2\"}") == "{password,\"hunter2\"}");
}

TEST_CASE("redaction takes time in proportion to its input, whatever the input", "[redact][slow]") {
    const auto repeat = [](std::string_view what, std::size_t bytes) {
        std::string text;
        while (text.size() < bytes) text += what;
        return text;
    };
#if defined(__SANITIZE_ADDRESS__)
    constexpr std::size_t bytes = 1 << 17;
#else
    constexpr std::size_t bytes = 1 << 18;
#endif
    const std::vector<std::string> known{"KQWERTZUIOPASDFG"};
    for (const std::string_view hostile : {"-----BEGIN \"",
                                           "-----BEGIN ",
                                           "eyJ-",
                                           "eyJ.",
                                           "://",
                                           "://a",
                                           "password => #",
                                           "password=<",
                                           "{password,",
                                           "[[[[",
                                           "<<",
                                           "\"",
                                           "'",
                                           "token: \\\"",
                                           "[1,2,",
                                           "KQWERTZUIOPASDF",
                                           "KQWERTZ...",
                                           "\"ASDFG",
                                           "{a,password,",
                                           "{{password,",
                                           "\"password=\",",
                                           "password for x is ",
                                           "[1,[1,",
                                           "<<91,49,44,91,",
                                           "Bearer \"|",
                                           "--password ",
                                           "4111-1111-",
                                           "PLAIN AAAA",
                                           "\"token\",61,",
                                           "{secret,[",
                                           "a-",
                                           "#Ref<",
                                           "<0.",
                                           "password => %",
                                           "\\",
                                           "~c\"",
                                           "123456789012345",
                                           "password=Bearer ",
                                           "[\"a\",",
                                           "[[a],",
                                           "[a|[",
                                           "[91,97,44,",
                                           "[x,[\"token=\",b],{",
                                           "-u ",
                                           "mysql -p",
                                           " --user",
                                           "{basic,",
                                           "{login,\"a\",",
                                           "AUTH ",
                                           "a LOGIN ",
                                           "$2b$",
                                           "Cookie: a",
                                           "MIIaaaIBA",
                                           "thin:",
                                           "<password ",
                                           "password%3D",
                                           "IDENTIFIED BY "}) {
        const std::string text = repeat(hostile, bytes);
        const std::clock_t start = std::clock();  // of this process: a busy machine must not fail the test
        const std::string shown = values(names(mask_secrets(mask_known(text, known))));
        const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        INFO("input: " << hostile);
        // Quadratic work on so much takes many seconds; linear work, even under a sanitizer, far less than this.
        CHECK(seconds < 2);
        CHECK(shown.size() < 16 * bytes);
    }
}

TEST_CASE("a term that was printed within a string is hidden as one that was not", "[redact]") {
    // application_controller's reason is a string when the VM prints it.
    const std::string slogan =
        R"(Kernel pid terminated (application_controller) ("{application_start_failure,shop,{bad,[<<\"the town\">>,\"the river\",{deep,\"a \\\"quoted\\\" lake\"}]},{port,5432}}"))";
    const std::string shown = at_level(RedactLevel::values, slogan, Content::message);
    for (const char* word : {"town", "river", "lake", "quoted"}) CHECK(hides(shown, word));
    CHECK(shown.starts_with(
        "Kernel pid terminated (application_controller) (\"{application_start_failure,shop,{bad,[<<8 bytes #"));
    CHECK(shown.ends_with("{port,5432}}\")"));
    // Cut in the middle, as the VM cuts long ones; and strings within strings, however many.
    CHECK(hides(at_level(RedactLevel::values, slogan.substr(0, slogan.find("river") + 3), Content::message), "riv"));
    std::string nested = "{\"the town\"}";
    for (int i = 0; i < 8; ++i) {
        std::string quoted = "(\"";
        for (const char c : nested) quoted += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
        nested = quoted + "\")";
        CHECK(hides(at_level(RedactLevel::values, nested, Content::message), "town"));
    }
    // Free text in quotes stays readable.
    CHECK(at_level(RedactLevel::values, "it says \"no such file\"", Content::message) == "it says \"no such file\"");
    for (const RedactLevel level : {RedactLevel::secrets, RedactLevel::values, RedactLevel::full}) {
        CHECK(
            hides(at_level(level, R"(Kernel pid terminated (a) ("{failed,{password,\"hunter2\"}}"))", Content::message),
                  "hunter2"));
        CHECK(hides(at_level(level, R"(Kernel pid terminated (a) ("{failed,#{<<\"api_key\">> => <<\"hunter2\">>}}"))",
                             Content::message),
                    "hunter2"));
        CHECK(hides(at_level(level, R"(Kernel pid terminated (a) ("{failed,[{\"token\",<<\"hunter2\">>},{x,1}]}"))",
                             Content::message),
                    "hunter2"));
        CHECK(hides(at_level(level, R"(Kernel pid terminated (a) ("{failed,\"postgres://shop:hunter2@db/shop\"}"))",
                             Content::message),
                    "hunter2"));
        CHECK(
            hides(at_level(level, R"(Kernel pid terminated (a) ("{failed,[{password,[104,117,110,116,101,114,50]}]}"))",
                           Content::message),
                  "104,117"));
        CHECK(hides(
            at_level(level, R"(Kernel pid terminated (a) ("{failed,%{password: \"hunter2\"}}"))", Content::message),
            "hunter2"));
        CHECK(hides(at_level(level, R"(** (Mix) Could not start application shop: %{"secret_key_base" => "hunter2"})",
                             Content::message),
                    "hunter2"));
        CHECK(hides(at_level(level, R"({bad_return,{{shop,start,[normal,[{dsn,\"hunter2\"}]]},{'EXIT',{badarg,[]}}}})",
                             Content::message),
                    "hunter2"));
    }
}

TEST_CASE("keys and values as Elixir, XML and texts with line ends write them", "[redact]") {
    for (const char* text :
         {R"(%{password: :"Hunter 2"})", R"({:"$my_token", 'Hunter2'})", R"(%{"_csrf_token" => "Hunter2"})",
          R"("Host: a\r\n\r\npassword=Hunter2")", R"("<password>Hunter2</password>")",
          R"(%{auth: %{bearer: "Hunter2"}})", R"("postgres://shop:Hunter2...")", R"(["password", 58, " ", "Hunter2"])",
          R"(%URI{userinfo: "shop:Hunter2"})", R"("https://hooks.slack.com/services/T00000000/B00000000/Hunter2")",
          R"("bindpw=Hunter2")"})
        CHECK(hides(at_level(RedactLevel::secrets, text), "Hunter"));
    CHECK(at_level(RedactLevel::secrets, R"("http://host:8080...")") == R"("http://host:8080...")");
    CHECK(at_level(RedactLevel::secrets, R"("one\nnothing two")") == R"("one\nnothing two")");
    RedactOptions options;
    options.level = RedactLevel::secrets;
    Text shape;  // pieces of one term: the key in one, the value in another
    shape.add("a tuple {").add(":api_key", Content::term).add(", ").add("\"Hunter2...\"", Content::term).add("}");
    CHECK(hides(Redactor(options).apply(shape), "Hunter"));
}

TEST_CASE("what stands within a printed string is read and written back", "[redact]") {
    const std::string inside = R"({failed,\"a\\tb\",\"c\td\r\n\e\"})";
    CHECK(lex::unescaped(inside) == "{failed,\"a\\tb\",\"c\td\r\n\x1b\"}");
    CHECK(lex::escaped(lex::unescaped(inside)) == inside);
    CHECK(lex::unescaped("cut\\") == "cut\\");
}
