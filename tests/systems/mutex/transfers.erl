-module(transfers).
-export([transfer/2]).
transfer(Buyer, Seller) ->
    ok = account_locks:await_all([{account, Buyer}, {account, Seller}]),
    account_locks:release({account, Buyer}),
    [account_locks:release({account, Seller}) || Buyer =/= Seller],
    done().
done() -> receive stop -> ok end.
