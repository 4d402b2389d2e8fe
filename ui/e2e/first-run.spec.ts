import { expect, expectAccessible, test } from "./support/test";

test("a newcomer runs the first playbook with one button and sees it finish", async ({ page }) => {
  await page.goto("/");
  await expect(page.getByRole("heading", { name: "Run your first playbook" })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Run examples/hello" }).click();
  await expect(page).toHaveURL(/\/executions\/\d+/);
  await expect(page.getByRole("heading", { name: /examples\/hello/ })).toContainText("Completed");
  await page.getByRole("tab", { name: "Input and result" }).click();
  await expect(page.getByRole("region", { name: "The result" })).toContainText("Hello, world!");
  await page.getByRole("link", { name: "Home", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Run your first playbook" })).toHaveCount(0);
  await expect(page.getByRole("region", { name: "Executions that failed lately" })).toContainText("No failures");
});

test("an empty catalog does not keep the newcomer from it", async ({ page, server }) => {
  await server.call("POST", "/api/catalog/delete", { path: "examples/hello" });
  await page.goto("/");
  await page.getByRole("button", { name: "Run examples/hello" }).click();
  await expect(page.getByRole("heading", { name: /examples\/hello/ })).toContainText("Completed");
});
