// Clouds of points, both sides logarithmic: who works and who only keeps; what of binaries is seen and what is kept.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { called, processes, tables } from "./data.js";
import { grouped, inUnit } from "./format.js";
import { Figure, openProcess, useWidth } from "./parts.jsx";

const height = 280;
const margin = { left: 62, right: 16, top: 10, bottom: 26 };

/** Where lines are drawn between two powers of ten: at round numbers of what is counted. */
function ticks(from, to, unit, most) {
  const out = [];
  if (unit === "bytes") {
    const base = (to - from) * Math.log2(10) / 5 > most ? 1024 : 32;
    for (let n = 1; n <= 10 ** to; n *= base) if (n >= 10 ** from) out.push(n);
  } else {
    for (let p = from; p <= to; p += Math.max(1, Math.ceil((to - from) / most))) out.push(10 ** p);
  }
  return out;
}

/**
 * Points {x, y, name, text, open} (x at least 1, y above 0) of which those in `named` are labelled; `xUnit`, `unit`: of what is
 * counted; `diagonal`: a line where both are equal.
 */
function Plot({ title, label, hint, points, named, xUnit, unit, diagonal, data }) {
  const [ref, width] = useWidth();
  const canvas = useRef(null);
  const [near, setNear] = useState(null);
  const scale = useMemo(() => {
    if (!width || !points.length) return null;
    const range = (key) => {
      let low = Infinity;
      let high = 0;
      for (const point of points) {
        low = Math.min(low, point[key]);
        high = Math.max(high, point[key]);
      }
      return [Math.floor(Math.log10(low)), Math.max(Math.floor(Math.log10(low)) + 1, Math.ceil(Math.log10(high)))];
    };
    let [x0, x1] = range("x");
    let [y0, y1] = range("y");
    if (diagonal) [x0, x1, y0, y1] = [x0, Math.max(x1, y1), y0, Math.max(x1, y1)];
    const w = width - margin.left - margin.right;
    const h = height - margin.top - margin.bottom;
    return {
      x0, x1, y0, y1,
      x: (v) => margin.left + ((Math.log10(v) - x0) / (x1 - x0)) * w,
      y: (v) => margin.top + h - ((Math.log10(v) - y0) / (y1 - y0)) * h,
    };
  }, [points, width, diagonal]);
  useEffect(() => {
    if (!scale) return undefined;
    const draw = () => {
      const style = getComputedStyle(document.documentElement);
      const ink = (name) => style.getPropertyValue(name).trim();
      const ratio = devicePixelRatio || 1;
      const node = canvas.current;
      node.width = width * ratio;
      node.height = height * ratio;
      const g = node.getContext("2d");
      g.scale(ratio, ratio);
      g.font = "11px system-ui, sans-serif";
      g.fillStyle = ink("--soft");
      g.strokeStyle = ink("--line");
      g.textAlign = "center";
      for (const tick of ticks(scale.x0, scale.x1, xUnit, Math.max(2, Math.floor(width / 80)))) {
        const x = Math.round(scale.x(tick)) + 0.5;
        g.beginPath();
        g.moveTo(x, margin.top);
        g.lineTo(x, height - margin.bottom);
        g.stroke();
        g.fillText(written(tick, xUnit), x, height - 10);
      }
      g.textAlign = "right";
      for (const tick of ticks(scale.y0, scale.y1, unit, 6)) {
        const y = Math.round(scale.y(tick)) + 0.5;
        g.beginPath();
        g.moveTo(margin.left, y);
        g.lineTo(width - margin.right, y);
        g.stroke();
        g.fillText(written(tick, unit), margin.left - 6, y + 4);
      }
      if (diagonal) {
        const from = 10 ** Math.max(scale.x0, scale.y0);
        const to = 10 ** Math.min(scale.x1, scale.y1);
        g.strokeStyle = ink("--faint");
        g.setLineDash([4, 4]);
        g.beginPath();
        g.moveTo(scale.x(from), scale.y(from));
        g.lineTo(scale.x(to), scale.y(to));
        g.stroke();
        g.setLineDash([]);
      }
      g.fillStyle = ink("--c0");
      g.globalAlpha = points.length > 2000 ? 0.35 : 0.7;
      for (const point of points) {
        g.beginPath();
        g.arc(scale.x(point.x), scale.y(point.y), 2.6 + (point.n > 1 ? Math.log2(point.n) * 0.8 : 0), 0, 7);
        g.fill();
      }
      g.globalAlpha = 1;
      // Outliers have their names, where they are not on one another.
      g.fillStyle = ink("--ink");
      const taken = [];
      for (const point of named) {
        const x = scale.x(point.x);
        const y = scale.y(point.y);
        const label = point.name.length > 30 ? point.name.slice(0, 29) + "\u2026" : point.name;
        const w = g.measureText(label).width;
        const left = x + w + 14 > width;
        const aside = 6 + (point.n > 1 ? Math.log2(point.n) * 0.8 : 0);
        const box = [left ? x - w - aside - 2 : x + aside, y - 8, w, 13];
        if (taken.some((t) => box[0] < t[0] + t[2] && t[0] < box[0] + box[2] && box[1] < t[1] + t[3] && t[1] < box[1] + box[3])) continue;
        taken.push(box);
        g.textAlign = "left";
        g.fillText(label, box[0], y + 3);
      }
      if (near) {
        g.strokeStyle = ink("--critical");
        g.lineWidth = 2;
        g.beginPath();
        g.arc(scale.x(near.x), scale.y(near.y), 6, 0, 7);
        g.stroke();
      }
    };
    draw();
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", draw);
    return () => dark.removeEventListener("change", draw);
  }, [scale, near, named]);
  const move = (event) => {
    if (!scale) return;
    const box = canvas.current.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let best = null;
    let distance = 20 * 20;
    for (const point of points) {
      const d = (scale.x(point.x) - x) ** 2 + (scale.y(point.y) - y) ** 2;
      if (d < distance) {
        distance = d;
        best = point;
      }
    }
    if (best !== near) setNear(best);
  };
  return (
    <Figure title={title} note={near ? near.text : hint}>
      <div ref={ref} style={{ height: `${height}px` }}>
        <canvas ref={canvas} class="scatter" data-points={points.length} data-sum={points.reduce((all, point) => all + point.y * (point.n || 1), 0)} data-of={data} role="img" aria-label={label}
          onMouseMove={move} onMouseLeave={() => setNear(null)} onClick={() => near && near.open && near.open()} style={{ width: `${width}px`, height: `${height}px` }} />
      </div>
    </Figure>
  );
}

const largest = (points, by, most) => [...points].sort((a, b) => by(b) - by(a)).slice(0, most);

/** Processes: what they did against what they hold. */
export function Scatter() {
  const figure = processes.has("live_words") && processes.rows.filter((_, row) => processes.get(row, "live_words") !== null).length > processes.size / 2 ? "live_words" : "memory_bytes";
  const unit = processes.column(figure).unit;
  const { points, named } = useMemo(() => {
    const points = [];
    for (let row = 0; row < processes.size; ++row) {
      const x = processes.get(row, "reductions");
      const y = processes.get(row, figure);
      if (x === null || !y) continue;
      const pid = processes.get(row, "pid");
      const name = called(row);
      points.push({ x: Math.max(1, x), y, name: name || pid, text: `${name} ${pid}: ${inUnit(y, unit)}, ${inUnit(x, "count")} reductions`, open: () => openProcess(pid) });
    }
    return { points, named: new Set([...largest(points, (p) => p.y, 5), ...largest(points, (p) => p.x, 4)]) };
  }, [figure]);
  if (!points.length) return null;
  return <Plot title={`Who works, who keeps: reductions to the right, ${figure === "live_words" ? "live words" : "memory"} upwards`} label="processes by reductions and memory" data={figure}
    hint="Point at a process for its name; a click opens it. The largest and the busiest are labelled." points={points} named={named} xUnit="count" unit={unit} />;
}

/** Binaries: what of them anybody sees against what they take. */
export function Pinned() {
  const binaries = tables.binaries;
  const { points, named } = useMemo(() => {
    const alike = new Map(); // equal points are one, drawn larger
    for (let row = 0; binaries && row < binaries.size; ++row) {
      const y = binaries.get(row, "bytes");
      const x = binaries.get(row, "seen_bytes");
      if (!y || x === null) continue;
      const names = (binaries.get(row, "names") || []).slice(0, 2).join(" ");
      const pid = (binaries.get(row, "pids") || [])[0];
      const address = binaries.get(row, "address");
      const pinned = binaries.get(row, "pinned_bytes") || 0;
      const key = `${x} ${y}`;
      if (!alike.has(key)) alike.set(key, { x: Math.max(1, x), y, one: pinned, pinned: 0, n: 0, holder: names || pid || address, address, open: pid && (() => openProcess(pid)) });
      const point = alike.get(key);
      ++point.n;
      if (point.holder !== (names || pid || address)) point.others = true;
      point.pinned += pinned;
    }
    const points = [...alike.values()];
    for (const p of points) {
      if (p.others && p.n > 1) p.holder += " and others";
      p.name = p.n > 1 ? `${p.holder} \u00d7 ${grouped(p.n)}` : p.holder;
      p.text = `${p.n > 1 ? `${grouped(p.n)} binaries` : p.address} of ${p.holder}: ${inUnit(p.y, "bytes")}, of which ${inUnit(p.x, "bytes")} are seen and ${inUnit(p.one, "bytes")} pinned${p.n > 1 ? `, each; together ${inUnit(p.pinned, "bytes")} pinned` : ""}`;
    }
    return { points, named: new Set(largest(points, (p) => p.pinned, 7).filter((p) => p.pinned > 0)) };
  }, []);
  if (points.length < 2) return null;
  return <Plot title="Seen against kept: bytes that anybody sees to the right, bytes that are kept upwards" label="binaries by what is seen and what is kept" data="binaries" diagonal
    hint="Above the line a binary keeps more than anybody sees: slices pin it. Those that pin most are labelled with who holds them." points={points} named={named} xUnit="bytes" unit="bytes" />;
}

const written = (n, unit) => (unit === "bytes" ? inUnit(n, unit).replace(".0", "") : short(n));
const short = (n) => (n >= 1e12 ? `${n / 1e12} T` : n >= 1e9 ? `${n / 1e9} G` : n >= 1e6 ? `${n / 1e6} M` : n >= 1e3 ? `${n / 1e3} k` : String(n));
