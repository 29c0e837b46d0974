%% A node full of further secrets, as scenario_secrets has them (Hush: a key or a form says that it is one; Bare: nothing does): those of
%% brokers, web frameworks, databases, identity providers and command lines, in the shapes in which their libraries keep them.
-module(scenario_plants).
-export([scenarios/0, plants/1]).

-import(scenario_kit, [specimen/2, hold/1]).

scenarios() -> [plants].

plants(_Args) ->
    ets:new(sessions, [named_table, public, compressed]),
    ets:insert(sessions, [{<<"s1">>, #{<<"user_token">> => bin(500), roles => [admin]}}, {{bob, token}, hush(501)}, {{oauth, access_token, 7}, bin(502)}]),
    ets:new(api_tokens, [named_table, public, ordered_set]),
    ets:insert(api_tokens, [{7, bin(503)}, {8, {ann, bin(504), 12}}]),
    persistent_term:put({?MODULE, settings}, #{api_key => bin(505), url => text(["redis://:", hush(506), "@cache:6379/0"])}),
    Vault = specimen(vault, fun(Ready) ->
        put({smtp, password}, hush(507)),
        put('$process_label', {session, #{refresh_token => bin(508), user => 7}}),
        put("client_secret", bin(509)),
        put(basic_auth, {<<"ann">>, bin(510)}),
        Ready(), hold({state, [alone(Kind) || Kind <- [brokers(), chat(), web(), databases(), identity(), tls(), shapes(), calls(), texts(), packed(), commands(), keys(), forms(), more(), bare()]]}) end),
    [Vault ! M || M <- messages()],
    erlang:start_timer(3600000, Vault, {expire, #{token => bin(511)}}),
    erlang:send_after(3600000, Vault, {reset, {password, <<"bob">>, hush(512)}}),
    #{slogan => "pool failed: {connect, \"postgres://shop:" ++ hush(513) ++ "@db/shop\"}, client_secret=>\"" ++ hush(514) ++ "\"", facts => #{culprit => Vault}}.

%% Each for itself: of a list's elements one may tell what the next one is.
alone(Plants) -> lists:zip(lists:seq(1, length(Plants)), Plants).

hush(N) -> lists:flatten(io_lib:format("Hush~3..0wxVw7", [N])).
bin(N) -> list_to_binary(hush(N)).
bare(N) -> lists:flatten(io_lib:format("Bare~3..0w of the town", [N])).
text(Parts) -> iolist_to_binary(Parts).
hex(Format, Text) -> text([io_lib:format(Format, [C]) || <<C>> <= Text]).
key(N, Size) -> text([hush(N), lists:duplicate(Size - 11, $k)]).

%% RabbitMQ, MQTT, Kafka, STOMP, NATS
brokers() ->
    [{'connection.start_ok', [], <<"PLAIN">>, <<0, "guest", 0, (bin(515))/binary>>, <<"en_US">>}, <<0, "ann", 0, (bin(516))/binary>>,
     <<5, "LOGINS", 0, 0, 0, 5, "guest", 8, "PASSWORDS", 0, 0, 0, 11, (bin(517))/binary>>, #{<<"src-uri">> => [text(["amqps://shovel:", hush(518), "@mq"])]},
     text(["{\"users\":[{\"name\":\"guest\",\"password_hash\":\"", hush(519), "\",\"tags\":[]}]}"]), {dn_lookup_bind, {"cn=admin,dc=x", hush(520)}},
     {other_bind, {<<"cn=ops">>, bin(521)}}, {mqtt_packet_connect, <<"MQTT">>, 4, false, true, false, 0, false, 60, #{}, <<"c1">>, #{}, undefined, undefined, <<"dev">>, bin(522)},
     text(["org.apache.kafka.common.security.plain.PlainLoginModule required username=\"u\" password=\"", hush(523), "\";"]),
     text(["CONNECT\nlogin:bob\npasscode:", hush(524), "\n\n", 0]), text(["CONNECT {\"auth_token\":\"", hush(525), "\",\"pass\":\"", hush(526), "\",\"verbose\":false}\r\n"]),
     {default_pass, bin(527)}, {["ldap", "other_bind", "password"], hush(528)}, {sasl, {plain, <<"kafka">>, bin(529)}}, #{sasl => {scram_sha_512, <<"k">>, bin(530)}}].

%% ejabberd, XMPP, SIP, LDAP
chat() ->
    [{passwd, {<<"ann">>, <<"example.org">>}, bin(531)}, {oauth_token, bin(532), {<<"ann">>, <<"example.org">>}, [<<"ejabberd:user">>], 1700000000},
     text(["sql_password: ", hush(533), "\nsql_pool_size: 5\n"]), text(["<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>", base64:encode(<<0, "ann", 0, (bin(534))/binary>>), "</auth>"]),
     {xmlel, <<"auth">>, [{<<"mechanism">>, <<"PLAIN">>}], [{xmlcdata, base64:encode(<<0, "ann", 0, (bin(535))/binary>>)}]},
     {xmlel, <<"password">>, [], [{xmlcdata, bin(536)}]}, {'BindRequest', 3, "cn=admin", {simple, hush(537)}}, text(["dn: cn=x\nuserPassword: ", hush(538), "\n"]),
     text(["userPassword:: ", base64:encode(hush(539)), "\n"]), text(["{SSHA}", hush(540), "JhaXk3Zm9vYmFyYmF6cXV4"])].

%% Phoenix, Plug, cowboy, OAuth
web() ->
    [#{'__struct__' => 'Elixir.Plug.Conn', req_cookies => #{<<"_app_key">> => bin(541)}, params => #{<<"user">> => #{<<"password_confirmation">> => bin(542)}}},
     #{'__struct__' => 'Elixir.Shop.Credentials', name => <<"ann">>, value => bin(543)}, #{headers => #{<<"x-amz-security-token">> => bin(544), <<"host">> => <<"x">>}},
     [{<<"ocp-apim-subscription-key">>, bin(545)}, {<<"x-functions-key">>, bin(546)}, {<<"dd-application-key">>, bin(547)}, {<<"x-rapidapi-key">>, bin(548)}],
     [{":authority", "x"}, {"x-auth-token", hush(549)}], text(["GET /cb?code=", hush(550), "&state=1 HTTP/1.1\r\nHost: x\r\n"]), text(["grant_type=authorization_code&code=", hush(551), "&redirect_uri=x"]),
     #{<<"code_verifier">> => bin(552), <<"client_assertion">> => bin(553), <<"device_code">> => bin(554)}, text(["SAMLResponse=", hush(555), "&RelayState=x"]),
     #{name => <<"DB_PASSWORD">>, value => bin(556)}, #{<<"name">> => <<"session_token">>, <<"value">> => bin(557), <<"domain">> => <<"x">>},
     text(["{\"env\":[{\"name\":\"API_KEY\",\"value\":\"", hush(558), "\"},{\"name\":\"PORT\",\"value\":\"80\"}]}"]), text(["{\"value\":\"", hush(559), "\",\"name\":\"password\"}"]),
     #{<<"kty">> => <<"oct">>, <<"k">> => bin(560)}, #{kty => <<"RSA">>, n => <<"pub">>, d => bin(561), p => bin(562)}, text(["{\"kty\":\"oct\",\"alg\":\"HS256\",\"k\":\"", hush(563), "\"}"]),
     {<<"sec-websocket-protocol">>, text(["bearer, ", hush(564)])}, [<<"Set-Cookie: id=">>, bin(565), <<"; HttpOnly">>], {cookies, [{<<"session">>, bin(566)}]},
     text(["https://", hush(567), "abcdef@github.com/org/x.git"]), text(["otpauth://totp/x:ann?secret=", hush(568), "&issuer=x"])].

databases() ->
    [text(["mongodb+srv://app:", hush(569), "@cluster.example/db"]), text(["postgresql://h/db?user=x&password=", hush(570)]), text(["Data Source=h;User ID=sa;Pwd=", hush(571), ";"]),
     text(["postgres://u:p@", hush(572), "@h/db"]), text(["host=h port=5432 user=u password=", hush(573), " sslmode=require"]), text(["db.internal:5432:shop:ann:", hush(574)]),
     text(["INSERT INTO users (name, password) VALUES ('bob', '", hush(575), "')"]), text(["UPDATE users SET password='", hush(576), "' WHERE id=1"]), text(["SET PASSWORD FOR 'x' = '", hush(577), "'"]),
     {<<"SELECT * FROM users WHERE api_token = $1">>, [bin(578)]}, text(["SELECT u0.id FROM users AS u0 WHERE (u0.\"token\" = $1) [\"", hush(579), "\"]"]),
     text(["HELLO 3 AUTH default ", hush(580)]), text(["CONFIG SET requirepass ", hush(581)]), {requirepass, hush(582)}, [{hostname, "db"}, {userpwd, bin(583)}, {dbpass, bin(584)}],
     text(["SCRAM-SHA-256$4096:c2FsdA==$", hush(585), "c3RvcmVkIGtleSBvZiAzMiBieXRlcw=:", hush(586), "c2VydmVyIGtleSBvZiAzMiBieXRlcw="]), text(["pbkdf2_sha256$260000$c2FsdHNhbHQ$", hush(587), "kJ9sd8fYw2Qz"])].

identity() ->
    [#{aws_secret_access_key => bin(588), region => <<"eu">>}, text(["{\"type\":\"service_account\",\"private_key\":\"-----BEGIN PRIVATE KEY-----\\n", hush(589), "AAAA\\n-----END PRIVATE KEY-----\\n\"}"]),
     text(["client-key-data: ", base64:encode(text(["-----BEGIN RSA PRIVATE KEY-----\n", hush(590), lists:duplicate(60, $A)]))]), text(["{\"auths\":{\"r.io\":{\"auth\":\"", base64:encode("ann:" ++ hush(591)), "\"}}}"]),
     text(["//registry.npmjs.org/:_authToken=", hush(592)]), text(["machine api.example login ann password ", hush(593)]), text(["AccountName=x;SharedAccessKey=", hush(594), "="]),
     text(["alice:$6$saltsalt$", hush(595), "kJ9sd8fYw2Qz:19000:0:99999:7:::"]), {vault, [{role_id, <<"r">>}, {secret_id, bin(596)}]}, #{<<"AssumeRole">> => #{<<"SessionToken">> => bin(597)}},
     text(["[default]\naws_secret_access_key = ", hush(598), "\nregion = eu\n"])].

tls() ->
    [{srp_identity, {"ann", hush(599)}}, {user_lookup_fun, {fun erlang:max/2, bin(600)}}, [{psk, bin(601)}, {premaster_secret, bin(602)}], {rsa_pass_phrase, hush(603)},
     {user_passwords, [{"ann", hush(604)}]}, {aes_256_cbc, key(605, 32), <<"0123456789abcdef">>}, #{cipher => aes_128_gcm, key => key(606, 16), iv => <<"123456789012">>},
     {certs_keys, [#{certfile => "c.pem", password => bin(607)}]}, #{client_handshake_traffic_secret => bin(608)}].

%% Keys that are no single word, and values in all forms that bytes have.
shapes() ->
    Joined = text(["user=bob;password=", hush(609), ";x=1"]),
    [#{{db, password} => bin(610)}, #{[db, password] => bin(611)}, {[<<"db">>, <<"password">>], bin(612)}, {{auth, token}, hush(613)}, #{password => <<(bin(614))/binary, 1>>},
     #{"password" => hush(615)}, #{'userPassword' => hush(616)}, #{<<"user[password]">> => bin(617)}, {"spring.datasource.password", hush(618)},
     #{password => [<<"Hush">>, <<"619xVw7">>]}, [<<"Authorization: Bea">>, <<"rer ">>, bin(620)], binary:split(Joined, <<";">>, [global]), {record, 1, {inner, 2, {deep, [{token, bin(621)}]}}},
     [{a, 1} | {password, bin(622)}], {token, [{value, bin(623)}, {expires, 3600}]}, #{secret => #{value => #{raw => bin(624)}}}, {api_key, fun() -> bin(625) end},
     #{password => {bin(626), <<"salt">>, 4096}}, #{<<"passwords">> => #{<<"ann">> => bin(627), <<"bob">> => [bin(628)]}}, {password, hush(629), {password, bin(630)}}].

%% Functions by their names, and what they were called with.
calls() ->
    [{ejabberd_auth, check_password, [<<"bob">>, <<>>, <<"h">>, bin(631)]}, {undef, [{vault, change_password, ["bob", hush(632)], [{file, "v.erl"}, {line, 3}]}]},
     {rabbit_auth_backend_internal, change_password, [<<"bob">>, bin(633), <<"acting-user">>]}, {apply, auth, verify_token, [bin(634)]},
     {'EXIT', {function_clause, [{jwt, decode_token, [bin(635), #{}], []}, {gen_server, try_handle_call, 4, []}]}}].

texts() ->
    [text(["{\"body\":\"{\\\"password\\\":\\\"", hush(636), "\\\"}\"}"]), text(["{'user': 'bob', 'password': '", hush(637), "'}"]), text([":password=>\"", hush(638), "\", :a=>1"]),
     text(["'password' => '", hush(639), "',"]), text(["[db]\npass=", hush(640), "\n"]), text(["password = \"", hush(641), "\"\n"]), text(["password: '", hush(642), "'\nport: 1\n"]),
     text(["mutation { login(email: \"a@b\", password: \"", hush(643), "\") { id } }"]), text(["mot_de_passe=", hush(644)]), text(["wachtwoord: ", hush(645)]), {"user=~s, pass=~s", ["bob", hush(646)]},
     {"~ts: ~ts", ["password", hush(647)]}, #{level => error, msg => {"auth of ~s failed, token ~p", ["ann", bin(648)]}, meta => #{pid => self()}}, {string, "api key: " ++ hush(649)},
     text(["PASSWORD=\"", hush(650), "\" ./run"]), text(["<property name=\"password\" value=\"", hush(651), "\"/>"]), text(["<password><![CDATA[", hush(652), "]]></password>"]),
     text(["password\t", hush(653), "\n"]), text(["X-Api-Key:", hush(654), "\r\n"]), text(["--form password=", hush(655)]), text(["Password:\r\n", hush(656), "\r\n"]),
     text(["Content-Disposition: form-data; name=\"password\"\r\n\r\n", hush(657), "\r\n--b"]), text(["{:password, \"", hush(658), "\"}"]), text(["%{password: \"", hush(659), "\"}"])].

packed() ->
    Pair = text(["password=", hush(660), "&user=bob"]),
    [hex("~2.16.0B", Pair), hex("~2.16.0b", text(["token=", hush(661)])), zlib:zip(Pair), unicode:characters_to_binary(["secret=", hush(662)], utf8, utf32),
     base64:encode(base64:encode(text(["password=", hush(663)]))), term_to_binary([{a, 1}, {password, hush(664)}]), term_to_binary(term_to_binary({token, bin(665)})),
     base64:encode(text(["{\"password\":\"", hush(666), "\"}"])), term_to_binary({state, #{api_key => bin(667)}}, [compressed]), zlib:gzip(term_to_binary({password, bin(668)})),
     "password%3D" ++ hush(669)].

commands() ->
    ["rabbitmqctl add_user bob " ++ hush(670), text(["rabbitmqctl change_password bob ", hush(671)]), "ejabberdctl register bob example.org " ++ hush(672), text(["htpasswd -b /etc/f bob ", hush(673)]),
     "zip -P " ++ hush(674) ++ " a.zip f", "openssl enc -aes-256-cbc -k " ++ hush(675), "gpg --batch --passphrase " ++ hush(676), "mysqldump --password=" ++ hush(677), "psql --password " ++ hush(678),
     "docker run -e MYSQL_ROOT_PASSWORD=" ++ hush(679) ++ " mysql", "wget --http-password=" ++ hush(680) ++ " u", "kubectl create secret generic x --from-literal=password=" ++ hush(681),
     "export DB_PASSWORD=" ++ hush(682) ++ "; ./run", ["--api-key", hush(683)], {spawn_executable, "x", [{args, ["--token", hush(684)]}, {env, [{"SECRET_KEY", hush(685)}]}]}].

keys() ->
    [{master_key, bin(686)}, {app_key, bin(687)}, #{encryptionkey => bin(688)}, {authkey, bin(689)}, #{sessionkey => bin(690)}, {integration_key, bin(691)}, {service_key, bin(692)},
     {access_code, bin(693)}, {activation_code, bin(694)}, {security_answer, bin(695)}, {recovery_phrase, hush(696)}, {wallet_seed, bin(697)}, #{csrf => bin(698)}, {xsrf, bin(699)},
     {pswd, bin(700)}, {adminpwd, bin(701)}, {smtppass, bin(702)}, {wachtwoord, bin(703)}, {clave, bin(704)}, {heslo, bin(705)}, {parola, bin(706)}, {account_number, bin(707)},
     {login_code, bin(708)}, {server_key, bin(709)}, {reset_link, text(["https://x/reset/", hush(710)])}, {unlock_code, bin(711)}, {authentication_key, bin(712)}, {sas_url, bin(713)}].

forms() ->
    [text(["MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.", hush(714), "kJ9sd8fYw2QzAAbb"]), text(["1//0g", hush(715), "kJ9sd8fYw2QzAAbbCCddEEffGGhhIIjjKKll"]), text(["abc8Q~", hush(716), "kJ9sd8fYw2QzAAbbCCddE"]),
     text(["v2.local.", hush(717), lists:duplicate(60, $k)]), text(["v4.public.", hush(718), lists:duplicate(90, $k)]), text(["eyJhbGciOiJkaXIifQ..", hush(719), ".c2Vj.dGFn"])].

more() ->
    [#{<<"type">> => <<"password">>, <<"value">> => bin(720)}, {property, "password", hush(721)}, [{key, password}, {value, bin(722)}], {setting, <<"smtp_password">>, bin(723), 1},
     [<<"user">>, <<"bob">>, <<"password">>, bin(724)], ["AUTH", hush(725)], [<<"HSET">>, <<"user:1">>, <<"password">>, bin(726)], {<<"password">>, 1, [bin(727)]}].

bare() -> [bare(1), list_to_binary(bare(2)), #{note => bare(3)}, [bare(4) | list_to_binary(bare(5))]].

messages() ->
    [{'$gen_cast', {set_password, <<"bob">>, bin(730)}}, {http, {make_ref(), {{"HTTP/1.1", 200, "OK"}, [{"set-cookie", "id=" ++ hush(731)}], <<"{}">>}}},
     {tcp, self(), text(["POST / HTTP/1.1\r\nX-Vault-Token: ", hush(732), "\r\n\r\n"])}, {ssl, {sslsocket, 1, 2}, text(["{\"refresh_token\": \"", hush(733), "\"}"])},
     {log, #{level => info, msg => {report, #{label => login, password => bin(734)}}, meta => #{}}}, {'DOWN', make_ref(), process, self(), {auth_failed, [{secret, hush(735)}]}},
     {note, list_to_binary(bare(6))}].
