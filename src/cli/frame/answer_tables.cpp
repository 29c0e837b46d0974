// SPDX-License-Identifier: Apache-2.0
#include "cli/frame/answer_tables.hpp"

#include <algorithm>
#include <array>

#include "analyses/facts/needs.hpp"
#include "analyses/processes/waits.hpp"
#include "cli/frame/command_line/option_table.hpp"
#include "formats/format.hpp"
#include "present/render.hpp"

namespace beamheap::cli {
namespace {

// One of everything that a dump tells: a server with a state, a message and an entry in its dictionary, called by
// another.
constexpr std::string_view small_dump = R"(=erl_crash_dump:0.5
Sun Nov 22 00:54:25 2026
Slogan: for the help
System version: Erlang/OTP 25 [erts-13.1.5] [source] [64-bit] [smp:1:1] [ds:1:1:10] [async-threads:1] [jit:ns]
Taints: 
Atoms: 3
=scheduler:1
Scheduler Sleep Info Flags: 
Scheduler Sleep Info Aux Work: 
Current Port: 
Run Queue Max Length: 0
Current Process: <0.9.0>
Current Process State: Running
=memory
total: 1000
processes: 500
=allocator:ll_alloc[1]
option e: true
mbcs blocks size: 10 10 10
mbcs carriers size: 20 20 20
=hash_table:atom_tab
size: 8
used: 3
objs: 3
depth: 1
=index_table:atom_tab
size: 1024
limit: 1048576
entries: 3
=port:#Port<0.3>
State: CONNECTED
Slot: 3
Connected: <0.9.0>
Port controls forker process: forker
Input: 0
Output: 0
Queue: 0
=ets:<0.9.0>
Slot: 94035890930112
Table: t
Name: t
Buckets: 256
Objects: 1
Words: 300
Type: set
Protection: protected
Compressed: false
Write Concurrency: false
Read Concurrency: false
=timer:<0.9.0>
Message: refresh_timeout
Time left: 3590334
=node:'nonode@nohost'
=no_distribution
=loaded_modules
Current code: 100
Old code: 0
=mod:m
Current size: 100
=proc:<0.9.0>
State: Waiting
Name: server
Spawned as: m:init/1
Last scheduled in for: m:loop/1
Spawned by: <0.10.0>
Message queue length: 1
Number of heap fragments: 0
Heap fragment data: 0
Link list: [<0.10.0>]
Reductions: 10
Stack+heap: 233
OldHeap: 0
Heap unused: 200
OldHeap unused: 0
BinVHeap: 0
OldBinVHeap: 0
BinVHeap unused: 0
OldBinVHeap unused: 0
Memory: 2000
New heap start: 7FEE03A28000
New heap top: 7FEE03A28040
Stack top: 7FEE03A28700
Stack end: 7FEE03A28748
Old heap start: 0
Old heap top: 0
Old heap end: 0
Program counter: 0x00007fee10ef8620 (m:loop/1 + 112)
=proc:<0.10.0>
State: Waiting
Spawned as: m:client/0
Last scheduled in for: gen:do_call/4
Spawned by: []
Message queue length: 0
Reductions: 10
Stack+heap: 233
OldHeap: 0
Heap unused: 200
OldHeap unused: 0
Memory: 2000
Program counter: 0x00007fee10ef8620 (gen:do_call/4 + 112)
=proc_dictionary:<0.9.0>
H7FEE03A28030
=proc_messages:<0.9.0>
H7FEE03A28018:N
=proc_stack:<0.9.0>
0x00007fee03a28700:SReturn addr 0x10E73864 (m:loop/1 + 140)
y0:H7FEE03A28000
=proc_heap:<0.9.0>
7FEE03A28000:t2:I1,I2
7FEE03A28018:t2:A1:a,A1:b
7FEE03A28030:t2:A3:key,I1
=proc_stack:<0.10.0>
0x00007fee03a28700:SReturn addr 0x10E73864 (m:client/0 + 140)
=fun
Module: m
Uniq: 133146751
Index: 99
Address: 0x00007fee10f79248
Refc: 1
=atoms
key
a
=end
)";
constexpr std::string_view small_path = "small.dump", process_in_it = "<0.9.0>", address_in_it = "7FEE03A28000";

// Options under which a verb answers with other tables, or other columns of them.
struct Question {
    std::string_view option;
    void (*set)(Options& options);
};
constexpr std::array questions{
    Question{"", [](Options&) {}},
    Question{"--by", [](Options& options) { options.by = "shape"; }},
    Question{"--by", [](Options& options) { options.by = "sender"; }},
    Question{"--per-process", [](Options& options) { options.per_process = true; }},
    Question{"--running", [](Options& options) { options.running = true; }},
    Question{"--into", [](Options& options) { options.into = address_in_it; }},
};

bool takes(const Command& command, std::string_view option) {
    return std::ranges::any_of(
        option_table(), [&](const OptionRow& row) { return row.long_name() == option && cli::takes(command, row); });
}

// What stands for an argument; empty: nothing does.
std::string_view word_for(ArgumentKind kind) {
    switch (kind) {
        case ArgumentKind::input:
        case ArgumentKind::executable:
        case ArgumentKind::path: return small_path;
        case ArgumentKind::process: return process_in_it;
        case ArgumentKind::address: return address_in_it;
        default: return {};
    }
}

void add_table(const present::Member& member, bool main, std::vector<AnswerTable>& tables) {
    const auto* table = std::get_if<present::Table>(&member.body);
    if (table == nullptr || !member.in_json || member.object) return;
    auto at = std::ranges::find(tables, member.key, &AnswerTable::name);
    if (at == tables.end()) at = tables.insert(tables.end(), {.name = member.key, .main = main, .columns = {}});
    for (const present::Column& column : table->columns)
        if (std::ranges::find(at->columns, column.name, &present::Column::name) == at->columns.end())
            at->columns.push_back(column);
}

// The main table is that of the first answer: other questions have others.
void add_tables(const present::Document& document, std::vector<AnswerTable>& tables) {
    const std::string main = tables.empty() ? present::main_table(document) : std::string();
    for (const present::Member& member : document.members) add_table(member, member.key == main, tables);
}

// Loads the small dump for whatever may be asked.
Result<LoadedInput> small_input() {
    const LoadPlan plan{analyses::need::everything};
    BH_TRY(std::shared_ptr<Artifact> artifact, open_artifact_bytes(small_dump, {}));
    BH_CHECK(artifact->load(plan));
    Anomalies met = artifact->snapshot().anomalies;
    return LoadedInput{std::string(small_path), plan, std::move(artifact), met};
}

}  // namespace

std::vector<AnswerTable> answer_tables(const Command& command) {
    std::vector<AnswerTable> tables;
    if (command.session || command.writes || !command.takes(ArgumentKind::input)) return tables;
    Options options;
    options.verb = command.name;
    options.format = "json";
    options.quiet = true;
    for (const Argument& each : command.arguments) {
        const std::string_view word = each.name.empty() || each.optional ? std::string_view() : word_for(each.kind);
        if (!word.empty()) options.inputs.emplace_back(word);
    }
    if (options.inputs.size() < command.least()) return tables;
    auto loaded = small_input();
    if (!loaded) return tables;
    const AnswerTaker taker = [&tables](const present::Document& document, const present::RenderOptions&) {
        add_tables(document, tables);
        return ok();
    };
    for (const Question& question : questions) {
        if (!question.option.empty() && !takes(command, question.option)) continue;
        Options asked = options;
        question.set(asked);
        // What a verb says against a question is no table.
        static_cast<void>(command.run(Context(asked, &*loaded, &taker)));
        loaded->forget_answers();
    }
    std::stable_partition(tables.begin(), tables.end(), [](const AnswerTable& each) { return each.main; });
    return tables;
}

}  // namespace beamheap::cli
