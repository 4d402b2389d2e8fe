import { readFile } from "node:fs/promises";
import { shoot } from "./support/shots";
import { expect, expectAccessible, test } from "./support/test";

const ORDERS = `apiVersion: noetl.io/v1
kind: Subscription
metadata: {name: orders, path: shop/orders}
spec:
  source: nats
  mode: pull
  activation: continuous
  url: nats://localhost:4222
  stream: orders
  consumer: c
  subject: orders
  dispatch: {playbook: examples/hello}
`;

test("credentials are kept, replaced and deleted, and never show a value", async ({ page, server }) => {
  const answers: string[] = [];
  page.on("response", async (response) => {
    if (response.url().includes("/api/credentials")) answers.push(await response.text().catch(() => ""));
  });
  await server.call("POST", "/api/credentials", { name: "<b>odd</b>", type: "bearer", data: { token: "oddity" } });
  await page.goto("/credentials");
  await expect(page.getByText("<b>odd</b>")).toBeVisible();
  await page.getByRole("button", { name: "New credential" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill("api");
  await dialog.getByLabel("Value of token").fill("swordfish");
  await expectAccessible(page);
  await shoot(page, "credentials-new");
  await dialog.getByRole("button", { name: "Keep" }).click();
  await expect(page.getByRole("button", { name: "Replace api" })).toBeVisible();
  await expectAccessible(page);
  await shoot(page, "credentials");

  await page.getByRole("button", { name: "Replace api" }).click();
  await expect(dialog.getByLabel("Value of token")).toHaveValue("");
  await dialog.getByLabel("Value of token").fill("marlin");
  await dialog.getByRole("button", { name: "Replace" }).click();
  await expect(dialog).toHaveCount(0);
  const kept = await server.call<{ data: { token: string } }>("GET", "/api/credentials/api?include_data=true");
  expect(kept.data.token).toBe("marlin");
  expect(answers.join()).not.toContain("swordfish");
  expect(await page.content()).not.toContain("marlin");

  await page.getByRole("button", { name: "Delete api" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(page.getByRole("button", { name: "Replace api" })).toHaveCount(0);
});

test("a subscription goes through its states, and only what is possible is offered", async ({ page, server }) => {
  await server.register(ORDERS);
  await page.goto("/subscriptions");
  await page.getByRole("button", { name: "Register shop/orders" }).click();
  const table = page.getByRole("region", { name: "Subscriptions" });
  const offered = () => table.getByRole("button").allTextContents();
  const act = async (label: string) => {
    await table.getByRole("button", { name: `${label} shop/orders`, exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: label, exact: true }).click();
  };
  await expect(table).toContainText("Registered");
  expect(await offered()).toEqual(["Activate", "Deactivate"]);
  await act("Activate");
  await expect(table).toContainText("Active");
  expect(await offered()).toEqual(["Pause", "Drain", "Deactivate"]);
  await expectAccessible(page);
  await shoot(page, "subscriptions");
  await act("Pause");
  await expect(table).toContainText("Paused");
  expect(await offered()).toEqual(["Resume", "Drain", "Deactivate"]);
  await act("Drain");
  await expect(table).toContainText("Draining");
  await act("Deactivate");
  await expect(table).toContainText("Deactivated");
  expect(await offered()).toEqual(["Activate"]);
});

test("a module is uploaded and deleted", async ({ page, server }) => {
  await page.goto("/plugins");
  await page.getByRole("button", { name: "Upload a module" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Path").fill("tools/score");
  await dialog.getByLabel("File, .wasm or .wat").setInputFiles({ name: "score.wat", mimeType: "text/wat", buffer: Buffer.from("(module)") });
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Upload" }).click();
  await expect(page.getByRole("button", { name: "Delete tools/score version 1" })).toBeVisible();
  const { plugins } = await server.call<{ plugins: { media_type: string; bytes: number }[] }>("GET", "/api/internal/plugins");
  expect(plugins).toMatchObject([{ media_type: "text/wat", bytes: 8 }]);
  await expectAccessible(page);
  await shoot(page, "plugins");
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download tools/score version 1" }).click();
  const file = await saved;
  expect(file.suggestedFilename()).toBe("score-1.wat");
  expect(await readFile(await file.path(), "utf8")).toBe("(module)");
  await page.getByRole("button", { name: "Delete tools/score version 1" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(page.getByText("No modules yet")).toBeVisible();
});

test("a token is made, shown once and revoked", async ({ page, server }) => {
  await page.goto("/settings");
  await page.getByRole("button", { name: "New token" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("ci");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Make it" }).click();
  await expect(dialog.getByRole("region", { name: "The token" })).toContainText(/\w{20,}/);
  const secret = (await dialog.getByRole("region", { name: "The token" }).innerText()).trim();
  await dialog.getByRole("button", { name: "Done" }).click();
  await expect(page.getByRole("region", { name: "API tokens" })).toContainText("Valid");
  expect(await page.content()).not.toContain(secret);
  await expectAccessible(page);
  await shoot(page, "settings");
  await page.getByRole("button", { name: "Revoke ci" }).click();
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await expect(page.getByRole("region", { name: "API tokens" })).toContainText("Revoked");
  const { items } = await server.call<{ items: { revoked_at: string | null }[] }>("GET", "/api/tokens");
  expect(items[0]?.revoked_at).toBeTruthy();
});

test("workers, health, metrics and the audit log are shown", async ({ page, server }) => {
  await server.ended(await server.execute("examples/hello"));
  await server.call("POST", "/api/catalog/delete", { path: "examples/hello" });
  await page.goto("/workers");
  const workers = page.getByRole("region", { name: "Workers" });
  await expect(workers).toContainText("embedded");
  await expect(workers).toContainText("shared, system, subscription");
  await expectAccessible(page);
  await shoot(page, "workers");
  await page.goto("/system");
  await expect(page.getByText("Healthy")).toBeVisible();
  await expect(page.getByText("The database has all its tables.")).toBeVisible();
  await expectAccessible(page);
  await shoot(page, "system");
  await page.getByRole("tab", { name: "Metrics" }).click();
  await expect(page.getByRole("img", { name: /Executions ended per second/ })).toBeVisible();
  // A rate is known once the numbers have been read twice.
  await expect(page.getByText(/^most \d/)).toHaveCount(5);
  for (let count = 0; count < 8; count += 1) await server.ended(await server.execute("examples/conditional"));
  await expect(page.getByText(/^most (?!0$)\d/).first()).toBeVisible();
  await expectAccessible(page);
  await shoot(page, "system-metrics");
  await page.getByRole("tab", { name: "Audit log" }).click();
  await expect(page.getByRole("region", { name: "Audit log" })).toContainText("POST /api/catalog/delete");
  await expectAccessible(page);
  await shoot(page, "system-audit");
});

test.describe("with secrets in the environment", () => {
  test.use({ start: { env: { NOETL_INTERNAL_API_TOKEN: "canary-in-the-environment" } } });

  test("the configuration in effect is shown without its secrets", async ({ page }) => {
    await page.goto("/settings");
    const settings = page.getByRole("region", { name: "Settings" });
    const row = (key: string) => settings.getByRole("row").filter({ has: page.getByText(key, { exact: true }) });
    await expect(row("server.listen")).toContainText("--listen");
    await expect(row("server.internal-token")).toContainText("(set)");
    await expect(row("server.internal-token")).toContainText("NOETL_INTERNAL_API_TOKEN");
    await expect(row("drive.tasks")).toHaveCount(0);
    await page.getByLabel(/All \d+ settings/).check();
    await expect(row("drive.tasks")).toContainText("default");
    expect(await page.content()).not.toContain("canary");
    await expectAccessible(page);
    await shoot(page, "settings-configuration");
  });
});
