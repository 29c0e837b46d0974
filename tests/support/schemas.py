"""The schemas of tests/schema, with what the program itself says of its columns."""
import json
import re

import suite as s


def process_row():
    """The schema of a process's row, from the columns that the program says it has."""
    kinds = {"figure": "count", "pid": "pid", "function": "mfa", "state": "state"}
    own = {"pid": {"$ref": "common.schema.json#/$defs/known_pid"}}  # a process has one, its parent may have none
    properties = {
        column["name"]: own.get(column["name"]) or ({"type": ["boolean", "null"]} if column["kind"] == "flag" else
                                                    {"$ref": f"common.schema.json#/$defs/{kinds.get(column['kind'], 'text')}"})
        for column in s.rows()["process_columns"]}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def documents():
    """File name -> schema or definitions."""
    known = {path.name: json.loads(path.read_text("utf-8")) for path in sorted((s.SOURCE / "tests/schema").glob("*.json"))}
    known["common.schema.json"]["$defs"]["process"] = process_row()
    return known


def validator(verb):
    """What tells where a document of a verb does not follow its schema."""
    import jsonschema
    known = documents()
    store = {(s.SOURCE / "tests/schema" / name).as_uri(): document for name, document in known.items()}
    schema = known[f"{verb}.schema.json"]
    return jsonschema.Draft202012Validator(schema, resolver=jsonschema.RefResolver((s.SOURCE / "tests/schema/x.json").as_uri(), schema, store=store))


def leaves(value, path=()):
    """What a schema can tell one value from another by: for each place in it the type, the sign, and texts with their numbers and
    words made equal."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from leaves(member, (*path, name))
    elif isinstance(value, list):
        yield path, bool(value)
        for member in value:
            yield from leaves(member, (*path, 0))
    elif isinstance(value, str):
        yield path, value if re.fullmatch("[a-z_]{0,10}", value) else re.sub("[A-Za-z]+", "A", re.sub("[0-9]+", "0", value))[:12]
    else:
        yield path, type(value), isinstance(value, (int, float)) and (value > 0) - (value < 0)


def thinned(value):
    """The document without those rows of tables that have nothing which an earlier one hasn't: a validator in Python takes a
    millisecond a row. Lists of texts and numbers, and the first two entries of others, stay: a schema may ask how many there are."""
    if isinstance(value, dict):
        return {name: thinned(member) for name, member in value.items()}
    if not isinstance(value, list) or not any(isinstance(entry, (dict, list)) for entry in value):
        return value
    seen, kept = set(), []
    for entry in value:
        new = set(leaves(entry)) - seen
        if new or len(kept) < 2:
            seen |= new
            kept.append(thinned(entry))
    return kept
