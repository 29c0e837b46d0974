"""A reader of Apache Parquet, written from its specification (parquet-format: parquet.thrift, Encodings.md, LogicalTypes.md), as far
as beamheap writes it: plain values, levels in the hybrid of runs and packed bits, zstd, flat columns and lists of texts. What is
against the specification raises ValueError."""
import json
import pathlib
import struct
import subprocess

BOOLEAN, INT64, DOUBLE, BYTES = 0, 2, 5, 6
ZSTD, DATA_PAGE, PLAIN, RLE = 6, 0, 0, 3


class Compact:
    """Thrift's compact protocol: structs as {field: value}."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def signed(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind in (4, 5, 6):
            return self.signed()
        if kind == 8:
            size = self.varint()
            self.at += size
            return bytes(self.data[self.at - size:self.at])
        if kind == 9:
            head = self.data[self.at]
            self.at += 1
            size = head >> 4
            size = self.varint() if size == 15 else size
            return [self.value(head & 15) for _ in range(size)]
        if kind == 12:
            return self.struct()
        raise ValueError(f"thrift type {kind}")

    def struct(self):
        fields, number = {}, 0
        while True:
            head = self.data[self.at]
            self.at += 1
            if head == 0:
                return fields
            number = number + (head >> 4) if head >> 4 else self.signed()
            if number in fields:
                raise ValueError(f"field {number} stands twice")
            fields[number] = self.value(head & 15)


def levels(data, at, width, count):
    """`count` levels of the hybrid, behind their size in four bytes, and where they end."""
    size = struct.unpack_from("<I", data, at)[0]
    reader, end, found = Compact(data, at + 4), at + 4 + size, []
    while reader.at < end:
        head = reader.varint()
        if head & 1:
            packed = int.from_bytes(data[reader.at:reader.at + (head >> 1) * width], "little")
            reader.at += (head >> 1) * width
            found += [packed >> i * width & (1 << width) - 1 for i in range((head >> 1) * 8)]
        else:
            found += [data[reader.at]] * (head >> 1)
            reader.at += 1
    if reader.at != end or len(found) < count:
        raise ValueError("levels are cut")
    return found[:count], end


def plain(data, at, kind, count):
    if kind == BOOLEAN:
        values = [bool(data[at + i // 8] >> i % 8 & 1) for i in range(count)]
        at += (count + 7) // 8
    elif kind in (INT64, DOUBLE):
        values = list(struct.unpack_from(f"<{count}{'q' if kind == INT64 else 'd'}", data, at))
        at += 8 * count
    else:
        values = []
        for _ in range(count):
            size = struct.unpack_from("<I", data, at)[0]
            values.append(data[at + 4:at + 4 + size].decode("utf-8"))
            at += 4 + size
    if at != len(data):
        raise ValueError("a page is not as long as it says")
    return values


def schema(elements):
    """The columns: (name, physical type, whether it is a list), in order."""
    root, rest = elements[0], elements[1:]
    columns = []
    while rest:
        head = rest.pop(0)
        name = head[4].decode()
        if head[3] != 1:
            raise ValueError(f"{name} is not optional")
        if 5 not in head:
            if (head[1] == BYTES) != (head.get(6) == 0 and head.get(10) == {1: {}}):
                raise ValueError(f"{name}: texts, and only these, are STRING")
            columns.append((name, head[1], False))
            continue
        middle, leaf = rest.pop(0), rest.pop(0)
        if (head[5], head[6], head[10], middle[3], middle[4], middle[5], leaf[3], leaf[4], leaf[1]) != (1, 3, {3: {}}, 2, b"list", 1, 1, b"element", BYTES):
            raise ValueError(f"{name} is no LIST of three levels")
        columns.append((name, BYTES, True))
    if root[5] != len(columns):
        raise ValueError("the root has another number of columns")
    return columns


def of_page(page, kind, is_list, count):
    """The values of a page, a row each."""
    at, repeated = 0, []
    if is_list:
        repeated, at = levels(page, 0, 1, count)
    defined, at = levels(page, at, 2 if is_list else 1, count)
    values = iter(plain(page, at, kind, sum(level == (3 if is_list else 1) for level in defined)))
    if not is_list:
        return [next(values) if level else None for level in defined]
    rows = []
    for again, level in zip(repeated, defined):
        if not again:
            rows.append(None if level == 0 else [])
        if level >= 2:
            rows[-1].append(next(values) if level == 3 else None)
    return rows


def as_plain(value, kind):
    if kind == BOOLEAN:
        return bytes([value])
    return struct.pack("<q" if kind == INT64 else "<d", value) if kind != BYTES else value.encode("utf-8")


def check_bounds(name, kind, told, values):
    """The statistics of a chunk against its values."""
    there = [value for value in values if value is not None]
    if told[3] != len(values) - len(there):
        raise ValueError(f"{name}: {told[3]} are missing, it says")
    key = (lambda value: value.encode("utf-8")) if kind == BYTES else lambda value: value
    for field, best in ((5, max), (6, min)):
        wanted = best(there, key=key) if there else None
        if wanted is None or (kind == BYTES and len(key(wanted)) > 128):
            if field in told:
                raise ValueError(f"{name}: has a bound too many")
        elif told.get(field) != as_plain(wanted, kind) and not (kind == DOUBLE and wanted == 0):
            raise ValueError(f"{name}: {field} is {told.get(field)}, not {wanted}")


def read(path):
    """{"columns": [(name, type, is_list)], "rows": [{name: value}], "about": {name: value}, "groups": n, "pages": {name: n}}"""
    data = pathlib.Path(path).read_bytes()
    size = struct.unpack("<I", data[-8:-4])[0]
    if data[:4] != b"PAR1" or data[-4:] != b"PAR1":
        raise ValueError("no magic")
    reader = Compact(data, len(data) - 8 - size)
    footer = reader.struct()
    if reader.at != len(data) - 8:
        raise ValueError("the end is not as long as it says")
    columns = schema(list(footer[2]))
    chunks, stored = [], []  # of a chunk, the plain size of each of its pages and the values in it
    for group in footer[4]:
        if [[each.decode() for each in chunk[3][3]][0] for chunk in group[1]] != [name for name, _, _ in columns]:
            raise ValueError("chunks are of other columns")
        for chunk in group[1]:
            about = chunk[3]
            at, plain_bytes, pages = about[9], 0, []
            while at < about[9] + about[7]:
                head = Compact(data, at)
                page = head.struct()
                if about[4] != ZSTD or page[1] != DATA_PAGE or page[5][2] != PLAIN or page[5][3] != RLE or page[5][4] != RLE:
                    raise ValueError("a page is of another kind")
                stored.append(data[head.at:head.at + page[3]])
                pages.append((page[2], page[5][1]))
                plain_bytes += head.at - at + page[2]
                at = head.at + page[3]
            if at != about[9] + about[7] or plain_bytes != about[6] or sum(count for _, count in pages) != about[5]:
                raise ValueError("a chunk has another size")
            chunks.append(pages)
    whole = subprocess.run(["zstd", "-dcq"], input=b"".join(stored), stdout=subprocess.PIPE, check=True).stdout if stored else b""
    rows, at, pages, several = [], 0, iter(chunks), {name: 0 for name, _, _ in columns}
    for group in footer[4]:
        values = []
        for chunk, (name, kind, is_list) in zip(group[1], columns):
            values.append([])
            for length, count in next(pages):
                values[-1] += of_page(whole[at:at + length], kind, is_list, count)
                at += length
                several[name] += 1
            if len(values[-1]) != group[3]:
                raise ValueError(f"{name} has {len(values[-1])} rows of {group[3]}")
            if not is_list:
                check_bounds(name, kind, chunk[3][12], values[-1])
        rows += [dict(zip([name for name, _, _ in columns], row)) for row in zip(*values)]
    if at != len(whole) or footer[3] != len(rows) or len(footer[7]) != len(columns):
        raise ValueError("the file says something else of itself")
    return {"columns": columns, "rows": rows, "groups": len(footer[4]), "pages": several, "about": {each[1].decode(): each[2].decode() for each in footer[5]}}


def told_by(row, columns):
    """A row of NDJSON as a Parquet file has it: lists and objects of others than texts are JSON."""
    lists = {name for name, _, is_list in columns if is_list}
    return {name: json.dumps(value, ensure_ascii=False, separators=(",", ":")) if isinstance(value, (list, dict)) and name not in lists else value
            for name, value in row.items()}
