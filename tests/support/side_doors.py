"""All ways out of an input, by the rows that the program itself lists: verbs, options, formats, tables, recipes, tools for assistants.

No list of verbs or formats is here: a verb that the program gains is asked with the next run. What is here is a value for each kind of
argument, and for each kind of word behind an option; where the program has a kind that this has no value for, unknown() says so.
"""
import base64
import gzip
import itertools
import json
import re
import subprocess

import parquet
import suite as s

HUSH = re.compile(rb"Hush\d{3}|hushed[a-j]{3}")
# What is left of one whose first characters are gone. An atom that a key alone tells has its name in `atoms`, where no key stands.
REST = re.compile(rb"(?<!Lone)\d{3}xVw7")
BARE = re.compile(rb"Bare\d{3}")
NICK = re.compile(rb"Nick\d{3}|Lone\d{3}")
CARDS = [b"4111111111111111", b"5555 5555 5555 4444", b"4242424242424242", b"378282246310005", b"4000-0566-5566-5556", b"6011111111111117",
         *(b"908700%d" % number for number in (17, 18, 19, 23, 24, 25, 26))]
LARGE = [str(int.from_bytes(b"Hush%03dxVw7" % number, "big")).encode() for number in range(870, 877)]


def hidden_forms(word, behind):
    """A text as lists of numbers, in hexadecimal digits, and as base64 have it, whatever stands before it. `behind` is a character of the
    kind that comes next, of which the first four bits are known."""
    shapes = [mark.join(str(byte) for byte in word).encode() for mark in (",", ", ")]
    shapes += [word.hex().encode(), word.hex().upper().encode()]
    for shift in range(3):
        known = base64.b64encode(b"\0" * shift + word + behind + b"\0\0")
        shapes.append(known[-(-8 * shift // 6):(8 * (shift + len(word)) + 4) // 6])
    return shapes


FORMS = {HUSH: [*hidden_forms(b"Hush", b"0"), *hidden_forms(b"hushed", b"a")], BARE: hidden_forms(b"Bare", b"0"), NICK: [], REST: []}


def leaks(out, words, numbers=True):
    """What of the secrets is in an output, whatever it is packed in."""
    if out[:2] == b"\x1f\x8b":
        out = gzip.decompress(out)
    found = [match.group(0) for word in words for match in word.finditer(out)]
    found += [form for word in words for form in FORMS[word] if form in out]
    return sorted({*found, *(number for number in CARDS + LARGE if numbers and number in out)})


class Doors:
    """The questions that one input is asked. `options` are those without which it can't be read (--exe)."""

    def __init__(self, tests, path, options=(), extra_names=()):
        self.tests, self.path, self.options, self.rows = tests, path, list(map(str, options)), s.rows()
        ask = lambda *line: json.loads(s.run(line[0], path, *line[1:], *self.options, "--json", timeout=300).out or b"{}")
        heap = ask("heap", "vault", "--term-bytes", "0")
        self.addresses = [row["address"] for row in heap.get("rows", []) if row.get("address")][:400]
        self.tables = [str(row["name"]) for row in ask("ets").get("rows", []) if row.get("name")]
        columns = json.loads(s.run("sql", path, *self.options, "--table", "columns", "--json").out)["columns"]
        self.sql_tables = sorted({row["table"] for row in columns})
        self.recipes = [row["name"] for row in json.loads(s.run("recipes", "--json").out)["rows"]]
        wanted = [name for name in ("sessions", "api_tokens", "credentials", "Elixir.Shop.Endpoint", "cookies", "ac_tab", "logger", "global_names", "timer_tab", "persistent_term") if name in self.tables]
        self.words = {  # by the kind of an argument
            "input": [path], "executable": [self.options[1] if self.options else None], "process": ["vault", "init", "auth", "shop_sup", "vaul", "ghp_", "<0.9999.0>", *extra_names],
            "address": [*self.addresses[:2], "FFFF"], "table": [*wanted, *self.tables[:1], "no_such_tabl"], "function": ["erts_*"], "path": [None], "shell": [None],
            "topic": [*self.recipes[:2], "no_such"],
            "query": [*(f"SELECT * FROM {table}" if "(" not in table else f"SELECT * FROM {table.partition('(')[0]}('vault')" for table in self.sql_tables),
                      "SELECT no_such FROM process", "SELECT json_extract(term, '$') FROM root", "SELEC", *self.recipes]}
        # By how the help calls what stands behind an option. None: it is not asked with one.
        self.behind = {"N": ["1", "100000"], "N|WHAT": ["1"], "PROGRAM": None, "CONDITION": None, "COLUMN": ["no_such"], "NAME": ["no_such"], "A,B,...": ["no_such"], "SELECTOR": ["'vault'", "label = 'x'", "all_children(init)", "vault and ("],
                       "ADDRESS": self.addresses[:1], "M:F/A": ["*:*/_"], "FUNCTION": ["erts_*"], "OTHER": [str(path)], "SYNTAX": None, "TIME": None, "SIZE": None, "FILE": None, "FOLDER": None,
                       "PATH": None, "DIR": None, "R": ["msgq>1"], "FORMAT": None, "WHEN": None, "LEVEL": None, "FORMAT=FILE": None}

    def unknown(self):
        """Kinds that this has nothing for."""
        kinds = {argument["kind"] for verb in self.rows["verbs"] for argument in verb["arguments"]} - self.words.keys()
        named = {option["argument"] for option in self.rows["options"] if option["argument"] and not option["values"]} - self.behind.keys()
        return sorted(kinds | named)

    def verbs(self, writing):
        """Those that answer about an input; those that write files about it."""
        for verb in self.rows["verbs"]:
            kinds = [argument["kind"] for argument in verb["arguments"]]
            if not verb["session"] and ("path" in kinds) == writing and (writing or {"input", "executable"} & set(kinds[:1])):
                yield verb, kinds

    def lines(self, quick):
        """Each verb with each value of its arguments, and with each value of its own options."""
        for verb, _ in self.verbs(False):
            needed = [self.words[argument["kind"]] for argument in verb["arguments"] if not argument["optional"]]
            optional = [self.words[argument["kind"]] for argument in verb["arguments"] if argument["optional"]]
            if any(None in words for words in needed):
                continue
            given = [list(words) for words in itertools.product(*(words[:1] if quick and i and words is not self.words["process"] else words for i, words in enumerate(needed)))]
            plain = given[0]
            for words in given:
                yield [verb["name"], *words]
            for each in itertools.chain(*optional):
                yield [verb["name"], *plain, each]
            for row in self.options_of(verb):
                for words in self.of_option(row):
                    yield [verb["name"], *plain, *words]

    def options_of(self, verb):
        return [row for row in self.rows["options"] if verb["options"] and row["names"][-1] in verb["options"] and row["names"][-1] not in ("--exe", "--code", "--no-code", "--source", "--force", "--all")]

    def of_option(self, row):
        """An option with each word that may stand behind it."""
        name = row["names"][-1]
        if not row["argument"]:
            return [[name]]
        return [[name, word] for word in row["values"] or self.behind[row["argument"]] or []]

    def anywhere(self):
        """Options of every verb, which change what an answer has: --columns, --syntax, -v."""
        for row in self.rows["options"]:
            if row["every_verb"] and row["names"][-1] not in ("--redact", "--format", "--help", "--version", "--stable-salt", "--no-pager", "--threads"):
                if row["names"][-1] == "--columns":
                    continue
                words = row["values"] or self.behind.get(row["argument"] or "", [None]) or []
                yield from ([row["names"][-1], *([word] if word else [])] for word in (words if row["argument"] else [None]))

    def ask(self, line, *options):
        """All that is printed of a question."""
        more = self.options if line[0] != "core" else []
        run = s.run(*line, *more, *options, timeout=300)
        self.tests.check(f"{' '.join(map(str, [*line, *options]))} ends well", run.code in s.EXIT_CODES, str(run))
        return run

    def judge(self, line, options, words):
        """Asks, and holds what is printed against the secrets that may not be in it. False: it was no question for this verb."""
        run = self.ask(line, *options)
        found = leaks(run.out + run.err, words)
        self.tests.check(f"{' '.join(map(str, [*line, *options]))}: no secret", not found, str(found[:20]))
        return run.code != 2


def texts_of(path):
    """What a file holds, as bytes in which texts stand."""
    if path.suffix == ".parquet":
        return json.dumps(parquet.read(path)["rows"], ensure_ascii=False).encode()
    content = path.read_bytes()
    return content.replace(b"\0", b"") if path.suffix == ".hprof" else content  # two bytes a character


def assistants(doors, *options):
    """Each tool of the server for assistants with several sets of arguments, by the rows of tools/list; prompts, and whatever else it says
    that it has. Pairs of a question and its answer as the line that came."""
    process = subprocess.Popen([s.BINARY, "mcp", str(doors.path), *doors.options, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    number = 0

    def ask(method, **parameters):
        nonlocal number
        number += 1
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}).encode() + b"\n")
        process.stdin.flush()
        while True:
            line = process.stdout.readline()
            answer = json.loads(line or b'{"id": %d, "ended": true}' % number)
            if answer.get("id") == number:
                return line, answer

    hello = ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "t", "version": "0"})
    yield "initialize", hello[0]
    for what in (*hello[1]["result"]["capabilities"], "resources", "resources/templates"):
        line, answer = ask(f"{what}/list")
        yield f"{what}/list", line
        for each in (answer.get("result") or {}).get(what, []):
            if what == "prompts":
                yield f"prompts/get {each['name']}", ask("prompts/get", name=each["name"], arguments={"input": str(doors.path)})[0]
            elif what == "resources":
                yield f"resources/read {each['uri']}", ask("resources/read", uri=each["uri"])[0]
    words = {"pid": doors.words["process"], "address": doors.words["address"], "function": ["erts_*"], "topic": doors.words["topic"], "a": [str(doors.path)], "b": [str(doors.path)],
             "query": doors.words["query"], "name": doors.recipes[:1], "table_name": doors.words["table"], "procs": doors.behind["SELECTOR"], "into": doors.addresses[:1], "pattern": ["*:*/_"], "blame": ["erts_*"],
             "input": ["no.dump", str(doors.path)], "by": ["memory", "shape", "no_such"], "for": [], "columns": ["no_such"], "sort": ["no_such"], "table": ["no_such"]}
    tools = ask("tools/list")[1]["result"]["tools"]
    behind = {verb for tool in tools if tool["name"] == "ask" for verb in tool["inputSchema"]["properties"]["verb"]["enum"]}
    helps = [ask("tools/call", name="ask", arguments={"verb": verb, "help": True})[1]["result"]["content"][0]["text"] for verb in sorted(behind)]
    doors.tests.check("each verb is a tool, or is asked by one", len(helps) > 15, str(behind))
    for tool in [each for each in tools if each["name"] != "ask"] + [json.loads(each) for each in helps]:
        schema = tool["inputSchema"]
        properties, required = schema.get("properties", {}), schema.get("required") or []
        missing = {key for key in required if key not in words}
        doors.tests.check(f"{tool['name']}: this test has a value for what it needs", not missing, str(missing))
        whole = {key: words[key][0] for key in required if key in words}
        sets = [whole, *({**whole, key: word} for key in required for word in words.get(key, []))]
        for key, row in properties.items():
            values = row.get("enum") or ([True] if row.get("type") == "boolean" else [1, 100000] if row.get("type") == "integer" else words.get(key, ["no_such"]))
            sets += [{**whole, key: value} for value in values if key != "part"]
        if "term_bytes" in properties:
            sets.append({**whole, "term_bytes": 0, "top": 0, "format": "json"})
        for arguments in sets:
            part = 1
            while part < 40:
                given = {**arguments, **({"part": part} if part > 1 else {})}
                if tool["name"] in behind:
                    line, answer = ask("tools/call", name="ask", arguments={"verb": tool["name"], "arguments": given})
                else:
                    line, answer = ask("tools/call", name=tool["name"], arguments=given)
                yield f"{tool['name']} {json.dumps(arguments)} part {part}", line
                if f" with part {part + 1}" not in str(answer.get("result", ""))[-400:]:
                    break
                part += 1
    process.stdin.close()
    process.wait(timeout=60)
