import { WAITING } from "./support/playbooks";
import { expect, test } from "./support/test";

// A browser logs every request that finds no server.
test.use({ expectedErrors: { patterns: [/ERR_CONNECTION_REFUSED/, /ERR_INCOMPLETE_CHUNKED_ENCODING/, /ERR_CONNECTION_RESET/, /ERR_EMPTY_RESPONSE/, /ERR_SOCKET_NOT_CONNECTED/] } });

test("a page that is open while the server restarts reconnects and catches up", async ({ page, server }) => {
  await server.register(WAITING);
  const id = await server.execute("tests/waiting");
  await server.happened(id, "call.suspended");
  await page.goto(`/executions/${id}`);
  await expect(page.getByRole("group", { name: "Step ask" })).toContainText("Waiting");
  await expect(page.getByRole("status").filter({ hasText: "Live" })).toBeVisible();
  await server.down();
  await expect(page.getByRole("status").filter({ hasText: "Reconnecting" })).toBeVisible();
  await server.again();
  await server.call("POST", `/api/executions/${id}/signal`, { name: "approval", payload: { approved: true, by: "Ada" } });
  await expect(page.getByRole("heading", { level: 1 })).toContainText("Completed", { timeout: 40_000 });
  await expect(page.getByRole("status").filter({ hasText: "Live" })).toBeVisible({ timeout: 40_000 });
  await expect(page.getByRole("group", { name: "Step yes" })).toContainText("Completed");
});
