"""What a dump may lose without a word, kind by kind, as HACKING.md lists it: how a loss of the kind is made, and how a change is known
to be one.

A way takes (dump, chance) and gives the damaged bytes, or None where the dump has nothing to lose of the kind. A change is what two
dumps differ in, by lines and by whole sections, whatever was done to the bytes.
"""
import collections
import os
import re

import mutants


def tag_of(section):
    return section[0][1:].partition(b":")[0].decode()


def lines_of(dump):
    """How often each (tag, line) is there; the tag's own line is one of its section's."""
    return collections.Counter((tag_of(section), line) for section in dump.sections for line in dump.data[section[1]:section[3]].split(b"\n") if line)


def bodies_of(dump):
    """The lines of each section, by its tag's line."""
    return {section[0]: dump.data[section[2]:section[3]].split(b"\n") for section in dump.sections}


class Change:
    """`gone` and `come` count (tag, line); those of whole sections that are gone are in `gone_with_sections`, too."""

    def __init__(self, dump, data):
        after = mutants.Dump(data)
        before, now = lines_of(dump), lines_of(after)
        self.gone, self.come = before - now, now - before
        self.before, self.after = bodies_of(dump), bodies_of(after)
        left = collections.Counter(after.data[section[1]:section[3]] for section in after.sections)
        self.gone_with_sections = collections.Counter()
        for section in dump.sections:
            text = dump.data[section[1]:section[3]]
            if left[text]:
                left[text] -= 1
            else:
                self.gone_with_sections.update((tag_of(section), line) for line in text.split(b"\n") if line)

    def tags(self):
        return {tag for tag, _ in (*self.gone, *self.come)}

    def whole_sections(self, tags):
        """Nothing but whole sections of these tags is gone: all of their lines, and their tag's."""
        return not self.come and bool(self.gone) and self.tags() <= set(tags) and self.gone == self.gone_with_sections

    def one_line(self):
        """Whether one line has another text, or two have become one."""
        if sum(self.come.values()) != 1 or not 1 <= sum(self.gone.values()) <= 2 or len(self.tags()) != 1:
            return False
        now = next(iter(self.come))[1]
        before = [line for _, line in self.gone.elements()]
        common = lambda one, other: len(os.path.commonprefix([one, other]))
        return len(before) == 1 or any(common(a, now) + common(b[::-1], now[::-1]) >= len(now) for a, b in (before, before[::-1]))


def without_section(tag):
    def make(dump, chance):
        sections = dump.of(tag)
        if not sections:
            return None
        _, begin, _, end = chance.choice(sections)
        return dump.without(begin, end)
    return make


def twice_a_timer(dump, chance):
    sections = dump.of(b"=timer")
    if not sections:
        return None
    _, begin, _, end = chance.choice(sections)
    return dump.data[:end] + dump.data[begin:]


def a_pair_of_a_dictionary(dump, chance):
    """Its line, and the pair to which nothing else refers, of which nothing is an object of its own."""
    line = mutants.pick_line(dump, chance, b"=proc_dictionary", lambda text: text.startswith(b"H"))
    if line is None:
        return None
    address = line[2].strip()[1:]
    pair = re.search(rb"^" + address + rb":t2:[^H\n]*\n", dump.data, re.M)
    if pair is None or len(re.findall(rb"H" + address + rb"(?![0-9A-F])", dump.data)) != 1:
        return None
    (first, first_end), (second, second_end) = sorted((line[:2], pair.span()))
    return dump.data[:first] + dump.data[first_end:second] + dump.data[second_end:]


def a_literal(dump, chance):
    referred = set(mutants.REFERENCE.findall(dump.data))
    lines = [(begin, end) for section in dump.of(b"=literals") for begin, end, line in mutants.lines_of(dump, section)
             if line.split(b":")[0] not in referred]
    if not lines:
        return None
    return dump.without(*chance.choice(lines))


def a_process(dump, chance):
    entries = [section for section in dump.process_table() if section[0].partition(b":")[2] not in dump.has_terms]
    if not entries:
        return None
    _, begin, _, end = chance.choice(entries)
    return dump.without(begin, end)


def stack_and_heap(dump, chance):
    heaps = dump.of(b"=proc_heap")
    if not heaps:
        return None
    owner = chance.choice(heaps)[0].partition(b":")[2]
    data = dump.data
    for section in reversed(dump.sections):
        if section[0].startswith(b"=proc_") and section[0].endswith(b":" + owner):
            data = data[:section[1]] + data[section[3]:]
    return data


def with_signals(dump):
    """The same node, of which every process has signals to handle."""
    return mutants.Dump(re.sub(rb"^(Internal State: .*)$", rb"\1 | SIG_Q", dump.data, flags=re.M))


def an_end_of_a_stack(dump, chance):
    """A slot of the youngest or the oldest frame, its last one, which refers to nothing."""
    slots = []
    for section in dump.of(b"=proc_stack"):
        lines = list(mutants.lines_of(dump, section))
        addresses = [i for i, (_, _, line) in enumerate(lines) if line.startswith(b"0x")] or [0]
        slots += [line for line in (lines[addresses[0] - 1], lines[-1]) if re.match(rb"y[1-9]\d*:[^H]*\n", line[2])]
    return dump.without(*chance.choice(slots)[:2]) if slots else None


def a_line_of_some(dump, _):
    found = re.search(rb"^Registered as: .*\n", dump.data, re.M)
    return dump.without(*found.span()) if found else None


def a_link(dump, chance):
    line = mutants.pick_line(dump, chance, b"=proc", lambda text: text.startswith(b"Link list: [<"))
    if line is None:
        return None
    return dump.data[:line[0]] + re.sub(rb"\[<[\d.]+>(, )?", b"[", line[2]) + dump.data[line[1]:]


def a_digit(dump, chance):
    line = mutants.pick_line(dump, chance, b"=proc", lambda text: text.startswith(b"Reductions: "))
    if line is None:
        return None
    at = line[0] + len(line[2].rstrip()) - 1
    return dump.data[:at] + (b"1" if dump.data[at:at + 1] != b"1" else b"2") + dump.data[at + 1:]


def two_lines(dump, chance):
    sections = dump.of(b"=atoms")
    lines = list(mutants.lines_of(dump, sections[0])) if sections else []
    if len(lines) < 2:
        return None
    i = chance.randrange(len(lines) - 1)
    (begin, _, one), (_, end, other) = lines[i], lines[i + 1]
    return dump.data[:begin] + other + one + dump.data[end:]


def lost_link(change):
    lines = [line for _, line in (*change.gone, *change.come)]
    return sum(change.gone.values()) == 1 and change.tags() == {"proc"} and all(text.startswith(b"Link list: ") for text in lines)


def lost_end(change):
    if change.come or change.tags() != {"proc_stack"} or change.before.keys() != change.after.keys():
        return False
    return all(in_an_end(change.before[head], change.after[head]) for head in change.before if change.before[head] != change.after[head])


def in_an_end(before, after):
    """One line of a stack is gone: of its youngest frame up to the return address, or behind its last return address."""
    addresses = [i for i, line in enumerate(before) if line.startswith(b"0x")]
    at = next((i for i in range(len(before)) if before[:i] + before[i + 1:] == after), None)
    return at is not None and (not addresses or at <= addresses[0] or at > addresses[-1])


def lost_line_of_some(change):
    lines = list(change.gone.elements())
    return not change.come and len(lines) == 1 and (lines[0][0] == "allocated_areas" or lines[0][1].startswith(b"Registered as: "))


def other_order(change):
    """Lines of one kind: objects are the same in heaps and among literals."""
    lines = [collections.Counter({line: count for (_, line), count in some.items()}) for some in (change.gone, change.come)]
    return lines[0] == lines[1] and change.tags() <= {"proc_heap", "literals"}


def lost_pair(change):
    return not change.come and change.tags() <= {"proc_dictionary", "proc_heap"} and any(tag == "proc_dictionary" for tag, _ in change.gone)


# By the name that HACKING.md has in its list: the way to make one, and whether a change is one.
KINDS = {
    "an ETS table": (without_section(b"=ets"), lambda change: change.whole_sections(["ets"])),
    "a port": (without_section(b"=port"), lambda change: change.whole_sections(["port"])),
    "a timer": (without_section(b"=timer"), lambda change: change.whole_sections(["timer"])),
    "a timer twice": (twice_a_timer, lambda change: not change.gone and change.tags() == {"timer"}),
    "a pair of a dictionary": (a_pair_of_a_dictionary, lost_pair),
    "a literal": (a_literal, lambda change: not change.come and change.tags() == {"literals"}),
    "a process": (a_process, lambda change: change.whole_sections(["proc"])),
    "stack and heap": (stack_and_heap, lambda change: change.whole_sections(["proc_stack", "proc_heap", "proc_dictionary", "proc_messages"])),
    "an end of a stack": (an_end_of_a_stack, lost_end),
    "the memory figures": (without_section(b"=memory"), lambda change: change.whole_sections(["memory"])),
    "a line of some": (a_line_of_some, lost_line_of_some),
    "a link": (a_link, lost_link),
    "a value": (a_digit, Change.one_line),
    "the order of lines": (two_lines, other_order),
}


# Of these there are such nodes in BEAMHEAP_CORPUS alone.
OLD = ("the memory figures", "a line of some")
# Of these the node that loses something is another one than the dump's.
PREPARED = {"a link": with_signals}


def kind_of(dump, data):
    """The first kind that a loss is of, or None."""
    change = Change(dump, data)
    return next((name for name, (_, is_one) in KINDS.items() if is_one(change)), None)
