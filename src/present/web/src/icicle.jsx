// The stacks of all processes, one on the other: wide is what many of them (or much memory) is in.
import { useMemo } from "preact/hooks";
import { facts, processes, tables } from "./data.js";
import { grouped, inUnit, percent } from "./format.js";
import { compared, growthColor, growthText, stackBefore } from "./growth.js";
import { Choice, Figure, Pid, colorOf, useHover } from "./parts.jsx";
import { useSetting } from "./state.js";

const no_stack = "(no stack in this input)";
const depth_at_most = 24;
const narrowest = 0.0015; // of the width; what is narrower is not drawn

const moduleOf = (name) => name.replace(/[:.][^:.]*\/\d+$/, "");

/** Live words by stack, where all heaps were decoded and all processes are listed. */
const live = (() => {
  if (processes.size < processes.total || !processes.rows.some((_, row) => processes.get(row, "live_words") !== null)) return null;
  const words = new Array(tables.stacks.size).fill(0);
  for (let row = 0; row < processes.size; ++row) {
    const stack = processes.get(row, "stack");
    if (stack !== null && stack < words.length) words[stack] += processes.get(row, "live_words") || 0;
  }
  return words;
})();
const weight = (stacks, row, figure) => (figure === "live_words" ? live[row] : stacks.get(row, figure) || 0);

/** A function that calls itself over and over is one frame. */
function folded(frames) {
  const out = [];
  for (let i = 0; i < frames.length; ) {
    let n = i + 1;
    while (frames[n] === frames[i]) ++n;
    out.push(n - i > 2 ? `${frames[i]} again and again` : frames[i]);
    if (n - i === 2) out.push(frames[i]);
    i = n;
  }
  return out;
}
const plain = (frame) => frame.replace(/ again and again$/, "");

/** Frames that stacks have in common, as a tree; each with the sum of `figure`. */
function joined(stacks, figure, oldestFirst) {
  const root = { name: "all", value: 0, count: 0, before: 0, children: new Map(), path: "" };
  for (let row = 0; row < stacks.size; ++row) {
    const value = weight(stacks, row, figure);
    const count = stacks.get(row, "count") || 0;
    let frames = stacks.get(row, "functions") || [];
    const before = stackBefore(frames, count);
    frames = folded(frames);
    if (oldestFirst) frames.reverse();
    if (!frames.length) frames = [no_stack];
    let at = root;
    at.value += value;
    at.count += count;
    at.before += before;
    for (const frame of frames) {
      let next = at.children.get(frame);
      if (!next) {
        next = { name: frame, value: 0, count: 0, before: 0, children: new Map(), path: at.path ? `${at.path}>${frame}` : frame, example: stacks.get(row, "example_pid") };
        at.children.set(frame, next);
      }
      next.value += value;
      next.count += count;
      next.before += before;
      at = next;
    }
  }
  return root;
}

/** Who calls a function, and what it calls, over all stacks. */
function sandwich(stacks, figure, name) {
  const callers = new Map();
  const callees = new Map();
  let own = 0;
  let all = 0;
  const add = (map, key, value) => map.set(key, (map.get(key) || 0) + value);
  for (let row = 0; row < stacks.size; ++row) {
    const frames = stacks.get(row, "functions") || [];
    const i = frames.indexOf(name);
    if (i < 0) continue;
    const value = weight(stacks, row, figure);
    all += value;
    if (i === 0) own += value;
    else add(callees, frames[i - 1], value);
    add(callers, frames[i + 1] || "(its process began here)", value);
  }
  const sorted = (map) => [...map].sort((a, b) => b[1] - a[1]).slice(0, 12);
  return { callers: sorted(callers), callees: sorted(callees), own, all };
}

function List({ title, rows, unit, all, pick }) {
  return (
    <div>
      <h4>{title}</h4>
      <table><tbody>
        {rows.map(([name, value]) => (
          <tr><td class="n">{inUnit(value, unit)}</td><td class="n">{percent((value / (all || 1)) * 100)}</td>
            <td><button type="button" class="bare" onClick={() => pick(name)}>{name}</button></td></tr>
        ))}
        {!rows.length && <tr><td>nobody</td></tr>}
      </tbody></table>
    </div>
  );
}

export function Icicle() {
  const stacks = tables.stacks;
  const [figure, setFigure] = useSetting("ic.of", "count");
  const [order, setOrder] = useSetting("ic.from", "oldest");
  const [at, setAt] = useSetting("ic.at", "");
  const [looked, look] = useSetting("ic.fn", "");
  const [tint, setTint] = useSetting("ic.color", "growth");
  const byGrowth = compared && !facts.elixir && tint === "growth" && figure === "count";
  const growth = (node) => (!byGrowth ? null : node.before === 0 ? Infinity : node.count / node.before);
  const [said, hover] = useHover();
  const figures = [["count", "processes"], ["memory_bytes", "memory"], ["msgq_len", "messages"]].filter(([name]) => stacks.sum(name) > 0);
  if (facts.full && live) figures.push(["live_words", "live words"]);
  const unit = (figure === "live_words" ? processes : stacks).column(figure)?.unit;
  const root = useMemo(() => joined(stacks, figure, order === "oldest"), [figure, order]);
  let top = root;
  for (const frame of at ? at.split(">") : []) top = top.children.get(frame) || top;
  const cells = useMemo(() => {
    const out = [];
    const walk = [[top, 0, 1, 0]];
    while (walk.length) {
      const [node, left, width, depth] = walk.pop();
      out.push({ node, left, width, depth });
      if (depth === depth_at_most || !node.value) continue;
      let x = left;
      for (const child of [...node.children.values()].sort((a, b) => b.value - a.value)) {
        const w = (width * child.value) / node.value;
        if (w >= narrowest) walk.push([child, x, w, depth + 1]);
        x += w;
      }
    }
    return out;
  }, [top]);
  const rows = Math.max(...cells.map((cell) => cell.depth)) + 1;
  const text = (node) => `${node.name}: ${inUnit(node.value, unit)}, ${percent((node.value / (root.value || 1)) * 100)}, ${grouped(node.count)} processes${growth(node) === 1 ? "" : growthText(growth(node))}`;
  const both = looked && sandwich(stacks, figure, looked);
  return (
    <Figure
      title="All stacks"
      controls={[
        <Choice label="wide by" options={figures} value={figure} set={setFigure} />,
        <Choice label="from the" options={[["oldest", "oldest frame"], ["youngest", "youngest frame"]]} value={order} set={(next) => { setAt(""); setOrder(next); }} />,
        compared && !facts.elixir && figure === "count" && <Choice label="color" options={[["growth", "growth"], ["kind", "module"]]} value={tint} set={setTint} />,
        at && <button type="button" onClick={() => setAt("")}>all stacks</button>,
      ]}
      command={at || looked ? `${stacks.command} --procs 'stack(${(looked || plain(top.name)).replace(/'/g, "'\\''")})'` : null}
      note={(byGrowth ? "Red: more processes than in the other input; green: fewer; differences of one are not counted. " : "") + (stacks.size < stacks.total ? `${grouped(stacks.size)} of ${grouped(stacks.total)} different stacks are in this file.` : "")}
    >
      <p class="crumbs"><span class="said">{said || "A click goes into a frame; a second one on it shows who calls it and what it calls."}</span></p>
      <div class="icicle" style={{ height: `${rows * 19}px` }}>
        {cells.map(({ node, left, width, depth }) => (
          <button type="button" class="cell" title={text(node)} {...hover(text(node))} data-value={node.value} data-frame={node.name}
            tabIndex={width > 0.03 ? 0 : -1}
            onClick={() => (node === top ? node !== root && node.name !== no_stack && look(plain(node.name)) : setAt(node.path))}
            style={{ left: `${left * 100}%`, width: `${width * 100}%`, top: `${depth * 19}px`, background: node === root ? "var(--c7)" : byGrowth ? growthColor(growth(node)) : colorOf(moduleOf(plain(node.name))) }}>
            {width > 0.02 && <span>{node === root ? `all: ${inUnit(node.value, unit)}` : node.name}</span>}
          </button>
        ))}
      </div>
      {top.example && top !== root && <p class="note">For example <Pid pid={top.example} />.</p>}
      {both && (
        <div class="sandwich">
          <p><code>{looked}</code>: in the stacks of {inUnit(both.all, unit)}, itself the youngest frame of {inUnit(both.own, unit)}. <button type="button" onClick={() => look("")}>close</button></p>
          <div class="columns">
            <List title="called by" rows={both.callers} unit={unit} all={both.all} pick={look} />
            <List title="calls" rows={both.callees} unit={unit} all={both.all} pick={look} />
          </div>
        </div>
      )}
    </Figure>
  );
}
