%% SPDX-License-Identifier: Apache-2.0
-record(session, {id, buffer = [] :: list(), password, opened = {0, 0} :: {integer(), integer()}}).
