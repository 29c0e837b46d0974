// A map of what is how large: a branch is a rectangle with what is in it, and a click goes into it.
import { hierarchy, treemap, treemapSquarify } from "d3-hierarchy";
import { useMemo } from "preact/hooks";
import { grouped, inUnit, percent } from "./format.js";
import { Figure, useHover, useWidth } from "./parts.jsx";

const deepest = 7;
export const rest = /\+$/; // the key of what stands for many
const most = 120; // rectangles of one level; the smallest of more are one

/** The largest children, the others as one. */
function bounded(children) {
  const sorted = children.filter((child) => child.value > 0).sort((a, b) => b.value - a.value);
  if (sorted.length <= most) return sorted;
  const rest = sorted.slice(most - 1);
  return [...sorted.slice(0, most - 1), { key: "+", name: `${grouped(rest.length)} smaller`, value: rest.reduce((n, c) => n + c.value, 0), children: [] }];
}

function ancestors(root, key) {
  const path = [];
  const walk = [[root, null]];
  for (; walk.length; ) {
    const [node, above] = walk.pop();
    const link = { node, above };
    if (node.key === key) {
      for (let at = link; at; at = at.above) path.unshift(at.node);
      return path;
    }
    for (const child of node.children) walk.push([child, link]);
  }
  return [root];
}

/** Rectangles within rectangles. `root`: {key, name, value, children, group}; what is a group opens into its children. */
export function Rectangles({ title, root, unit, at, setAt, tintOf, said: more, open: leafOpen, controls, command, note, legend, of }) {
  const [ref, width] = useWidth();
  const [said, hover] = useHover();
  const path = useMemo(() => ancestors(root, at), [root, at]);
  const top = path[path.length - 1];
  const height = Math.max(280, Math.min(520, width * 0.5));
  const rectangles = useMemo(() => {
    if (!width) return [];
    // A branch is drawn with what is in it as long as that is large enough to be seen.
    const enough = top.value * 0.012;
    const inside = (node, depth) => {
      while (node.children.length === 1 && node.children[0].children.length) node = node.children[0];
      return depth < deepest && node.value >= enough && node.children.length > 1 && !node.kind ? bounded(node.children) : [];
    };
    const shown = hierarchy({ node: top, list: bounded(top.children), depth: 0 },
      (d) => d.list.map((node) => ({ node, list: inside(node, d.depth + 1), depth: d.depth + 1 })))
      .sum((d) => (d.list.length ? 0 : d.node.value))
      .sort((a, b) => b.value - a.value);
    treemap().tile(treemapSquarify).size([width, height]).paddingInner(1).paddingOuter((d) => (d.depth && d.children ? 1 : 0)).paddingTop((d) => (d.depth && d.children ? 15 : 0))(shown);
    return shown.descendants().filter((d) => d.depth > 0 && d.x1 - d.x0 > 1.5 && d.y1 - d.y0 > 1.5);
  }, [top, width, height]);
  const open = (node) => {
    if (node.children.length > 1 || (node.group && node.children.length)) setAt(node.key);
    else leafOpen(node);
  };
  const text = (node) => `${node.name}: ${inUnit(node.value, unit)}, ${percent((node.value / (root.value || 1)) * 100)}${more ? more(node) : ""}`;
  return (
    <Figure title={title} controls={controls} command={command ? command(top) : null} note={note}>
      <p class="crumbs">
        {path.map((node, i) => (i + 1 < path.length
          ? <><button type="button" onClick={() => setAt(node.key)}>{node.name}</button> / </>
          : <b>{node.name} <span class="soft">{inUnit(node.value, unit)}</span></b>))}
        <span class="said">{said}</span>
      </p>
      <div class={of ? `treemap ${of}` : "treemap"} ref={ref} data-total={root.value} style={{ height: `${height}px` }}>
        {rectangles.map((d) => {
          const node = d.data.node;
          const w = d.x1 - d.x0;
          const h = d.y1 - d.y0;
          const inner = Boolean(d.children);
          return (
            <button type="button" class={inner ? "cell outer" : "cell"} title={text(node)} {...hover(text(node))}
              data-value={node.value} data-key={node.key} tabIndex={w > 40 && h > 14 ? 0 : -1}
              onClick={(e) => { e.stopPropagation(); open(node); }}
              style={{ left: `${(d.x0 / width) * 100}%`, top: `${d.y0}px`, width: `${(w / width) * 100}%`, height: `${h}px`, background: inner ? "var(--sunk)" : tintOf(node) }}>
              {w > 30 && h > 13 && <span>{node.name}</span>}
              {!inner && w > 50 && h > 28 && <span class="value">{inUnit(node.value, unit)}</span>}
            </button>
          );
        })}
        {!rectangles.length && width > 0 && <p class="none">nothing of this here</p>}
      </div>
      {legend}
    </Figure>
  );
}
