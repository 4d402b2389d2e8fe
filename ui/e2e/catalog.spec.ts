import { shoot } from "./support/shots";
import { expect, expectAccessible, test } from "./support/test";

const REPORT = (text: string) => `apiVersion: noetl.io/v2
kind: Playbook
metadata:
  name: report
  path: shop/report
  description: Sends the report <img src=x onerror=alert(1)>

workload:
  format: pdf # How it looks ui:enum=[pdf, html]
  copies: 2 # How many
  password: unset # ui:secret
  database: pg_main # ui:credential=pg_*
  mail:
    to: ada@example.org
    urgent: false

workflow:
  - step: start
    tool:
      kind: noop
      result:
        said: "${text}"
        format: "{{ workload.format }}"
        copies: "{{ workload.copies }}"
        letters: "{{ workload.password | length }}"
    next:
      arcs:
        - step: send
          when: "{{ workload.copies > 1 }}"
  - step: send
    tool:
      kind: noop
`;

test("the catalog is searched, and a document shows its source, graph and versions", async ({ page, server }) => {
  // It looks at four pages with axe.
  test.slow();
  await server.register(REPORT("one"));
  await server.register(REPORT("two"));
  await page.goto("/catalog");
  await expect(page.getByRole("link", { name: "examples/hello", exact: true })).toBeVisible();
  await expectAccessible(page);
  await shoot(page, "catalog");

  await page.getByRole("searchbox", { name: "Search by path or description" }).fill("report");
  await expect(page.getByRole("link", { name: "examples/hello", exact: true })).toHaveCount(0);
  await expect(page).toHaveURL(/search=report/);
  // What a document says about itself stays text.
  await expect(page.getByText("Sends the report <img src=x onerror=alert(1)>")).toBeVisible();
  await page.getByRole("link", { name: "shop/report", exact: true }).click();

  await page.getByRole("tab", { name: "Source" }).click();
  await expect(page.getByRole("region", { name: "Source" })).toContainText('said: "two"');
  await page.getByRole("tab", { name: "Graph" }).click();
  await page.getByRole("group", { name: "Step send" }).or(page.locator('[data-id="send"]')).first().click();
  await expect(page).toHaveURL(/step=send/);
  await expectAccessible(page);
  await shoot(page, "catalog-graph");

  await page.getByRole("tab", { name: /Versions/ }).click();
  const diff = page.getByRole("region", { name: "What changed" });
  await expect(diff).toContainText('said: "one"');
  await expect(diff).toContainText('said: "two"');
  await expect(page.getByText("1 added")).toBeVisible();
  await expectAccessible(page);
  await shoot(page, "catalog-versions");
});

test("a run form is made from the workload, and secrets stay hidden", async ({ page, server }) => {
  await server.register(REPORT("hello"));
  await server.call("POST", "/api/credentials", { name: "pg_main", type: "postgres", data: { db_password: "s3cret" } });
  await page.goto("/catalog/shop/report?tab=run");
  const form = page.getByRole("form", { name: "Run shop/report" });
  await form.getByLabel("format").selectOption("html");
  await form.getByLabel("copies").fill("many");
  await expect(form.getByText("A number is needed.")).toBeVisible();
  await expect(form.getByRole("button", { name: "Run version 1" })).toBeDisabled();
  await form.getByLabel("copies").fill("3");
  const secret = form.getByLabel("password");
  await expect(secret).toHaveAttribute("type", "password");
  await secret.fill("hunter2");
  await expect(form.getByText("1 fit pg_*")).toBeVisible();
  const command = form.getByRole("textbox", { name: "The same as a command" });
  await expect(command).toContainText("noetl exec shop/report");
  await expect(command).toContainText('"copies":3');
  await expect(command).not.toContainText("hunter2");
  await expectAccessible(page);
  await shoot(page, "run-form");

  await form.getByRole("button", { name: "Run version 1" }).click();
  await expect(page).toHaveURL(/\/executions\/\d+/);
  const id = page.url().split("/").pop()?.split("?")[0] ?? "";
  expect(await server.ended(id)).toBe("COMPLETED");
  const step = await server.call<{ result: unknown }>("GET", `/api/executions/${id}/steps/start`);
  expect(JSON.stringify(step)).toContain('"format":"html"');
  expect(JSON.stringify(step)).toContain('"letters":7');

  // The input is remembered without its secret.
  await page.goto("/catalog/shop/report?tab=run");
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain("hunter2");
  await page.getByRole("button", { name: /"format":"html"/ }).click();
  await expect(form.getByLabel("copies")).toHaveValue("3");
  await expect(form.getByLabel("password")).toHaveValue("");
});

test("an input can be written as YAML, and another version can be run", async ({ page, server }) => {
  await server.register(REPORT("one"));
  await server.register(REPORT("two"));
  await page.goto("/catalog/shop/report?tab=run&version=1");
  await page.getByRole("button", { name: "YAML" }).click();
  const text = page.getByLabel("The input as YAML");
  await text.fill("copies: [");
  await expect(page.getByText(/This is no YAML/)).toBeVisible();
  await text.fill("copies: 1\nmail:\n  urgent: true\n");
  await expect(page.getByRole("textbox", { name: "The same as a command" })).toContainText("shop/report@1");
  await page.getByRole("button", { name: "Run version 1" }).click();
  await expect(page).toHaveURL(/\/executions\/\d+/);
  const id = page.url().split("/").pop()?.split("?")[0] ?? "";
  await server.ended(id);
  const execution = await server.call<{ version: number }>("GET", `/api/executions/${id}`);
  expect(execution.version).toBe(1);
  expect(JSON.stringify(await server.call("GET", `/api/executions/${id}/steps/start`))).toContain('"copies":1');
});

test("a document that was run is deleted and brought back", async ({ page, server }) => {
  await server.ended(await server.execute("examples/hello"));
  await page.goto("/catalog/examples/hello");
  await page.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("textbox", { name: "The same as a command" })).toContainText("noetl catalog delete examples/hello");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(page).toHaveURL(/\/catalog$/);
  await expect(page.getByRole("link", { name: "examples/hello", exact: true })).toHaveCount(0);
  await page.getByLabel("With deleted ones").check();
  await page.getByRole("link", { name: "examples/hello", exact: true }).click();
  await page.getByRole("button", { name: "Restore" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
  await expect(page.getByRole("button", { name: "Delete" })).toBeVisible();
  await server.execute("examples/hello");
});
