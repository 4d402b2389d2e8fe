import type { Page } from "@playwright/test";
import { FAILING, WAITING } from "./support/playbooks";
import type { Server } from "./support/server";
import { picture, wear } from "./support/shots";
import { expect, expectAccessible, test } from "./support/test";

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
    name: "waiting",
    open: async (page, server) => {
      await server.register(WAITING);
      const id = await server.execute("tests/waiting");
      await server.happened(id, "call.suspended");
      await page.goto(`/executions/${id}`);
      await expect(page.getByRole("region", { name: "Why it is where it is" })).toContainText("Shall we go on?");
      await expect(page.getByRole("group", { name: "Step ask" })).toBeVisible();
    },
  },
  {
    name: "step",
    open: async (page, server) => {
      await server.register(FAILING);
      const id = await settled(server, "tests/failing");
      await page.goto(`/executions/${id}?step=divide`);
      await expect(page.getByRole("complementary", { name: "Step divide" }).getByRole("log")).toContainText("about to divide");
      await expect(page.getByRole("group", { name: "Step divide" })).toBeVisible();
      await page.getByRole("slider", { name: "The event that is looked at" }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: "events",
    open: async (page, server) => {
      const id = await settled(server, "examples/fan_out");
      await page.goto(`/executions/${id}?tab=events`);
      const events = page.getByRole("region", { name: "Events", exact: true });
      await events.getByRole("button", { name: /command\.issued/ }).first().click();
      await expect(page.getByRole("region", { name: /^Event \d+$/ })).toContainText("command.issued");
    },
  },
  {
    name: "time-travel",
    open: async (page, server) => {
      const id = await settled(server, "examples/fan_out");
      await page.goto(`/executions/${id}?at=12`);
      await expect(page.getByRole("button", { name: "Back to now" })).toBeVisible();
      await expect(page.getByRole("group", { name: "Step start" })).toContainText("Completed");
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
    await open(page, server);
    for (const theme of ["dark", "light"] as const) {
      await wear(page, theme);
      await expectAccessible(page);
      await picture(page, `${name}-${theme}`);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await expectAccessible(page);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(overflow, "nothing sticks out sideways").toBeLessThanOrEqual(0);
    await picture(page, `${name}-phone`);
  });
}
