import { chain, LOOP } from "./support/playbooks";
import { expect, test } from "./support/test";

test("a loop of 10,000 items scrolls and zooms", async ({ page, server }) => {
  test.setTimeout(240_000);
  await server.register(LOOP);
  const id = await server.execute("tests/loop");
  expect(await server.ended(id)).toBe("COMPLETED");
  await page.goto(`/executions/${id}`);
  await expect(page.getByRole("group", { name: "Step many" })).toContainText("10,000/10,000", { timeout: 120_000 });
  await page.getByRole("tab", { name: "Timeline" }).click();
  await page.getByRole("button", { name: "Show what is in many" }).click();
  const timeline = page.getByRole("region", { name: /^Timeline/ });
  await expect(page.getByText("10,002 rows")).toBeVisible();
  await expect(timeline.getByRole("button", { name: "item 0", exact: true })).toBeVisible();
  await timeline.evaluate((element) => element.scrollTo(0, element.scrollHeight));
  await expect(timeline.getByRole("button", { name: "item 9999", exact: true })).toBeVisible();
  expect(await timeline.locator("[data-depth]").count()).toBeLessThan(100);
  const shown = page.getByText(/ of .* rows$/);
  const before = await shown.textContent();
  await page.getByRole("button", { name: "Zoom in" }).click();
  await expect(shown).not.toHaveText(before ?? "");
  await page.getByRole("button", { name: "Show all" }).click();
  await expect(shown).toHaveText(before ?? "");
  await page.getByRole("tab", { name: /Events/ }).click();
  await page.getByLabel("Follow").check();
  await expect(page.getByRole("region", { name: "Events" })).toContainText("playbook.completed");
});

test("a run of 1,000 steps is followed; what that costs is printed", async ({ page, server }) => {
  test.setTimeout(180_000);
  await server.register(chain(1000));
  await page.goto("/");
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const busy = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find((metric) => metric.name === "TaskDuration")?.value ?? 0;
  };
  const id = await server.execute("tests/chain");
  await page.goto(`/executions/${id}`);
  const [from, begun] = [await busy(), Date.now()];
  await expect(page.getByRole("heading", { level: 1 })).toContainText("Completed", { timeout: 120_000 });
  const seconds = (Date.now() - begun) / 1000;
  console.log(`  followed for ${seconds.toFixed(1)} s, busy for ${(await busy() - from).toFixed(1)} s of it`);
  await page.getByRole("tab", { name: "Timeline" }).click();
  await expect(page.getByText("1,000 rows")).toBeVisible();
});
