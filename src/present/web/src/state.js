// What is shown stands behind the # of the address: "#stacks?ic.by=msgq_len", a place in the page, then what its pictures
// are set to. So a view can be sent as a link, and the browser's back button takes a step back.
import { useEffect, useState } from "preact/hooks";

function parsed() {
  const hash = decodeURIComponent(location.hash.slice(1));
  const [place, rest = ""] = hash.split(/\?(.*)/s);
  return { place, values: new URLSearchParams(rest) };
}

let current = parsed();
const listeners = new Set();

function address(place, values) {
  const rest = values.toString();
  return "#" + place + (rest ? "?" + rest : "");
}

/** Sets values of the address; one that is its preset (null) is left out. `place`: go there, too. */
export function change(values, place = current.place, replace = false) {
  const next = new URLSearchParams(current.values);
  for (const [key, value] of Object.entries(values)) value === null ? next.delete(key) : next.set(key, value);
  const to = address(place, next);
  if (to === (location.hash || "#")) return;
  history[replace ? "replaceState" : "pushState"](null, "", to);
  read();
}

function read() {
  current = parsed();
  for (const listener of listeners) listener();
}

export const place = () => current.place;
export const valueOf = (key) => current.values.get(key);

/** Brings the place that the address names into sight. */
export function reveal() {
  const element = current.place && document.getElementById(current.place);
  for (const old of document.querySelectorAll(".target")) old.classList.remove("target");
  if (!element) return;
  for (let at = element; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (element.tagName === "TR") element.classList.add("target");
  element.scrollIntoView({ block: "start" });
}

addEventListener("hashchange", () => {
  const before = current.place;
  read();
  if (current.place !== before || !location.hash.includes("?")) reveal();
});
addEventListener("popstate", read);

/** A component that uses this is drawn again when the address changes. */
export function useAddress() {
  const [, draw] = useState(0);
  useEffect(() => {
    const listener = () => draw((n) => n + 1);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, []);
  return current;
}

/** A value of the address with its preset, and how to set it. */
export function useSetting(key, preset) {
  const { values } = useAddress();
  const value = values.get(key) ?? preset;
  return [value, (next) => change({ [key]: next === preset ? null : next })];
}
