/** What an open page costs while an execution of a thousand steps or items runs: the share of a core that the browser takes. */
import type { Browser } from "@playwright/test";
import { chain, grid, slowLoop } from "../support/playbooks";
import { expect, test } from "../support/test";

/** How long is measured, in milliseconds. The executions take longer than all of it. */
const MEASURED = 15_000;
/** How long a page settles before: its code is loaded, what has happened so far is read and drawn. */
const SETTLES = 3_000;

test.use({ commandsAreChecked: false });

interface Case {
  name: string;
  playbook: string;
  path: string;
  /** What of the execution is looked at. */
  view: string;
}

const SLOW_CHAIN = chain(1000, "{kind: wait, seconds: 0.04}");
const SLOW_GRID = grid(20, 50, "{kind: wait, seconds: 0.9}");
const SLOW_LOOP = slowLoop(1000, 20, 0.9);

const CASES: Case[] = [
  { name: "chain of 1,000 steps, graph", playbook: SLOW_CHAIN, path: "tests/chain", view: "" },
  { name: "chain of 1,000 steps, timeline", playbook: SLOW_CHAIN, path: "tests/chain", view: "?tab=timeline" },
  { name: "chain of 1,000 steps, events", playbook: SLOW_CHAIN, path: "tests/chain", view: "?tab=events" },
  { name: "20 branches of 50 steps, graph", playbook: SLOW_GRID, path: "tests/grid", view: "" },
  { name: "20 branches of 50 steps, timeline", playbook: SLOW_GRID, path: "tests/grid", view: "?tab=timeline" },
  { name: "loop of 1,000 items, graph", playbook: SLOW_LOOP, path: "tests/slow_loop", view: "" },
  { name: "loop of 1,000 items, step", playbook: SLOW_LOOP, path: "tests/slow_loop", view: "?step=many" },
  { name: "loop of 1,000 items, timeline", playbook: SLOW_LOOP, path: "tests/slow_loop", view: "?tab=timeline" },
];

for (const { name, playbook, path, view } of CASES) {
  test(name, async ({ browser, page, server }) => {
    await server.register(playbook);
    const id = await server.execute(path);
    await page.goto(`/executions/${id}${view}`);
    await expect(page.getByRole("heading", { level: 1 })).toContainText("Running");
    await page.waitForTimeout(SETTLES);
    const before = await spent(browser);
    await page.waitForTimeout(MEASURED);
    const after = await spent(browser);
    const elapsed = after.at - before.at;
    const share = (what: "page" | "browser") => `${((100 * (after[what] - before[what])) / elapsed).toFixed(1)} %`.padStart(7);
    const { seq } = await page.evaluate(async (id) => ({ seq: (await (await fetch(`/api/executions/${id}`)).json()).event_count as number }), id);
    await expect(page.getByRole("heading", { level: 1 }), "the execution outlasts the measurement").toContainText("Running");
    console.log(`  ${name.padEnd(36)} page ${share("page")}, whole browser ${share("browser")}; ${seq} events`);
  });
}

/** Seconds of processor time so far: of the page's process, and of all processes of the browser. */
async function spent(browser: Browser) {
  const whole = await browser.newBrowserCDPSession();
  const { processInfo } = await whole.send("SystemInfo.getProcessInfo");
  await whole.detach();
  const sum = (wanted: (type: string) => boolean) => processInfo.filter(({ type }) => wanted(type)).reduce((total, { cpuTime }) => total + cpuTime, 0);
  return {
    at: performance.now() / 1000,
    page: sum((type) => type === "renderer"),
    browser: sum(() => true),
  };
}
