// What processes hold: their terms as a tree that opens element by element, and the shapes of their messages.
import { useMemo, useState } from "preact/hooks";
import { called, facts, processRow, processes, tables } from "./data.js";
import { grouped, inUnit, percent } from "./format.js";
import { Choice, Command, Copy, Figure, Pid, color } from "./parts.jsx";
import { useSetting } from "./state.js";

const kinds = /^(terms|mailbox) /;

/** "sessions 0.89.0", cut to what a button may take. */
function short(pid) {
  const row = processRow(pid);
  const name = row === undefined ? "" : called(row);
  const as = facts.members?.[pid]; // "typical" of a kind
  return `${as ? `${as}: ` : ""}${name.length > 28 ? name.slice(0, 27) + "\u2026" : name} ${pid}`.trim();
}

/** Rows with their depth, in order, as a tree. */
function nested(table) {
  const top = { depth: -1, below: [] };
  const way = [top];
  for (let row = 0; row < table.size; ++row) {
    const node = { row, depth: table.get(row, "depth"), below: [] };
    while (way[way.length - 1].depth >= node.depth) way.pop();
    way[way.length - 1].below.push(node);
    way.push(node);
  }
  return top.below;
}

function Term({ table, node, most, path, open, toggle, input }) {
  const cell = (name) => table.get(node.row, name);
  const isOpen = open.has(path);
  const words = cell("retained_words");
  const address = cell("address");
  const key = (event) => {
    if ((event.key === "ArrowRight" && !isOpen) || (event.key === "ArrowLeft" && isOpen)) {
      event.preventDefault();
      toggle(path);
    }
  };
  return (
    <>
      <tr aria-level={node.depth + 1} aria-expanded={node.below.length ? isOpen : undefined}>
        <td style={{ paddingLeft: `${node.depth * 18}px` }} onKeyDown={key}>
          <button type="button" class="twig" disabled={!node.below.length} aria-label={isOpen ? "close" : "open"} onClick={() => toggle(path)}>{node.below.length ? (isOpen ? "\u25be" : "\u25b8") : "\u00b7"}</button>
          <span class={cell("more") ? "soft" : "mono"}>{cell("place")}</span>
        </td>
        <td class="n" data-v={words}>{grouped(words)}</td>
        <td class="share" title={`${percent(cell("percent") || 0)} of the live words`}><span class="fill" style={{ width: `${(words / (most || 1)) * 100}%` }} /></td>
        <td class="shape" title={cell("term") || ""}>{cell("shape")}{address && input && <span class="into"><Copy text={`beamheap heap ${input} --into ${address}`} /></span>}</td>
      </tr>
      {isOpen && node.below.map((child, i) => <Term table={table} node={child} most={most} path={`${path}.${i}`} open={open} toggle={toggle} input={input} />)}
    </>
  );
}

/** The way to where most is, opened at first. */
function firstWay(tops) {
  const way = [];
  for (let at = tops[0], path = "0"; at && at.below.length; path += ".0", at = at.below[0]) way.push(path);
  return way.join(" ");
}

function Terms({ pid }) {
  const table = tables[`terms ${pid}`];
  const tops = useMemo(() => nested(table), [table]);
  const preset = useMemo(() => firstWay(tops), [tops]);
  const [text, setText] = useSetting(`te.${pid}`, preset);
  const open = new Set(text.split(" "));
  const toggle = (path) => {
    if (!open.delete(path)) open.add(path);
    setText([...open].filter(Boolean).join(" "));
  };
  const most = Math.max(...tops.map((node) => table.get(node.row, "retained_words")));
  const input = table.command.replace(/^heap /, "").replace(/ --depth \d+$/, "");
  return (
    <>
      <div class="scroll"><table class="tree terms" role="treegrid">
        <thead><tr><th>WHERE</th><th class="n">RETAINED words</th><th>OF THE LARGEST</th><th>SHAPE</th></tr></thead>
        <tbody>{tops.map((node, i) => <Term table={table} node={node} most={most} path={String(i)} open={open} toggle={toggle} input={input} />)}</tbody>
      </table></div>
      <p class="note"><Command text={table.command} /></p>
    </>
  );
}

/** The messages of a queue by their shape, as one bar. */
function Mailbox({ pid }) {
  const table = tables[`mailbox ${pid}`];
  const [all, showAll] = useState(false);
  if (!table) return null;
  const total = table.sum("count");
  const rows = table.rows.map((_, row) => row).slice(0, all ? 200 : 7);
  const rest = total - rows.reduce((sum, row) => sum + table.get(row, "count"), 0);
  const tint = (i) => color(i < 7 ? i : 7);
  return (
    <>
      <h4>{grouped(total)} messages by shape</h4>
      <div class="bar mailbox" role="img" aria-label="messages by shape">
        {rows.map((row, i) => {
          const count = table.get(row, "count");
          return <span class="part" data-value={count} title={`${table.get(row, "shape")}: ${grouped(count)}`} style={{ width: `${(count / total) * 100}%`, background: tint(i) }}>{count / total > 0.08 && grouped(count)}</span>;
        })}
        {rest > 0 && <span class="part" data-value={rest} title={`${grouped(rest)} of other shapes`} style={{ width: `${(rest / total) * 100}%`, background: color(7) }} />}
      </div>
      <ul class="shapes">
        {rows.map((row, i) => (
          <li><i style={{ background: tint(i) }} /><b>{grouped(table.get(row, "count"))}</b> <code>{table.get(row, "shape")}</code> <span class="soft">{inUnit(table.get(row, "flat_words"), "words")}, the first: {table.get(row, "example")}</span></li>
        ))}
      </ul>
      {table.size > 7 && !all && <button type="button" onClick={() => showAll(true)}>{grouped(table.size - 7)} more shapes</button>}
      <p class="note"><Command text={table.command} /></p>
    </>
  );
}

export function Contents() {
  const pids = [...new Set(Object.keys(tables).filter((key) => kinds.test(key)).map((key) => key.replace(kinds, "")))];
  const [chosen, choose] = useSetting("te.of", pids[0]);
  const pid = pids.includes(chosen) ? chosen : pids[0];
  const row = processRow(pid);
  return (
    <Figure title="Terms" controls={[<Choice label="of" options={pids.map((each) => [each, short(each)])} value={pid} set={(next) => choose(next)} />]}>
      <p class="crumbs"><b>{row === undefined ? pid : <Pid pid={pid}>{called(row)} {processes.get(row, "pid")}</Pid>}</b> <span class="soft">{row !== undefined && inUnit(processes.get(row, "memory_bytes"), "bytes")}</span></p>
      {tables[`terms ${pid}`] ? <Terms pid={pid} key={pid} /> : <p class="none">its terms keep nothing alive, or are not in the input</p>}
      <Mailbox pid={pid} key={`m${pid}`} />
    </Figure>
  );
}
