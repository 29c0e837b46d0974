#include <catch2/catch.hpp>
#include <chrono>
#include <ctime>
#include <string>

#include "present/redact.hpp"

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
    CHECK(mask_secrets("Error when reading /srv/x/.erlang.cookie: eacces") == "Error when reading /srv/x/.erlang.cookie: eacces");
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

TEST_CASE("known secrets are masked wherever they are", "[redact]") {
    const std::vector<std::string> secrets{"KQWERTZUIOPASDFG", "abc"};
    CHECK(mask_known("{auth,'KQWERTZUIOPASDFG'} xKQWERTZUIOPASDFGx", secrets) == "{auth,'***'} x***x");
    CHECK(mask_known("abc abcd {abc}", secrets) == "*** abcd {***}");
    CHECK(mask_known("nothing", {}) == "nothing");
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
    CHECK(hides(shown, "104"));
    CHECK(hides(shown, "4111"));
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
    options.private_names = {"shop_sup", "lists", "Elixir.MyShop.Carts", "Elixir.Ag", "shop@db1.shop.warehouse",
                             "waits", "handle_pay", "Elixir.GenServer"};
    const Redactor redactor(options);
    CHECK(redactor.apply("shop_sup waits in lists", Content::plain) == "shop_sup waits in lists");
    const std::string spoken =
        redactor.apply("MyShop.Carts #PID<0.1.0> waits in GenServer.handle_pay/3 and 'Elixir.MyShop.Carts':handle_pay/1 "
                       "for Ag of shop@db1.shop.warehouse and shop_sup", Content::message);
    for (const char* word : {"MyShop", "Carts", "Ag", "db1", "warehouse", "waits", "shop_sup"})
        CHECK(hides(spoken, word));
    CHECK(spoken.find(" in GenServer.handle_pay/3 and ") != spoken.npos);
    CHECK(spoken.find("':handle_pay") == spoken.npos);
    CHECK(hides(names("Ag"), "Ag"));
    CHECK(names("x") == "x");
    // Names that begin with a digit are names; numbers are not, nor what stands for the changing part of a pattern.
    CHECK(hides(names("13a236ab-ctl-shop@db1"), "13a236ab"));
    CHECK(names("{12,16#ff,1.0e10}") == "{12,16#ff,1.0e10}");
    CHECK(names("<hex8>-<int>") == "<hex8>-<int>");
    // Elixir's quoted atoms are names, not values.
    CHECK(at_level(RedactLevel::values, "{:\"$gen_call\", \"a secret\", token:\"abcdef\"}").find(":\"$gen_call\"") == 1);
    CHECK(hides(at_level(RedactLevel::values, "{:\"$gen_call\", \"a secret\"}"), "secret"));
    CHECK(hides(at_level(RedactLevel::values, "{msg:\"a tale\"}"), "tale"));
    CHECK(names("{:\"$gen_call\", #Reference<0.1.2.3>}") == "{:\"$gen_call\", #Reference<0.1.2.3>}");
    CHECK(hides(names(":\"my-shop\""), "shop"));
}

TEST_CASE("none shows everything", "[redact]") {
    CHECK(at_level(RedactLevel::none, "{password,\"hunter2\"}") == "{password,\"hunter2\"}");
}

TEST_CASE("redaction takes time in proportion to its input, whatever the input", "[redact]") {
    const auto repeat = [](std::string_view what, std::size_t bytes) {
        std::string text;
        while (text.size() < bytes) text += what;
        return text;
    };
#if defined(__SANITIZE_ADDRESS__)
    constexpr std::size_t bytes = 1 << 18;
#else
    constexpr std::size_t bytes = 1 << 20;
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
                                           "{secret,[",
                                           "a-",
                                           "#Ref<",
                                           "<0.",
                                           "password => %",
                                           "\\",
                                           "~c\"",
                                           "123456789012345",
                                           "password=Bearer "}) {
        const std::string text = repeat(hostile, bytes);
        const std::clock_t start = std::clock();  // of this process: a busy machine must not fail the test
        const std::string shown = values(names(mask_secrets(mask_known(text, known))));
        const auto taken = std::chrono::seconds((std::clock() - start) / CLOCKS_PER_SEC);
        INFO("input: " << hostile);
        // Quadratic work on a megabyte takes minutes; linear work, even under a sanitizer, far less than this.
        CHECK(taken < std::chrono::seconds(5));
        CHECK(shown.size() < 16 * bytes);
    }
}
