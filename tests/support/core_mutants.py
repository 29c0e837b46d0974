"""Core images that are damaged in a known way: a sparse copy is patched in place, asked, and patched back.

What readers walk is a small part of an image, so damage at random places alone would meet it rarely: most ways strike
where pointers lead from the VM's global structures (`hot`, found by following them breadth first). The worst for a reader
are not random bytes but words that are right elsewhere: a list that leads into itself, a size of another structure.
"""
import collections
import os
import re
import struct
import subprocess

PAGE = 4096
ODD_WORDS = (0, 1, 2, 0x3F, 0x40, 0xFFFFFFFF, 1 << 32, 1 << 47, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF)


def data_extents(path):
    """Where a sparse file has data: (start, length) pairs."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        at, end = 0, os.fstat(descriptor).st_size
        while at < end:
            try:
                start = os.lseek(descriptor, at, os.SEEK_DATA)
            except OSError:
                return
            stop = os.lseek(descriptor, start, os.SEEK_HOLE)
            yield start, stop - start
            at = stop
    finally:
        os.close(descriptor)


class Core:
    """A copy of a core image (and of its executable) that can be damaged and mended again."""

    def __init__(self, source, executable, folder, roots):
        """`roots` are addresses to begin with."""
        self.source, self.path, self.executable = source, folder / "damaged.core", folder / "damaged.beam.smp"
        subprocess.run(["cp", "--sparse=always", str(source), str(self.path)], check=True)
        subprocess.run(["cp", str(executable), str(self.executable)], check=True)
        self.size = os.path.getsize(self.path)
        self.extents = list(data_extents(self.path))
        self.files = [open(self.path, "r+b"), open(self.executable, "r+b")]
        self.saved, self.cut_at = [], None
        head = self.read(0, 64)
        self.program_headers, self.headers = struct.unpack_from("<Q", head, 32)[0], struct.unpack_from("<H", head, 56)[0]
        self.notes, self.segments = (0, 0), []
        for i in range(self.headers):
            kind, flags, offset, address, _, size = struct.unpack("<IIQQQQ", self.read(self.program_headers + 56 * i, 40))
            if kind == 4:
                self.notes = (offset, size)
            if kind == 1 and size and flags & 2:
                self.segments.append((address, address + size, offset))
        self.segments.sort()
        self.hot = self.follow(roots)

    def read(self, at, size, file=0):
        return os.pread(self.files[file].fileno(), size, at)

    def place_of(self, address):
        """The place in the file of an address of writable memory, or None."""
        for begin, end, offset in self.segments:
            if begin <= address < end:
                return offset + address - begin
        return None

    def follow(self, roots):
        """Places of pages, breadth first along the pointers in them."""
        seen, queue = {}, collections.deque(self.place_of(root) for root in roots)
        while queue and len(seen) < 3000:
            place = queue.popleft()
            if place is None or place // PAGE in seen:
                continue
            words = struct.unpack(f"<{PAGE // 8}Q", self.read(place // PAGE * PAGE, PAGE).ljust(PAGE, b"\0"))
            pointers = [word for word in words if 1 << 16 < word < 1 << 48]
            seen[place // PAGE] = len(pointers)
            queue.extend(self.place_of(pointer & ~7) for pointer in pointers[:: max(1, len(pointers) // 40)])
        return [page * PAGE for page, pointers in seen.items() if pointers]

    def patch(self, at, data, file=0):
        self.saved.append((at, self.read(at, len(data), file), file))
        os.pwrite(self.files[file].fileno(), data, at)

    def cut(self, at):
        os.truncate(self.path, at)
        self.cut_at = at

    def mend(self):
        for at, data, file in reversed(self.saved):
            os.pwrite(self.files[file].fileno(), data, at)
        self.saved = []
        if self.cut_at is not None:
            os.truncate(self.path, self.size)
            with open(self.source, "rb") as whole:
                for start, length in self.extents:
                    begin, end = max(start, self.cut_at), start + length
                    while begin < end:
                        data = os.pread(whole.fileno(), min(end - begin, 1 << 22), begin)
                        os.pwrite(self.files[0].fileno(), data, begin)
                        begin += len(data)
            self.cut_at = None

    # ---- places --------------------------------------------------------------------------------------------------------
    def anywhere(self, chance):
        start, length = chance.choice(self.extents)
        return (start + chance.randrange(length)) & ~7

    def hot_word(self, chance):
        # The first pages are the VM's own structures and tables.
        page = chance.choice(self.hot[:60] if chance.random() < 0.4 else self.hot)
        return page + 8 * chance.randrange(PAGE // 8)

    def hot_pointer(self, chance):
        """(place, word) of a pointer in a hot page."""
        for _ in range(100):
            place = self.hot_word(chance)
            word = self.word(place)
            if self.place_of(word & ~7) is not None:
                return place, word
        return place, word

    def word(self, place):
        return int.from_bytes(self.read(place, 8).ljust(8, b"\0"), "little")

    def put(self, place, word):
        self.patch(place, (word & 0xFFFFFFFFFFFFFFFF).to_bytes(8, "little"))

    def address_of(self, place):
        for begin, end, offset in self.segments:
            if offset <= place < offset + end - begin:
                return begin + place - offset
        return 0


def often(chance):
    return range(chance.choice((1, 1, 4, 30, 300)))


# ---- ways ----------------------------------------------------------------------------------------------------------------
def bits_flipped(core, chance):
    for _ in often(chance):
        place = core.hot_word(chance) if chance.random() < 0.7 else core.anywhere(chance)
        core.put(place, core.word(place) ^ 1 << chance.randrange(64))


def words_odd(core, chance):
    for _ in often(chance):
        core.put(core.hot_word(chance), chance.choice(ODD_WORDS + (chance.getrandbits(64), chance.getrandbits(20))))


def words_of_elsewhere(core, chance):
    for _ in often(chance):
        core.put(core.hot_word(chance), core.word(core.hot_word(chance)))


def pointers_crossed(core, chance):
    for _ in often(chance):
        core.put(core.hot_pointer(chance)[0], core.hot_pointer(chance)[1])


def pointers_shifted(core, chance):
    for _ in often(chance):
        place, word = core.hot_pointer(chance)
        core.put(place, word + chance.choice((-64, -16, -8, -4, -1, 1, 2, 3, 8, 16, 4096, 1 << 20)))


def led_into_itself(core, chance):
    """What a pointer leads to leads there again: lists, trees and terms without an end."""
    for _ in often(chance):
        place, word = core.hot_pointer(chance)
        target = core.place_of(word & ~7)
        if target is not None and target + 64 < core.size:
            core.put(target + 8 * chance.randrange(8), word)
        if chance.random() < 0.3:
            core.put(place, core.address_of(place) + (word & 7))


def pages_zeroed(core, chance):
    for _ in range(chance.choice((1, 4, 30))):
        place = core.hot_word(chance) if chance.random() < 0.7 else core.anywhere(chance)
        core.patch(place // PAGE * PAGE, bytes(PAGE))


def pages_of_elsewhere(core, chance):
    for _ in range(chance.choice((1, 4, 30))):
        core.patch(core.hot_word(chance) // PAGE * PAGE, core.read(core.hot_word(chance) // PAGE * PAGE, PAGE))


def cut_off(core, chance):
    core.cut(chance.randrange(core.size) if chance.random() < 0.3 else core.anywhere(chance))


def headers_damaged(core, chance):
    """The head of the file and its table of segments: offsets, addresses, sizes and counts."""
    for _ in range(chance.choice((1, 2, 8))):
        if chance.random() < 0.3:
            at, size = chance.choice(((16, 2), (18, 2), (32, 8), (40, 8), (48, 4), (52, 2), (54, 2), (56, 2), (58, 2), (60, 2)))
        else:
            at, size = core.program_headers + 56 * chance.randrange(core.headers) + 8 * chance.randrange(7), 8
        old = int.from_bytes(core.read(at, size), "little")
        word = chance.choice(ODD_WORDS + (old + 1, old - 1, old + PAGE, old ^ 1 << chance.randrange(48), chance.getrandbits(48)))
        core.patch(at, (word & ((1 << 8 * size) - 1)).to_bytes(size, "little"))


def notes_damaged(core, chance):
    """Threads, registers, names of files and the auxiliary vector."""
    begin, size = core.notes
    for _ in range(chance.choice((1, 4, 40))):
        at = begin + 4 * chance.randrange(max(1, size // 4))
        core.patch(at, chance.choice((0, 1, 5, 0x7FFFFFFF, 0xFFFFFFFF, chance.getrandbits(32), chance.getrandbits(12))).to_bytes(4, "little"))


def executable_damaged(core, chance):
    size = os.path.getsize(core.executable)
    for _ in often(chance):
        at = chance.choice((chance.randrange(0, 1024), chance.randrange(size - 4096, size - 8), chance.randrange(size - 8)))
        core.patch(at, chance.choice(ODD_WORDS + (chance.getrandbits(64),)).to_bytes(8, "little"), file=1)


WAYS = (bits_flipped, words_odd, words_of_elsewhere, pointers_crossed, pointers_shifted, led_into_itself, pages_zeroed,
        pages_of_elsewhere, cut_off, headers_damaged, notes_damaged, executable_damaged)


def damage(core, chance, number):
    """Damages `core` in the way that belongs to `number`; its name."""
    way = WAYS[number % len(WAYS)]
    way(core, chance)
    return way.__name__


def roots_of(checks):
    """Addresses that `doctor` tells of."""
    return [int(address, 16) for check in checks for address in re.findall(r"at 0x([0-9a-f]+)", check["detail"])]
