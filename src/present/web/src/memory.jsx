// All of the node's memory in one map: areas, whose it is in them, and as what. Its sum is what the VM says that it has.
import { useMemo } from "preact/hooks";
import { bare, processRow, tables } from "./data.js";
import { grouped } from "./format.js";
import { Rectangles, rest } from "./map.jsx";
import { color, colorOf, openProcess } from "./parts.jsx";
import { useSetting } from "./state.js";

const beside = new Set(["carriers", "outside"]); // what the VM has of the system, and does not count as its own
const plain = (text) => String(text).replace(/_/g, " ");
const nobodys = { processes: "of no process that the input names", binaries: "of no process that was looked into", vm: "in use, of nobody that the input names" };

/** How many processes each owner of many is: in their own area rows count these, each those that have its item (few have links); in others binaries, tables, modules. */
function processesOf(ledger) {
  const many = new Map();
  for (let row = 0; row < ledger.size; ++row) {
    if (ledger.get(row, "area") !== "processes" || ledger.get(row, "owner_kind") !== "processes") continue;
    const owner = ledger.get(row, "owner");
    many.set(owner, Math.max(many.get(owner) || 0, ledger.get(row, "count")));
  }
  return many;
}

/** "updater/2 \u00d7832": what many processes have in common; else whose it is. */
function ownerOf(ledger, row, processes) {
  const cell = (name) => ledger.get(row, name);
  if (cell("owner") === null) return null;
  const name = cell("owner_kind") === "vm" ? plain(cell("owner")) : cell("owner");
  const many = cell("owner_kind") === "processes" ? processes.get(cell("owner")) || 0 : 0;
  return { name: many > 1 ? `${name} \u00d7${grouped(many)}` : name, key: `${cell("owner_kind")} ${cell("owner")}` };
}

const things = { binaries: "binaries", shared_binaries: "binaries", queue: "ports", objects: "tables", code: "modules", atoms: "atoms" };

/** "134 binaries": what a row counts, where it is no processes; else nothing. */
function counted(ledger, row) {
  const count = ledger.get(row, "count");
  const what = things[ledger.get(row, "item")];
  return count > 1 && what ? `, ${grouped(count)} ${what}` : "";
}

/** Areas with their owners, and what those have there. What is not listed is known by the sums of the areas. */
export function wholeNode(ledger, areas) {
  const root = { key: "", name: "the node", children: [], value: 0 };
  const processes = processesOf(ledger);
  const byName = new Map();
  for (let row = 0; row < areas.size; ++row) {
    const name = areas.get(row, "area");
    if (beside.has(name)) continue;
    const area = { key: name, name: plain(name), children: [], value: areas.get(row, "bytes"), group: true, owners: new Map() };
    byName.set(name, area);
    root.children.push(area);
    root.value += area.value;
  }
  for (let row = 0; row < ledger.size; ++row) {
    const cell = (name) => ledger.get(row, name);
    const area = byName.get(cell("area"));
    if (!area || !cell("bytes")) continue;
    const owner = ownerOf(ledger, row, processes);
    if (!owner) {
      const untold = cell("item") === "untold";
      area.children.push({ key: `${area.key}/${cell("item")}${untold ? "+" : ""}`, name: untold ? nobodys[area.key] || "of nobody that the input names" : plain(cell("item")), value: cell("bytes"), children: [], counted: counted(ledger, row) });
      continue;
    }
    let node = area.owners.get(owner.key);
    if (!node) {
      node = { key: `${area.key}/${owner.key}`, name: owner.name, children: [], value: 0, row: cell("pid") ? processRow(cell("pid")) : undefined, pid: cell("pid") };
      area.owners.set(owner.key, node);
      area.children.push(node);
    }
    node.value += cell("bytes");
    node.children.push({ key: `${node.key}/${cell("item")}`, name: plain(cell("item")), value: cell("bytes"), children: [], pid: cell("pid"), counted: counted(ledger, row) });
  }
  for (const area of root.children) {
    const left = area.value - area.children.reduce((all, child) => all + child.value, 0);
    if (left > 0) area.children.push({ key: `${area.key}/rest+`, name: "smaller ones", value: left, children: [] });
    // Of one thing that it has, nothing more is to be seen.
    for (const node of area.children)
      if (node.children.length === 1) {
        node.counted = node.children[0].counted;
        node.children = [];
      }
  }
  return root;
}

export function Memory() {
  const { ledger, areas } = tables;
  const [at, setAt] = useSetting("mm.at", "");
  const root = useMemo(() => (ledger && areas ? wholeNode(ledger, areas) : null), []);
  if (!root || !root.value) return null;
  const tintOf = (node) => (rest.test(node.key) ? color(7) : colorOf(node.key.split("/").slice(0, node.key.includes("process") ? 2 : 1).join("/")));
  return (
    <Rectangles title="All of the node's memory" of="whole" root={root} unit="bytes" at={at} setAt={setAt} tintOf={tintOf}
      said={(node) => node.counted || ""}
      open={(node) => node.pid && processRow(bare(node.pid)) !== undefined && openProcess(node.pid)} />
  );
}
