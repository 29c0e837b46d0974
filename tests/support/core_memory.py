"""Carriers of a core image, walked block by block, against what the allocators counted themselves."""
import json

import suite as s


def against_counters(count, label, core):
    run = s.run("alloc", core, "--json", "-n", "0")
    if not count.check(f"{label}: alloc", run.code == 0, str(run)):
        return
    answer = json.loads(run.out)
    walked = {row["name"]: row for row in answer["carriers"]}
    # Instances that never had a carrier have none to walk.
    counted = {row["name"]: row for row in answer["rows"] if row["carrier_bytes"]}
    for column in ("carrier_bytes", "block_bytes"):
        wrong = {name: (walked.get(name, {}).get(column), row[column]) for name, row in counted.items()
                 if walked.get(name, {}).get(column) != row[column]}
        count.check(f"{label}: {column} of walked carriers are those that the VM counted", len(counted) > 6 and not wrong, str(wrong))
    # Blocks: many to a multiblock carrier, one to each single-block one.
    wrong = {name: (walked[name]["blocks"], row["mbcs_blocks"], row["sbcs_blocks"]) for name, row in counted.items()
             if name in walked and walked[name]["blocks"] != (row["mbcs_blocks"] or 0) + (row["sbcs_blocks"] or 0)}
    count.check(f"{label}: as many blocks were walked as the VM counted", not wrong, str(wrong))
    mapped = answer["mapped"]
    count.check(f"{label}: no carrier is broken", mapped["broken_carriers"] == 0, str(mapped))
    parts = mapped["in_carriers_bytes"] + mapped["native_stacks_bytes"] + mapped["elsewhere_bytes"]
    count.check(f"{label}: written memory adds up", parts == mapped["written_bytes"] <= mapped["mapped_bytes"], str(mapped))
    kept = [row for row in answer["nearly_empty"] if not row["kept_by"] or row["block_bytes"] * 10 > row["carrier_bytes"]]
    count.check(f"{label}: what keeps nearly empty carriers is told", not kept, str(kept[:2]))
    print(f"    {label}: {sum(row['carriers'] for row in walked.values())} carriers, {sum(row['blocks'] for row in walked.values())} blocks")


def stored_binaries(count, label, core):
    """Tables that the scenario filled with the same terms hold as many binaries; one persistent term has one of 100 bytes."""
    run = s.run("binaries", core, "--json", "-n", "0", "--redact", "none")
    if not count.check(f"{label}: binaries", run.code == 0, str(run)):
        return
    rows = json.loads(run.out)["rows"]
    tables = ("contents_set", "contents_ordered", "contents_bag", "contents_duplicates", "contents_tree")
    held = {table: sorted(row["bytes"] for row in rows if table in row["stored_in"]) for table in tables}
    count.check(f"{label}: tables hold binaries", len(held["contents_set"]) > 1 and all(each == held["contents_set"] for each in held.values()), str(held))
    persistent = [row for row in rows if "persistent_term" in row["stored_in"]]
    count.check(f"{label}: a persistent term holds one", [row["bytes"] for row in persistent] == [100], str(persistent))
