import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** Puts a compressed copy beside each file that shrinks by it. The server sends it to those who can read it. */
function compressed(folder: string): Plugin {
  const visit = (path: string) => {
    for (const name of readdirSync(path)) {
      const file = join(path, name);
      if (statSync(file).isDirectory()) visit(file);
      else if (/\.(js|css|svg|html|json)$/.test(name)) {
        const content = readFileSync(file);
        const small = gzipSync(content, { level: constants.Z_BEST_COMPRESSION });
        if (small.length < content.length * 0.9) writeFileSync(`${file}.gz`, small);
      }
    }
  };
  return { name: "compressed", apply: "build", closeBundle: () => visit(folder) };
}

/** While one works on the pages, a server of one's own answers for them. It takes calls only of pages of its own origin. */
const address = process.env.NOETL_SERVER ?? "http://127.0.0.1:8082";
const server = { target: address, changeOrigin: true, headers: { Origin: address } };

const site = fileURLToPath(new URL("dist/site", import.meta.url));

export default defineConfig({
  plugins: [react(), compressed(site)],
  resolve: { alias: { "@": fileURLToPath(new URL("src", import.meta.url)) } },
  build: {
    outDir: site,
    emptyOutDir: true,
    target: "es2022",
    // The policy of the server allows no inline content, so every asset is a file.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  // The schemas and examples that the editor has are in folders beside this one.
  server: { fs: { allow: [".."] }, proxy: { "/api": server, "/metrics": server } },
  test: { include: ["src/**/*.test.{ts,tsx}"], environment: "node" },
});
