import { FAILING, WAITING } from "./support/playbooks";
import { expect, expectAccessible, test } from "./support/test";

test("the list follows what happens without a reload", async ({ page, server }) => {
  await server.register(WAITING);
  await page.goto("/executions");
  await expect(page.getByText("No executions yet")).toBeVisible();
  const id = await server.execute("tests/waiting");
  const row = page.getByRole("row", { name: new RegExp(id) });
  await expect(row).toContainText("Running");
  await server.call("POST", `/api/executions/${id}/signal`, { name: "approval", payload: { approved: true } });
  await expect(row).toContainText("Completed");
});

test("filters are in the address and come back with it", async ({ page, server }) => {
  await server.register(FAILING);
  await server.ended(await server.execute("tests/failing"));
  await server.ended(await server.execute("examples/hello"));
  await page.goto("/executions");
  const list = page.getByRole("region", { name: "Executions" });
  await expect(list.getByRole("row")).toHaveCount(3);
  await page.getByRole("button", { name: "Failed" }).click();
  await expect(list.getByRole("row")).toHaveCount(2);
  await page.getByLabel("Search by id, path, error or label").fill("ZeroDivision");
  await expect(page).toHaveURL(/search=ZeroDivision/);
  await expect(list).toContainText("tests/failing");
  await page.reload();
  await expect(page.getByRole("button", { name: "Failed" })).toHaveAttribute("aria-pressed", "true");
  await expect(list.getByRole("row")).toHaveCount(2);
  await page.getByLabel("Search by id, path, error or label").fill("nothing like it");
  await expect(list).toContainText("Nothing matches");
  await expectAccessible(page);
});

test("pages go on from key to key in both directions", async ({ page, server }) => {
  const started = await server.call<{ results: { execution_id: string }[] }>("POST", "/api/execute/batch", {
    executions: Array.from({ length: 60 }, () => ({ path: "examples/hello" })),
  });
  const ids = started.results.map((result) => String(result.execution_id));
  await page.goto("/executions");
  const list = page.getByRole("region", { name: "Executions" });
  await expect(list.getByRole("row")).toHaveCount(51);
  await page.getByRole("button", { name: "Older" }).click();
  await expect(list.getByRole("row")).toHaveCount(11);
  await expect(list).toContainText(ids[0] ?? "");
  await page.getByRole("button", { name: "Newer" }).click();
  await expect(list.getByRole("row")).toHaveCount(51);
  await expect(list).toContainText(ids.at(-1) ?? "");
});

test("many are cancelled and run again at once", async ({ page, server }) => {
  await server.register(WAITING);
  const ids = [];
  for (let count = 0; count < 3; count += 1) ids.push(await server.execute("tests/waiting"));
  await page.goto("/executions?path=waiting");
  const list = page.getByRole("region", { name: "Executions" });
  await expect(list.getByRole("row")).toHaveCount(4);
  await page.getByLabel("Select all on this page").check();
  await page.getByRole("button", { name: "Cancel 3" }).click();
  for (const id of ids) await expect(page.getByRole("dialog").getByRole("textbox", { name: "The same as a command" })).toContainText(id);
  await page.getByRole("dialog").getByRole("button", { name: "Cancel 3" }).click();
  await expect(list.locator("[data-status=cancelled]")).toHaveCount(3);
  await page.getByLabel("Select all on this page").check();
  await page.getByRole("button", { name: "Run 3 again" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Run 3 again" }).click();
  await expect(list.getByRole("row")).toHaveCount(7);
});
