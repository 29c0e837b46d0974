"""The commands that findings print: each must answer with something about the very input that the finding is of."""
import re
import shlex

import suite as s


def commands(step):
    """The commands of beamheap in a step of a finding, as words."""
    for found in re.finditer(r"\bbeamheap (?=[a-z])", step):
        command, quoted = "", False
        for at in range(found.end(), len(step)):
            if step[at] == "'":
                quoted = not quoted
            ends = step[at] in ";,:`." and step[at + 1:at + 2] in ("", " ", "`")
            if not quoted and (ends or step[at] == "`" or step.startswith(" for ", at)):
                break
            command += step[at]
        try:
            yield shlex.split(command)
        except ValueError:  # prose
            continue


def is_empty(out):
    """Whether an answer says that there is nothing."""
    return not out.strip() or re.match(rb"(no|nothing|none)\b", out.strip(), re.I) is not None and out.count(b"\n") < 3


def lead_somewhere(tests, name, document, *_):
    """Runs each command of a document of `analyze` once, as it is printed; how many there were. A verb that only people have asked for
    (explain, help) takes no input and answers, too."""
    seen = set()
    for finding in document["findings"]:
        for step in finding["next_steps"]:
            for words in commands(step):
                if tuple(words) in seen:
                    continue
                seen.add(tuple(words))
                run = s.run(*words, timeout=300)
                empty = is_empty(run.out)
                tests.check(f"{name}: {finding['rule']}: beamheap {words[0]} {' '.join(words[2:])}", run.code == 0 and not empty,
                            f"{run}: {s.text(run.out)[:200]}")
    return len(seen)
