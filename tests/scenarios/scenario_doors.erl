%% A third node full of secrets, in places and forms that are further from any list of keys than those of scenario_plants: results of
%% queries, bytes of protocols, files of settings, command lines, terms of OTP's own tables, names.
%%
%% Hush and a number, or hushed and three letters: a key or a form says that it is one; such words are large integers as well. Bare and a
%% number: nothing does. Nick and a number: a name, of which only `--redact full` leaves nothing.
-module(scenario_doors).
-export([scenarios/0, doors/1, start_child/1, init/1, start_labelled/2]).

-import(scenario_kit, [specimen/2, hold/1]).

scenarios() -> [doors].

doors(_Args) ->
    ets:new('Elixir.Shop.Endpoint', [named_table, public]),
    ets:insert('Elixir.Shop.Endpoint', [{secret_key_base, bin(750)}, {live_view, [{signing_salt, bin(751)}]}, {{env, shop, "api-key"}, hush(752)},
                                        {config, #{columns => [<<"id">>, <<"password_hash">>], rows => [[1, bin(753)], [2, bin(754)]]}}]),
    ets:new(list_to_atom("table_of_" ++ nick(1)), [named_table, public]),
    ets:insert(list_to_atom("table_of_" ++ nick(1)), [{7, bare(20)}, {list_to_atom(nick(2)), 7}]),
    persistent_term:put({phoenix, 'Elixir.Shop.Endpoint', config}, [{secret_key_base, bin(755)}, {url, [{host, "x"}]}]),
    persistent_term:put({shop, {stripe, secret_key}}, bin(756)),
    application:set_env(kernel, shop_db_password, hush(757)),
    application:set_env(kernel, shop_repo, [{hostname, "db"}, {password, bin(758)}]),
    catch erlang:set_cookie('other@localhost', lone(759)),
    catch logger:update_primary_config(#{metadata => #{api_token => bin(760)}}),
    catch global:register_name({shop, token, bin(761)}, self()),
    Vault = specimen(vault, fun(Ready) ->
        catch logger:set_process_metadata(#{user => ann, access_token => bin(762)}),
        catch apply(proc_lib, set_label, [{session, bare(36), #{token => bin(764)}}]),
        put({shop, <<"refreshToken">>}, bin(765)),
        put('$ancestors', [list_to_atom(nick(3)), self()]),
        Port = open_command(),
        catch seq_trace:set_token(label, {api_key, bin(766)}),
        self() ! {traced, 1},
        Ready(), hold({state, Port, [alone(Kind) || Kind <- [elixir(), clients(), brokers(), identity(),
                       nested(), queries(), rows(), bytes(), http(), settings(), statements(), command_lines(), files(), markup(),
                       numbers(), changes(), reports(), erlangs(), unicode(), closures(), bare()]], keys_in_all_cases(), pems()}) end),
    [Vault ! M || M <- messages(Vault)],
    labelled(),
    supervised(),
    listening(),
    timer:send_after(3600000, Vault, {password, hush(767)}),
    [register(list_to_atom(Name), spawn(fun() -> hold(ok) end)) || Name <- ["worker_of_" ++ nick(4), "ghp_" ++ hush(768) ++ lists:duplicate(26, $k)]],
    spawn(?MODULE, init, [{db, "ann", [{password, hush(769)}]}]),
    InTheTableAlone = list_to_atom("atom_of_" ++ nick(10)),  % which the slogan names
    #{slogan => "Kernel pid terminated (application_controller) ({application_start_failure,shop," ++ atom_to_list(InTheTableAlone) ++ ",{bad_return,{{shop_app,start,[normal,[{password,\"" ++ hush(770) ++
                "\"}]]},{'EXIT',{{badmatch,{error,{auth_failed,#{\"apiKey\" => <<\"" ++ hush(771) ++ "\">>,refreshToken => <<\"" ++ hush(772) ++ "\">>}}}},[]}}}}})",
      facts => #{culprit => Vault}}.

hush(N) -> lists:flatten(io_lib:format("Hush~3..0wxVw7", [N])).
bin(N) -> list_to_binary(hush(N)).
%% Of small letters alone, as a word is.
low(N) -> "hushed" ++ [$a + C - $0 || C <- lists:flatten(io_lib:format("~3..0w", [N]))].
bare(N) -> lists:flatten(io_lib:format("Bare~3..0w of the town", [N])).
nick(N) -> lists:flatten(io_lib:format("Nick~3..0w", [N])).
text(Parts) -> iolist_to_binary(Parts).
lone(N) -> list_to_atom(lists:flatten(io_lib:format("Lone~3..0wxVw7", [N]))).
number(N) -> binary:decode_unsigned(bin(N)).
hex(Text) -> text([io_lib:format("~2.16.0b", [C]) || <<C>> <= text(Text)]).

%% Its name is its command line. Not every root of a release has a shell.
open_command() ->
    catch open_port({spawn, "sh -c 'sleep 600' shop --password=" ++ hush(773) ++ " --token " ++ hush(774) ++ " -u ann:" ++ hush(775) ++ " --header 'X-Api-Key: " ++ hush(776) ++ "'"}, [{env, [{"DB_PASSWORD", hush(777)}]}]).

labelled() ->
    [proc_lib:spawn(?MODULE, start_labelled, [Key, Label]) || {Key, Label} <- [{'$process_label', {user, <<"token">>, bin(778)}}, {'$process_label', text(["session token=", hush(779)])},
        {'$process_label', {list_to_atom(nick(5)), bare(21)}}, {'$process_label', "Bearer " ++ hush(780)}, {'$initial_call', {shop_auth, login, [<<"ann">>, bare(22)]}}]].
start_labelled(Key, Label) -> put(Key, Label), hold(ok).

supervised() ->
    specimen(shop_sup, fun(Ready) ->
        {ok, _} = supervisor:start_link({local, list_to_atom("sup_of_" ++ nick(6))}, ?MODULE, children),
        Ready(), hold(ok) end).
start_child(_Secret) -> {ok, proc_lib:spawn_link(fun() -> hold(ok) end)}.
init(children) ->
    {ok, {#{}, [#{id => db, start => {?MODULE, start_child, [[{hostname, "h"}, {password, bin(781)}]]}}, #{id => {token, bin(782)}, start => {?MODULE, start_child, [#{apiKey => bin(783)}]}},
                #{id => bare(23), start => {?MODULE, start_child, [bare(24)]}}]}};
init(Arguments) -> hold(Arguments).

%% A key that both sides of TLS have agreed on before, in what ssl keeps of it, where the release has ssl.
listening() ->
    specimen(shop_tls, fun(Ready) ->
        catch begin
            {ok, _} = application:ensure_all_started(ssl),
            ssl:listen(0, [{ip, {127, 0, 0, 1}}, {psk_identity, "shop"}, {user_lookup_fun, {fun(psk, _, Secret) -> {ok, Secret} end, bin(784)}}, {versions, ['tlsv1.2']}, {password, low(290)}])
        end,
        Ready(), hold(ok) end).

%% Each for itself: of a list's elements one may tell what the next one is.
alone(Plants) -> lists:zip(lists:seq(1, length(Plants)), Plants).

elixir() ->
    [#{'__struct__' => 'Elixir.Finch.Request', headers => [{<<"authorization">>, text(["Bearer ", hush(786)])}, {<<"x-goog-api-key">>, bin(787)}], query => text(["key=", hush(788)])},
     #{'__struct__' => 'Elixir.Postgrex.Protocol', parameters => make_ref(), scram => #{salted_password => bin(789), client_proof => <<"x">>}},
     #{'__struct__' => 'Elixir.Ecto.Changeset', changes => #{password => low(1), email => <<"a@b">>}, params => #{<<"password">> => list_to_binary(low(2))}},
     #{'__struct__' => 'Elixir.Req.Request', options => #{auth => {bearer, bin(790)}, params => [{<<"apikey">>, bin(791)}]}},
     #{'__struct__' => 'Elixir.Plug.Conn', resp_cookies => #{<<"_shop_key">> => #{value => bin(792), http_only => true}}, cookies => #{<<"sid">> => list_to_binary(low(3))}},
     #{'__struct__' => 'Elixir.DBConnection.LogEntry', params => [<<"a@b">>, bin(793)], query => <<"UPDATE users SET email = $1, password_hash = $2 WHERE id = 7">>},
     #{'__struct__' => 'Elixir.Oban.Job', args => #{<<"user_id">> => 7, <<"unlockToken">> => bin(794)}, errors => [#{<<"error">> => text(["** (MatchError) no match: %{\"apiKey\" => \"", hush(795), "\"}"])}]},
     #{'__struct__' => 'Elixir.Swoosh.Email', private => #{sendgrid_key => bin(796)}}, #{'__struct__' => 'Elixir.ExAws.Config', access_key_id => <<"A">>, secret_access_key => list_to_binary(low(4))}].

clients() ->
    [[{proxy_auth, {<<"u">>, list_to_binary(low(5))}}, {timeout, 5000}], {basic, base64:encode("ann:" ++ hush(797))}, #{auth => {basic, base64:encode("ann:" ++ hush(798))}},
     {ibrowse, [{basic_auth, {"ann", low(6)}}]}, {aws_sigv4, [{access_key_id, "A"}, {secret_access_key, hush(799)}]}, ["PATH=/bin", "AWS_SECRET_ACCESS_KEY=" ++ hush(800), "AWS_SESSION_TOKEN=" ++ low(7)],
     [{"AWS_SECRET_ACCESS_KEY", hush(801)}, {"GITHUB_TOKEN", low(8)}], text(["https://hooks.slack.com/services/T00000000/B00000000/", hush(802)]), ["https://hooks.slack.com/services/", "T0/B0/", list_to_binary(bare(803))],
     text(["https://maps.example/x?key=", hush(804), "&v=1"]), text(["https://db.example/u.json?auth=", hush(805)]), text(["GET /users/reset_password/", hush(806), "kJ9sd8fYw2Qz HTTP/1.1"]),
     text(["https://shop.example/users/confirm/", hush(807), "kJ9sd8fYw2Qz"]), [{options, [{ssl, [{password, low(9)}, {certfile, "c"}]}]}], text(["redis://default:", low(10), "@cache:6379"]),
     text(["ldaps://cn=admin:", low(11), "@ldap"]), text(["sqlserver://h:1433;user=sa;password=", low(12), ";"]), text(["Endpoint=sb://x/;SharedAccessKeyName=n;SharedAccessKey=", hush(808), "="]),
     text(["mssql+pyodbc://sa:", low(13), "@h/db?driver=x"]), "smtp://u:" ++ low(14) ++ "@mail:587"].

brokers() ->
    [{amqp_params_network, <<"guest">>, {plaintext, list_to_binary(low(15))}, <<"/">>, "h", 5672}, {amqp_params_network, <<"guest">>, {encrypted, list_to_binary(low(16))}, <<"/">>, "h", 5672},
     {shovel, #{<<"src-uri">> => text(["amqp://u:", low(17), "@mq"]), <<"dest-uri">> => [text(["amqps://u:", low(18), "@mq"])]}}, {simple_bind, "cn=admin", low(19)}, {bind, <<"cn=ops">>, list_to_binary(low(20))},
     {scram, bin(809), bin(810), <<"salt">>, sha512, 4096}, {snmp, [{community, hush(811)}]}, {sasl_config, {"ann", bare(35), plain}}, [{sasl, {scram_sha_256, "ann", low(22)}}]].

identity() ->
    [[<<"eyJhbGciOiJIUzI1NiJ9">>, $., <<"eyJzdWIiOiIxIn0">>, $., bin(812)], {'ECPrivateKey', 1, bin(813), {namedCurve, {1, 3, 6}}, <<4, 1, 2>>, asn1_NOVALUE}, {key, {'ECPrivateKey', bin(814)}},
     #{totp_seed => list_to_binary(low(23)), mfaSecret => list_to_binary(low(24)), '2fa_secret' => low(25)}, {totp, list_to_binary(low(26))}, {otp_secret, list_to_binary(low(27))}, #{mfa_seed => bin(815)},
     {vault_unseal_keys, [list_to_binary(low(28)), bin(816)]}, {preshared_key, bin(817)}, {wireguard, [{private_key, bin(818)}]}, text(["[Interface]\nPrivateKey = ", hush(819), "=\n[Peer]\nPresharedKey = ", hush(820), "=\n"]),
     {rsa_key, bin(821)}, #{vapid => #{privateKey => bin(822)}}, {stripe_key, bin(823)}, {jwk, #{<<"kty">> => <<"EC">>, <<"crv">> => <<"P-256">>, <<"d">> => bin(824)}}, {sso, [{cookie_key, bin(825)}]},
     text(["passphrase: correct horse battery ", hush(826), "\n"]), text(["seed phrase: abandon ability ", low(29), " able\n"]), text(["mnemonic=\"abandon ability ", low(30), "\""]),
     text(["a=ice-ufrag:x\r\na=ice-pwd:", hush(827), "\r\n"]), text(["a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:", hush(828), "kJ9sd8fYw2QzAAbbCCddEEffGG\r\n"]),
     text(["PuTTY-User-Key-File-3: ssh-ed25519\r\nEncryption: none\r\nPrivate-Lines: 1\r\n", hush(829), "kJ9sd8fYw2Qz\r\nPrivate-MAC: ", hush(830), "\r\n"]),
     text(["ann:{SHA}", hush(832), "kJ9sd8fYw2QzAAbb="])].

%% One word, as atoms, texts and binaries in every case that people write.
keys_in_all_cases() ->
    Keys = ['refreshToken', 'RefreshToken', refresh_token, 'refresh-token', 'REFRESH_TOKEN', 'Refresh Token', clientSecret, 'client-secret', idToken, 'secretAccessKey', 'privateKeyPem', 'x-apikey', 'API-Key', apiKey],
    Pairs = lists:zip(lists:seq(31, 30 + 3 * length(Keys)), lists:append([[K, atom_to_list(K), atom_to_binary(K, utf8)] || K <- Keys])),
    [maps:from_list([{K, list_to_binary(low(N))} || {N, K} <- Pairs]), [{K, low(N)} || {N, K} <- Pairs], [[K, list_to_binary(low(N))] || {N, K} <- Pairs, is_atom(K)]].

nested() ->
    [{password, {value, low(80)}}, {secret, {ok, {some, low(81)}}}, #{password => {system, "DB_PASSWORD", list_to_binary(low(82))}}, {ok, {password, list_to_binary(low(83))}}, [{password, [[list_to_binary(low(84))]]}],
     #{password => #{plain => list_to_binary(low(85))}}, {db, [{auth, [{user, "u"}, {pass, low(86)}]}]}, {credentials, {user, "u"}, low(87)}, #{<<"credentials">> => [<<"u">>, list_to_binary(low(88))]},
     {token, {jwt, {claims, #{sub => 1}, list_to_binary(low(89))}}}, {[{[{<<"password">>, list_to_binary(low(90))}]}]}, {struct, [{<<"token">>, list_to_binary(low(91))}]}, {set, password, {old, low(92)}, {new, low(93)}},
     {update, <<"api_key">>, [list_to_binary(low(94))]}, {config, [{changed, [{password, {low(95), low(96)}}]}]}, [{a, 1} | {token, low(97)}], [list_to_binary(bare(37)) | secret], {secret, [bin(833) | <<"x">>]},
     #{token => <<(bin(834))/binary, 3:5>>}, {password, <<1:3, (bin(835))/binary>>}].

queries() ->
    [#{query => <<"SELECT * FROM users WHERE email = $1 AND api_token = $2">>, params => [<<"a@b">>, list_to_binary(low(100))]}, {<<"INSERT INTO users (email, password) VALUES ($1, $2)">>, [<<"a@b">>, list_to_binary(low(101))]},
     {"SELECT id FROM users WHERE api_token = ?", [low(102)]}, #{sql => "INSERT INTO t (a, token) VALUES (?, ?)", args => ["x", low(103)]}, text(["SELECT crypt('", hush(836), "', gen_salt('bf'))"]),
     text(["ALTER ROLE x WITH LOGIN PASSWORD '", low(104), "'"]), text(["GRANT ALL ON *.* TO 'x'@'%' IDENTIFIED BY '", low(105), "'"]), text(["CREATE USER x IDENTIFIED WITH mysql_native_password BY '", low(106), "'"]),
     text(["UPDATE users SET api_key = '", low(107), "' WHERE id = 1"]), text(["SELECT 1 FROM s WHERE token = '", low(108), "'"])].

rows() ->
    [#{'__struct__' => 'Elixir.Postgrex.Result', columns => [<<"id">>, <<"email">>, <<"password_hash">>], rows => [[1, <<"a@b">>, list_to_binary(low(110))], [2, <<"c@d">>, list_to_binary(low(111))]], num_rows => 2},
     {ok, [{column, <<"id">>, int4, 23, 4, -1, 1, 0, 0}, {column, <<"api_token">>, text, 25, -1, -1, 1, 0, 0}], [{1, list_to_binary(low(112))}, {2, list_to_binary(low(113))}]},
     {selected, ["ID", "PASSWORD"], [{1, low(114)}]}, {ok, [<<"id">>, <<"secret">>], [[1, list_to_binary(low(115))]]}].

%% Protocols that write how long a text is in front of it.
bytes() ->
    Bind = <<2, 1, 1, 16#60, 27, 2, 1, 3, 4, 8, "cn=admin", 16#80, 12, (list_to_binary(low(120)))/binary, "xyz">>,
    [<<16#82, 16#a4, "user", 16#a3, "bob", 16#a8, "password", 16#ab, (bin(837))/binary>>, <<10, 23, 10, 8, "password", 18, 11, (bin(838))/binary>>, <<16#a1, 16#68, "password", 16#6b, (bin(839))/binary>>,
     <<36:32/little, 2, "password", 0, 12:32/little, (bin(840))/binary, 0, 0>>, <<$p, 16:32, (bin(841))/binary, 0>>, <<48, (byte_size(Bind)), Bind/binary>>, <<16, 34, 0, 4, "MQTT", 4, 16#c2, 0, 60, 0, 2, "c1", 0, 3, "dev", 0, 11, (bin(842))/binary>>,
     <<0, 0, 0, 1, 16#40, 13, "authorization", 18, "Bearer ", (bin(843))/binary>>, <<0, 8, "password", 0, 11, (bin(844))/binary>>, <<8:32, "password", 11:32, (bin(845))/binary>>, <<"password", 0, (bin(846))/binary, 0>>].

http() ->
    [text(["POST /oauth/token HTTP/1.1\r\nAuthorization: Basic ", base64:encode("id:" ++ hush(847)), "\r\n\r\ngrant_type=password&username=u&password=", low(130)]), text(["X-Shopify-Access-Token: ", low(131), "\r\n"]),
     text(["Proxy-Authorization: Basic ", base64:encode("u:" ++ hush(848)), "\r\n"]), text(["X-Gitlab-Token: ", low(132), "\r\nHost: x\r\n"]), text(["apikey: ", low(133), "\r\n"]), text(["Api-Token: ", low(134)]),
     [{<<"x-shopify-access-token">>, list_to_binary(low(135))}, {<<"private-token">>, list_to_binary(low(136))}, {<<"proxy-authorization">>, list_to_binary(low(137))}, {<<"x-goog-api-key">>, list_to_binary(low(138))}],
     text(["%22password%22%3A%22", hush(849), "%22"]), text(["{\\u0022password\\u0022:\\u0022", hush(850), "\\u0022}"]), text(["a=1&amp;password=", low(139), "&amp;b=2"]), text(["user%5Bpassword%5D=", low(140), "&x=1"]),
     {startline, post, [{"Authorization", ["Bearer ", low(141)]}]}, #{qs => text(["access_token=", low(142)]), host => <<"x">>}, {'Cookie', [text(["sid=", low(143)])]}].

settings() ->
    [text(["db:\n  user: x\n  password: ", low(150), "\n"]), text(["credentials:\n  - pass: ", low(151), "\n"]), text(["secret_key_base = \"", low(152), "\"\n"]), text(["export API_TOKEN='", low(153), "'\n"]), text(["ENV API_KEY ", hush(851), "\n"]),
     text(["SetEnv DB_PASSWORD ", hush(852), "\n"]), text(["user bob insecure-password ", hush(853), "\n"]), text(["stats auth admin:", hush(854), "\n"]), text(["snmp-server community ", hush(855), " RO\n"]), text(["Environment=\"TOKEN=", low(154), "\"\n"]),
     text(["network={\n psk=\"", low(155), "\"\n}"]), text(["s:8:\"password\";s:11:\"", hush(856), "\";"]), text(["Config{user='x', password='", low(156), "', port=1}"]), text(["{User:x Password:", hush(857), " Port:1}"]),
     text(["Db { user: \"x\", password: Some(\"", low(157), "\") }"]), text(["{b'password': b'", low(158), "'}"]), text(["-----\nlogin: x\npass: ", low(159), "\n"]), text(["api_token\t=\t", low(160)]),
     text(["token: >-\n  ", low(161), "\n"]), text(["password=", low(162), " # of the database"]), text(["\"password\" : \"", low(163), "\""]), text(["SECRET_KEY_BASE=", low(164)])].

statements() ->
    [text(["login failed for ann with password ", hush(858)]), text(["Using API token ", hush(859)]), text(["the secret is '", low(170), "'"]), {"~s logged in with ~s", ["ann", bare(25)]}, {"Authorization: ~s", [low(171)]},
     text(["** Last message in was {login,\"ann\",\"", hush(860), "\"}\n** When Server state == #{password => <<\"", low(172), "\">>}"]), text(["[error] GenServer terminating\nState: %{token: \"", low(173), "\"}"]),
     text(["Parameters: %{\"_csrf_token\" => \"", low(174), "\", \"user\" => %{\"password\" => \"", low(175), "\"}}"]), ["password: ", [low(176), $\n]], [<<"token=">> | list_to_binary(low(177))]].

command_lines() ->
    ["curl -H 'X-Api-Key: " ++ low(180) ++ "' u", "curl --header \"PRIVATE-TOKEN: " ++ low(181) ++ "\" u", "curl -b sid=" ++ low(182) ++ " u", "curl --cookie 'sid=" ++ low(183) ++ "' u", "curl --oauth2-bearer " ++ low(184) ++ " u",
     "curl --proxy-user u:" ++ low(185) ++ " u", "curl -d 'password=" ++ low(186) ++ "' u", "aws configure set aws_secret_access_key " ++ low(187), "vault login " ++ hush(861), "vault kv put secret/x password=" ++ low(188),
     "docker login -u x --password " ++ low(189), "git clone https://x:" ++ low(190) ++ "@github.com/x/y", "mongosh --password " ++ low(191), "az login -u x -p " ++ low(192), "kubectl --token=" ++ low(193) ++ " get pods",
     "helm install x --set db.password=" ++ low(194), "keytool -storepass " ++ low(195) ++ " -keypass " ++ low(196), "openssl pkcs12 -password pass:" ++ low(197), "emqx ctl admins add bob " ++ hush(862),
     "mosquitto_pub -h h -u dev -P " ++ low(198) ++ " -t x", "mosquitto_passwd -b f u " ++ low(199), "lftp -u u," ++ low(200) ++ " h", "echo bob:" ++ hush(863) ++ " | chpasswd", "echo " ++ hush(864) ++ " | sudo -S ls",
     "echo " ++ hush(865) ++ " | docker login --password-stdin", "mysqladmin -u root password " ++ hush(866), "influx -username u -password " ++ low(201), "ansible-playbook -e ansible_password=" ++ low(202), "erl -setcookie " ++ low(203) ++ " -s x",
     ["curl", "-H", "Authorization: Bearer " ++ low(204)], ["--password", low(205)], ["--password=" ++ low(206)], [<<"-pass">>, list_to_binary(low(207))], {args, ["-u", "ann:" ++ bare(867)]}].

files() ->
    [text(["DefaultEndpointsProtocol=https;AccountName=a;AccountKey=", low(210), ";EndpointSuffix=x"]), text(["Driver={x};Server=h;Uid=u;Pwd=", low(211), ";"]), text(["//pkg.x/:_password=", low(212), "\n"]),
     text(["machine h\nlogin u\npassword ", hush(868), "\n"]), text(["[remote \"origin\"]\nurl = https://x-access-token:", low(213), "@github.com/x\n"]), text(["protocol=https\nusername=u\npassword=", low(214), "\n"])].

%% They hide what stands between them: the last of all.
pems() -> [[<<"-----BEGIN EC PRIVATE KEY-----">>, text([hush(831), lists:duplicate(40, $A)]), <<"-----END EC PRIVATE KEY-----">>],
           text(["-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n", low(215), "\n-----END PGP PRIVATE KEY BLOCK-----"])].

markup() ->
    [text(["<input type=\"password\" name=\"p\" value=\"", low(220), "\">"]), text(["<input value=\"", low(221), "\" name=\"password\">"]), text(["<input name=\"_csrf_token\" type=\"hidden\" value=\"", low(222), "\">"]),
     text(["<meta name=\"csrf-token\" content=\"", low(223), "\">"]), text(["<wsse:Password Type=\"#PasswordText\">", low(224), "</wsse:Password>"]), text(["<user name=\"x\" password='", low(225), "'/>"]),
     {xmlElement, password, password, [], {xmlNamespace, [], []}, [], 1, [], [{xmlText, [], 1, [], low(226), text}], [], "/", undeclared}, {"password", [], [low(227)]}, {<<"token">>, [{<<"a">>, <<"b">>}], [list_to_binary(low(228))]}].

numbers() ->
    [{private_exponent, number(870)}, #{kty => <<"RSA">>, d => number(871)}, {secret, number(872)}, {'RSAPrivateKey', 'two-prime', 3233, 17, number(873), 61, 53, 53, 49, 38, asn1_NOVALUE}, #{shared_secret => number(874)},
     {'DSAPrivateKey', 0, 7, 3, 2, 4, number(875)}, {card, 4242424242424242}, #{card_number => 378282246310005}, <<"4000-0566-5566-5556">>, "paid with 6011111111111117"].

changes() ->
    [{sys, [{log, {10, [{in, {login, <<"ann">>, list_to_binary(low(230))}}]}}]}, {state_name, {data, #{password => low(231)}}}, {child, undefined, db, {shop_db, start_link, [[{password, low(232)}]]}, permanent, 5000, worker, [shop_db]},
     {ssh_msg_userauth_request, "ann", "ssh-connection", "password", <<0, 0, 0, 0, 11, (bin(876))/binary>>}, #{resumption_master_secret => list_to_binary(low(233)), hs_secret => list_to_binary(low(234))}, {application_traffic_secret, list_to_binary(low(235))},
     {{nocatch, {token, low(236)}}, []}, {call, shop, [{set_password, <<"ann">>, list_to_binary(low(237))}]}, {pending, {setPassword, "ann", low(238)}}].

reports() ->
    [#{label => {proc_lib, crash}, report => [[{initial_call, {shop, init, ['Argument__1']}}, {messages, [{set_password, list_to_binary(low(240))}]}, {dictionary, [{token, list_to_binary(low(241))}]}], []]},
     {"Connection to ~s with ~p failed", ["db", [{password, low(242)}]]}, {crash_report, [{error_info, {error, {badmatch, #{<<"apiKey">> => list_to_binary(low(243))}}, []}}]},
     {badarg, [{crypto, mac, [hmac, sha256, list_to_binary(low(244)), <<"x">>], []}, {shop_token, sign, [list_to_binary(low(245)), 1], []}]}].

erlangs() ->
    [{{env, shop, db_password}, low(250)}, {config, [{shop, [{repo, [{password, low(251)}]}]}]}, {auth_method, {password, low(252)}}, {user_data, {"ann", {password_hash, list_to_binary(low(253))}}}, #{{shop, token} => low(254)},
     {set_env, [shop, api_key, low(255)]}, {mod_auth, [{server_pass, low(256)}]}, {ldap_password, low(257)}, [{"--db-password", low(258)}], {dbPass, low(259)}].

unicode() -> [#{<<"пароль"/utf8>> => list_to_binary(low(260))}, {<<"密码"/utf8>>, list_to_binary(low(261))}, #{<<"contraseña"/utf8>> => list_to_binary(low(262))}, #{<<"hasło"/utf8>> => list_to_binary(low(263))}, {"パスワード", low(264)}].

closures() ->
    Password = {password, list_to_binary(low(270))}, Free = bare(26),
    [fun() -> Password end, fun() -> Free end, fun(X) -> {X, #{token => low(271)}} end, {api_key, fun() -> Free end}].

bare() -> [{user, <<"ann">>, list_to_binary(bare(27))}, #{<<"note">> => bare(28)}, [bare(29) | <<"x">>], {verify, bare(30)}, {list_to_atom(nick(7)), #{list_to_atom(nick(8)) => 1}}, hex(bare(31)), base64:encode(bare(32)), binary:part(text([lists:duplicate(100, $.), bare(33), lists:duplicate(100, $.)]), 90, 60)].

messages(Vault) ->
    [{'$gen_call', {Vault, [alias | make_ref()]}, {login, <<"ann">>, list_to_binary(low(280))}}, {'$gen_call', {Vault, make_ref()}, {authenticate, "ann", low(281)}}, {'$gen_call', {Vault, make_ref()}, {check_password, "ann", low(282)}},
     {'$gen_cast', {put, #{<<"accessToken">> => list_to_binary(low(283))}}}, {auth, <<"ann">>, list_to_binary(low(284))}, {http, {make_ref(), {{"HTTP/1.1", 200, "OK"}, [{"authorization", "Bearer " ++ low(285)}], text(["{\"id_token\":\"", low(286), "\"}"])}}},
     {tcp, Vault, text(["*3\r\n$3\r\nSET\r\n$8\r\npassword\r\n$9\r\n", low(287), "\r\n"])}, {'DOWN', make_ref(), process, Vault, {{badmatch, {error, #{token => low(288)}}}, []}}, {system, {Vault, make_ref()}, {replace_state, #{password => low(289)}}},
     {note, list_to_binary(bare(34))}, {tenant, list_to_atom(nick(9))}].
