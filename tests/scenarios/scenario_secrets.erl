%% A node full of secrets, each made of a word that a test can look for: Hush and a number where a key or a form says that it is
%% one, Bare and a number where nothing does; Lone in atoms that only the key beside them tells. No process knows the list of them.
-module(scenario_secrets).
-export([scenarios/0, secrets/1]).

-import(scenario_kit, [specimen/2, hold/1]).

scenarios() -> [secrets].

secrets(_Args) ->
    ets:new(credentials, [named_table, public]),
    ets:insert(credentials, [{alice, #{password => hush(1), <<"api_key">> => bin(2)}}, {token, hush(3)}, {{password, bob}, bin(4)}]),
    ets:new(binary_to_atom(long("ghp_", 408, 36), utf8), [named_table, public]),
    Vault = specimen(vault, fun(Ready) ->
        put(db_password, hush(5)),
        put(settings, [{port, 5432}, {password, hush(6)}]),
        Ready(), hold({state, settings(), requests(), tokens(), numbers(), bare(), pieces(), commands(), lines(), credentials(), packed(), keyed(), places()}) end),
    [Vault ! M || M <- messages()],
    erlang:send_after(3600000, Vault, {retry, [{secret, hush(60)}]}),
    #{slogan => "vault failed: Authorization: Bearer " ++ hush(70) ++ ", token=" ++ hush(71) ++ " Bearer " ++ hush(72) ++
                "; the password is " ++ hush(73),
      facts => #{culprit => Vault}}.

hush(N) -> lists:flatten(io_lib:format("Hush~3..0wxVw7", [N])).
bin(N) -> list_to_binary(hush(N)).
bare(N) -> lists:flatten(io_lib:format("Bare~3..0w of the town", [N])).
long(Prefix, N, Size) -> list_to_binary([Prefix, hush(N), lists:duplicate(Size - 10, $k)]).
text(Parts) -> iolist_to_binary(Parts).

settings() ->
    [#{password => hush(10), <<"Password">> => bin(11), "passwd" => hush(12), secret_key_base => bin(13), pin_code => 90870017, iban => bin(14)},
     {user, alice, {password, hush(15), bcrypt}, [{api_key, bin(16)}, {"client_secret", hush(17)}, {<<"access_token">>, bin(18)}]},
     {{password, <<"alice">>}, bin(19)}, [{{token, 7}, hush(20)}], {session_id, bin(21)}, {cookie, hush(22)},
     text(["{\"user\":\"alice\",\"password\":\"", hush(23), "\",\"nested\":{\"refresh_token\":\"", hush(24), "\"}, \"padding\":\"", lists:duplicate(60, $.), "\"}"]),
     text(["postgres://shop:", hush(25), "@db.example/shop"]), "amqp://guest:" ++ hush(26) ++ "@mq:5672/",
     text(["Server=db;User Id=sa;Password=", hush(27), ";AccountKey=", hush(28), "=="]),
     text(["-----BEGIN RSA PRIVATE KEY-----\n", hush(29), lists:duplicate(80, $A), "\n-----END RSA PRIVATE KEY-----\n"])].

requests() ->
    [{http_header, 14, 'Authorization', <<"Authorization">>, text(["Bearer ", hush(30)])}, {http_header, 14, 'Authorization', undefined, hush(31)},
     [{<<"authorization">>, text(["Basic ", base64:encode("alice:" ++ hush(32))])}, {<<"set-cookie">>, text(["sid=", hush(33), "; Path=/"])}],
     ["POST /login?token=" ++ hush(34) ++ "&next=1 HTTP/1.1\r\n", ["Authorization: Bearer " | bin(35)]], ["password=", bin(36), "&user=alice"],
     [<<"Authorization: Bearer ">>, bin(37)], ["api_key", ": ", bin(38)],
     text(["AUTH PLAIN ", base64:encode([0 | "alice"] ++ [0 | hush(39)])]), text(["https://store.example/x?sv=1&sig=", hush(40), "&se=2"]),
     text(["Authorization: Bearer ", hush(41), 0, 255]), [112, 97, 115, 115, 119, 111, 114, 100, 61 | hush(42)] ++ [1000000],
     <<(text(["token=", hush(43)]))/binary, 5:3>>].

tokens() ->
    [long(Prefix, N, Size) || {Prefix, N, Size} <- [{"ghp_", 100, 36}, {"github_pat_", 101, 82}, {"glpat-", 102, 20}, {"xoxb-", 103, 30}, {"sk_live_", 104, 24},
        {"sk-proj-", 105, 40}, {"whsec_", 106, 32}, {"pypi-", 107, 60}, {"dop_v1_", 108, 64}, {"hvs.", 109, 30}, {"SG.", 110, 66}, {"npm_", 111, 36},
        {"shpat_", 112, 32}, {"lin_api_", 113, 40}, {"glsa_", 114, 41}, {"GOCSPX-", 115, 28}, {"ya29.", 116, 60}, {"hf_", 117, 34}, {"dapi", 118, 32}]]
    ++ [text(["eyJ", base64:encode("{\"alg\":\"HS256\"}"), ".eyJ", hush(119), ".", hush(120)])].

%% Texts that are built of pieces, as programs send them.
pieces() ->
    [["password=", [<<>>, [bin(200)]]], [["password"], "=", ["", bin(201)]], [[[<<"Authorization: ">>], "Bearer "], [bin(202)]],
     [password, $: | hush(203)], ["pass", "word=", bin(204)], [112, 97, 115, 115, 119, 111, 114, 100, 61 | bin(205)], [token, "=", bin(206)]].

%% What commands are given; only their texts: of a list's element alone nobody can say what it is.
commands() ->
    ["curl -u alice:" ++ hush(210) ++ " https://h/x", text(["mysql -uroot -p", hush(211), " shop"]), "sshpass -p " ++ hush(212) ++ " ssh x",
     "redis-cli -h x -a " ++ hush(213), "ldapsearch -D cn=x -w " ++ hush(214), "docker login -u x -p " ++ hush(215),
     text(["PGPASSWORD=", hush(216), " psql"]), {"PGPASSWORD", hush(217)}, text(["openssl rsa -passin pass:", hush(218), " -in k"]),
     text(["snmpget -v2c -c ", hush(219), " host"]), text(["jdbc:oracle:thin:scott/", hush(220), "@db:1521:x"])].

lines() ->
    [text(["AUTH ", hush(230)]), text(["*2\r\n$4\r\nAUTH\r\n$11\r\n", hush(231), "\r\n"]), text(["USER bob\r\nPASS ", hush(232), "\r\n"]),
     text(["a1 LOGIN bob ", hush(233), "\r\n"]), text(["ALTER USER x IDENTIFIED BY '", hush(234), "'"]), text(["CREATE ROLE x LOGIN PASSWORD '", hush(235), "'"]),
     text(["Cookie: a=1; sid=", hush(236), "; theme=dark\r\nHost: x"]), text(["Authorization: Digest username=\"bob\", response=\"", hush(237), "\""]),
     text(["Authorization: AWS4-HMAC-SHA256 Credential=x, Signature=", hush(238)]), text(["https://discord.com/api/webhooks/123/", hush(239)]),
     text(["<add key=\"Password\" value=\"", hush(240), "\"/>"]), text(["<a:Password Type=\"text\">", hush(241), "</a:Password>"]),
     text(["password: |\n  ", hush(242)]), text(["password%3D", hush(243), "%26x"]), text(["$2b$12$", hush(244), "LJ3m4ys3Lk0TSwHjpVRd"])].

credentials() ->
    [{basic, "alice", hush(250)}, {auth, {basic, <<"alice">>, bin(251)}}, {proxy_auth, {"u", hush(252)}}, #{auth => {basic, text(["u:", hush(253)])}},
     {plain, <<"kafka">>, bin(254)}, {scram_sha_256, <<"kafka">>, bin(255)}, {amqp_params_network, <<"guest">>, bin(256), <<"/">>, "host", 5672},
     {login, <<"bob">>, bin(257)}, {'RSAPrivateKey', 'two-prime', 65537, bin(258)}, #{cookies => #{<<"sid">> => bin(259)}},
     #{dbpassword => bin(260), clientsecret => bin(261), recovery_codes => [bin(262)]}, {security_parameters, <<0, 1>>, 1, bin(263)},
     text([hush(264), "KbPxRfiCYEXAMPLEKEY/12345678y"]), {scram, bin(265), bin(266), <<"salt">>, 4096}].

%% Secrets of which the key stands elsewhere: a neighbour, a term above, the other end of a large map.
places() ->
    Large = maps:from_list([{{field, I}, I} || I <- lists:seq(1, 60)]),
    Request = text(["GET / HTTP/1.1\r\nX-Api-Key: ", hush(340), "\r\nHost: x"]),
    Slice = binary:part(Request, 27, 11),
    Deep = lists:foldl(fun(I, Inner) -> #{list_to_atom("level" ++ integer_to_list(I)) => [Inner, I]} end, [hush(341), {x, bin(342)}], lists:seq(1, 12)),
    [[password, hush(343)], [<<"api_key">>, bin(344)], [password | bin(345)], Large#{password => bin(346), <<"token">> => [{a, hush(347)}, hush(348)]},
     {credentials, #{user => alice, <<"key">> => Deep}}, #{headers => [{<<"x-api-key">>, Slice}]}, {user, 7, "password", bin(349), undefined},
     #{{password, bin(350)} => 1}, {secret, [[hush(351)], #{bin(352) => hush(353)}, {bin(354), [bin(355) | bin(356)]}]},
     #{access_token => <<(text([hush(359), lists:duplicate(300, $y)]))/binary>>},
     <<(text([lists:duplicate(40, $.), " token=", hush(360), lists:duplicate(300, $z)]))/binary>>, lists:duplicate(45, $.) ++ " password=" ++ hush(361),
     text([lists:duplicate(50, $.), " ghp_", hush(362), lists:duplicate(40, $k)]), [{"client_secret", [$a | hush(363)]}, {pin, 90870020}]].

numbers() -> [{card, 4111111111111111}, <<"paid with 5555 5555 5555 4444">>, #{password => 90870018}, {pin_code, "90870019"}].

%% What is a secret once it is unpacked, and what libraries keep in places of their own.
packed() ->
    Json = text(["{\"user\":\"alice\",\"password\":\"", hush(300), "\"}"]),
    [unicode:characters_to_binary(["password=", hush(301)], utf8, {utf16, little}), unicode:characters_to_binary(["token=", hush(302)], utf8, utf16),
     zlib:gzip(Json), zlib:compress(Json), term_to_binary({password, bin(303)}), term_to_binary(#{token => bin(304)}, [{compressed, 9}]),
     base64:encode("secret=" ++ hush(305) ++ "&x=y"), base64:encode(term_to_binary({password, bin(306)})), base64:encode(zlib:gzip(Json)),
     text(["shop:", hush(307), "@tcp(db:3306)/shop"]), {plaintext, bin(308)}, {internal_user, <<"guest">>, bin(309), [administrator]},
     {<<"a">>, #{hmac => bin(310), salt => bin(311)}}, {"token: ~s", [hush(312)]}, [user, "bob", password, hush(313)]].

%% Numbers and atoms that only the key beside them makes a secret.
keyed() ->
    Lone = fun(N) -> list_to_atom("Lone" ++ integer_to_list(N) ++ "xVw7") end,
    %% A key that is itself hidden, as it stands behind another one.
    Shared = list_to_binary("api_key"),
    [{pin, 90870023}, [pin, 90870024], #{<<"otp">> => 90870025}, #{cvv => 90870026, port => 5432}, {password, Lone(401)}, #{<<"api_key">> => Lone(402)},
     {password, Shared}, #{Shared => Lone(403)}, {Shared, Lone(404)}].

bare() -> [bare(1), list_to_binary(bare(2)), #{note => bare(3)}, [bare(4) | list_to_binary(bare(5))]].

messages() ->
    [{login, #{user => alice, password => hush(50)}}, {'$gen_call', {self(), make_ref()}, {authenticate, [{password, bin(51)}]}},
     {'EXIT', self(), {{badmatch, #{token => bin(52)}}, [{vault, check, [[{password, hush(53)}]], [{file, "vault.erl"}, {line, 3}]}]}},
     {log, error, "login of alice with password " ++ hush(54) ++ " failed"}, {log, info, ["the password for bob is ", hush(55)]},
     {note, list_to_binary(bare(6))}, {peer, erlang:get_cookie()}].
