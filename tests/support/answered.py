"""The dumps of tests/answers, and what the verbs say of them."""
import multiprocessing
import pathlib
import re
import subprocess

import suite as s

FOLDER = s.SOURCE / "tests/answers"

# Text where people read, exact figures elsewhere. Verbs that are the same of every dump are left out.
QUESTIONS = """analyze --full -v
top --by memory -n 2 --full --format ndjson
top --by msgq -n 2 --full --format csv
stacks -n 3
waits -n 4
tree -n 6
logs -n 6
ets -n 2 --format csv
ports -n 2 --format csv
timers -n 2 --format csv
binaries -n 3
atoms -n 2
alloc -n 2 --format csv
schedulers -n 1 --format csv
proc {largest} --term-bytes 200
heap {largest} -n 4
msgs {longest} -n 3 --by shape
"""


# The columns of rows that are shown as data. They are named so that a column which is added later rewrites none of these
# answers; those of 13-core-answers show all columns.
COLUMNS = {
    "top": """pid, name, label, initial_call, current_function, state, msgq_len, memory_bytes, heap_words, old_heap_words,
        stack_words, used_words, live_words, garbage_words, reductions, links, monitors, parent, group_key,
        real_initial_call, heap_unused_words, old_heap_unused_words, fragments, fragment_words, bin_vheap_words,
        old_bin_vheap_words, refc_bytes, internal_state, sensitive, reading""",
    "ets": """name, owner, owner_name, type, protection, objects, words, bytes, percent, id, owner_alive, buckets, chain_avg,
        chain_max, chain_std_dev, chain_expected_std_dev, fixed, compressed, write_concurrency, read_concurrency""",
    "ports": """port, name, owner, owner_name, kind, driver, state, task_flags, slot, input_bytes, output_bytes, queue_bytes,
        links, monitors, suspended, data""",
    "timers": """receiver, receiver_name, left_ms, message""",
    "alloc": """name, instance, instances, enabled, block_bytes, carrier_bytes, lost_bytes, fragmentation_percent,
        mbcs_usage_percent, mbcs_max_usage_percent, sbcs_usage_percent, sbcs_max_usage_percent, mbcs_blocks,
        mbcs_block_bytes, mbcs_carriers, mbcs_carrier_bytes, pool_block_bytes, pool_carrier_bytes, sbcs_blocks,
        sbcs_block_bytes, sbcs_carrier_bytes, foreign_block_bytes""",
    "schedulers": """id, kind, current_process, current_process_name, process_state, current_port, run_queue_max, run_queue_high,
        run_queue_normal, run_queue_low, run_queue_port, sleep_flags, aux_work, run_queue_flags, process_internal_state,
        crashed, stack""",
}
# What differs although the same is said: what it took to read an input, and how many rules there are.
TIMED = re.compile(rb"^read [\d.]+ \w+ in [\d.]+ s: ", re.M)
RULES = re.compile(rb"\bany of \d+ rules\b")
# Placeholders of hidden values are salted anew in each output; within one, equal values have equal ones.
PLACEHOLDER = re.compile(rb"#[0-9a-f]{6,16}\b")


def comparable(said):
    """An output without what differs from run to run; its placeholders are numbered in their order."""
    numbers = {}
    said = RULES.sub(b"any of all rules", TIMED.sub(b"", said))
    return PLACEHOLDER.sub(lambda found: b"#%d" % numbers.setdefault(found[0], len(numbers) + 1), said)


def columns_of(verb, options):
    """--columns of a question whose rows are data."""
    data = "--format" in options and verb in COLUMNS
    return ["--columns", "".join(COLUMNS[verb].split())] if data else []


def said_of(dump):
    """All answers about one dump, each below its question."""
    def first(column):
        return s.text(s.run("top", dump.name, "--by", column, "-n", "1", "--columns", "pid", "--format", "csv", cwd=dump.parent).out).split()[1]
    said = []
    for question in QUESTIONS.format(largest=first("memory"), longest=first("msgq")).splitlines():
        verb, *more = question.split()
        run = s.run(verb, dump.name, *more, *columns_of(verb, more), cwd=dump.parent, timeout=120)
        ended = f"[exit {run.code}]\n".encode() if run.code else b""
        said.append(b"$ " + question.encode() + b"\n" + comparable(run.out + run.err) + ended + b"\n")
    return dump.stem, b"".join(said)


def all_of(folder, every=1):
    """Unpacks the dumps into the folder; name and answers of each."""
    subprocess.run(f"zstd -dqc --long=27 '{FOLDER}/dumps.tar.zst' | tar -x -C '{folder}'", shell=True, check=True)
    with multiprocessing.Pool(2) as pool:
        yield from pool.imap(said_of, sorted(pathlib.Path(folder).glob("*.dump"))[::every])
