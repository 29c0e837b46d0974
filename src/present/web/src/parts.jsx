// What the pictures are put together from.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { change } from "./state.js";
import { anchor, processRow } from "./data.js";

export const color = (i) => `var(--c${i % 8})`;
/** The same color for the same text, wherever it is drawn. */
export function colorOf(text) {
  let hash = 0;
  for (let i = 0; i < text.length; ++i) hash = (hash * 31 + text.charCodeAt(i)) | 0;
  return color((hash >>> 0) % 7);
}

/** One of several, as buttons. */
export function Choice({ label, options, value, set }) {
  if (options.length < 2) return null;
  return (
    <span class="choice" role="group" aria-label={label}>
      <span>{label}</span>
      {options.map(([key, text]) => (
        <button type="button" aria-pressed={key === value} onClick={() => set(key)}>{text}</button>
      ))}
    </span>
  );
}

export function Copy({ text }) {
  const [done, set] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // A page of a file may have no clipboard: the old way has one.
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    set(true);
    setTimeout(() => set(false), 1200);
  };
  return <button type="button" class="copy" title={`copy: ${text}`} onClick={copy}>{done ? "copied" : "copy"}</button>;
}

/** What shows the same on the command line. */
export const Command = ({ text }) => (
  <span class="commandline"><code class="cmd">beamheap {text}</code><Copy text={`beamheap ${text}`} /></span>
);

export function Figure({ title, controls, command, children, note }) {
  return (
    <figure>
      <figcaption>
        <b>{title}</b>
        {controls}
      </figcaption>
      {children}
      {(note || command) && <p class="note">{note} {command && <Command text={command} />}</p>}
    </figure>
  );
}

/** The width of an element in pixels, as it changes. */
export function useWidth() {
  const ref = useRef(null);
  const [width, set] = useState(0);
  useLayoutEffect(() => {
    const measure = () => ref.current && set(ref.current.clientWidth);
    measure();
    if (!ref.current) return undefined;
    const observer = new ResizeObserver(measure);
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}

export const openProcess = (pid) => change({}, anchor(pid));

/** A pid as a link to the process's panel. */
export const Pid = ({ pid, children }) =>
  processRow(pid) === undefined && !document.getElementById(anchor(pid))
    ? <span>{children || pid}</span>
    : <a href={"#" + anchor(pid)}>{children || pid}</a>;

/** A place of the page as a link to it, where it is there. */
export const Place = ({ id, children }) => (id && document.getElementById(id) ? <a href={"#" + id}>{children}</a> : <span>{children}</span>);

/** Calls back while the pointer hovers: a line that says what is under it. */
export function useHover() {
  const [text, set] = useState("");
  return [text, (next) => ({ onMouseEnter: () => set(next), onFocus: () => set(next), onMouseLeave: () => set("") })];
}

export function useKey(handler) {
  useEffect(() => {
    addEventListener("keydown", handler);
    return () => removeEventListener("keydown", handler);
  });
}
