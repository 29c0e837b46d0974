"""Crash dumps with n of one thing: objects of each kind, sections, rows of tables. Each generator takes n and gives the lines of
a dump; the process <0.2.0>, called `grown`, holds what grows, at FIRST and above."""
import base64
import collections
import re

FIRST = 0x7F0000000000
VERSION = "Erlang/OTP 27 [erts-15.2] [source] [64-bit] [smp:2:2] [ds:2:2:10] [async-threads:1] [jit]"


def header():
    return (f"=erl_crash_dump:0.5\nThu Nov 19 10:00:00 2026\nSlogan: grown\nSystem version: {VERSION}\nTaints: none\nAtoms: 9000\n"
            "Calling Thread: scheduler:1\n=memory\ntotal: 100000000\nprocesses: 50000000\nprocesses_used: 50000000\nsystem: 5000000\n"
            "atom: 1000000\natom_used: 900000\nbinary: 10000\ncode: 100000\nets: 10000\n")


def process(pid, name="", queue=0, fields=""):
    named = f"Name: {name}\n" if name else ""
    return (f"=proc:{pid}\nState: Waiting\n{named}Spawned as: proc_lib:init_p/5\nSpawned by: <0.1.0>\nMessage queue length: {queue}\n"
            "Number of heap fragments: 0\nHeap fragment data: 0\n" + (fields or "Link list: []\n") +
            "Reductions: 100\nStack+heap: 100000\nOldHeap: 0\nHeap unused: 10\nOldHeap unused: 0\nBinVHeap: 0\nOldBinVHeap: 0\n"
            "BinVHeap unused: 46422\nOldBinVHeap unused: 46422\nMemory: 1000000\n"
            "Program counter: 0x00007f1111111111 (gen_server:loop/7 + 100)\narity = 0\nInternal State: ACT_PRIO_NORMAL\n")


def dump(tables="", processes=None, after="", code="", terms="", behind=""):
    """Sections in the order of the VM: `after` are ports, ETS tables and timers, `code` nodes and modules."""
    if processes is None:
        processes = process("<0.2.0>", "grown")
    return header() + tables + processes + after + "=no_distribution\n" + code + terms + behind + "=atoms\ngrown\nkey\n=end\n"


def holding(heap, root=None, behind="", dictionary="", messages=None):
    """A dump of one process whose stack holds `root`; `heap` are the lines of its heap."""
    queue = len(messages or [])
    sections = ""
    if messages:
        sections += "=proc_messages:<0.2.0>\n" + "".join(f"{each}:N\n" for each in messages)
    if dictionary:
        sections += "=proc_dictionary:<0.2.0>\n" + dictionary
    sections += f"=proc_stack:<0.2.0>\n0x00007f0000001000:SReturn addr 0x11111111 (gen_server:loop/7 + 100)\ny0:{root or f'H{FIRST:X}'}\n"
    sections += "=proc_heap:<0.2.0>\n" + "".join(line + "\n" for line in heap)
    return dump(processes=process("<0.2.0>", "grown", queue), terms=sections, behind=behind)


def at(i, step=16):
    return f"{FIRST + i * step:X}"


def elements(n, each="I{}"):
    return ",".join(each.format(i) for i in range(n))


def cells(n, each="I{i}", begin=0):
    return [f"{at(begin + i)}:l{each.format(i=i)}|" + (f"H{at(begin + i + 1)}" if i + 1 < n else "N") for i in range(n)]


def hashed(n):
    """A large map as the VM writes it: a head with up to 16 nodes, each node up to 16 children, leaves are pairs."""
    lines, level, free = [], [], 1
    for i in range(n):
        lines.append(f"{at(free)}:lI{i}|I{i}")
        level.append(at(free))
        free += 1
    while len(level) > 16:
        above = []
        for begin in range(0, len(level), 16):
            children = level[begin:begin + 16]
            lines.append(f"{at(free, 16)}:Mn{len(children):X}:" + ",".join("H" + each for each in children))
            above.append(at(free))
            free += 9
        level = above
    return [f"{at(0)}:Mh{n:X}:{len(level):X}:" + ",".join("H" + each for each in level), *lines]


def bytes_of(n):
    return base64.b64encode(bytes(i % 251 for i in range(n))).decode()


def tuples_of(n, line):
    """A list of n objects, each of one line."""
    lines = []
    for i in range(n):
        lines.append(f"{at(2 * i, 512)}:lH{at(2 * i + 1, 512)}|" + (f"H{at(2 * i + 2, 512)}" if i + 1 < n else "N"))
        lines.append(f"{at(2 * i + 1, 512)}:{line(i)}")
    return lines


def doubled(n):
    """n tuples, each of which holds the next one twice: 2^n leaves to whoever does not share."""
    return [f"{at(i, 32)}:t2:H{at(i + 1, 32)},H{at(i + 1, 32)}" for i in range(n)] + [f"{at(n, 32)}:t1:I1"]


def pids(n):
    return [f"<0.{i}.0>" for i in range(10, 10 + n)]


def sections(n, text):
    return "".join(text.format(i=i, pid=f"<0.{i + 10}.0>") for i in range(n))


KINDS = {
    "tuple": lambda n: holding([f"{at(0)}:t{n:X}:{elements(n)}"]),
    "list": lambda n: holding(cells(n)),
    "improper list": lambda n: holding(cells(n)[:-1] + [f"{at(n - 1)}:lI1|I2"]),
    "text of characters": lambda n: holding(cells(n, "I97")),
    "flat map": lambda n: holding([f"{at(0, n * 16)}:Mf{n:X}:H{at(1, n * 16)}:{elements(n)}", f"{at(1, n * 16)}:t{n:X}:{elements(n)}"]),
    "flat map of atoms": lambda n: holding([f"{at(0, n * 16)}:Mf{n:X}:H{at(1, n * 16)}:{elements(n)}",
                                            f"{at(1, n * 16)}:t{n:X}:" + ",".join(f"A{len(f'k{i}'):X}:k{i}" for i in range(n))]),
    "hashed map": lambda n: holding(hashed(n)),
    "big integer": lambda n: holding([f"{at(0)}:B{'7' * (40 * n)}"]),
    "big integers": lambda n: holding(tuples_of(n // 8, lambda i: f"B{10 ** 40 + i}")),
    "floats": lambda n: holding(tuples_of(n, lambda i: "F3:1.5")),
    "heap binary": lambda n: holding([f"{at(0)}:Yh{n:X}:{bytes_of(n)}"]),
    "heap binaries": lambda n: holding(tuples_of(n, lambda i: "Yh3:AAAA")),
    "binaries": lambda n: holding(tuples_of(n, lambda i: f"Yc{0x7E0000000000 + i * 64:X}:0:4"),
                                  behind="".join(f"=binary:{0x7E0000000000 + i * 64:X}\n4:AAAAAA==\n" for i in range(n))),
    "slices": lambda n: holding(tuples_of(n, lambda i: "Ys7E0000000000:0:4"), behind=f"=binary:7E0000000000\n{n:X}:{bytes_of(n)}\n"),
    "deep tuples": lambda n: holding([f"{at(i)}:t1:H{at(i + 1)}" for i in range(n)] + [f"{at(n)}:t1:I1"]),
    "deep lists": lambda n: holding([f"{at(i)}:lH{at(i + 1)}|N" for i in range(n)] + [f"{at(n)}:lI1|N"]),
    "doubled tuples": lambda n: holding(doubled(n)),
    "one shared by all": lambda n: holding([f"{at(0)}:t{n:X}:" + ",".join([f"H{at(n)}"] * n), f"{at(n)}:t2:I1,I2"]),
    "many shared by all": lambda n: holding([f"{at(0)}:t{n // 2:X}:" + ",".join([f"H{at(n)}"] * (n // 2)), f"{at(n)}:t{n // 2:X}:{elements(n // 2)}"]),
    "key lists": lambda n: holding(tuples_of(n, lambda i: f"t2:A3:key,I{i}")),
    "references": lambda n: holding(tuples_of(n, lambda i: "E24:g1oAA2QADW5vbm9kZUBub2hvc3QAAAAAAAOVlDZGAAFACJpc")),
    "dictionary": lambda n: holding([f"{at(i)}:t2:A3:key,I{i}" for i in range(n)], "N", dictionary="".join(f"H{at(i)}\n" for i in range(n))),
    "messages": lambda n: holding([f"{at(i)}:t2:A3:key,I{i}" for i in range(n)], "N", messages=[f"H{at(i)}" for i in range(n)]),
    "stack": lambda n: dump(terms="=proc_stack:<0.2.0>\n" + "".join(
        f"0x{0x7F0000001000 + 16 * i:016x}:SReturn addr 0x11111111 (m:f/{i % 200} + 100)\ny0:N\n" for i in range(n)) + "=proc_heap:<0.2.0>\n"),
    "processes": lambda n: dump(processes=process("<0.2.0>", "grown") + "".join(process(pid) for pid in pids(n // 8))),
    "chain of links": lambda n: dump(processes="".join(
        process(pid, fields=f"Link list: [{before}]\n") for before, pid in zip(["<0.2.0>", *pids(n // 8)], pids(n // 8)))),
    "links of one": lambda n: dump(processes=process("<0.2.0>", "grown", fields=f"Link list: [{', '.join(pids(n))}]\n") + process("<0.10.0>")),
    "monitors of one": lambda n: dump(processes=process("<0.2.0>", "grown", fields="Link list: [" + ", ".join(
        f"{{to,{pid},#Ref<0.1.2.{i}>}}" for i, pid in enumerate(pids(n))) + "]\n")),
    "stacks and heaps": lambda n: dump(processes=process("<0.2.0>", "grown") + "".join(process(pid) for pid in pids(n // 16)), terms="".join(
        f"=proc_stack:{pid}\n0x00007f0000001000:SReturn addr 0x11111111 (gen_server:loop/7 + 100)\ny0:H{at(i)}\n=proc_heap:{pid}\n"
        f"{at(i)}:t2:A3:key,P{len(p):X}:{p}\n" for i, (pid, p) in enumerate(zip(pids(n // 16), reversed(pids(n // 16)))))),
    "ports": lambda n: dump(after=sections(n // 4, "=port:#Port<0.{i}>\nSlot: {i}\nConnected: <0.2.0>\nLinks: <0.2.0>\n"
                                             "Port controls linked-in driver: tcp_inet\nInput: 0\nOutput: 0\nQueue: 0\n")),
    "ets": lambda n: dump(after=sections(n // 8, "=ets:<0.2.0>\nSlot: {i}\nTable: t{i}\nName: t{i}\nBuckets: 256\nObjects: {i}\nWords: {i}\nType: set\n"
                                           "Protection: protected\n")),
    "timers": lambda n: dump(after=sections(n, "=timer:<0.2.0>\nMessage: tick\nTime left: {i}\n")),
    "modules": lambda n: dump(code="=loaded_modules\nCurrent code: 100\nOld code: 0\n" + sections(n // 2, "=mod:m{i}\nCurrent size: 1{i}\n")),
    "funs": lambda n: dump(code=sections(n // 4, "=fun\nModule: m{i}\nUniq: 1\nIndex: {i}\nAddress: 0x10{i}\nRefc: 1\n")),
    "atoms": lambda n: dump(behind="=atoms\n" + sections(n, "user_{i}_name\n")),
    "atoms of one name": lambda n: dump(behind="=atoms\n" + "grown\n" * n),
    "allocators": lambda n: dump(sections(n // 16, "=allocator:eheap_alloc[{i}]\noption e: true\nmbcs blocks size: 1 2 3\nmbcs carriers size: 4 5 6\n")),
    "lines of an allocator": lambda n: dump("=allocator:eheap_alloc[1]\n" + sections(n, "line {i}: 1 2 3\n")),
    "lines of memory": lambda n: dump("=allocated_areas\n" + sections(n, "area {i}: 17\n")),
    "schedulers": lambda n: dump(sections(n // 8, "=scheduler:{i}\nScheduler Sleep Info Flags: SLEEPING\nCurrent Port: \nRun Queue Max Length: 0\n"
                                                  "Run Queue Normal Length: {i}\nCurrent Process: \n")),
    "dirty schedulers": lambda n: dump("".join(
        sections(n // 16, f"=dirty_{kind}_scheduler:{{i}}\nScheduler Sleep Info Flags: SLEEPING\nCurrent Process: \n") for kind in ("cpu", "io")) + "".join(
        f"=dirty_{kind}_run_queue\nRun Queue Max Length: 0\nRun Queue Normal Length: 1\n" * (n // 16) for kind in ("cpu", "io"))),
    "nodes of other kinds": lambda n: dump(code=sections(n // 8, "=hidden_node:{i}\nName: h{i}@host\nController: <0.2.0>\nRemote link: <0.2.0> <8.{i}.0>\n") +
                                           sections(n // 8, "=not_connected:{i}\nName: o{i}@host\n")),
    "index tables": lambda n: dump(sections(n // 4, "=index_table:t{i}\nsize: 1\nused: 1\nlimit: 9000\nrate: 1\n")),
    "tables of the VM": lambda n: dump(after=sections(n // 8, "=internal_ets: t{i}\nSlot: {i}\nTable: t{i}\nName: t{i}\nBuckets: 256\nObjects: {i}\nWords: {i}\n")),
    "what comes once, again and again": lambda n: dump("=memory\ntotal: 100000000\n" * (n // 16), after="=node:a@host\n" * (n // 16) + "=no_distribution\n" * (n // 16),
                                                       code="=loaded_modules\nCurrent code: 100\nOld code: 0\n" * (n // 16),
                                                       behind="=num_atoms\n9000\n" * (n // 16) + "=abort\nReason: x\n" * (n // 16)),
    "what is passed over": lambda n: dump(behind="".join(f"={tag}\n" + sections(n // 4, "{i}: 1 2 3\n") for tag in ("instr_data", "old_instr_data", "memory_map", "memory_status")),
                                          terms="=debug_proc_dictionary:<0.2.0>\n" + sections(n // 4, "I{i}\n")),
    "dumps behind a dump": lambda n: dump() + ("=erl_crash_dump:0.5\nThu Nov 19 10:00:00 2026\nSlogan: again\n=end\n" * (n // 16)),
    "nodes": lambda n: dump(code=sections(n // 4, "=visible_node:{i}\nName: n{i}@host\nController: <0.2.0>\nRemote link: <0.2.0> <9.{i}.0>\n")),
    "links of a node": lambda n: dump(code="=visible_node:9\nName: n@host\n" + sections(n, "Remote link: <0.2.0> <9.{i}.0>\nRemote monitoring: <0.2.0> <9.{i}.0>\n")),
    "hash tables": lambda n: dump(sections(n // 4, "=hash_table:t{i}\nsize: 1\nused: 1\nobjs: 1\ndepth: 1\n")),
    "unknown sections": lambda n: dump(sections(n, "=new_section:{i}\nkey: 1\n")),
    "unknown fields": lambda n: dump(processes=process("<0.2.0>", "grown", fields=sections(n, "Field {i}: 1\n"))),
    "one field again and again": lambda n: dump(processes=process("<0.2.0>", "grown", fields="Link list: [<0.3.0>]\n" * n)),
    "literals": lambda n: dump(terms="=literals\n" + "".join(f"{at(i)}:t2:I1,I{i}\n" for i in range(n))),
    "persistent terms": lambda n: dump(terms="=persistent_terms\n" + "".join(f"A{len(f'p{i}'):X}:p{i}|I{i}\n" for i in range(n))),
    "slogan": lambda n: dump().replace("Slogan: grown", "Slogan: " + "x{[(" * (n // 4), 1),
    "slogan of a term": lambda n: dump().replace("Slogan: grown", "Slogan: init terminating in do_boot (" + "{a,[" * (n // 8) + "]}" * (n // 8) + ")", 1),
    "nothing but line feeds": lambda n: dump(processes=process("<0.2.0>", "grown", fields="\n" * n)),
}


def tags_that_grow(n=256):
    """Tags of sections of which some generator writes four times as much for 4n."""
    def sizes(text):
        counted = collections.Counter()
        for section in ("\n" + text).split("\n=")[1:]:
            counted[re.match(r"\w*", section)[0]] += len(section)
        return counted
    grow = set()
    for make in KINDS.values():
        few, many = sizes(make(n)), sizes(make(4 * n))
        grow |= {tag for tag in many if many[tag] > 2 * few[tag] and many[tag] > few[tag] + n // 4}
    return grow
