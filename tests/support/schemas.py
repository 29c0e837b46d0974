"""The schemas of tests/schema, with what the program itself says of its columns."""
import json

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
