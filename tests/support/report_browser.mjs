// Opens a report in Chromium as a reader would, and prints what it saw as JSON: node report_browser.mjs CHROMIUM FILE NAME
import http from "node:http";
import { readFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [executablePath, file, name] = process.argv.slice(2);
const args = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const seen = { errors: [], requests: [] };
const context = await chromium.launchPersistentContext(mkdtempSync(join(tmpdir(), "report-")), { executablePath, args, viewport: { width: 1300, height: 900 } });
const page = await context.newPage();
page.on("console", (message) => ["error", "warning"].includes(message.type()) && seen.errors.push(message.text()));
page.on("pageerror", (error) => seen.errors.push(error.message));
page.on("request", (request) => request.url().split("#")[0] !== "file://" + file && !request.url().startsWith("data:") && seen.requests.push(request.url()));
await page.goto("file://" + file);
await page.waitForSelector(".drawn");
seen.ready = await page.evaluate(() => performance.now());
const number = (selector) => page.locator(selector).first().getAttribute("data-value").then(Number);
const sum = (selector) => page.locator(selector).evaluateAll((all) => all.map((each) => Number(each.dataset.value)).reduce((a, b) => a + b, 0));
seen.map = await page.locator("#processes .treemap").evaluate((map) => Number(map.dataset.total));
// All of the node's memory: the areas are what is in it.
seen.whole = await page.locator(".treemap.whole").evaluateAll((maps) => maps.map((map) => ({
  total: Number(map.dataset.total),
  titles: [...map.querySelectorAll(".cell")].map((cell) => cell.title),
  areas: Object.fromEntries([...map.querySelectorAll(".cell")].filter((cell) => !/[/+]/.test(cell.dataset.key)).map((cell) => [cell.dataset.key, Number(cell.dataset.value)])),
})));
// Those of a process's children that run the same are one rectangle, which opens.
const many = page.locator("#processes .treemap .cell", { hasText: "\u00d7" });
if (await many.count()) {
  seen.alike = await many.first().locator("span").first().textContent();
  await many.first().click();
  await page.waitForFunction((n) => document.querySelectorAll("#processes .treemap .cell").length > n, 11);
  seen.opened = await page.locator("#processes .treemap .cell").count();
  await page.goBack();
  await page.waitForFunction(() => !location.hash.includes("tm.at="));
}
seen.icicle = await number(".icicle .cell");
seen.queues = await sum(".histogram .bin");
// The terms of a process: the way to the largest is open, a twig closes it.
const twigs = page.locator("#contents .terms .twig:not([disabled])");
if (await twigs.count()) {
  const rows = () => page.locator("#contents .terms tbody tr").count();
  const open = await rows();
  seen.terms = Number(await page.locator("#contents .terms td.n").first().getAttribute("data-v"));
  await twigs.first().click();
  await page.waitForFunction((n) => document.querySelectorAll("#contents .terms tbody tr").length < n, open);
  seen.closedTerms = (await rows()) < open;
  await page.goBack();
}
seen.mailbox = await sum("#contents .mailbox .part");
seen.waiters = (await page.locator("svg.waits .node").count()) ? Number(await page.locator("svg.waits .node").first().getAttribute("data-waiters")) : null;
seen.kindsOfWaiters = await page.locator("svg.waits .node.many").count();
// The clouds of points.
const cloud = (of) => page.locator(of).evaluateAll((all) => (all.length ? Number(all[0].dataset.sum) : null));
seen.pinned = await cloud('canvas[data-of="binaries"]');
seen.cloud = await cloud('canvas[data-of="memory_bytes"]');
// Into a branch of the map, and back.
const crumbs = () => page.locator("#processes .crumbs").first().textContent();
const before = await crumbs();
await page.locator("#processes .treemap .cell.outer").first().click({ position: { x: 5, y: 5 } });
await page.waitForFunction((old) => document.querySelector("#processes .crumbs").textContent !== old, before);
seen.drilled = (await page.evaluate(() => location.hash)).includes("tm.at=");
await page.goBack();
await page.waitForFunction(() => !location.hash.includes("tm.at="));
seen.back = (await crumbs()).split("  ")[0].slice(0, 12) === before.slice(0, 12);
// By application: nothing is lost, nothing counted twice.
await page.locator('[aria-label="by"] button', { hasText: "application" }).first().click();
await page.waitForFunction(() => location.hash.includes("tm.by=app"));
seen.applications = await page.locator("#processes .treemap").evaluate((map) => Number(map.dataset.total));
await page.goBack();
// The schedulers as a strip, by kind: what each does, and what waits.
seen.schedulers = await page.locator(".schedulers").evaluateAll((strips) => strips.map((strip) => ({
  kind: strip.dataset.kind,
  busy: Number(strip.dataset.busy),
  states: [...strip.querySelectorAll(".scheduler[data-state]")].map((tile) => tile.dataset.state),
  waiting: [...strip.querySelectorAll(".waiting")].reduce((sum, each) => sum + Number(each.dataset.value), 0),
})));
// How frames and processes are coloured, and by what.
const backgrounds = (of, key) => page.locator(of).evaluateAll((cells, key) => Object.fromEntries(cells.map((cell) => [cell.dataset[key] || cell.title, cell.style.background])), key);
seen.frames = await backgrounds(".icicle .cell", "frame");
seen.boxes = await backgrounds("#processes .treemap .cell:not(.outer)", "none");
const tint = page.locator('[aria-label="color"] button', { hasText: "module" });
if (await tint.count()) {
  await tint.first().click();
  await page.waitForFunction(() => location.hash.includes("ic.color=kind"));
  seen.framesByModule = await backgrounds(".icicle .cell", "frame");
  await page.goBack();
  await page.waitForFunction(() => !location.hash.includes("ic.color="));
}
// A click goes into a frame, a second one on it shows who calls it and what it calls.
const frame = page.locator('.icicle .cell:not([data-frame="all"]):not([data-frame^="("])');
if (await frame.count()) {
  const looked = await frame.first().getAttribute("data-frame");
  await frame.first().click();
  await page.waitForFunction((of) => document.querySelector(".icicle .cell").dataset.frame === of, looked);
  await page.locator(".icicle .cell").first().click();
  await page.waitForSelector(".sandwich");
  seen.sandwich = await page.locator(".sandwich").evaluate((it) => ({
    of: it.querySelector("code").textContent,
    says: it.querySelector("p").textContent,
    lists: [...it.querySelectorAll("table")].map((list) => [...list.querySelectorAll("tr")].filter((row) => row.cells.length > 1).map((row) => [row.cells[2].textContent, row.cells[0].textContent])),
  }));
  await page.goBack();
  await page.goBack();
  await page.waitForSelector(".sandwich", { state: "detached" });
}
if (name) {
  await page.keyboard.press("/");
  seen.focused = await page.evaluate(() => document.activeElement.type === "search");
  await page.keyboard.type(name);
  await page.waitForFunction(() => document.querySelectorAll(".processes tbody tr[data-row]").length < 20);
  seen.found = await page.locator(".processes tbody tr[data-row]").count();
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".panel");
  seen.panel = {
    pid: await page.locator(".panel h3 .soft").textContent(),
    reductions: await page.locator('.panel dd[data-column="reductions"]').textContent(),
  };
  await page.keyboard.press("Escape");
  await page.waitForSelector(".panel", { state: "detached" });
  seen.closed = true;
}
// A telephone's width: nothing but what scrolls by itself is wider.
await page.setViewportSize({ width: 390, height: 800 });
seen.narrow = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
await page.setViewportSize({ width: 1300, height: 900 });
seen.heading = await page.locator("h1").allTextContents();
// On paper the pictures are there, and nothing that one would have to click.
await page.emulateMedia({ media: "print" });
seen.printed = (await page.locator(".treemap .cell").first().isVisible()) && (await page.locator(".icicle .cell").first().isVisible()) && !(await page.locator(".copy").first().isVisible());
await page.emulateMedia({ media: null });
seen.pwned = await page.evaluate(() => window.pwned !== undefined);

// Without a script; and as a server shows it that allows neither scripts nor styles.
const finding = async (it) => /Findings[\s\S]{40,}/.test(await it.locator("body").innerText()) && (await it.locator("#findings").isVisible());
const silent = await (await chromium.launch({ executablePath, args })).newContext({ javaScriptEnabled: false });
const plain = await silent.newPage();
await plain.goto("file://" + file);
seen.plain = await finding(plain);
const server = http.createServer((_, response) => {
  response.writeHead(200, { "Content-Type": "text/html", "Content-Security-Policy": "sandbox allow-same-origin; default-src 'none'; img-src 'self'; style-src 'self';" });
  response.end(readFileSync(file));
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
await plain.goto(`http://127.0.0.1:${server.address().port}/`);
seen.sandboxed = await finding(plain);
server.close();
await silent.browser().close();
await context.close();
console.log(JSON.stringify(seen));
