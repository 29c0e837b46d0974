// The supervision tree with the sums of each subtree; branches open at a click.
import { useMemo, useState } from "preact/hooks";
import { bare, called, processes } from "./data.js";
import { bytes, grouped, percent } from "./format.js";
import { Figure, Pid } from "./parts.jsx";
import { useSetting } from "./state.js";

const children_at_once = 25;

function Branch({ row, byParent, open, toggle, depth, most }) {
  const [shown, show] = useState(children_at_once);
  const pid = bare(processes.get(row, "pid"));
  const children = byParent.get(pid) || [];
  const isOpen = open.has(pid);
  const memory = processes.get(row, "tree_memory_bytes") || 0;
  const below = processes.get(row, "tree_processes");
  const key = (event) => {
    if ((event.key === "ArrowRight" && !isOpen) || (event.key === "ArrowLeft" && isOpen)) {
      event.preventDefault();
      toggle(pid);
    }
  };
  const listed = children.reduce((all, child) => all + processes.get(child, "tree_processes"), 1);
  return (
    <>
      <tr role="row" aria-level={depth + 1} aria-expanded={children.length ? isOpen : undefined}>
        <td style={{ paddingLeft: `${depth * 18}px` }} onKeyDown={key}>
          <button type="button" class="twig" disabled={!children.length} aria-label={isOpen ? "close" : "open"} onClick={() => toggle(pid)}>{children.length ? (isOpen ? "\u25be" : "\u25b8") : "\u00b7"}</button>
          <Pid pid={processes.get(row, "pid")}>{called(row) || processes.get(row, "pid")}</Pid> <span class="soft">{called(row) && processes.get(row, "pid")}{processes.get(row, "tree_supervisor") ? " supervisor" : ""}</span>
        </td>
        <td class="n">{grouped(below)}</td>
        <td class="n" data-v={memory}>{bytes(memory)}</td>
        <td class="share"><span class="fill" style={{ width: `${(memory / (most || 1)) * 100}%` }} /></td>
        <td class="n">{grouped(processes.get(row, "tree_msgq_len") || 0)}</td>
        <td class="n">{grouped(processes.get(row, "tree_reductions") || 0)}</td>
      </tr>
      {isOpen && children.slice(0, shown).map((child) => <Branch row={child} byParent={byParent} open={open} toggle={toggle} depth={depth + 1} most={most} />)}
      {isOpen && children.length > shown && (
        <tr><td colSpan={6} style={{ paddingLeft: `${(depth + 1) * 18}px` }}><button type="button" onClick={() => show(shown * 4)}>{grouped(children.length - shown)} more</button></td></tr>
      )}
      {isOpen && listed < below && <tr><td colSpan={6} class="soft" style={{ paddingLeft: `${(depth + 1) * 18 + 20}px` }}>{grouped(below - listed)} processes that are not listed in this file</td></tr>}
    </>
  );
}

export function Tree() {
  const { byParent, roots, total } = useMemo(() => {
    const byParent = new Map();
    const known = new Set(processes.rows.map((_, row) => bare(processes.get(row, "pid"))));
    const roots = [];
    for (let row = 0; row < processes.size; ++row) {
      const parent = bare(processes.get(row, "tree_parent"));
      if (!parent || !known.has(parent)) roots.push(row);
      else if (byParent.has(parent)) byParent.get(parent).push(row);
      else byParent.set(parent, [row]);
    }
    const larger = (a, b) => (processes.get(b, "tree_memory_bytes") || 0) - (processes.get(a, "tree_memory_bytes") || 0) || a - b;
    for (const rows of byParent.values()) rows.sort(larger);
    roots.sort(larger);
    return { byParent, roots, total: roots.reduce((all, row) => all + (processes.get(row, "tree_memory_bytes") || 0), 0) };
  }, []);
  // At first the way to where most of the memory is.
  const preset = useMemo(() => {
    const way = [];
    let at = roots[0];
    for (let i = 0; at !== undefined && i < 6; ++i) {
      const pid = bare(processes.get(at, "pid"));
      way.push(pid);
      const children = byParent.get(pid) || [];
      if (!children.length || (processes.get(children[0], "tree_memory_bytes") || 0) < (processes.get(at, "tree_memory_bytes") || 0) / 3) break;
      at = children[0];
    }
    return way.join(" ");
  }, []);
  const [text, setText] = useSetting("st.open", preset);
  const [shown, show] = useState(children_at_once);
  const open = new Set(text.split(" "));
  const toggle = (pid) => {
    if (!open.delete(pid)) open.add(pid);
    setText([...open].filter(Boolean).join(" "));
  };
  return (
    <Figure title="Sums of subtrees">
      <div class="scroll"><table class="tree" role="treegrid">
        <thead><tr><th>PROCESS</th><th class="n">PROCESSES</th><th class="n">MEMORY</th><th>OF ALL</th><th class="n">MSGQ</th><th class="n">REDUCTIONS</th></tr></thead>
        <tbody>{roots.slice(0, shown).map((row) => <Branch row={row} byParent={byParent} open={open} toggle={toggle} depth={0} most={total} />)}</tbody>
      </table></div>
      {roots.length > shown && <button type="button" onClick={() => show(shown * 4)}>{grouped(roots.length - shown)} more roots</button>}
    </Figure>
  );
}
