// Draws the pictures into the places that the page has for them, and makes it one that can be searched.
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { MemoryBar, Queues, Ets, Allocators, Binaries, Growth, Kinds } from "./bars.jsx";
import { Contents } from "./contents.jsx";
import { Icicle } from "./icicle.jsx";
import { ProcessList } from "./list.jsx";
import { Memory } from "./memory.jsx";
import { Panel } from "./panel.jsx";
import { Copy, useKey } from "./parts.jsx";
import { Pinned, Scatter } from "./scatter.jsx";
import { Schedulers } from "./schedulers.jsx";
import { change, place, reveal, useAddress } from "./state.js";
import { Treemap } from "./treemap.jsx";
import { Tree } from "./tree.jsx";
import { Waits } from "./waits.jsx";

const pictures = {
  growth: () => <Growth />,
  contents: () => <Contents />,
  node: () => <MemoryBar />,
  ledger: () => <Memory />,
  processes: () => <><Treemap /><div class="columns"><Queues /><Scatter /></div><ProcessList /></>,
  profile: () => <Kinds />,
  stacks: () => <Icicle />,
  waits: () => <Waits />,
  tree: () => <Tree />,
  schedulers: () => <Schedulers />,
  ets: () => <Ets />,
  alloc: () => <Allocators />,
  binaries: () => <div class="columns"><Binaries /><Pinned /></div>,
};

function Search() {
  const { values } = useAddress();
  const box = useRef(null);
  useKey((event) => {
    if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName)) {
      event.preventDefault();
      box.current.focus();
      box.current.select();
    }
  });
  const go = () => {
    document.getElementById("process-search")?.closest("figure").scrollIntoView({ block: "start" });
  };
  return (
    <input ref={box} type="search" class="global" placeholder="find a process  ( / )" aria-label="find a process" value={values.get("q") || ""}
      onInput={(e) => { change({ q: e.target.value || null }, undefined, true); go(); }}
      onKeyDown={(e) => e.key === "Enter" && (go(), document.querySelector(".processes")?.focus())} />
  );
}

for (const element of document.querySelectorAll(".picture")) {
  const draw = pictures[element.dataset.view];
  if (draw) render(draw(), element);
}
// Every command of the page can be copied.
for (const code of document.querySelectorAll("main code.cmd")) {
  if (code.closest(".picture") || !code.textContent.startsWith("beamheap ")) continue;
  const holder = document.createElement("span");
  code.after(holder);
  render(<Copy text={code.textContent} />, holder);
}
// Functions in sentences lead to their callers and callees.
for (const code of document.querySelectorAll("main code.fn")) {
  code.addEventListener("click", () => {
    change({ "ic.fn": code.textContent, "ic.at": null }, "stacks");
    reveal();
  });
}
const search = document.createElement("span");
document.querySelector("header .what").append(search);
render(<Search />, search);
const panel = document.createElement("div");
document.body.append(panel);
render(<Panel />, panel);
document.documentElement.classList.add("drawn");
if (place()) reveal();
