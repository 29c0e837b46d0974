// What something was in the other input, where the report has one: pictures can be coloured by what grew.
import { called, facts, processes, tables } from "./data.js";

const key = (what, name, measure) => `${what}\n${name}\n${measure}`;
const known = new Map();
if (tables.growth)
  for (let row = 0; row < tables.growth.size; ++row) {
    const cell = (name) => tables.growth.get(row, name);
    // Names of processes are as the page writes them; functions only where they are written in one syntax.
    const name = cell("what") === "process" ? String(cell("key")).replace(/^Elixir\./, "") : cell("key");
    known.set(key(cell("what"), name, cell("measure")), [cell("before"), cell("after")]);
  }

export const compared = known.size > 0 && facts.redaction !== "full";
const functions = compared && !facts.elixir;
const measures = { memory_bytes: "memory", msgq_len: "messages" };

/** Whether a figure of processes is one of those that were compared. */
export const isCompared = (figure) => compared && figure in measures;

const ratio = (pair) => (!pair ? 1 : pair[0] === null ? null : pair[0] === 0 ? Infinity : (pair[1] ?? 0) / pair[0]);

/** What a process is to what it was: 1 is unchanged, Infinity new, null not known. Those without a name are known by their kind. */
export function processGrowth(row, figure) {
  const measure = measures[figure];
  const name = processes.get(row, "name");
  if (name) return ratio(known.get(key("process", name, measure)));
  if (!functions) return null;
  const kind = processes.get(row, "real_initial_call") || processes.get(row, "initial_call");
  return processes.get(row, "label") ? null : ratio(known.get(key("process_group", kind, measure)));
}

/** How many processes had this stack before; as many as now where it did not change. */
export function stackBefore(functionsOfIt, count) {
  if (!functions) return null;
  const pair = known.get(key("stack", functionsOfIt.slice(0, frames_of_keys).join(" < "), "processes"));
  return !pair ? count : pair[1] ? (pair[0] * count) / pair[1] : 0;
}
const frames_of_keys = 4;

/** Bytes that a table had before, as many as now where that did not change; null where it is not known. */
export function tableBefore(name, owner, bytes) {
  if (!compared || facts.elixir || !owner) return null;
  const pair = known.get(key("ets_table", `${name} of ${owner}`, "memory"));
  return !pair ? bytes : pair[1] === bytes ? pair[0] : null; // several of one name are compared together
}

/** The color of a growth, and what it stands for. */
export const scale = [
  ["var(--g3)", "new, or twice as much", (r) => r >= 2],
  ["var(--g2)", "a quarter more", (r) => r >= 1.25],
  ["var(--g1)", "more", (r) => r > 1.02],
  ["var(--g0)", "as before", (r) => r >= 0.98],
  ["var(--gl)", "less", () => true],
];
export const growthColor = (r) => (r === null ? "var(--c7)" : scale.find(([, , fits]) => fits(r))[0]);
export const growthText = (r) => (r === null ? "" : r === Infinity ? ", new" : r > 1.02 || r < 0.98 ? `, ${r > 1 ? "+" : ""}${((r - 1) * 100).toFixed(0)} % since the other input` : ", as before");
