// Numbers as the rest of the page writes them (src/analyses/base/number_format.cpp).

const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

export const grouped = (number) => String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, ",");

export function bytes(number) {
  if (number < 1024) return `${number} B`;
  let unit = 0;
  while (number >= 1023.5 && unit + 1 < units.length) {
    number /= 1024;
    ++unit;
  }
  return `${number < 99.95 ? number.toFixed(1) : number.toFixed(0)} ${units[unit]}`;
}

export function percent(number) {
  if (!isFinite(number)) return "-";
  if (number > 0 && number < 0.05) return "<0.1 %";
  return number !== 0 && number < 9.95 ? `${number.toFixed(1)} %` : `${number.toFixed(0)} %`;
}

export function inUnit(number, unit) {
  if (number === null || number === undefined) return "";
  if (unit === "bytes") return bytes(number);
  if (unit === "words") return `${grouped(number)} words`;
  if (unit === "percent") return percent(number);
  return grouped(number);
}
