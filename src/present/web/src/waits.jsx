// Who waits for whom: those who are waited for on the left, their waiters to the right, many of a kind as one.
import { hierarchy, tree } from "d3-hierarchy";
import { useMemo } from "preact/hooks";
import { bare, processRow, processes, tables } from "./data.js";
import { grouped } from "./format.js";
import { Figure, Pid, openProcess } from "./parts.jsx";
import { useSetting } from "./state.js";

const nodes_at_most = 80;
const kinds_at_most = 12;
const deepest = 12;

/** What a process is: those of a kind that wait in one call are one in the picture. */
function kindOf(pid, name) {
  const row = processRow(pid);
  return name || (row !== undefined && (processes.get(row, "real_initial_call") || processes.get(row, "initial_call"))) || "";
}

function graph() {
  const edges = tables.waits;
  const waiters = new Map(); // target -> edges
  const waits = new Map(); // waiter -> target
  for (let row = 0; row < edges.size; ++row) {
    const pid = edges.get(row, "waiter");
    const edge = { waiter: bare(pid), pid, kind: kindOf(pid, edges.get(row, "waiter_name")), target: edges.get(row, "target"), targetName: edges.get(row, "target_name"), in: edges.get(row, "function") };
    const key = bare(edge.target);
    if (!waiters.has(key)) waiters.set(key, { pid: edge.target, name: edge.targetName, edges: [] });
    waiters.get(key).edges.push(edge);
    waits.set(edge.waiter, key);
  }
  return { waiters, waits };
}

/** How many wait for it themselves or through others; on a cycle each is counted once. */
function reaching(waiters, key) {
  const seen = new Set([key]);
  for (const stack = [key]; stack.length; ) {
    for (const edge of waiters.get(stack.pop())?.edges || [])
      if (!seen.has(edge.waiter)) {
        seen.add(edge.waiter);
        stack.push(edge.waiter);
      }
  }
  return seen.size - 1;
}

function cycles(waits) {
  const found = [];
  const state = new Map();
  for (const first of waits.keys()) {
    const path = [];
    let at = first;
    while (at !== undefined && !state.has(at)) {
      state.set(at, first);
      path.push(at);
      at = waits.get(at);
    }
    if (at !== undefined && state.get(at) === first) found.push(path.slice(path.indexOf(at)));
  }
  return found;
}

/** Who waits for one of `keys`, those of a kind that wait in the same call as one node, and who waits for them. */
function forest(waiters, keys, budget, seen, depth = 0) {
  const kinds = new Map();
  for (const key of keys)
    for (const edge of waiters.get(key)?.edges || []) {
      const again = seen.has(edge.waiter);
      seen.add(edge.waiter);
      const kind = again ? "again" : `${edge.kind}\n${edge.in}`;
      if (!kinds.has(kind)) kinds.set(kind, []);
      kinds.get(kind).push(edge);
    }
  const children = [];
  const sorted = [...kinds].sort((x, y) => y[1].length - x[1].length);
  for (const [kind, edges] of sorted.slice(0, kinds_at_most)) {
    const first = edges[0];
    const closed = kind === "again" || depth >= deepest || --budget.left < 0;
    children.push({
      pid: first.pid, n: edges.length, in: first.in,
      name: kind === "again" ? "the circle closes" : edges.length > 1 ? `${grouped(edges.length)} \u00d7 ${first.kind || "processes"}` : `${first.kind ? first.kind + " " : ""}${first.pid}`,
      children: closed ? [] : forest(waiters, edges.map((edge) => edge.waiter), budget, seen, depth + 1),
    });
  }
  const left = sorted.slice(kinds_at_most).flatMap(([, edges]) => edges);
  if (left.length) children.push({ pid: left[0].pid, n: left.length, in: left[0].in, name: `${grouped(left.length)} of other kinds`, children: [] });
  return children;
}

export function Waits() {
  const { waiters, roots } = useMemo(() => {
    const all = graph();
    const rings = cycles(all.waits);
    const roots = [...all.waiters.keys()].filter((key) => !all.waits.has(key)).map((key) => ({ key, n: reaching(all.waiters, key) }));
    for (const ring of rings) roots.push({ key: ring[0], n: reaching(all.waiters, ring[0]), ring });
    roots.sort((a, b) => Boolean(b.ring) - Boolean(a.ring) || b.n - a.n);
    return { ...all, roots };
  }, []);
  const [at, setAt] = useSetting("wt.at", roots[0]?.key);
  if (!roots.length) return null;
  const top = roots.find((root) => root.key === at) || roots[0];
  const entry = waiters.get(top.key);
  const data = {
    pid: entry.pid, n: top.n, name: `${entry.name ? entry.name + " " : ""}${entry.pid}`,
    children: forest(waiters, [top.key], { left: nodes_at_most }, new Set([top.key])),
  };
  const layout = tree().nodeSize([30, 250])(hierarchy(data));
  let low = 0;
  let high = 0;
  let right = 0;
  layout.each((d) => { low = Math.min(low, d.x); high = Math.max(high, d.x); right = Math.max(right, d.y); });
  return (
    <Figure title="Waits"
      note={tables.waits.size < tables.waits.total ? `${grouped(tables.waits.size)} of ${grouped(tables.waits.total)} blocked calls are in this file.` : ""}
      controls={
        <span class="choice">
          {roots.slice(0, 12).map((root) => (
            <button type="button" aria-pressed={root === top} onClick={() => setAt(root.key)}>
              {root.ring ? `deadlock of ${root.ring.length}: ` : ""}{waiters.get(root.key).name || waiters.get(root.key).pid} <span class="soft">{grouped(root.n)}</span>
            </button>
          ))}
          {roots.length > 12 && <span>{grouped(roots.length - 12)} more in the table below</span>}
        </span>
      }>
      {top.ring && <p class="bad">A circle: each of these waits for the next, and the last for the first: {top.ring.map((key, i) => <>{i ? " -> " : ""}<Pid pid={`<${key}>`} /></>)}</p>}
      <div class="scroll">
        <svg class="waits" width={right + 260} height={high - low + 44} role="img" aria-label="who waits for whom">
          <g transform={`translate(8,${22 - low})`}>
            {layout.links().map(({ source, target }) => (
              <path d={`M${source.y + 190},${source.x} C${source.y + 222},${source.x} ${target.y - 32},${target.x} ${target.y},${target.x}`}
                stroke-width={Math.min(9, 1 + Math.log2(target.data.n))} />
            ))}
            {layout.descendants().map((d) => (
              <g transform={`translate(${d.y},${d.x})`} class={d.data.n > 1 && d.depth ? "node many" : "node"} tabIndex={0} role="link" data-waiters={d.data.n}
                onClick={() => openProcess(d.data.pid)} onKeyDown={(e) => e.key === "Enter" && openProcess(d.data.pid)}>
                <title>{`${d.data.name}${d.data.in ? ", in " + d.data.in : ""}`}</title>
                <rect x={0} y={-13} width={190} height={26} rx={3} />
                <text x={6} y={-1}>{clipped(d.data.name, 30)}</text>
                <text x={6} y={10} class="small">{clipped(d.depth ? `in ${d.data.in || ""}` : `${grouped(d.data.n)} wait for it`, 36)}</text>
              </g>
            ))}
          </g>
        </svg>
      </div>
    </Figure>
  );
}

const clipped = (text, most) => (text.length > most ? text.slice(0, most - 1) + "\u2026" : text);
