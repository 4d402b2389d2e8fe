import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { BINARY } from "./support/server";
import { shoot } from "./support/shots";
import { expect, expectAccessible, test } from "./support/test";

const BROKEN = `apiVersion: noetl.io/v2
kind: Playbook
metadata:
  name: broken
  path: tests/broken
workflow:
  - step: start
    tool:
      kind: htp
    next:
      arcs:
        - step: nowhere
  - step: other
    tol:
      kind: noop
`;

/** Replaces all that is in the editor. It is emptied first: the browser itself styles what replaces several lines, which the policy forbids. */
async function write(page: Page, text: string) {
  const editor = page.getByRole("textbox", { name: "The document as YAML" });
  await editor.click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(text);
}

test("the editor finds what `noetl check` finds", async ({ page, server }) => {
  const file = join(server.folder, "broken.yaml");
  writeFileSync(file, BROKEN);
  const { files } = JSON.parse(checked(file)) as { files: { diagnostics: { line: number; message: string }[] }[] };
  const expected = files[0]?.diagnostics ?? [];
  expect(expected.length).toBeGreaterThan(1);

  await page.goto("/editor");
  await expect(page.getByText("Nothing to say: it can be registered.")).toBeVisible();
  await write(page, BROKEN);
  const findings = page.getByRole("list", { name: "Findings" }).getByRole("listitem");
  await expect(findings).toHaveCount(expected.length);
  for (const [index, { line, message }] of expected.entries()) {
    await expect(findings.nth(index)).toContainText(`line ${line}`);
    await expect(findings.nth(index)).toContainText(message);
  }
  await expect(page.getByRole("button", { name: "Register", exact: true })).toBeDisabled();
  await shoot(page, "editor-findings");
});

/** What the command says; it ends with an error when it finds one. */
function checked(file: string): string {
  try {
    return execFileSync(BINARY, ["check", "--json", file], { encoding: "utf8" });
  } catch (error) {
    return String((error as { stdout: string }).stdout);
  }
}

test("a playbook is written, registered and run", async ({ page, server }) => {
  await page.goto("/editor");
  await page.getByLabel("Begin with").selectOption("fan_out");
  await expect(page.locator('[data-id="reduce"]')).toBeVisible();
  await expectAccessible(page);
  await shoot(page, "editor");
  // The graph leads to the text.
  await page.locator('[data-id="count_words"]').click();
  await expect(page.locator('[data-id="count_words"]')).toHaveClass(/selected/);

  await page.getByLabel("Begin with").selectOption("blank");
  await write(
    page,
    "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata:\n  name: mine\n  path: tests/mine\nworkflow:\n  - step: start\n    tool:\n      kind: noop\n      result: {said: written here}\n",
  );
  await page.getByRole("button", { name: "Register and run" }).click();
  await page.getByRole("button", { name: "Run version 1" }).click();
  await expect(page).toHaveURL(/\/executions\/\d+/);
  const id = page.url().split("/").pop()?.split("?")[0] ?? "";
  expect(await server.ended(id)).toBe("COMPLETED");
});

test("the editor completes keys from the schema and keeps the page's shortcuts out", async ({ page }) => {
  await page.goto("/editor");
  const editor = page.getByRole("textbox", { name: "The document as YAML" });
  await editor.click();
  await page.keyboard.press("ControlOrMeta+End");
  await page.keyboard.insertText("  - step: more\n    ");
  await page.keyboard.type("loo");
  await expect(page.getByRole("option", { name: "loop" })).toBeVisible();
  await page.keyboard.press("Escape");
  // `g` and `e` lead to the executions elsewhere.
  await page.keyboard.type("ge");
  await expect(page).toHaveURL(/\/editor/);
  await expect(editor).toContainText("looge");
});

test("a dry run says what would be called, and does nothing", async ({ page, server }) => {
  await page.goto("/editor?template=retry");
  await page.getByRole("button", { name: "Dry run" }).click();
  const found = page.getByRole("dialog", { name: "Dry run" }).getByRole("region", { name: "What it would do" });
  await expect(found).toContainText("Begins at");
  await expect(found).toContainText("Calls python");
  await page.getByLabel("Input, laid over the playbook's workload").fill('{"planted": 7}');
  await page.getByRole("button", { name: "Try with this input" }).click();
  await expect(found.getByRole("region", { name: "The workload" })).toContainText("planted");
  await expectAccessible(page);
  await shoot(page, "editor-dry-run");
  expect(await server.call("GET", "/api/executions")).toEqual([]);
});

test("a text that was changed is not left by accident", async ({ page }) => {
  await page.goto("/editor");
  await write(page, "kind: Playbook\n");
  await page.getByRole("link", { name: "Catalog" }).click();
  const dialog = page.getByRole("dialog", { name: "Leave what was changed?" });
  await dialog.getByRole("button", { name: "Keep writing" }).click();
  await expect(page).toHaveURL(/\/editor/);
  await page.getByRole("link", { name: "Catalog" }).click();
  await dialog.getByRole("button", { name: "Leave without registering" }).click();
  await expect(page).toHaveURL(/\/catalog/);
});

test("the graph goes along with the cursor", async ({ page }) => {
  await page.goto("/editor");
  const steps = Array.from({ length: 60 }, (_, index) => {
    const next = index < 59 ? `\n    next: {arcs: [{step: s${index + 1}}]}` : "";
    return `  - step: s${index}\n    tool: {kind: noop}${next}`;
  });
  await write(page, `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: long, path: tests/long}\nworkflow:\n${steps.join("\n")}\n`);
  // The cursor is at the end of the text.
  await expect(page.locator('[data-id="s59"]')).toBeInViewport();
  await expect(page.locator('[data-id="s0"]')).not.toBeInViewport();
  await page.keyboard.press("ControlOrMeta+Home");
  for (let line = 0; line < 4; line += 1) await page.keyboard.press("ArrowDown");
  await expect(page.locator('[data-id="s0"]')).toBeInViewport();
});
