"""Crash dumps that are damaged in a known way.

Each way of damage takes (dump, chance) and gives (bytes, what was done, whether it must be told), or None where the dump
has nothing of the kind. What must be told is told by `analyze --full`: a loss without a warning is a failure.
"""
import bisect
import re


class Dump:
    """The sections of a dump as (begin, end of its tag line, end)."""

    def __init__(self, data):
        self.data = data
        starts = [m.start() for m in re.finditer(rb"^=[a-z_]+(?::[^\n]*)?$", data, re.M)] + [len(data)]
        self.sections = []
        for begin, end in zip(starts, starts[1:]):
            head = data.index(b"\n", begin) + 1 if b"\n" in data[begin:end] else end
            self.sections.append((data[begin:head].strip(), begin, head, end))
        self.has_terms = {h.partition(b":")[2] for h, _, _, _ in self.sections if h.startswith(b"=proc_")}
        self.newer = data.startswith((b"=erl_crash_dump:0.4", b"=erl_crash_dump:0.5"))

    def of(self, tag):
        return [s for s in self.sections if s[0] == tag or s[0].startswith(tag + b":")]

    def without(self, begin, end):
        return self.data[:begin] + self.data[end:]

    def process_table(self):
        """The longest run of =proc: what looks like one elsewhere is an imitation in some text."""
        longest, run = [], []
        for section in self.sections + [(b"", 0, 0, 0)]:
            if section[0].startswith(b"=proc:"):
                run.append(section)
            else:
                longest, run = max(longest, run, key=len), []
        return longest

    def end(self):
        return self.data.rfind(b"=end")


def lines_of(dump, section):
    begin = section[2]
    for line in dump.data[section[2]:section[3]].splitlines(True):
        yield begin, begin + len(line), line
        begin += len(line)


def pick_line(dump, chance, tag, wanted=lambda line: True):
    sections = dump.process_table() if tag == b"=proc" else dump.of(tag)
    for _ in range(20):
        if not sections:
            return None
        lines = [entry for entry in lines_of(dump, chance.choice(sections)) if wanted(entry[2])]
        if lines:
            return chance.choice(lines)
    return None


REFERENCE = re.compile(rb"(?<=[l|,:])H([0-9A-F]{6,16})")


def is_plain(line):
    """A cell or tuple without atoms, whose texts could hold anything."""
    return re.fullmatch(rb"[0-9A-F]{6,16}:(l|t[0-9A-F]+:)(H[0-9A-F]+|I-?\d+|N|[|,])+\n", line) is not None


# ---- ways ----------------------------------------------------------------------------------------------------------------
def flipped_bytes(dump, chance):
    copy = bytearray(dump.data)
    for _ in range(chance.choice((1, 1, 2, 8, 40))):
        at = chance.randrange(len(copy))
        copy[at] = chance.choice((copy[at] ^ (1 << chance.randrange(8)), 0, 10, 13, 61, 123, 255))
    return bytes(copy), "bytes changed", False


def cut_off(dump, chance):
    at = chance.randrange(60, max(61, dump.end()))
    return dump.data[:at], f"cut at {at}", True


def cut_out_of_processes(dump, chance):
    entries = dump.process_table()
    if len(entries) < 4:
        return None
    begin = chance.randrange(entries[0][2], entries[-2][1])
    end = min(entries[-1][1], begin + chance.choice((100, 1000, 5000, 20000)))
    if end - begin < 60:
        return None
    return dump.without(begin, end), f"{begin}..{end} of the process table gone", True


def cut_out(dump, chance):
    begin = chance.randrange(60, len(dump.data))
    end = min(len(dump.data), begin + chance.randrange(1, 20000))
    return dump.without(begin, end), f"{begin}..{end} gone", False


def zeroed_page(dump, chance):
    size = chance.choice((600, 1024, 4096))
    if dump.end() < 2 * size:
        return None
    begin = chance.randrange(60, dump.end() - size)
    return dump.data[:begin] + bytes(size) + dump.data[begin + size:], f"{begin}+{size} zeroed", True


def dropped_process(dump, chance):
    entries = [s for s in dump.process_table() if s[0].partition(b":")[2] in dump.has_terms]
    if not entries:
        return None
    section = chance.choice(entries)
    return dump.without(section[1], section[3]), f"{section[0]} gone", True


def dropped_heap(dump, chance):
    sections = dump.of(b"=proc_heap") + dump.of(b"=proc_stack")
    if not sections:
        return None
    section = chance.choice(sections)
    return dump.without(section[1], section[3]), f"{section[0]} gone", True


def dropped_heap_line(dump, chance):
    line = pick_line(dump, chance, b"=proc_heap", lambda text: re.match(rb"[0-9A-F]{6,16}:[ltMYFBE]", text))
    if line is None or not dump.newer or dump.data.count(b"\n" + line[2].split(b":")[0] + b":") != 1:
        return None
    # Someone refers to it, or its loss is none: the VM writes what is reached.
    referred = re.search(rb"H" + line[2].split(b":")[0] + rb"(?![0-9A-F])", dump.data) is not None
    return dump.without(line[0], line[1]), f"heap line {line[2][:40]} gone", referred


def doubled_heap_line(dump, chance):
    line = pick_line(dump, chance, b"=proc_heap", is_plain)
    if line is None:
        return None
    return dump.data[:line[1]] + line[2] + dump.data[line[1]:], f"heap line {line[2][:40]} twice", True


def forged_reference(dump, chance):
    line = pick_line(dump, chance, b"=proc_heap", lambda text: is_plain(text) and REFERENCE.search(text))
    if line is None or not dump.newer:
        return None
    found = chance.choice(list(REFERENCE.finditer(line[2])))
    forged = b"H%X" % (chance.randrange(1 << 47) | 1 << 47)
    text = line[2][:found.start()] + forged + line[2][found.end():]
    return dump.data[:line[0]] + text + dump.data[line[1]:], f"heap line {line[2][:40]} refers to {forged}", True


def self_reference(dump, chance):
    line = pick_line(dump, chance, b"=proc_heap", lambda text: is_plain(text) and REFERENCE.search(text))
    if line is None:
        return None
    found = chance.choice(list(REFERENCE.finditer(line[2])))
    text = line[2][:found.start()] + b"H" + line[2].split(b":")[0] + line[2][found.end():]
    return dump.data[:line[0]] + text + dump.data[line[1]:], f"heap line {line[2][:40]} contains itself", True


def crossed_references(dump, chance):
    """References of one heap led to other objects of it: cycles of any length, and terms that grow beyond all bounds."""
    sections = dump.of(b"=proc_heap")
    if not sections:
        return None
    section = chance.choice(sections)
    text = dump.data[section[2]:section[3]]
    addresses = re.findall(rb"^([0-9A-F]{6,16}):", text, re.M)
    if len(addresses) < 2:
        return None
    crossed = REFERENCE.sub(lambda m: b"H" + chance.choice(addresses) if chance.random() < 0.3 else m[0], text)
    return dump.data[:section[2]] + crossed + dump.data[section[3]:], f"references of {section[0]} crossed", False


def forged_number(dump, chance):
    numbers = list(re.finditer(rb"(?<=[: ])\d+(?=\n)", dump.data[:2_000_000]))
    if not numbers:
        return None
    found = chance.choice(numbers)
    forged = chance.choice((b"18446744073709551615", b"-1", b"99999999999999999999", b"0", b"", b"x"))
    return dump.data[:found.start()] + forged + dump.data[found.end():], f"number at {found.start()} is {forged}", False


def field_doubled(dump, chance):
    line = pick_line(dump, chance, b"=proc", lambda text: re.match(rb"(Reductions|OldHeap|Stack\+heap|State): ", text))
    if line is None:
        return None
    return dump.data[:line[1]] + line[2] + dump.data[line[1]:], f"{line[2]} twice", True


def fields_swapped(dump, chance):
    line = pick_line(dump, chance, b"=proc", lambda text: re.match(rb"(Stack\+heap|OldHeap): ", text))
    if line is None:
        return None
    following = dump.data[line[1]:dump.data.index(b"\n", line[1]) + 1]
    if b": " not in following or following[:1] == b"=":
        return None
    rest = dump.data[line[1] + len(following):]
    return dump.data[:line[0]] + following + line[2] + rest, f"{line[2]} comes late", True


def field_dropped(dump, chance):
    line = pick_line(dump, chance, b"=proc", lambda text: re.match(rb"(Reductions|OldHeap|Stack\+heap|Heap unused): ", text))
    if line is None or len(dump.process_table()) < 4:  # most must have it
        return None
    return dump.without(line[0], line[1]), f"{line[2]} gone", True


def dropped_section(dump, chance):
    section = chance.choice(dump.sections[1:])
    # All but the last scheduler leave a gap in their numbers, modules are summed up.
    schedulers = [s for s in dump.sections if re.match(rb"=(dirty_(cpu|io)_)?scheduler:\d+$", s[0])]
    told = section in schedulers[:-1] or section[0].startswith(b"=mod:") and len(dump.of(b"=loaded_modules")) == 1
    return dump.without(section[1], section[3]), f"{section[0]} gone", told


def doubled_section(dump, chance):
    section = chance.choice(dump.sections[1:])
    return dump.data[:section[3]] + dump.data[section[1]:], f"{section[0]} twice", False


def moved_section(dump, chance):
    section, to = chance.choice(dump.sections[1:]), chance.choice(dump.sections[1:])
    rest = dump.without(section[1], section[3])
    at = to[1] if to[1] <= section[1] else to[1] - (section[3] - section[1])
    return rest[:at] + dump.data[section[1]:section[3]] + rest[at:], f"{section[0]} before {to[0]}", False


# ---- kinds of loss that a copy, a file system or an editor makes, at any place: whether an answer changes is to be asked ----
def any_line(dump, chance):
    """(begin, end) of a line that is no tag."""
    while True:
        at = chance.randrange(60, len(dump.data) - 1)
        begin, end = dump.data.rfind(b"\n", 0, at) + 1, dump.data.find(b"\n", at) + 1
        if end and dump.data[begin:begin + 1] != b"=" and begin > 60:
            return begin, end


def any_section(dump, chance):
    return chance.choice(dump.sections[1:-1])


def place(dump, at):
    """The tag of the section that a byte is in."""
    index = bisect.bisect_right(dump.sections, at, key=lambda section: section[1]) - 1
    return dump.sections[index][0][1:].partition(b":")[0].decode()


def lost_bytes(dump, chance):
    begin = chance.randrange(60, len(dump.data) - 1)
    end = min(len(dump.data), begin + int(2 ** chance.uniform(0, 16)))
    return dump.without(begin, end), begin, end - begin


def zeros(dump, chance):
    begin = chance.randrange(60, len(dump.data) - 1)
    end = min(len(dump.data), begin + int(2 ** chance.uniform(0, 16)))
    return dump.data[:begin] + bytes(end - begin) + dump.data[end:], begin, end - begin


def lost_end(dump, chance):
    at = chance.randrange(60, len(dump.data))
    return dump.data[:at], at, len(dump.data) - at


def lost_line(dump, chance):
    begin, end = any_line(dump, chance)
    return dump.without(begin, end), begin, end - begin


def doubled_line(dump, chance):
    begin, end = any_line(dump, chance)
    return dump.data[:end] + dump.data[begin:], begin, 0


def merged_lines(dump, chance):
    begin, end = any_line(dump, chance)
    return dump.without(end - 1, end), begin, 1


def moved_line(dump, chance):
    begin, end = any_line(dump, chance)
    to = any_line(dump, chance)[0]
    rest = dump.without(begin, end)
    to -= end - begin if to >= end else 0
    return rest[:to] + dump.data[begin:end] + rest[to:], begin, 0


def lost_section(dump, chance):
    _, begin, _, end = any_section(dump, chance)
    return dump.without(begin, end), begin, end - begin


def twice_a_section(dump, chance):
    _, begin, _, end = any_section(dump, chance)
    to = chance.choice((end, chance.choice(dump.sections[1:])[1]))
    return dump.data[:to] + dump.data[begin:end] + dump.data[to:], begin, 0


def merged_sections(dump, chance):
    _, begin, head, _ = any_section(dump, chance)
    return dump.without(begin, head), begin, head - begin


def section_elsewhere(dump, chance):
    _, begin, _, end = any_section(dump, chance)
    to = chance.choice(dump.sections[1:])[1]
    to -= end - begin if to >= end else 0
    rest = dump.without(begin, end)
    return rest[:to] + dump.data[begin:end] + rest[to:], begin, 0


# Each gives (bytes, where it begins, how many bytes are gone).
KINDS = [lost_bytes, zeros, lost_end, lost_line, doubled_line, merged_lines, moved_line, lost_section, twice_a_section, merged_sections,
         section_elsewhere]


WAYS = [flipped_bytes, cut_off, cut_out_of_processes, cut_out, zeroed_page, dropped_process, dropped_heap, dropped_heap_line,
        doubled_heap_line, forged_reference, self_reference, crossed_references, forged_number, field_doubled, fields_swapped,
        field_dropped, dropped_section, doubled_section, moved_section]


def mutants(dump, chance, count):
    """`count` times (name of the way, bytes, what was done, whether it must be told)."""
    made = 0
    while made < count:
        way = WAYS[(made + chance.randrange(2)) % len(WAYS)]
        mutant = way(dump, chance)
        if mutant is None:
            way, mutant = flipped_bytes, flipped_bytes(dump, chance)
        made += 1
        yield (way.__name__, *mutant)
