// One process, beside the page: what the file holds of it, and the commands that show more.
import { useEffect, useRef } from "preact/hooks";
import { bare, called, processRow, processes, tables } from "./data.js";
import { grouped, inUnit } from "./format.js";
import { Command, Pid, useKey } from "./parts.jsx";
import { change, reveal, useAddress } from "./state.js";

const listed_at_most = 12;

function edgesOf(pid) {
  const edges = tables.waits;
  const out = { target: null, waiters: [] };
  for (let row = 0; row < edges.size; ++row) {
    if (bare(edges.get(row, "waiter")) === pid) out.target = { pid: edges.get(row, "target"), name: edges.get(row, "target_name"), in: edges.get(row, "function") };
    if (bare(edges.get(row, "target")) === pid) out.waiters.push({ pid: edges.get(row, "waiter"), name: edges.get(row, "waiter_name") });
  }
  return out;
}

function Some({ rows }) {
  return (
    <>
      {rows.slice(0, listed_at_most).map((row, i) => <>{i ? ", " : ""}<Pid pid={row.pid}>{row.name ? `${row.name} ` : ""}{row.pid}</Pid></>)}
      {rows.length > listed_at_most ? ` and ${grouped(rows.length - listed_at_most)} more` : ""}
    </>
  );
}

export function Panel() {
  const { place } = useAddress();
  const row = place.startsWith("p") ? processRow(place.slice(1)) : undefined;
  const box = useRef(null);
  useKey((event) => event.key === "Escape" && row !== undefined && !event.defaultPrevented && change({}, "processes"));
  useEffect(() => box.current && (box.current.scrollTop = 0), [row]);
  if (row === undefined) return null;
  const pid = place.slice(1);
  const input = processes.command.replace(/^top /, "");
  const group = processes.get(row, "stack");
  const stack = group !== null && group < tables.stacks.size ? tables.stacks.get(group, "functions") : null;
  const { target, waiters } = edgesOf(pid);
  const children = [];
  for (let i = 0; i < processes.size; ++i) if (bare(processes.get(i, "tree_parent")) === pid) children.push({ pid: processes.get(i, "pid"), name: called(i) });
  const ancestors = [];
  for (let at = processRow(processes.get(row, "tree_parent")); at !== undefined && ancestors.length < 12; at = processRow(processes.get(at, "tree_parent"))) ancestors.push({ pid: processes.get(at, "pid"), name: called(at) });
  const hidden = new Set(["pid", "name", "stack", "tree_process", "tree_parent", "tree_supervisor", "tree_processes", "tree_memory_bytes", "tree_msgq_len", "tree_reductions"]);
  const inPage = document.getElementById(place);
  return (
    <aside class="panel" ref={box} aria-label="process">
      <p class="close"><button type="button" onClick={() => change({}, "processes")}>close (Esc)</button> {inPage && <button type="button" onClick={reveal}>in the page</button>}</p>
      <h3>{called(row)} <span class="soft">{processes.get(row, "pid")}</span></h3>
      <dl>
        {processes.columns.filter(({ name }) => !hidden.has(name) && processes.get(row, name) !== null).map((column) => (
          <>
            <dt title={column.doc}>{column.name.replace(/_(bytes|words)$/, "").replace(/_/g, " ")}</dt>
            <dd data-column={column.name}>{typeof processes.get(row, column.name) === "number" ? inUnit(processes.get(row, column.name), column.unit) : String(processes.get(row, column.name))}</dd>
          </>
        ))}
        {target && <><dt>waits for</dt><dd><Some rows={[target]} /> in <code>{target.in}</code></dd></>}
        {waiters.length > 0 && <><dt>waited for by</dt><dd>{grouped(waiters.length)}: <Some rows={waiters} /></dd></>}
        {ancestors.length > 0 && <><dt>started by</dt><dd><Some rows={ancestors} /></dd></>}
        {children.length > 0 && <><dt>children</dt><dd>{grouped(children.length)}: <Some rows={children} /></dd></>}
        {children.length > 0 && <><dt>with all below</dt><dd>{grouped(processes.get(row, "tree_processes"))} processes, {inUnit(processes.get(row, "tree_memory_bytes"), "bytes")}</dd></>}
      </dl>
      <h4>Stack, youngest frame first</h4>
      {stack && stack.length ? <ol class="frames">{stack.slice(0, 60).map((frame) => <li>{frame}</li>)}</ol> : <p class="none">no stack in this file</p>}
      <h4>More</h4>
      <p><Command text={`proc ${input} ${pid}`} /></p>
      <p><Command text={`heap ${input} ${pid}`} /></p>
      {processes.get(row, "msgq_len") > 0 && <p><Command text={`msgs ${input} ${pid} --by shape`} /></p>}
    </aside>
  );
}
