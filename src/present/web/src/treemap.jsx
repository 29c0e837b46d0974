// Where the memory of processes (or what else they have) is: rectangles within rectangles, by who supervises whom, by application, by kind
// of process, by what they are in, or by kind of term.
import { useMemo } from "preact/hooks";
import { bare, called, facts, processRow, processes, tables, title } from "./data.js";
import { grouped } from "./format.js";
import { growthColor, growthText, isCompared, processGrowth, scale } from "./growth.js";
import { Rectangles, rest } from "./map.jsx";
import { Choice, color, colorOf, openProcess } from "./parts.jsx";
import { useSetting } from "./state.js";

const alike = 12; // children of a process that run the same are one rectangle, from so many on

const figures = [
  ["memory_bytes", "memory"],
  ["msgq_len", "messages"],
  ["reductions", "reductions"],
  ["live_words", "live words"],
  ["garbage_words", "garbage words"],
  ["refc_bytes", "binaries reached"],
];
// Those of which the sums over subtrees are in the file: what is not listed is known by them.
const summed = new Set(["memory_bytes", "msgq_len", "reductions"]);

const spelled = (module, name, arity) =>
  facts.elixir ? `${/^[A-Z]/.test(module) ? "" : ":"}${module}.${name}/${arity}` : `${module}:${name}/${arity}`;

/** What keeps the live words of each process: frames, its dictionary, its messages. */
const places = new Map();
if (tables.places)
  for (let row = 0; row < tables.places.size; ++row) {
    const cell = (name) => tables.places.get(row, name);
    const pid = bare(cell("pid"));
    if (!places.has(pid)) places.set(pid, []);
    const name = cell("function") === null ? cell("module") : spelled(cell("module"), cell("function"), cell("arity"));
    places.get(pid).push({ key: `${pid}|${name}`, name, value: cell("words"), children: [], row: processRow(pid) });
  }

/** A process itself: a leaf, but for live words, of which the file may say what keeps them. */
function itself(row, figure, key, name, value) {
  const held = figure === "live_words" ? places.get(bare(processes.get(row, "pid"))) : null;
  const children = held ? held.filter((each) => each.value > 0) : [];
  const left = value - children.reduce((all, child) => all + child.value, 0);
  if (children.length && left > 0) children.push({ key: key + "?", name: "elsewhere", value: left, children: [], row });
  return { key, name, row, value, children: left >= 0 ? children : [] };
}

const application = (row) => (row === undefined ? null : processes.get(row, "application"));

/** The supervision tree: a node of each process with its children and itself; `apart`: one of each application. */
function supervision(figure, apart) {
  const nodes = [];
  const byPid = new Map();
  const root = { key: "", name: "all processes", children: [], value: 0 };
  for (let row = 0; row < processes.size; ++row) {
    const node = { key: bare(processes.get(row, "pid")), name: title(row), row, children: [] };
    nodes.push(node);
    byPid.set(node.key, node);
  }
  const groups = new Map();
  const groupOf = (name) => {
    if (!groups.has(name)) {
      groups.set(name, { key: `app ${name || ""}`, name: name || "no application", children: [], group: true, value: 0, apart: 0 });
      root.children.push(groups.get(name));
    }
    return groups.get(name);
  };
  // What is below a process in the tree, and belongs to another application, is not in its rectangle.
  const sumOf = (row) => processes.get(row, "tree_" + figure) || 0;
  for (const node of nodes) {
    const parentOf = (each) => byPid.get(bare(processes.get(each.row, "tree_parent")));
    const parted = (each, parent) => apart && parent && application(parent.row) !== application(each.row);
    const above = parentOf(node);
    const cut = parted(node, above);
    for (let at = cut ? above : null; at; ) {
      at.apart = (at.apart || 0) + sumOf(node.row);
      at.apartProcesses = (at.apartProcesses || 0) + processes.get(node.row, "tree_processes");
      const next = parentOf(at);
      at = parted(at, next) ? null : next;
    }
    (above && !cut ? above : apart ? groupOf(application(node.row)) : root).children.push(node);
  }
  const order = [];
  for (const stack = [...root.children]; stack.length; ) {
    const node = stack.pop();
    order.push(node);
    stack.push(...node.children);
  }
  for (const node of order.reverse()) {
    let below = 0;
    for (const child of node.children) below += child.value;
    node.value = below;
    if (node.row === undefined) continue;
    const own = processes.get(node.row, figure) || 0;
    node.value += own;
    const all = summed.has(figure) ? sumOf(node.row) - (node.apart || 0) : null;
    if (all !== null && all > node.value) {
      const count = (each) => processes.get(each.row, "tree_processes") - (each.apartProcesses || 0);
      const left = count(node) - 1 - node.children.reduce((n, c) => n + count(c), 0);
      node.children.push({ key: node.key + "+", name: left > 0 ? `${grouped(left)} more` : "others below", value: all - node.value, children: [] });
      node.value = all;
    }
    if (node.children.length && own) node.children.push(itself(node.row, figure, node.key + "=", `${title(node.row)} itself`, own));
    else if (!node.children.length) node.children = itself(node.row, figure, node.key, node.name, own).children;
    node.children = folded(node.children, node);
  }
  root.value = root.children.reduce((all, child) => all + child.value, 0);
  return root;
}

/** Of many children that run the same and have none of their own: one node, which opens into them. */
function folded(children, parent) {
  const kinds = new Map();
  for (const child of children) {
    if (child.row === undefined || child.children.length || rest.test(child.key)) continue;
    const kind = called(child.row) || "?";
    kinds.has(kind) ? kinds.get(kind).push(child) : kinds.set(kind, [child]);
  }
  const many = [...kinds].filter(([, all]) => all.length >= alike);
  if (!many.length || children.length === many[0][1].length) return children;
  const inside = new Set(many.flatMap(([, all]) => all));
  return children.filter((child) => !inside.has(child)).concat(many.map(([kind, all]) => (
    { key: `${parent.key}~${kind}`, name: `${kind} \u00d7${grouped(all.length)}`, kind, children: all, group: true, value: all.reduce((sum, child) => sum + child.value, 0) })));
}

/** Groups of processes that have the same text in a column. */
function grouping(column, figure) {
  const root = { key: "", name: "all processes", children: [], value: 0 };
  const groups = new Map();
  for (let row = 0; row < processes.size; ++row) {
    const value = processes.get(row, figure) || 0;
    const name = processes.get(row, column) || "(unknown)";
    let group = groups.get(name);
    if (!group) {
      group = { key: name, name, children: [], value: 0, group: true };
      groups.set(name, group);
      root.children.push(group);
    }
    group.children.push(itself(row, figure, bare(processes.get(row, "pid")), title(row), value));
    group.value += value;
    root.value += value;
  }
  return root;
}

/** Live words of all heaps by the kind of term that they are. */
function termKinds() {
  const kinds = tables.profile;
  const children = kinds.rows.map((_, row) => ({ key: `kind ${kinds.get(row, "kind")}`, name: kinds.get(row, "kind"), value: kinds.get(row, "words"), children: [] }));
  return { key: "", name: "all heaps", children, value: kinds.sum("words") };
}

const Legend = () => <p class="legend"><span>since the other input:</span>{scale.map(([background, meaning]) => <span><i style={{ background }} />{meaning}</span>)}<span><i style={{ background: color(7) }} />not known</span></p>;

export function Treemap() {
  const there = figures.filter(([name]) => processes.has(name) && processes.sum(name) > 0);
  const [figure, setFigure] = useSetting("tm.of", there.length ? there[0][0] : "memory_bytes");
  const [chosen, setMode] = useSetting("tm.by", "tree");
  const modes = [["tree", "supervision"], ["app", "application"], ["group", "named ancestor"], ["kind", "kind of process"], ["in", "function"], ["term", "kind of term"]]
    .filter(([name]) => (name !== "app" || processes.rows.some((_, row) => application(row))) && (name !== "term" || (tables.profile && figure === "live_words")));
  const mode = modes.some(([name]) => name === chosen) ? chosen : "tree";
  const [tint, setTint] = useSetting("tm.color", "growth");
  const byGrowth = isCompared(figure) && tint === "growth" && mode !== "term";
  const [at, setAt] = useSetting("tm.at", "");
  const root = useMemo(
    () => (mode === "tree" || mode === "app" ? supervision(figure, mode === "app") : mode === "term" ? termKinds() : grouping(mode === "kind" ? "real_initial_call" : mode === "in" ? "current_function" : "group_key", figure)),
    [mode, figure],
  );
  const leaf = (node) => node.row !== undefined && !rest.test(node.key);
  const growth = (node) => (byGrowth && leaf(node) ? processGrowth(node.row, figure) : null);
  // Those that are called alike have one color: many workers of a kind are seen as such.
  const tintOf = (node) => (rest.test(node.key) ? color(7) : byGrowth ? growthColor(growth(node)) : colorOf(leaf(node) && !node.key.includes("|") ? called(node.row) || "?" : node.kind || node.name));
  return (
    <Rectangles title="Where it is, by process" root={root} unit={processes.column(figure)?.unit} at={at} setAt={setAt} tintOf={tintOf}
      said={(node) => (leaf(node) && !node.children.length ? growthText(growth(node)) : "")}
      open={(node) => node.row !== undefined && openProcess(processes.get(node.row, "pid"))}
      controls={[
        <Choice label="of" options={there} value={figure} set={setFigure} />,
        <Choice label="by" options={modes} value={mode}
          set={(next) => { setAt(""); setMode(next); }} />,
        isCompared(figure) && <Choice label="color" options={[["growth", "growth"], ["kind", "kind"]]} value={tint} set={setTint} />,
      ]}
      command={(top) => (top.row !== undefined ? processes.command.replace(/^top/, "tree") + " " + bare(processes.get(top.row, "pid")) : null)}
      note={processes.size < processes.total ? `${grouped(processes.size)} of ${grouped(processes.total)} processes are listed in this file.` : ""}
      legend={byGrowth && <Legend />} />
  );
}
