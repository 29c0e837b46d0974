"""Erlang terms as two programs print them, read into one form that compares.

    erlang(text)   as beamheap prints: Erlang syntax
    viewer(text)   as the laboratory's cdv.escript prints what OTP's crashdump_viewer has decoded

The form: int; ("atom", name); ("float", bits in hexadecimal); ("bin", bytes); ("list", elements, tail); ("tuple", elements); ("map", sorted pairs); ("pid", ...), ("port", ...), ("ref", ...),
("fun", ...); ("lost",) for what the dump does not hold. A cut text raises Cut.
"""
import re
import struct


class Cut(Exception):
    """The text was shortened, or is not understood: it can't be compared."""


NIL = ("list", (), None)
ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "d": "\x7f", "s": " ", "0": "\0"}


def unescape(text):
    def one(match):
        what = match.group(1)
        if what.startswith("x{"):
            return chr(int(what[2:-1], 16))
        if what.startswith("x"):
            return chr(int(what[1:], 16))
        if what[0] in "01234567":
            return chr(int(what, 8))
        return ESCAPES.get(what, what)
    return re.sub(r"\\(x\{[0-9A-Fa-f]+\}|x[0-9A-Fa-f]{2}|[0-7]{1,3}|.)", one, text, flags=re.S)


def floating(value):
    return ("float", struct.pack(">d", float(value)).hex())


def numbers(text):
    return tuple(int(each) for each in re.findall(r"\d+", text))


class Reader:
    def __init__(self, text):
        self.text, self.at = text, 0

    def fail(self):
        raise Cut(self.text[max(0, self.at - 30):self.at + 30])

    def take(self, sign):
        if not self.text.startswith(sign, self.at):
            self.fail()
        self.at += len(sign)

    def peek(self, sign):
        return self.text.startswith(sign, self.at)

    def match(self, pattern):
        found = pattern.match(self.text, self.at)
        if not found:
            self.fail()
        self.at = found.end()
        return found

    def whole(self):
        value = self.term()
        if self.at != len(self.text):
            self.fail()
        return value

    def sequence(self, end):
        elements = []
        if not self.peek(end):
            elements.append(self.term())
            while self.peek(","):
                self.at += 1
                elements.append(self.term())
        return elements

    def list(self):
        self.take("[")
        elements, tail = self.sequence("]"), NIL
        if self.peek("|"):
            self.at += 1
            tail = self.term()
        self.take("]")
        return concatenated(elements, tail)

    def tuple(self):
        self.take("{")
        elements = self.sequence("}")
        self.take("}")
        return ("tuple", tuple(elements))

    def map(self, arrow):
        self.take("#{")
        pairs = []
        while not self.peek("}"):
            if pairs:
                self.take(",")
            key = self.term()
            self.take(arrow)
            pairs.append((key, self.term()))
        self.take("}")
        return ("map", tuple(sorted(pairs, key=repr)))


def concatenated(elements, tail):
    """A list whose tail is a list is one list."""
    if not elements:
        return tail
    if isinstance(tail, tuple) and tail[0] == "list":
        return ("list", tuple(elements) + tail[1], tail[2])
    return ("list", tuple(elements), tail)


class Erlang(Reader):
    FLOAT = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")
    INT = re.compile(r"-?\d+")
    ATOM = re.compile(r"[a-zß-öø-ÿ][\w@]*")
    QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'", re.S)
    STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.S)
    PID = re.compile(r"<(\d+\.\d+\.\d+)>")
    SPECIAL = re.compile(r"#(Ref|Port|Fun)<([^>]*)>")
    LOST = re.compile(r"<<(\d+) bytes?, not in the dump[^>]*>>")
    BYTES = re.compile(r"<<([\d,]*)>>")
    TEXT = re.compile(r'<<"((?:[^"\\]|\\.)*)"(/utf8)?>>', re.S)
    BITS = re.compile(r"<<[\d,]*\d:\d+>>")
    EXTERNAL = re.compile(r"fun ")

    def atom(self):
        if self.peek("'"):
            return ("atom", unescape(self.match(self.QUOTED).group(1)))
        return ("atom", self.match(self.ATOM).group(0))

    def term(self):
        c = self.text[self.at:self.at + 1]
        if c == "[":
            return self.list()
        if c == "{":
            return self.tuple()
        if self.peek("#{"):
            return self.map(" => ")
        if c == '"':
            return concatenated([ord(each) for each in unescape(self.match(self.STRING).group(1))], NIL)
        if self.peek("<<"):
            return self.binary()
        if c == "<":
            return ("pid", numbers(self.match(self.PID).group(1))[-2:])
        if c == "#":
            kind, inside = self.match(self.SPECIAL).groups()
            if kind == "Fun":
                module, index, unique = inside.rsplit(".", 2)
                return ("fun", unescape(module.strip("'")), int(index), int(unique))
            return (kind.lower(), numbers(inside.rsplit("@", 1)[-1])[-3 if kind == "Ref" else -1:])
        if self.peek("fun ") and self.text[self.at + 4:self.at + 5] not in (",", "}"):
            self.at += 4
            module = self.atom()
            self.take(":")
            name = self.atom()
            self.take("/")
            return ("fun", module[1], name[1], int(self.match(self.INT).group(0)))
        if self.FLOAT.match(self.text, self.at):
            return floating(self.match(self.FLOAT).group(0))
        if self.INT.match(self.text, self.at):
            return int(self.match(self.INT).group(0))
        return self.atom()

    def binary(self):
        if found := self.LOST.match(self.text, self.at):
            self.at = found.end()
            return ("lost",)
        if found := self.BYTES.match(self.text, self.at):
            self.at = found.end()
            return ("bin", bytes(numbers(found.group(1))))
        if found := self.BITS.match(self.text, self.at):
            raise Cut("bits")
        found = self.match(self.TEXT)
        text = unescape(found.group(1))
        return ("bin", text.encode("utf-8" if found.group(2) else "latin-1"))


class Viewer(Reader):
    ATOM = re.compile(r"'([^']*)'")
    INT = re.compile(r"-?\d+")
    HEX = re.compile(r"b:([0-9a-f]*)(/\d+)?")
    FLOAT = re.compile(r"f:([0-9a-f]{16})")
    REFC = re.compile(r"B\(addr=([0-9a-f]+),off=(\d+),size=(\d+)\)")
    PID = re.compile(r"<(\d+\.\d+\.\d+)>")
    PORT = re.compile(r"#Port<([\d.]+)>")
    REF = re.compile(r"#Ref<'[^']*',\d+,([\d.]+)>|#Ref<([\d.]+)>")
    EXTERNAL = re.compile(r"([Pp])\('[^']*',([\d,]+)\)")
    LOST = re.compile(r"!\w+")

    def __init__(self, text, binaries):
        super().__init__(text)
        self.binaries = binaries

    def atom(self):
        return ("atom", re.sub(r"\\x([0-9A-Fa-f]{2})", lambda m: chr(int(m.group(1), 16)), self.match(self.ATOM).group(1)))

    def term(self):
        c = self.text[self.at:self.at + 1]
        if c == "[":
            return self.list()
        if c == "{":
            return self.tuple()
        if self.peek("#{"):
            return self.map("=>")
        if c == "'":
            atom = self.atom()
            if not self.peek(":'"):
                return atom
            self.take(":")
            name = self.atom()
            self.take("/")
            return ("fun", atom[1], name[1], int(self.match(self.INT).group(0)))
        if c == "b":
            data, bits = self.match(self.HEX).groups()
            if bits:
                raise Cut("bits")
            return ("bin", bytes.fromhex(data))
        if c == "f":
            return ("float", self.match(self.FLOAT).group(1))
        if c == "B":
            address, offset, size = self.match(self.REFC).groups()
            data = self.binaries.get(address)
            if data is None:
                return ("lost",)
            return ("bin", data[int(offset):int(offset) + int(size)])
        if c == "<":
            return ("pid", numbers(self.match(self.PID).group(1))[-2:])
        if self.peek("#Port"):
            return ("port", numbers(self.match(self.PORT).group(1))[-1:])
        if self.peek("#Ref"):
            found = self.match(self.REF)
            return ("ref", numbers(found.group(1) or found.group(2))[-3:])
        if c in "Pp" and c:
            kind, inside = self.match(self.EXTERNAL).groups()
            found = numbers(inside)
            return ("pid", found[:2]) if kind == "P" else ("port", found[:1])
        if c == "F":
            self.take("F(")
            module = self.atom()
            self.take(",")
            index = int(self.match(self.INT).group(0))
            self.take(",")
            unique = int(self.match(self.INT).group(0))
            self.take(",")
            self.term()  # what it has closed over: beamheap shows it in `term`
            self.take(")")
            return ("fun", module[1], index, unique)
        if c == "!":
            self.match(self.LOST)
            return ("lost",)
        return int(self.match(self.INT).group(0))


def erlang(text):
    return Erlang(text).whole()


def viewer(text, binaries):
    return Viewer(text, binaries).whole()


def same(ours, theirs, losses):
    """Whether two terms are equal; what they could not find in the dump is counted, and may be found by us."""
    if ours == theirs:
        if ours == ("lost",):
            losses.append((ours, theirs))
        return True
    if theirs == ("lost",):
        losses.append((ours, theirs))
        return True
    if not (isinstance(ours, tuple) and isinstance(theirs, tuple)) or ours[0] != theirs[0]:
        return False
    if ours[0] == "tuple":
        return len(ours[1]) == len(theirs[1]) and all(same(a, b, losses) for a, b in zip(ours[1], theirs[1]))
    if ours[0] == "list":
        return (len(ours[1]) == len(theirs[1]) and all(same(a, b, losses) for a, b in zip(ours[1], theirs[1]))
                and same(ours[2], theirs[2], losses))
    if ours[0] == "map":
        return len(ours[1]) == len(theirs[1]) and all(
            same(a[0], b[0], losses) and same(a[1], b[1], losses) for a, b in zip(ours[1], theirs[1]))
    return False
