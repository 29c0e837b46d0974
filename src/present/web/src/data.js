// The island of data (src/present/report.hpp) as tables whose cells are read by name.

const island = JSON.parse(document.getElementById("data").textContent);
const strings = island.strings;

const decoded = (cell) =>
  typeof cell === "number" && cell < 0 ? strings[-cell - 1] : Array.isArray(cell) ? cell.map(decoded) : cell?.n ?? cell;

class Table {
  constructor(raw) {
    this.columns = raw.columns;
    this.total = raw.total;
    this.command = raw.command;
    this.rows = raw.rows;
    this.index = new Map(raw.columns.map((column, i) => [column.name, i]));
  }
  get size() {
    return this.rows.length;
  }
  has(name) {
    return this.index.has(name);
  }
  /** The cell, null where the input does not hold it. */
  get(row, name) {
    const column = this.index.get(name);
    return column === undefined ? null : decoded(this.rows[row][column]);
  }
  /** Sum of a figure over all rows that have it. */
  sum(name) {
    const column = this.index.get(name);
    return column === undefined ? 0 : this.rows.reduce((all, row) => all + (row[column] || 0), 0);
  }
  column(name) {
    return this.columns[this.index.get(name)];
  }
}

export const facts = island;
export const tables = Object.fromEntries(Object.entries(island.tables).map(([name, raw]) => [name, new Table(raw)]));

/** "<0.89.0>" and "#PID<0.89.0>" as "0.89.0". */
export const bare = (pid) => (pid ? pid.replace(/^[^<]*<|>$/g, "") : "");
export const anchor = (pid) => "p" + bare(pid);

const processes = tables.processes;
const rowByPid = new Map();
for (let row = 0; row < processes.size; ++row) rowByPid.set(bare(processes.get(row, "pid")), row);
export const processRow = (pid) => rowByPid.get(bare(pid));

/** What a process is called: its name, else its label, else what it runs. */
export function called(row) {
  return (
    processes.get(row, "name") || processes.get(row, "label") || processes.get(row, "real_initial_call") ||
    processes.get(row, "initial_call") || ""
  );
}
/** "lager_event <0.89.0>" */
export function title(row) {
  const name = called(row);
  const pid = processes.get(row, "pid");
  return name ? `${name} ${pid}` : pid;
}
export { processes };
