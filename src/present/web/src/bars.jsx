// Pictures that are bars: what the node's memory is, how long queues are, what tables and allocators take.
import { tables } from "./data.js";
import { bytes, grouped, inUnit, percent } from "./format.js";
import { tableBefore } from "./growth.js";
import { Figure, Pid, Place, color, useWidth } from "./parts.jsx";

/** The parts of the node's memory as one bar; what they leave is the VM's own. */
export function MemoryBar() {
  const [ref, width] = useWidth();
  const memory = tables.memory;
  const parts = memory ? memory.rows.map((_, row) => [memory.get(row, "area"), memory.get(row, "bytes")]).filter(([, size]) => size) : [];
  const total = parts.find(([name]) => name === "total")?.[1];
  if (!total) return null;
  parts.splice(parts.findIndex(([name]) => name === "total"), 1);
  const links = { processes: "#processes", binary: "#binaries", ets: "#ets", other: "#alloc" };
  const sum = parts.reduce((all, [, size]) => all + size, 0);
  return (
    <Figure title={`Memory: ${bytes(total)}`}>
      <div class="bar" role="img" aria-label="parts of the node's memory" ref={ref}>
        {parts.map(([name, size], i) => (
          <a href={document.querySelector(links[name] || "#none") ? links[name] : undefined} class="part" title={`${name}: ${bytes(size)}, ${percent((size / total) * 100)}`} data-part={name} data-value={size}
            style={{ width: `${(size / sum) * 100}%`, background: name === "other" ? color(7) : color(i) }}>
            {(size / sum) * width > (name.length + 6) * 7 && <span>{name} {percent((size / total) * 100)}</span>}
          </a>
        ))}
      </div>
      <p class="legend">{parts.map(([name, size], i) => <span><i style={{ background: name === "other" ? color(7) : color(i) }} />{name} {bytes(size)}</span>)}</p>
    </Figure>
  );
}

/** Processes by the length of their queues, in powers of ten. */
export function Queues() {
  const bins = tables.queues;
  const most = Math.max(1, ...bins.rows.map((_, row) => bins.get(row, "processes")));
  const height = (n) => (n === 0 ? 0 : 4 + (Math.log10(n + 1) / Math.log10(most + 1)) * 76);
  const power = (n) => (n < 1e3 ? String(n) : n < 1e6 ? `${n / 1e3} k` : `${n / 1e6} M`);
  return (
    <Figure title="Queues" note="Heights are logarithmic.">
      <div class="histogram">
        {bins.rows.map((_, row) => {
          const from = bins.get(row, "from");
          const n = bins.get(row, "processes");
          return (
            <div class="bin" title={`${grouped(n)} processes with ${from === 0 ? "an empty queue" : `${grouped(from)} to ${grouped(bins.get(row, "to"))} messages, ${grouped(bins.get(row, "messages"))} in all`}`} data-value={n}>
              <span class="count">{grouped(n)}</span>
              <span class={from >= 1000 ? "column bad" : "column"} style={{ height: `${height(n)}px` }} />
              <span class="label">{from === 0 ? "empty" : `${power(from)}+`}</span>
            </div>
          );
        })}
      </div>
    </Figure>
  );
}

/** The largest rows of a table as bars, each with a part of it that is emphasised. */
function Bars({ title, rows, unit, note, command }) {
  if (!rows.length) return null;
  const most = Math.max(...rows.map((row) => row.value));
  return (
    <Figure title={title} note={note} command={command}>
      <div class="bars">
        {rows.map((row) => (
          <div class="row" title={row.title}>
            <span class="name"><Place id={row.place}>{row.name}</Place>{row.pid && <> <span class="soft">of</span> <Pid pid={row.pid}>{row.owner || row.pid}</Pid></>}</span>
            <span class="track"><span class="fill" data-value={row.value} style={{ width: `${(row.value / most) * 100}%` }}>
              {row.part !== undefined && <span class="within" style={{ width: `${(row.part / (row.value || 1)) * 100}%` }} />}
            </span></span>
            <span class="figure">{inUnit(row.value, unit)}</span>
          </div>
        ))}
      </div>
    </Figure>
  );
}

const largest = (table, column, most = 14) =>
  table.rows.map((_, row) => row).filter((row) => table.get(row, column) > 0).sort((a, b) => table.get(b, column) - table.get(a, column)).slice(0, most);

/** What grew since the other input: each bar is what there is now, its light part what there was. */
export function Growth() {
  const growth = tables.growth;
  if (!growth) return null;
  const rows = (unit) => growth.rows.map((_, row) => row).filter((row) => growth.get(row, "unit") === unit && growth.get(row, "delta") > 0)
    .sort((a, b) => growth.get(b, "delta") - growth.get(a, "delta")).slice(0, 12).map((row) => {
      const cell = (name) => growth.get(row, name);
      const words = (text) => String(text).replace(/_/g, " ");
      const said = unit === "bytes" ? bytes : grouped;
      const same = cell("key") === cell("measure");
      return {
        name: `${words(cell("what"))}${same ? "" : ` ${cell("key")}`}: ${words(cell("measure"))}`,
        value: cell("after"),
        part: cell("before") || 0,
        title: `from ${said(cell("before") || 0)} to ${said(cell("after"))}`,
      };
    });
  return (
    <div class="columns">
      <Bars title="Bytes that grew" rows={rows("bytes")} unit="bytes" note="The green part of a bar is what there was before." />
      <Bars title="Numbers that grew" rows={rows("count")} unit="count" />
    </div>
  );
}

/** What kinds of objects the heaps hold. */
export function Kinds() {
  const kinds = tables.profile;
  if (!kinds) return null;
  const rows = largest(kinds, "words").map((row) => ({
    name: kinds.get(row, "kind"),
    value: kinds.get(row, "words"),
    title: `${grouped(kinds.get(row, "objects"))} objects`,
  }));
  return <Bars title="Words by kind of object" rows={rows} unit="words" />;
}

/** The place of a table in the page, as src/present/html_writer.cpp calls it. */
const tableAnchor = (name) => "ets-" + String(name).replace(/[^A-Za-z0-9_]/g, (c) => [...new TextEncoder().encode(c)].map((byte) => "-" + byte.toString(16).padStart(2, "0")).join(""));

export function Ets() {
  const ets = tables.ets;
  if (!ets) return null;
  const rows = largest(ets, "bytes").map((row) => {
    const cell = (name) => ets.get(row, name);
    const before = tableBefore(cell("name"), cell("owner_name"), cell("bytes"));
    return {
      name: String(cell("name") ?? cell("id") ?? ""),
      place: tableAnchor(cell("name")),
      pid: cell("owner"),
      owner: cell("owner_name"),
      value: cell("bytes"),
      part: before === null ? undefined : Math.min(before, cell("bytes")),
      title: `${grouped(cell("objects") || 0)} objects, owned by ${cell("owner_name") || ""} ${cell("owner") || ""}${before === null ? "" : `, ${bytes(before)} in the other input`}`,
    };
  });
  return <Bars title="Largest tables" rows={rows} unit="bytes" note={rows.some((row) => row.part !== undefined) ? "The green part of a bar is what there was in the other input." : ""} />;
}

export function Allocators() {
  const alloc = tables.alloc;
  if (!alloc) return null;
  const rows = largest(alloc, "carrier_bytes").map((row) => ({
    name: alloc.get(row, "allocator") || alloc.get(row, "name") || String(alloc.get(row, alloc.columns[0].name)),
    value: alloc.get(row, "carrier_bytes"),
    part: alloc.get(row, "block_bytes") || 0,
    title: `blocks ${bytes(alloc.get(row, "block_bytes") || 0)} of carriers ${bytes(alloc.get(row, "carrier_bytes"))}`,
  }));
  return <Bars title="Carriers, and what blocks use of them" rows={rows} unit="bytes" />;
}

export function Binaries() {
  const binaries = tables.binaries;
  if (!binaries) return null;
  const rows = largest(binaries, "bytes").map((row) => ({
    name: `${binaries.get(row, "address")} ${(binaries.get(row, "names") || []).slice(0, 2).join(" ")}`,
    value: binaries.get(row, "bytes"),
    part: binaries.get(row, "seen_bytes") || 0,
    title: `${bytes(binaries.get(row, "seen_bytes") || 0)} are seen, ${bytes(binaries.get(row, "pinned_bytes") || 0)} pinned, held by ${grouped(binaries.get(row, "holders") || 0)}`,
  }));
  return <Bars title="Largest binaries, and what of them anybody sees" rows={rows} unit="bytes" />;
}
