import { expect, test } from "./support/test";

test("keys lead everywhere", async ({ page }) => {
  await page.goto("/");
  await expect(page.getByRole("heading", { name: "Home" })).toBeVisible();
  await page.keyboard.press("g");
  await page.keyboard.press("e");
  await expect(page.getByRole("heading", { name: "Executions" })).toBeVisible();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.keyboard.press("/");
  await page.keyboard.type("hello");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/search=hello/);
  await page.keyboard.press("t");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.reload();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});

test("addresses that lead nowhere say so, and the API answers programs", async ({ page, server }) => {
  await page.goto("/nowhere");
  await expect(page.getByText("This address leads nowhere")).toBeVisible();
  const answer = await fetch(`${server.url}/api/nowhere`, { headers: { accept: "text/html" } });
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ code: "route_not_found" });
});

test("the first load is small; how fast it is, is printed", async ({ page }) => {
  let bytes = 0;
  page.on("response", async (response) => {
    const sizes = await response.request().sizes().catch(() => null);
    bytes += sizes?.responseBodySize ?? 0;
  });
  await page.goto("/");
  await expect(page.getByRole("heading", { name: "Run your first playbook" })).toBeVisible();
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
  console.log(`  first load ${(bytes / 1000).toFixed(0)} kB, first contentful paint after ${paint?.toFixed(0)} ms`);
  expect(bytes).toBeLessThan(700_000);
});
