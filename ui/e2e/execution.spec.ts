import { FAILING, WAITING } from "./support/playbooks";
import { expect, expectAccessible, test } from "./support/test";

test("a failing run is understood from its page: message, line and rule", async ({ page, server }) => {
  await server.register(FAILING);
  const id = await server.execute("tests/failing");
  expect(await server.ended(id)).toBe("FAILED");
  await page.goto(`/executions/${id}`);
  const why = page.getByRole("region", { name: "Why it failed", exact: true });
  await expect(why).toContainText("step 'divide' failed: ZeroDivisionError: integer division or modulo by zero");
  await expect(why).toContainText("Line 32");
  await expect(why).toContainText("Rule 2 (line 28) decided: fail because {{ output.status == 'error' }}");
  await expect(why.getByRole("region", { name: "tests/failing, around line 32" }).locator("[data-marked]")).toContainText("return 10 // (x - 3)");
  await expect(why.getByRole("region", { name: /Traceback/ })).toContainText("line 32, in helper");
  await expect(page.getByRole("group", { name: "Step divide" })).toBeVisible();
  await expectAccessible(page);

  await why.getByRole("button", { name: "divide" }).click();
  const step = page.getByRole("complementary", { name: "Step divide" });
  await expect(step).toContainText("Rule 2 (line 28)");
  await expect(step.getByRole("log")).toContainText("about to divide");
  await expect(step.getByRole("region", { name: /^Input of python/ })).toContainText("n: 3");
  await expect(page).toHaveURL(/step=divide/);
});

test("a run is repeated from where it failed, with other input", async ({ page, server }) => {
  await server.register(FAILING);
  const id = await server.execute("tests/failing");
  await server.ended(id);
  await page.goto(`/executions/${id}`);
  await page.getByRole("button", { name: "Run again from where it failed" }).click();
  const dialog = page.getByRole("dialog", { name: "Run again" });
  await expect(dialog.getByRole("radio", { name: /From where it failed/ })).toBeChecked();
  await expect(dialog.getByText(`noetl rerun ${id} --failed`)).toBeVisible();
  await dialog.getByRole("button", { name: "Run again" }).click();
  await expect(page).not.toHaveURL(new RegExp(id));
  await expect(page.getByText("Runs again")).toBeVisible();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("Failed");
  await expect(page.getByRole("group", { name: "Step start" }).locator("[data-status=kept]").first()).toBeVisible();

  await page.getByRole("button", { name: "Run again", exact: true }).click();
  await dialog.getByRole("radio", { name: "From the start" }).check();
  await dialog.getByLabel("Input").fill('{"n": 5}');
  await dialog.getByRole("button", { name: "Run again" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("Completed");

  await page.getByRole("link", { name: "compare the two" }).click();
  await expect(page.getByRole("region", { name: "Differences of input" })).toContainText("n");
  await expectAccessible(page);
});

test("a question is answered on the page, and the run goes on without a reload", async ({ page, server }) => {
  await server.register(WAITING);
  const id = await server.execute("tests/waiting");
  await server.happened(id, "call.suspended");
  await page.goto(`/executions/${id}`);
  const why = page.getByRole("region", { name: "Why it is where it is" });
  await expect(why).toContainText("waits for the signal 'approval'");
  await expect(why).toContainText("Shall we go on?");
  await expect(page.getByRole("group", { name: "Step ask" })).toContainText("Waiting");
  await expectAccessible(page);
  await why.getByLabel("Your name").fill("Ada");
  await why.getByRole("button", { name: "Approve" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("Completed");
  await expect(page.getByRole("group", { name: "Step yes" })).toContainText("Completed");
  await page.getByRole("tab", { name: "Input and result" }).click();
  await expect(page.getByRole("region", { name: "The result" })).toContainText("approved by Ada");
});

test("a run is paused, resumed and cancelled", async ({ page, server }) => {
  await server.register(WAITING);
  const id = await server.execute("tests/waiting");
  await server.happened(id, "call.suspended");
  await page.goto(`/executions/${id}`);
  const heading = page.getByRole("heading", { level: 1 });
  await page.getByRole("button", { name: "Pause" }).click();
  const pausing = page.getByRole("dialog", { name: "Pause this execution" });
  await expect(pausing.getByText(`noetl pause ${id}`)).toBeVisible();
  await pausing.getByRole("button", { name: "Pause the execution" }).click();
  await expect(heading).toContainText("Paused");
  await page.getByRole("button", { name: "Resume" }).click();
  const resuming = page.getByRole("dialog", { name: "Resume this execution" });
  await expect(resuming.getByText(`noetl resume ${id}`)).toBeVisible();
  await resuming.getByRole("button", { name: "Resume the execution" }).click();
  await expect(heading).toContainText("Running");
  await page.getByRole("button", { name: "Cancel" }).click();
  const dialog = page.getByRole("dialog", { name: "Cancel this execution" });
  await dialog.getByLabel(/Reason/).fill("not today");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Cancel the execution" }).click();
  await expect(heading).toContainText("Cancelled");
  expect((await server.call<{ error: string }>("GET", `/api/executions/${id}/status`)).error).toContain("not today");
});

test("the slider shows the execution as it was", async ({ page, server }) => {
  const id = await server.execute("examples/fan_out");
  await server.ended(id);
  await page.goto(`/executions/${id}`);
  const reduce = page.getByRole("group", { name: "Step reduce" });
  await expect(reduce).toContainText("Completed");
  await page.getByRole("slider", { name: "The event that is looked at" }).fill("2");
  await expect(page.getByRole("group", { name: "Step start" })).toContainText("Running");
  await expect(reduce).not.toContainText("Completed");
  await expect(page).toHaveURL(/at=2/);
  await page.getByRole("button", { name: "Back to now" }).click();
  await expect(reduce).toContainText("Completed");
});

test("events are filtered, and one is shown whole", async ({ page, server }) => {
  const id = await server.execute("examples/hello", { name: "Ada" });
  await server.ended(id);
  await page.goto(`/executions/${id}?tab=events`);
  const events = page.getByRole("region", { name: "Events" });
  await expect(events).toContainText("playbook.completed");
  await page.getByLabel("Type").selectOption("call.done");
  await expect(events).not.toContainText("playbook.completed");
  await events.getByRole("button", { name: /call\.done/ }).first().click();
  await expect(page.getByRole("region", { name: /^Event \d+$/ })).toContainText("call.done");
  await expectAccessible(page);
});
