/**
 * The pages as Vite built them, in place of those in the binary, when `NOETL_SITE` names their folder: whoever works on
 * pages tests them without building the binary. They come under the policy that the binary sends.
 */
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { Page } from "@playwright/test";

const TYPES: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".woff2": "font/woff2" };

export async function serveSite(page: Page, server: string) {
  const site = process.env.NOETL_SITE;
  if (!site) return;
  const policy = (await fetch(server, { headers: { accept: "text/html" } })).headers.get("content-security-policy") ?? "";
  await page.route(
    (url) => url.origin === server && !/^\/(api|metrics|health)(\/|$)/.test(url.pathname),
    async (route) => {
      const { pathname } = new URL(route.request().url());
      const name = extname(pathname) === "" || !(extname(pathname) in TYPES) ? "/index.html" : pathname;
      const body = await readFile(join(site, name));
      await route.fulfill({ body, contentType: TYPES[extname(name)] ?? "text/plain", headers: { "content-security-policy": policy } });
    },
  );
}
