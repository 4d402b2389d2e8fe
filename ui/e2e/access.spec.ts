import { expect, expectAccessible, test } from "./support/test";

const ADMIN = "a-token-for-the-tests-of-the-ui";

test.use({
  start: { flags: ["--auth", "tokens"], env: { NOETL_ADMIN_TOKEN: ADMIN } },
  // A browser logs every refused request, and being refused is what is tested.
  expectedErrors: { patterns: [/status of 401/] },
});

test("a wrong token is refused in words, a right one leads back to where one was", async ({ page }) => {
  await page.goto("/executions?status=FAILED");
  await expect(page.getByRole("heading", { name: "This server asks for a token" })).toBeVisible();
  await expectAccessible(page);
  await page.getByLabel("Token").fill("not a token");
  await page.getByRole("button", { name: "Enter" }).click();
  await expect(page.getByRole("alert")).toContainText("not_authenticated");
  await page.getByLabel("Token").fill(ADMIN);
  await page.getByRole("button", { name: "Enter" }).click();
  await expect(page.getByRole("heading", { name: "Executions" })).toBeVisible();
  await expect(page).toHaveURL(/status=FAILED/);
  await expect(page.getByRole("status").filter({ hasText: "Live" })).toBeVisible();
  await page.reload();
  await expect(page.getByRole("heading", { name: "Executions" })).toBeVisible();
});
