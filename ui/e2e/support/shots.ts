/** Pictures of pages. They go beside the other results of the tests; `UPDATE_SCREENSHOTS=1` keeps them in docs/ui. */
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "@playwright/test";

const FOLDER = fileURLToPath(new URL(process.env.UPDATE_SCREENSHOTS ? "../../../docs/ui" : "../../test-results/screens", import.meta.url));

/** One picture of what is shown. Hiding the caret would add a style element, which the server's policy forbids. */
export async function picture(page: Page, name: string) {
  await mkdir(FOLDER, { recursive: true });
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: `${FOLDER}/${name}.png`, caret: "initial" });
}

/** What is shown, in light and in dark. */
export async function shoot(page: Page, name: string) {
  for (const theme of ["dark", "light"] as const) {
    await wear(page, theme);
    await picture(page, `${name}-${theme}`);
  }
}

export async function wear(page: Page, theme: "light" | "dark") {
  await page.emulateMedia({ colorScheme: theme });
  await page.locator(`html[data-theme="${theme}"]`).waitFor();
}
