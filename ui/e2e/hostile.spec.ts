import type { Page } from "@playwright/test";
import { HOSTILE, MARKUP } from "./support/playbooks";
import { expect, test } from "./support/test";

/** Nothing that was shown has run. */
async function expectHarmless(page: Page) {
  expect(await page.evaluate(() => (window as unknown as { hacked?: number }).hacked)).toBeUndefined();
  await expect(page.locator("img[src=x], script:not([src])")).toHaveCount(0);
}

test("markup in names, errors, results, logs and labels stays text", async ({ page, server }) => {
  await server.register(HOSTILE);
  const id = await server.execute("tests/hostile");
  expect(await server.ended(id)).toBe("FAILED");
  await page.goto(`/executions/${id}?step=start`);
  await expect(page.getByRole("region", { name: "Why it failed", exact: true })).toContainText(MARKUP);
  const step = page.getByRole("complementary", { name: "Step start" });
  await expect(step.getByRole("log")).toContainText(MARKUP);
  await expect(step).toContainText("as a name");
  for (const tab of ["Events", "Logs", "Input and result", "Playbook"]) {
    await page.getByRole("tab", { name: tab }).click();
    await expect(page.getByRole("tabpanel")).toContainText("onerror");
    await expectHarmless(page);
  }
  await page.goto("/executions?search=onerror");
  const list = page.getByRole("region", { name: "Executions" });
  await expect(list).toContainText("onerror");
  await expect(list).toContainText("<b>bold</b>");
  await expectHarmless(page);
  await page.goto("/");
  await expect(page.getByRole("region", { name: "Executions that failed lately" })).toContainText("onerror");
  await expectHarmless(page);
});

test("markup in credentials, tokens, workers, plug-ins, subscriptions and the audit log stays text", async ({ page, server }) => {
  await server.call("POST", "/api/credentials", { name: MARKUP, type: "<i>bearer</i>", description: MARKUP, tags: [MARKUP], data: { token: "t" } });
  await server.call("POST", "/api/tokens", { name: MARKUP, scopes: ["viewer"] });
  await server.call("POST", "/api/worker/pool/register", { name: MARKUP, pool_name: MARKUP, capacity: 1 });
  const module = `tools/${encodeURIComponent("<img src=x onerror=window.hacked=1>")}`;
  const uploaded = await fetch(`${server.url}/api/internal/plugins/${module}?version=1`, { method: "POST", headers: { "content-type": "text/wat" }, body: "(module)" });
  expect(uploaded.status, await uploaded.text()).toBe(200);
  const subscription = {
    apiVersion: "noetl.io/v1",
    kind: "Subscription",
    metadata: { name: "hostile", path: `shop/${MARKUP}`, description: MARKUP },
    spec: { source: "nats", mode: "pull", activation: "continuous", url: "nats://localhost:4222", stream: MARKUP, consumer: "c", subject: MARKUP, dispatch: { playbook: "examples/hello" } },
  };
  await server.register(JSON.stringify(subscription));
  for (const [path, region] of [
    ["/credentials", "Credentials"],
    ["/settings", "API tokens"],
    ["/workers", "Workers"],
    ["/plugins", "Modules"],
    ["/catalog", "Documents"],
    ["/system?tab=audit", "Audit log"],
  ] as const) {
    await page.goto(path);
    await expect(page.getByRole("region", { name: region })).toContainText("<img src=x onerror=");
    await expectHarmless(page);
  }
  await page.goto("/subscriptions");
  await expect(page.getByRole("main")).toContainText("<img src=x onerror=");
  await expectHarmless(page);
  await page.goto(`/catalog/${encodeURIComponent(subscription.metadata.path)}`);
  await expect(page.getByRole("main")).toContainText(`"stream":`);
  await expectHarmless(page);
});
