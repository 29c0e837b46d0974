// SPDX-License-Identifier: Apache-2.0
// Secrets in files of settings, lines of protocols and commands, bytes of protocols; in rows and queries of databases;
// and what only looks like one.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "present/secrets/redact.hpp"
#include "present/secrets/secret_bytes.hpp"
#include "present/secrets/secret_neighbours.hpp"
#include "present/tables_terms.hpp"
#include "support/dump_text.hpp"

using namespace beamheap;
using namespace beamheap::present;
using namespace std::string_literals;

namespace {

std::string bytes_as_numbers(std::string_view bytes) {
    std::string out = "<<";
    for (const char c : bytes) out += (out.size() > 2 ? "," : "") + std::to_string(static_cast<unsigned char>(c));
    return out + ">>";
}

// The heap of a process in a dump: each function gives the element that refers to what it wrote.
struct HeapText {
    std::string text;
    unsigned next = 0x1000;
    std::string object(const std::string& body) {
        const std::string address = fmt::format("{:X}", next += 0x10);
        text += address + ":" + body + "\n";
        return "H" + address;
    }
    std::string list(const std::vector<std::string>& elements) {
        std::string tail = "N";
        for (auto element = elements.rbegin(); element != elements.rend(); ++element)
            tail = object("l" + *element + "|" + tail);
        return tail;
    }
    std::string chars(std::string_view characters) {
        std::vector<std::string> elements;
        for (const char c : characters) elements.push_back("I" + std::to_string(static_cast<unsigned char>(c)));
        return list(elements);
    }
    std::string tuple(const std::vector<std::string>& elements) {
        std::string body = "t" + std::to_string(elements.size()) + ":";
        for (const std::string& element : elements) body += (body.back() == ':' ? "" : ",") + element;
        return object(body);
    }
    static std::string atom(std::string_view name) { return fmt::format("A{:X}:{}", name.size(), name); }
    // As a screen shows the term that the process has in its dictionary.
    std::string shown(const std::string& element) const {
        LoadPlan plan = test::everything();
        plan.terms = true;
        const auto artifact = test::load(test::header() + test::process("<0.9.0>") + "=proc_dictionary:<0.9.0>\n" +
                                             element + "\n=proc_heap:<0.9.0>\n" + text + "=end\n",
                                         plan);
        REQUIRE(artifact != nullptr);
        const auto terms = artifact->terms(ProcId{0});
        REQUIRE(terms);
        analyses::TermMeasures measures(**terms);
        const Names names(artifact->snapshot(), Syntax::erlang);
        const TermView view(names, artifact->snapshot().processes[0], **terms, measures, 4000);
        return view.text((*terms)->at(std::stoull(element.substr(1), nullptr, 16)));
    }
};

}  // namespace

TEST_CASE("values of keys in files, forms, addresses and protocols", "[redact]") {
    for (const char* text : {R"x(<<"%22password%22%3A%22Hush01x%22">>)x",
                             R"x(<<"{\\u0022password\\u0022:\\u0022Hush01x\\u0022}">>)x",
                             R"x("user%5Bpassword%5D=hush&x=1")x",
                             R"x(<<"s:8:\"password\";s:4:\"hush\";">>)x",
                             R"x("password\tHush01x\n")x",
                             R"x("api_token\t=\thush")x",
                             R"x("Password:\r\nHush01x\r\n")x",
                             R"x("form-data; name=\"password\"\r\n\r\nhush\r\n--b")x",
                             R"x("SET\r\n$8\r\npassword\r\n$4\r\nhush\r\n")x",
                             R"x("userPassword:: aHVzaA==hush\n")x",
                             R"x({1,<<"X-Api-Key:Hush01x\r\n">>})x",
                             R"x("{User:x Password:Hush01x Port:1}")x",
                             R"x("a=ice-pwd:Hush01x\r\n")x",
                             R"x("passphrase: correct horse battery hush\n")x",
                             R"x("seed phrase: abandon ability hush able")x",
                             R"x("db.internal:5432:shop:ann:hush")x",
                             R"x("PuTTY-User-Key-File-3: x\r\nPrivate-Lines: 1\r\nhush\r\nPrivate-MAC: hush\r\n")x",
                             R"x("a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:hushHushhushHush0123")x",
                             R"x("SELECT crypt('hush', gen_salt('bf'))")x",
                             R"x("SET PASSWORD FOR 'x' = 'hush'")x",
                             R"x("CREATE USER x IDENTIFIED WITH mysql_native_password BY 'hush'")x",
                             R"x("echo hush | sudo -S ls")x",
                             R"x("echo bob:hush | chpasswd")x",
                             R"x("password: Some(\"hush\")")x",
                             R"x("{b'password': b'hush'}")x",
                             R"x("token: >-\n  hush\n")x",
                             R"x("<password><![CDATA[hush]]></password>")x",
                             R"x("https://x/m?key=Hush01x&v=1")x",
                             R"x(#{query => <<"key=Hush01x">>})x",
                             R"x("https://x/users/reset_password/Hush01xVw7kJ9sd8fYw2Qz")x",
                             R"x("GET /users/confirm/Hush01xVw7kJ9sd8fYw2Qz HTTP/1.1")x",
                             R"x("sqlserver://h:1433;user=sa;password=hush;")x",
                             R"x("ann:{SHA}HushkJ9sd8fYw2QzAAbb=")x",
                             R"x(<<"{SSHA}HushJhaXk3Zm9v">>)x",
                             R"x(#{<<"пароль"/utf8>> => <<"hush">>})x",
                             R"x({<<"密码"/utf8>>,"hush"})x",
                             R"x("contraseña: hush")x",
                             R"x("mot_de_passe=hush")x",
                             R"x({set,password,{old,"hush"},{new,"hush"}})x",
                             R"x({update,<<"api_key">>,[<<"hush">>]})x",
                             R"x({crypto,mac,[hmac,sha256,<<"hush">>,<<"x">>],[]})x",
                             R"x({user,...,<<"hush">>})x",
                             R"x(#{... => "hush"})x",
                             R"x("mosquitto_pub -h h -u dev -P hush -t x")x",
                             R"x("mosquitto_passwd -b f u hush")x",
                             R"x("keytool -storepass hush -keypass hush")x",
                             R"x("lftp -u u,hush h")x",
                             R"x("vault login hush")x",
                             R"x("emqx ctl admins add bob hush")x",
                             R"x("aws configure set aws_secret_access_key hush")x",
                             R"x("stats auth admin:hush\n")x",
                             R"x({community,"Hush01x"})x",
                             R"x({preshared_key,"hush"})x",
                             R"x({stripe_key,"hush"})x",
                             R"x({vault_unseal_keys,["hush"]})x",
                             R"x(#{mfa_seed => "hush"})x"}) {
        const std::string shown = mask_all_secrets(text);
        INFO(text << "\n" << shown);
        CHECK(shown.find("ush") == shown.npos);
    }
}

TEST_CASE("a name and a password in base64 behind what tells them", "[redact]") {
    CHECK(mask_all_secrets(R"({basic,<<"YW5uOkh1c2gwMXg=">>})") == R"({basic,<<"***">>})");
    CHECK(mask_all_secrets(R"({auth,{basic,"YW5uOkh1c2gwMXg="}})").find("h1c2g") == std::string::npos);
    CHECK(mask_all_secrets(R"({basic,<<"visual basic">>})") == R"({basic,<<"visual basic">>})");
}

TEST_CASE("bytes of protocols that carry a secret", "[redact]") {
    const std::vector<std::string> carry{
        "\x82\xa4user\xa3"
        "bob\xa8password\xab"
        "Hush01xVw7k"s,
        "\x0a\x17\x0a\x08password\x12\x0bHush01xVw7k"s,
        "\xa1hpasswordkHush01xVw7k"s,
        "\x24\0\0\0\2password\0\x0c\0\0\0Hush\0\0"s,
        "p\0\0\0\x09Hush\0"s,
        "\x30\x20\x02\x01\x01\x60\x1b\x02\x01\x03\x04\x08"
        "cn=admin\x80\x04Hush"s,
        "\x10\x22\0\4MQTT\4\xc2\0\x3c\0\2c1\0\3dev\0\4Hush"s,
        "\0\x08password\0\4Hush"s,
        "password\0Hush\0"s};
    for (const std::string& bytes : carry) {
        INFO(bytes_as_numbers(bytes));
        CHECK(secret_on_the_wire(bytes));
        CHECK(mask_secrets(bytes_as_numbers(bytes)) == "<<\"***\">>");
    }
    for (const std::string& bytes : {"\x10\x22\0\4MQTT\4\x02\0\x3c\0\2c1"s, "p\0\0\0\x05Hush\0"s,
                                     "\x82\xa4user\xa3"
                                     "bob\xa4name\xab"
                                     "Hush01xVw7k"s,
                                     "\xa1huser"s, ""s})
        CHECK_FALSE(secret_on_the_wire(bytes));
}

TEST_CASE("what looks like a line of a file and is none stays", "[redact]") {
    for (const char* text : {R"x({mfa,token,new1,1})x",
                             "token:verify1/2",
                             R"x("GET /users/confirm/now HTTP/1.1")x",
                             R"x("10:22:33:44:55")x",
                             R"x("12:30:shop:ann:later")x",
                             R"x({'SHA',x})x",
                             R"x("echo done | tee log1")x",
                             R"x("a phrase: one two three")x",
                             R"x({keyboard,"x"})x",
                             R"x("https://x/m?key=name")x",
                             R"x([{old,"x"},{new,"y"}])x",
                             R"x({crypto,start,2})x",
                             R"x("privet, мир: x")x",
                             R"x({primary_key,"id1"})x",
                             R"x({routing_key,<<"orders.1">>})x",
                             "[1,2,3|...]",
                             R"(#{... => ...,...})",
                             R"(#{... => 5,a => {...,b}})",
                             R"x({a,"b",...})x",
                             R"x("https://shop.example/reset/password")x",
                             R"x("100%22 of it")x"}) {
        INFO(text);
        CHECK(mask_all_secrets(text) == text);
    }
}

TEST_CASE("parameters of queries by the columns that they are of", "[redact]") {
    using Places = std::vector<std::uint64_t>;
    CHECK(secret_parameters("SELECT * FROM users WHERE email = $1 AND api_token = $2") == Places{1});
    CHECK(secret_parameters(R"(SELECT u0."id" FROM "users" AS u0 WHERE (u0."token" = $1) AND (u0."a" = $2))") ==
          Places{0});
    CHECK(secret_parameters("INSERT INTO users (email, password) VALUES ($1, $2)") == Places{1});
    CHECK(secret_parameters("INSERT INTO users (password, email) VALUES (?, ?)") == Places{0});
    CHECK(secret_parameters("UPDATE users SET email = ?, password_hash = ? WHERE id = ?") == Places{1});
    CHECK(secret_parameters("SELECT 1 WHERE token IN ($3)") == Places{2});
    CHECK(secret_parameters("SELECT token FROM users WHERE id = $1").empty());
    CHECK(secret_parameters("$0 $999999999999999999999 ? $").empty());
}

TEST_CASE("rows by the names of their columns, parameters beside their query", "[redact][terms]") {
    {
        HeapText heap;
        const std::string columns = heap.list({heap.chars("id"), heap.chars("PASSWORD")});
        const std::string rows =
            heap.list({heap.tuple({"I1", heap.chars("hush")}), heap.list({"I2", heap.chars("hush")})});
        const std::string shown = heap.shown(heap.tuple({HeapText::atom("selected"), columns, rows}));
        CHECK(shown == R"x({selected,["id","PASSWORD"],[{1,'***'},[2,'***']]})x");
    }
    {
        HeapText heap;
        const auto column = [&](std::string_view name) {
            return heap.tuple({HeapText::atom("column"), heap.chars(name), "I4"});
        };
        const std::string columns = heap.list({column("api_token"), column("id")});
        const std::string rows = heap.list({heap.tuple({heap.chars("hush"), "I1"})});
        CHECK(heap.shown(heap.tuple({HeapText::atom("ok"), columns, rows})) ==
              R"x({ok,[{column,"api_token",4},{column,"id",4}],[{'***',1}]})x");
    }
    {
        HeapText heap;
        const std::string query = heap.chars("UPDATE users SET email = ?, password_hash = ?");
        const std::string parameters = heap.list({heap.chars("a@b"), heap.chars("hush")});
        const std::string shown = heap.shown(heap.tuple({parameters, query}));
        CHECK(shown.find("hush") == shown.npos);
        CHECK(shown.find("a@b") != shown.npos);
    }
    {
        HeapText heap;
        const std::string wrapped = heap.tuple({HeapText::atom("old"), heap.chars("hush")});
        CHECK(heap.shown(heap.tuple({HeapText::atom("set"), HeapText::atom("password"), wrapped,
                                     heap.list({heap.chars("hush")})})) == "{set,password,'***','***'}");
        CHECK(heap.shown(heap.tuple({HeapText::atom("crypto"), HeapText::atom("mac"),
                                     heap.list({HeapText::atom("hmac"), heap.chars("hush")})})) ==
              "{crypto,mac,'***'}");
        const std::string content = heap.list({heap.tuple({HeapText::atom("xmlText"), heap.chars("hush")})});
        const std::string shown =
            heap.shown(heap.tuple({HeapText::atom("xmlElement"), HeapText::atom("password"), "N", content}));
        CHECK(shown.find("hush") == shown.npos);
    }
}
