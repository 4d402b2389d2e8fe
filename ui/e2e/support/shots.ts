/** Pictures of pages for docs/ui, in light and dark. They are taken when `NOETL_SHOTS` is set, so that tests change no file. */
import { fileURLToPath } from "node:url";
import type { Page } from "@playwright/test";

const folder = fileURLToPath(new URL("../../../docs/ui/", import.meta.url));

export async function shoot(page: Page, name: string) {
  if (!process.env.NOETL_SHOTS) return;
  for (const theme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    await page.locator(`html[data-theme="${theme}"]`).waitFor();
    // Hiding the caret would add a style element, which the server's policy forbids.
    await page.screenshot({ path: `${folder}${name}-${theme}.png`, caret: "initial" });
  }
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
}
