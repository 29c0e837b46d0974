// All processes of the file: found, sorted, and drawn as far as they are in sight.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { anchor, called, processes, tables } from "./data.js";
import { grouped, inUnit } from "./format.js";
import { Figure, openProcess } from "./parts.jsx";
import { change, useAddress, useSetting } from "./state.js";

const row_height = 21;
const rows_in_sight = 18;

const columns = [
  ["pid", "PID"], ["called", "PROCESS"], ["current_function", "FUNCTION"], ["state", "STATE"], ["msgq_len", "MSGQ"],
  ["memory_bytes", "MEMORY"], ["live_words", "LIVE"], ["garbage_words", "GARBAGE"], ["refc_bytes", "BINARIES"], ["reductions", "REDUCTIONS"], ["group_key", "GROUP"],
];

/** Texts of each process, small letters, in which is looked for. */
let haystacks = null;
function haystack(row) {
  haystacks = haystacks || [];
  return (haystacks[row] ??= [processes.get(row, "pid"), processes.get(row, "name"), processes.get(row, "label"), processes.get(row, "real_initial_call"), processes.get(row, "initial_call"), processes.get(row, "current_function"), processes.get(row, "group_key"), processes.get(row, "state")]
    .filter(Boolean).join("\n").toLowerCase());
}

export function found(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = [];
  for (let row = 0; row < processes.size; ++row) if (words.every((word) => haystack(row).includes(word))) rows.push(row);
  return rows;
}

const isNumber = (name) => Boolean(processes.column(name)?.unit);
const cell = (row, name) => (name === "called" ? called(row) : processes.get(row, name));
function natural(a, b) {
  return a === b ? 0 : a === null || a === "" ? 1 : b === null || b === "" ? -1 : typeof a === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
}

export function ProcessList() {
  const { values } = useAddress();
  const query = values.get("q") || "";
  const [sort, setSort] = useSetting("pl.by", processes.sum("msgq_len") > 0 ? "-msgq_len" : "-memory_bytes");
  const [at, setAt] = useState(0);
  const [top, setTop] = useState(0);
  const box = useRef(null);
  const shown = columns.filter(([name]) => name === "called" || (processes.has(name) && (!isNumber(name) || processes.sum(name) > 0 || name === "msgq_len")));
  const rows = useMemo(() => {
    const name = sort.replace(/^-/, "");
    const sign = sort.startsWith("-") ? -1 : 1;
    return found(query).sort((a, b) => {
      const [x, y] = [cell(a, name), cell(b, name)];
      return (x === null || y === null ? natural(x, y) : sign * natural(x, y)) || (processes.get(b, "memory_bytes") || 0) - (processes.get(a, "memory_bytes") || 0) || a - b;
    });
  }, [query, sort]);
  useEffect(() => {
    setAt(0);
    if (box.current) box.current.scrollTop = 0;
  }, [rows]);
  const first = Math.max(0, Math.floor(top / row_height) - 4);
  const last = Math.min(rows.length, first + rows_in_sight + 8);
  const go = (next) => {
    const to = Math.max(0, Math.min(rows.length - 1, next));
    setAt(to);
    const y = to * row_height;
    if (y < box.current.scrollTop) box.current.scrollTop = y;
    if (y + row_height > box.current.scrollTop + rows_in_sight * row_height - 24) box.current.scrollTop = y + row_height + 24 - rows_in_sight * row_height;
  };
  const key = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: rows_in_sight, PageUp: -rows_in_sight, Home: -rows.length, End: rows.length }[event.key];
    if (step) {
      event.preventDefault();
      go(at + step);
    } else if (event.key === "Enter" && rows.length) {
      openProcess(processes.get(rows[at], "pid"));
    }
  };
  return (
    <Figure title="All processes" command={`${processes.command} --sort ${sort.replace(/^-/, "").replace("called", "name")}`}
      note={processes.size < processes.total ? `${grouped(processes.size)} of ${grouped(processes.total)} are listed.` : ""}
      controls={<>
        <input type="search" value={query} placeholder="name, pid, function, state" aria-label="find processes" id="process-search"
          onInput={(e) => change({ q: e.target.value || null }, undefined, true)} />
        <span class="soft">{grouped(rows.length)} processes</span>
      </>}>
      <div class="processes scroll" ref={box} tabIndex={0} role="grid" aria-rowcount={rows.length} onKeyDown={key} onScroll={(e) => setTop(e.currentTarget.scrollTop)}
        style={{ height: `${Math.min(rows_in_sight, rows.length + 2) * row_height}px` }}>
        <table style={{ height: `${(rows.length + 1) * row_height}px` }}>
          <thead><tr>
            {shown.map(([name, title]) => (
              <th class={isNumber(name) ? "n" : ""} title={processes.column(name)?.doc} aria-sort={sort === name ? "ascending" : sort === "-" + name ? "descending" : "none"}>
                <button type="button" class="bare" onClick={() => setSort(sort === "-" + name ? name : isNumber(name) || sort === name ? "-" + name : name)}>
                  {title}{sort === name ? " \u2191" : sort === "-" + name ? " \u2193" : ""}
                </button>
              </th>
            ))}
          </tr></thead>
          <tbody>
            {first > 0 && <tr class="gap"><td style={{ height: `${first * row_height}px` }} /></tr>}
            {rows.slice(first, last).map((row, i) => (
              <tr class={first + i === at ? "at" : ""} aria-selected={first + i === at} data-row={row} onClick={() => { setAt(first + i); openProcess(processes.get(row, "pid")); }}>
                {shown.map(([name]) => (
                  <td class={isNumber(name) ? "n" : name === "current_function" ? "mono" : ""} title={isNumber(name) ? undefined : cell(row, name)}>
                    {name === "pid" ? <a href={"#" + anchor(cell(row, name))} onClick={(e) => e.preventDefault()} tabIndex={-1}>{cell(row, name)}</a> : isNumber(name) ? inUnit(cell(row, name), processes.column(name).unit).replace(" words", "") : cell(row, name)}
                  </td>
                ))}
              </tr>
            ))}
            {last < rows.length && <tr class="gap"><td style={{ height: `${(rows.length - last) * row_height}px` }} /></tr>}
          </tbody>
        </table>
      </div>
    </Figure>
  );
}
