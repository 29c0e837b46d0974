-module(receipt_request).
-export([run/2]).
%% A request starts a document of two servers, which it is linked to, and ends with reason normal.
run(Closes, Parent) ->
    {ok, Objects} = pdf_objects:start_link(),
    {ok, Fonts} = pdf_fonts:start_link(Objects),
    [pdf_objects:add(Objects, {line, N}) || N <- lists:seq(1, 20)],
    case Closes of
        true -> [gen_server:stop(Each) || Each <- [Fonts, Objects]];
        false -> ok
    end,
    Parent ! {done, self()}.
