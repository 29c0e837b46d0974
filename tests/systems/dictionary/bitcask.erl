-module(bitcask).
-export([open/2, close/1, fold/2]).
-record(bc_state, {dirname, write_file = fresh, write_lock, read_files = [], max_file_size = 2147483648, opts, key_transform, keydir}).
open(Dir, K) ->
    Ref = make_ref(),
    put(Ref, #bc_state{dirname = Dir, opts = [{expiry_secs, -1}, {io_mode, erlang}, {dead_bytes_threshold, 134217728 + K}], keydir = {kd, K}}),
    Ref.
fold(Ref, Fails) ->
    #bc_state{dirname = D} = get(Ref),
    case Fails of true -> exit({enoent, D}); false -> ok end.
close(Ref) -> erase(Ref).
