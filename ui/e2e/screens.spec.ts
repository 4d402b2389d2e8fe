import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "@playwright/test";
import { FAILING, WAITING } from "./support/playbooks";
import type { Server } from "./support/server";
import { expect, expectAccessible, test } from "./support/test";

/** Pictures go beside the other results of the tests; `UPDATE_SCREENSHOTS=1` keeps them in docs/ui. */
const FOLDER = fileURLToPath(new URL(process.env.UPDATE_SCREENSHOTS ? "../../docs/ui" : "../test-results/screens", import.meta.url));

interface Screen {
  name: string;
  open: (page: Page, server: Server) => Promise<void>;
}

const settled = async (server: Server, path: string) => {
  const id = await server.execute(path);
  await server.ended(id);
  return id;
};

const SCREENS: Screen[] = [
  {
    name: "first-run",
    open: async (page) => {
      await page.goto("/");
      await expect(page.getByRole("heading", { name: "Run your first playbook" })).toBeVisible();
    },
  },
  {
    name: "home",
    open: async (page, server) => {
      await server.register(FAILING);
      await server.register(WAITING);
      for (const path of ["examples/hello", "examples/fan_out", "tests/failing", "examples/retry"]) await settled(server, path);
      await server.happened(await server.execute("tests/waiting"), "call.suspended");
      await page.goto("/");
      await expect(page.getByRole("region", { name: "Executions that run now" })).toContainText("tests/waiting");
      await expect(page.getByRole("region", { name: "Executions that failed lately" })).toContainText("tests/failing");
    },
  },
  {
    name: "executions",
    open: async (page, server) => {
      await server.register(FAILING);
      for (const path of ["examples/hello", "examples/fan_out", "tests/failing", "examples/sub_playbook"]) await settled(server, path);
      await page.goto("/executions");
      await expect(page.getByRole("region", { name: "Executions" })).toContainText("tests/failing");
    },
  },
  {
    name: "execution",
    open: async (page, server) => {
      const id = await settled(server, "examples/fan_out");
      await page.goto(`/executions/${id}?step=count_words`);
      await expect(page.getByRole("group", { name: "Step reduce" })).toContainText("Completed");
      await expect(page.getByRole("complementary", { name: "Step count_words" })).toContainText("Result");
    },
  },
  {
    name: "failure",
    open: async (page, server) => {
      await server.register(FAILING);
      const id = await settled(server, "tests/failing");
      await page.goto(`/executions/${id}`);
      await expect(page.getByRole("region", { name: "Why it failed", exact: true })).toContainText("Rule 2");
      await expect(page.getByRole("group", { name: "Step divide" })).toBeVisible();
    },
  },
  {
    name: "timeline",
    open: async (page, server) => {
      const id = await settled(server, "examples/error_handling");
      await page.goto(`/executions/${id}?tab=timeline`);
      await expect(page.getByRole("region", { name: /^Timeline/ })).toContainText("clean_up");
    },
  },
  {
    name: "compare",
    open: async (page, server) => {
      await server.register(FAILING);
      const first = await settled(server, "tests/failing");
      const second = await server.execute("tests/failing", { n: 5 });
      await server.ended(second);
      await page.goto(`/compare?a=${first}&b=${second}`);
      await expect(page.getByRole("region", { name: "Steps side by side" })).toContainText("divide");
    },
  },
];

for (const { name, open } of SCREENS) {
  test(`${name} is accessible and looks right in light, in dark and on a phone`, async ({ page, server }) => {
    test.setTimeout(150_000);
    await mkdir(FOLDER, { recursive: true });
    await open(page, server);
    await page.evaluate(() => document.fonts.ready);
    await expectAccessible(page);
    await page.screenshot({ path: `${FOLDER}/${name}-light.png` });
    await page.emulateMedia({ colorScheme: "dark" });
    await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
    await expectAccessible(page);
    await page.screenshot({ path: `${FOLDER}/${name}-dark.png` });
    await page.emulateMedia({ colorScheme: "light" });
    await expect(page.locator("html")).toHaveAttribute("data-theme", "light");
    await page.setViewportSize({ width: 390, height: 844 });
    await expectAccessible(page);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(overflow, "nothing sticks out sideways").toBeLessThanOrEqual(0);
    await page.screenshot({ path: `${FOLDER}/${name}-phone.png` });
  });
}
