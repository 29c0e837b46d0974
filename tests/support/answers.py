"""Answers of one and the same question from several places, made comparable."""
import json

# Columns that `top` leaves empty unless they are asked for, since they cost more than the process table.
NOT_FOR_NOTHING = ("stack_words", "label", "group_key", "real_initial_call", "sensitive")


def without_what_one_reading_knows_better(want, got):
    """Who has read all of an input may know that it is complete, what is odd in parts that the question does not need, and
    what `top` would have to pay for. What the question alone warns of, the other must say too. Both are texts; what is no
    JSON comes back as it is."""
    try:
        one, other = json.loads(want), json.loads(got)
    except ValueError:
        return want, got
    for source in [one.get("source"), *one.get("sources", [])]:
        for theirs in [other.get("source"), *other.get("sources", [])]:
            if source and theirs:
                theirs["not_looked_at"] = source["not_looked_at"]
        if source and source["complete"] is None:
            for theirs in [other.get("source"), *other.get("sources", [])]:
                if theirs:
                    theirs["complete"] = None
    if one["kind"] == "doctor":  # who answers many questions keeps the rights that a single one gives up
        for answer in (one, other):
            answer.pop("sandbox", None), answer.pop("summary", None)
    if one["kind"] == "top":
        for row, theirs in zip(one["rows"], other["rows"]):
            theirs.update({key: None for key in NOT_FOR_NOTHING if key in row and row[key] is None})
    if one["kind"] == "ps":  # VMs of other tests come and go, and each works on
        both = {row["pid"] for row in one["rows"]} & {row["pid"] for row in other["rows"]}
        for answer in (one, other):
            answer["rows"] = [{key: row[key] for key in ("input", "pid", "user", "container")} for row in answer["rows"] if row["pid"] in both]
            del answer["total_rows"]
    one["warnings"] = [warning for warning in one["warnings"] if warning["name"] != "not_looked_at"]
    known = [warning["name"] for warning in one["warnings"]]
    other["warnings"] = [warning for warning in other["warnings"] if warning["name"] in known]
    return json.dumps(one, indent=0), json.dumps(other, indent=0)
