"""VMs that work in ways that they know the truth of (tests/scenarios/scenario_sampled.erl), to be sampled from outside."""
import json
import os
import shutil
import subprocess
import time

import laboratory
import schemas
import suite as s

PATIENCE = 240  # seconds: for what takes one on a machine that is not busy
LONGEST = 60  # seconds that are sampled in one go
MODULE = "scenario_sampled"
try:
    import jsonschema
except ImportError:
    jsonschema = None


def wrong_with(verb, document):
    """What of an answer does not follow its schema; None: nothing does not, or there is nothing to hold it with."""
    if jsonschema is None:
        return None
    known = schemas.documents()
    folder = (s.SOURCE / "tests/schema").as_uri() + "/"
    schema = known[f"{verb}.schema.json"]
    resolver = jsonschema.RefResolver(folder + "x.json", schema, store={folder + name: each for name, each in known.items()})
    return next(iter(jsonschema.validators.validator_for(schema)(schema, resolver=resolver).iter_errors(document)), None)


class Node:
    """A VM that runs one of the scenario's kinds of work until it is told to end."""

    def __init__(self, tests, kind, release=None, *flags, program=None):
        self.tests, self.release = tests, release
        self.folder = s.TMP / f"{kind}-{release or 'erl'}{''.join(flags)}".replace("+", "-")
        self.folder.mkdir()
        shutil.copy(s.SOURCE / f"tests/scenarios/{MODULE}.erl", self.folder)
        facts = self.folder / "facts.json"
        code = (f'{{ok, _}} = compile:file("{self.folder}/{MODULE}.erl", [{{outdir, "{self.folder}"}}]), code:add_path("{self.folder}"), '
                f'{MODULE}:run({kind}, "{facts}").')
        if program is not None:  # the source of a module
            (self.folder / f"{kind}.erl").write_text(program, "utf-8")
            code = code.replace(f"{MODULE}:run(", f'{{ok, _}} = compile:file("{self.folder}/{kind}.erl", [{{outdir, "{self.folder}"}}]), {MODULE}:run_program(')
        command = [laboratory.OTP, "run", release] if release else ["erl"]
        self.said = open(self.folder / "said", "wb")
        self.process = subprocess.Popen([*map(str, command), "-noshell", "+S", "1:1", *flags, "-eval", code], stdin=subprocess.PIPE, stdout=self.said,
                                        stderr=subprocess.STDOUT, env={**os.environ, "OTP_SHARE": str(self.folder)}, cwd=self.folder)
        self.facts = None
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None and not facts.exists():
            time.sleep(0.1)
        if self.tests.check(f"{self.folder.name}: it works", facts.exists(), s.text((self.folder / "said").read_bytes())[-400:]):
            self.facts = json.loads(facts.read_text("utf-8"))
            self.pid = str(self.facts["os_pid"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.said.close()

    def ask(self, verb, *options):
        run = s.run(verb, self.pid, "--json", *options, timeout=PATIENCE)
        label = f"{self.folder.name}: {verb} {' '.join(options)}"
        if not self.tests.check(f"{label}: answers", run.code == 0, str(run)):
            return None
        document = json.loads(run.out)
        wrong = wrong_with(verb, document)
        self.tests.check(f"{label}: follows its schema", wrong is None, str(wrong)[:400])
        return document

    def until(self, enough, verb, *options):
        """Asks until there are so many samples as the shares are to be judged by, for as long as the first few seconds say that takes; where
        the machine has no time for so many, what there is: allowed() says what that is worth."""
        seconds = 4
        for _ in range(3):
            document = self.ask(verb, *options, "--for", f"{seconds:.0f}s")
            if document is None:
                return None
            sampling = document["sampling"]
            got = sampling["samples" if verb == "sample" else "hits"]
            if got >= enough or seconds >= LONGEST:
                return document
            seconds = min(LONGEST, max(2 * seconds, 1.2 * enough * sampling["seconds"] / max(1, got)))
        return document


def allowed(most, wanted, got):
    """How far shares may be from the truth: `most` with as many samples as were wanted, and more with fewer, as chance has it."""
    return most + 2 * max(0.0, max(1, got) ** -0.5 - wanted ** -0.5)
