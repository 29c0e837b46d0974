"""A reader of HPROF 1.0.2 (Java's heap dumps), written from the format's description: every length must fit, every id that is named
must be there, and every class and text before what names it."""
import struct

ELEMENTS = {4: ("?", 1), 5: ("H", 2), 6: ("f", 4), 7: ("d", 8), 8: ("b", 1), 9: ("h", 2), 10: ("i", 4), 11: ("q", 8)}


class Hprof:
    """texts, classes (id -> name, above, stated size, own fields), objects (id -> class or array, references, stated size),
    roots (kind, object, thread, frame), stacks (serial -> frames as (module, function, file, line))."""

    def __init__(self, path):
        self.data = path.read_bytes()
        head = b"JAVA PROFILE 1.0.2\0"
        if not self.data.startswith(head):
            raise ValueError("no HPROF")
        self.wide, = struct.unpack_from(">I", self.data, len(head))
        if self.wide not in (4, 8):
            raise ValueError(f"ids of {self.wide} bytes")
        self.texts, self.classes, self.by_serial, self.frames, self.stacks, self.objects, self.roots = {}, {}, {}, {}, {}, {}, []
        self.named = {}  # classes that were loaded: id -> name
        at, ended = len(head) + 12, False
        while at < len(self.data):
            tag, _, length = struct.unpack_from(">BII", self.data, at)
            body = memoryview(self.data)[at + 9:at + 9 + length]
            if len(body) != length or ended:
                raise ValueError(f"a record of {length} bytes at {at} is cut, or stands behind the end")
            self.record(tag, body)
            ended = tag == 0x2C
            at += 9 + length
        if not ended:
            raise ValueError("there is no end")
        self.check()

    def id(self, body, at):
        return struct.unpack_from(">Q" if self.wide == 8 else ">I", body, at)[0], at + self.wide

    def record(self, tag, body):
        if tag == 0x01:
            number, at = self.id(body, 0)
            if number in self.texts:
                raise ValueError("a text's id stands twice")
            self.texts[number] = bytes(body[at:]).decode("utf-8")
        elif tag == 0x02:
            serial, = struct.unpack_from(">I", body)
            made, at = self.id(body, 4)
            name, at = self.id(body, at + 4)
            self.by_serial[serial] = self.named[made] = self.texts[name]
        elif tag == 0x04:
            made, at = self.id(body, 0)
            method, at = self.id(body, at)
            signature, at = self.id(body, at)
            source, at = self.id(body, at)
            serial, line = struct.unpack_from(">Ii", body, at)
            self.texts[signature]
            self.frames[made] = (self.by_serial[serial], self.texts[method], self.texts[source] if source else "", max(line, 0))
        elif tag == 0x05:
            serial, thread, count = struct.unpack_from(">III", body)
            ids = struct.unpack_from(f">{count}{'Q' if self.wide == 8 else 'I'}", body, 12)
            if len(body) != 12 + count * self.wide:
                raise ValueError("a stack's length")
            self.stacks[serial] = (thread, [self.frames[each] for each in ids])
        elif tag == 0x1C:
            at = 0
            while at < len(body):
                at = self.part(body, at)
        elif tag != 0x2C or len(body):
            raise ValueError(f"a record of tag {tag:#x}")

    def part(self, body, at):
        tag, at = body[at], at + 1
        if tag in (0x01, 0x03, 0x05, 0x08):
            made, at = self.id(body, at)
            numbers = ()
            if tag == 0x01:
                _, at = self.id(body, at)
            elif tag in (0x03, 0x08):
                numbers, at = struct.unpack_from(">II", body, at), at + 8
            self.roots.append(({1: "global", 3: "frame", 5: "class", 8: "thread"}[tag], made, *numbers))
            return at
        made, at = self.id(body, at)
        at += 4
        if tag == 0x20:
            above, at = self.id(body, at)
            at += 5 * self.wide
            size, constants, fixed = struct.unpack_from(">IHH", body, at)
            at += 8
            if constants:
                raise ValueError("constants")
            held = []
            for _ in range(fixed):
                name, at = self.id(body, at)
                if body[at] != 2:
                    raise ValueError("a static field that is no reference")
                value, at = self.id(body, at + 1)
                self.texts[name]
                held.append(value)
            count, = struct.unpack_from(">H", body, at)
            at += 2
            fields = []
            for _ in range(count):
                name, at = self.id(body, at)
                fields.append((self.texts[name], body[at]))
                at += 1
            if made in self.classes or (above and above not in self.classes):
                raise ValueError("a class stands twice, or before the one above it")
            self.classes[made] = {"name": self.named[made], "above": above, "size": size, "fields": fields, "static": held}
            return at
        if made in self.objects:
            raise ValueError(f"an object stands twice: {made:#x}")
        if tag == 0x21:
            of, at = self.id(body, at)
            length, = struct.unpack_from(">I", body, at)
            at += 4
            values, fields, place = {}, self.fields(of), at
            for name, kind in fields:
                if kind == 2:
                    values[name], place = self.id(body, place)
                else:
                    letter, size = ELEMENTS[kind]
                    values[name], place = struct.unpack_from(">" + letter, body, place)[0], place + size
            if place != at + length:
                raise ValueError(f"an instance of {self.classes[of]['name']} has {length} bytes, its fields {place - at}")
            references = [values[name] for name, kind in fields if kind == 2 and values[name]]
            self.objects[made] = {"class": self.classes[of]["name"], "references": references, "size": self.classes[of]["size"], "values": values}
            return place
        count, = struct.unpack_from(">I", body, at)
        at += 4
        if tag == 0x22:
            of, at = self.id(body, at)
            elements = struct.unpack_from(f">{count}{'Q' if self.wide == 8 else 'I'}", body, at)
            self.objects[made] = {"class": self.classes[of]["name"], "references": [each for each in elements if each], "elements": elements,
                                  "size": (count + 3) * self.wide}
            return at + count * self.wide
        if tag == 0x23:
            letter, size = ELEMENTS[body[at]]
            values = bytes(body[at + 1:at + 1 + count * size])
            if len(values) != count * size:
                raise ValueError("an array is cut")
            self.objects[made] = {"class": {5: "char[]", 8: "byte[]", 11: "long[]"}[body[at]], "references": [], "values": values, "count": count,
                                  "size": (3 * self.wide + count * size + 7) // 8 * 8}
            return at + 1 + count * size
        raise ValueError(f"a part of tag {tag:#x}")

    def fields(self, of):
        found = []
        while of:
            found += self.classes[of]["fields"]
            of = self.classes[of]["above"]
        return found

    def check(self):
        for made, each in self.objects.items():
            lost = [to for to in each["references"] if to not in self.objects]
            if lost:
                raise ValueError(f"{made:#x} refers to {lost[0]:#x}, which is not there")
        for kind, made, *numbers in self.roots:
            if made not in (self.classes if kind == "class" else self.objects):
                raise ValueError(f"a root {kind} of nothing")
            if kind in ("frame", "thread") and numbers[0] not in self.stacks:
                raise ValueError("a root of no thread")
            if kind == "frame" and numbers[1] >= len(self.stacks[numbers[0]][1]):
                raise ValueError("a root of no frame")
        if set(self.classes) != set(self.named):
            raise ValueError("classes that were loaded, and are not there")

    def text(self, made):
        """A java.lang.String."""
        return self.objects[self.objects[made]["values"]["value"]]["values"].decode("utf-16-be")

    def retained(self, roots, references, size):
        """What each object keeps alive, by immediate dominators (Cooper, Harvey and Kennedy) below one node above all roots."""
        order, seen, stack = [], {0}, [(0, iter(roots))]
        while stack:
            node, rest = stack[-1]
            for to in rest:
                if to not in seen:
                    seen.add(to)
                    stack.append((to, iter(references(to))))
                    break
            else:
                order.append(node)
                stack.pop()
        order.reverse()
        number = {node: place for place, node in enumerate(order)}
        before = {node: [] for node in order}
        for node in order:
            for to in roots if node == 0 else references(node):
                before[to].append(node)
        above, changed = {0: 0}, True
        while changed:
            changed = False
            for node in order[1:]:
                best = None
                for each in before[node]:
                    if each not in above:
                        continue
                    a, b = each, best
                    while b is not None and a != b:
                        while number[a] > number[b]:
                            a = above[a]
                        while number[b] > number[a]:
                            b = above[b]
                    best = a
                if above.get(node) != best:
                    above[node], changed = best, True
        kept = {node: size(node) for node in order[1:]}
        for node in reversed(order[1:]):
            if above[node]:
                kept[above[node]] += kept[node]
        return kept
