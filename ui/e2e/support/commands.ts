/** The commands that a page shows: every one of them must be one that the program takes. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { BINARY } from "./server";

/** Gathers the commands that are shown, whenever they are. */
export async function gatherCommands(page: Page): Promise<ReadonlySet<string>> {
  const shown = new Set<string>();
  await page.exposeFunction("noteCommands", (lines: string[]) => {
    for (const line of lines) shown.add(line);
  });
  await page.addInitScript(() => {
    const note = (window as unknown as { noteCommands: (lines: string[]) => void }).noteCommands;
    const known = new Set<string>();
    let isAsked = false;
    const look = () => {
      isAsked = false;
      const lines = [...document.querySelectorAll('[aria-label="The same as a command"]')].map((line) => line.textContent ?? "");
      const news = lines.filter((line) => !known.has(line));
      for (const line of news) known.add(line);
      if (news.length > 0) note(news);
    };
    new MutationObserver(() => {
      if (isAsked) return;
      isAsked = true;
      requestAnimationFrame(look);
    }).observe(document, { subtree: true, childList: true, characterData: true });
  });
  return shown;
}

/**
 * What the program does not understand of these lines. A shell reads them, with a `noetl` that asks the program for help at
 * the end of its words: it complains about words it does not know before it gives it.
 */
export function misunderstood(lines: ReadonlySet<string>): string[] {
  const ours = [...lines].filter((line) => /^(noetl|for) /.test(line));
  if (ours.length === 0) return [];
  const folder = mkdtempSync(join(tmpdir(), "noetl-commands-"));
  writeFileSync(join(folder, "noetl"), '#!/bin/sh\nexec "$NOETL_BINARY" "$@" --help\n');
  chmodSync(join(folder, "noetl"), 0o755);
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}`, NOETL_BINARY: BINARY };
  const refused = ours.flatMap((line) => {
    const { status, stderr } = spawnSync("sh", ["-e", "-c", line], { env, encoding: "utf8" });
    return status === 0 ? [] : [`${line}\n${stderr}`];
  });
  rmSync(folder, { recursive: true });
  return refused;
}
