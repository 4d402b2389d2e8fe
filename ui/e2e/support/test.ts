/** What every test has: a server, a page at it, and the rules that the page logs no error and shows no command that the program refuses. */
import AxeBuilder from "@axe-core/playwright";
import { test as base, expect, type Page } from "@playwright/test";
import { gatherCommands, misunderstood } from "./commands";
import { Server, type Start } from "./server";
import { serveSite } from "./site";

interface Fixtures {
  server: Server;
  /** How the server is started. */
  start: Start;
  /** Errors on the console that belong to what is tested, such as a refused request. */
  expectedErrors: { patterns: RegExp[] };
  /** Whether the commands that the page shows are looked at, which costs it a little. */
  commandsAreChecked: boolean;
}

export const test = base.extend<Fixtures>({
  start: [{}, { option: true }],
  expectedErrors: [{ patterns: [] }, { option: true }],
  commandsAreChecked: [true, { option: true }],
  server: async ({ start }, use) => {
    const server = await Server.begin(start);
    await use(server);
    await server.end();
  },
  baseURL: async ({ server }, use) => {
    await use(server.url);
  },
  page: async ({ page, server, expectedErrors, commandsAreChecked }, use) => {
    await serveSite(page, server.url);
    const errors: string[] = [];
    const note = (text: string) => {
      if (!expectedErrors.patterns.some((expected) => expected.test(text))) errors.push(text);
    };
    page.on("console", (message) => {
      if (message.type() === "error") note(`${message.text()} (${message.location().url})`);
    });
    page.on("pageerror", (error) => note(String(error)));
    const commands = commandsAreChecked ? await gatherCommands(page) : new Set<string>();
    await use(page);
    expect(errors, "the console has no errors").toEqual([]);
    expect(misunderstood(commands), "the program takes every command that was shown").toEqual([]);
  },
});

/** No rule of accessibility is broken on what is shown. */
export async function expectAccessible(page: Page) {
  const { violations } = await new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]).analyze();
  const told = violations.map(
    ({ id, help, nodes }) => `${id}: ${help}\n${nodes.map((node) => `  ${node.html}\n  ${node.failureSummary}`).join("\n")}`,
  );
  expect(told, "axe finds nothing").toEqual([]);
}

export { expect };
