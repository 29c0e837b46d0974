// Who works and who only keeps: a point for each process, work to the right, memory upwards, both logarithmic.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { called, processes } from "./data.js";
import { inUnit } from "./format.js";
import { Figure, openProcess, useWidth } from "./parts.jsx";

const height = 280;
const margin = { left: 62, right: 16, top: 10, bottom: 26 };

/** Where lines are drawn between two powers of ten: at round numbers of what is counted. */
function ticks(from, to, unit) {
  const out = [];
  if (unit === "bytes") {
    for (let n = 32; n <= 10 ** to; n *= 32) if (n >= 10 ** from) out.push(n);
  } else {
    for (let p = from; p <= to; p += Math.max(1, Math.ceil((to - from) / 6))) out.push(10 ** p);
  }
  return out;
}

export function Scatter() {
  const [ref, width] = useWidth();
  const canvas = useRef(null);
  const [near, setNear] = useState(null);
  const figure = processes.has("live_words") && processes.rows.filter((_, row) => processes.get(row, "live_words") !== null).length > processes.size / 2 ? "live_words" : "memory_bytes";
  const unit = processes.column(figure).unit;
  const points = useMemo(() => {
    const out = [];
    for (let row = 0; row < processes.size; ++row) {
      const x = processes.get(row, "reductions");
      const y = processes.get(row, figure);
      if (x !== null && y) out.push({ row, x: Math.max(1, x), y });
    }
    return out;
  }, [figure]);
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
    const [x0, x1] = range("x");
    const [y0, y1] = range("y");
    const w = width - margin.left - margin.right;
    const h = height - margin.top - margin.bottom;
    return {
      x0, x1, y0, y1,
      x: (v) => margin.left + ((Math.log10(v) - x0) / (x1 - x0)) * w,
      y: (v) => margin.top + h - ((Math.log10(v) - y0) / (y1 - y0)) * h,
    };
  }, [points, width]);
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
      const nth = (from, to, most) => Math.max(1, Math.ceil((to - from) / most));
      g.textAlign = "center";
      for (let p = scale.x0; p <= scale.x1; p += nth(scale.x0, scale.x1, width / 70)) {
        const x = Math.round(scale.x(10 ** p)) + 0.5;
        g.beginPath();
        g.moveTo(x, margin.top);
        g.lineTo(x, height - margin.bottom);
        g.stroke();
        g.fillText(short(10 ** p), x, height - 10);
      }
      g.textAlign = "right";
      for (const tick of ticks(scale.y0, scale.y1, unit)) {
        const y = Math.round(scale.y(tick)) + 0.5;
        g.beginPath();
        g.moveTo(margin.left, y);
        g.lineTo(width - margin.right, y);
        g.stroke();
        g.fillText(unit === "bytes" ? inUnit(tick, unit).replace(".0", "") : short(tick), margin.left - 6, y + 4);
      }
      g.fillStyle = ink("--c0");
      g.globalAlpha = points.length > 2000 ? 0.35 : 0.7;
      for (const point of points) {
        g.beginPath();
        g.arc(scale.x(point.x), scale.y(point.y), 2.6, 0, 7);
        g.fill();
      }
      g.globalAlpha = 1;
      // Outliers have their names: the largest and the busiest.
      g.fillStyle = ink("--ink");
      const named = new Set([...[...points].sort((a, b) => b.y - a.y).slice(0, 5), ...[...points].sort((a, b) => b.x - a.x).slice(0, 4)]);
      const taken = [];
      for (const point of named) {
        const x = scale.x(point.x);
        const y = scale.y(point.y);
        const text = called(point.row) || processes.get(point.row, "pid");
        const label = text.length > 30 ? text.slice(0, 29) + "\u2026" : text;
        const w = g.measureText(label).width;
        const left = x + w + 14 > width;
        const box = [left ? x - w - 8 : x + 6, y - 8, w, 13];
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
  }, [scale, near]);
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
  if (!points.length) return null;
  return (
    <Figure title={`Who works, who keeps: reductions to the right, ${figure === "live_words" ? "live words" : "memory"} upwards`}
      note={near ? `${called(near.row)} ${processes.get(near.row, "pid")}: ${inUnit(near.y, unit)}, ${inUnit(near.x, "count")} reductions` : "Point at a process for its name; a click opens it. The largest and the busiest are labelled."}>
      <div ref={ref} style={{ height: `${height}px` }}>
        <canvas ref={canvas} class="scatter" data-points={points.length} role="img" aria-label="processes by reductions and memory" onMouseMove={move} onMouseLeave={() => setNear(null)}
          onClick={() => near && openProcess(processes.get(near.row, "pid"))} style={{ width: `${width}px`, height: `${height}px` }} />
      </div>
    </Figure>
  );
}

const short = (n) => (n >= 1e12 ? `${n / 1e12} T` : n >= 1e9 ? `${n / 1e9} G` : n >= 1e6 ? `${n / 1e6} M` : n >= 1e3 ? `${n / 1e3} k` : String(n));
