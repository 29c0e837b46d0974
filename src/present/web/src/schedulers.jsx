// The schedulers as a strip: what each of them runs, who sleeps, and what waits in the run queues.
import { tables } from "./data.js";
import { grouped } from "./format.js";
import { Figure, Pid } from "./parts.jsx";

const kinds = [["normal", "schedulers"], ["dirty_cpu", "dirty CPU"], ["dirty_io", "dirty I/O"]];
const queues = ["max", "high", "normal", "low"];

/** What waits in a run queue: processes by priority, and ports. */
function Queue({ get, most }) {
  const lengths = [...queues.map((name) => [name, get(`run_queue_${name}`)]), ["ports", get("run_queue_port")]];
  if (lengths.every(([, n]) => n === null)) return null;
  const all = lengths.reduce((sum, [, n]) => sum + (n || 0), 0);
  const text = lengths.filter(([, n]) => n).map(([name, n]) => `${grouped(n)} ${name}`).join(", ") || "nothing";
  return (
    <span class="waiting" data-value={all} title={`in its run queue: ${text}`}>
      <span class="track"><span class="fill" style={{ width: `${(all / (most || 1)) * 100}%`, minWidth: all ? "2px" : 0 }} /></span>
      {all ? `${grouped(all)} wait` : ""}
    </span>
  );
}

function Tile({ get, most }) {
  const pid = get("current_process");
  const port = get("current_port");
  const frames = get("stack") || [];
  const sleep = get("sleep_flags") || "";
  const state = get("crashed") ? "crashed" : pid ? (get("process_state") === "garbage_collecting" ? "collecting" : "running") : port ? "port" : /SLEEPING/.test(sleep) ? "asleep" : "idle";
  const doing = frames[0] || (pid ? get("process_state") : port ? String(port) : state === "asleep" ? "asleep" : "runs nothing");
  return (
    <div class={`scheduler ${state}`} data-state={state} title={[state, doing, sleep].filter(Boolean).join(", ")}>
      <b>{get("id")}</b> {pid ? <Pid pid={pid}>{get("current_process_name") || pid}</Pid> : null}
      <code>{doing}</code>
      <Queue get={get} most={most} />
    </div>
  );
}

export function Schedulers() {
  const table = tables.schedulers;
  if (!table || !table.size) return null;
  const rows = table.rows.map((_, row) => (name) => table.get(row, name));
  const waits = (get) => [...queues.map((name) => `run_queue_${name}`), "run_queue_port"].reduce((sum, name) => sum + (get(name) || 0), 0);
  const most = Math.max(1, ...rows.map(waits));
  return (
    <Figure title="What they run" note="Blue: runs a process; green: collects garbage; violet: works for a port; red: the thread that crashed. The line below is its run queue.">
      {kinds.map(([kind, title]) => {
        const own = rows.filter((get) => get("kind") === kind);
        const shared = rows.find((get) => get("kind") === `${kind}_queue`);
        if (!own.length) return null;
        const busy = own.filter((get) => get("current_process")).length;
        return (
          <>
            <h4>{grouped(own.length)} {title}, {grouped(busy)} busy</h4>
            <div class="schedulers" data-kind={kind} data-busy={busy}>
              {own.map((get) => <Tile get={get} most={most} />)}
              {shared && <div class="scheduler queue"><b>queue</b><code>of all of them</code><Queue get={shared} most={most} /></div>}
            </div>
          </>
        );
      })}
    </Figure>
  );
}
