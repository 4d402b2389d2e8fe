/** Measurements in a browser: one at a time, never part of the tests, since what they print depends on the machine. */
import { defineConfig } from "@playwright/test";
import base from "./playwright.config";

export default defineConfig(base, {
  testDir: "e2e/bench",
  testMatch: "*.bench.ts",
  workers: 1,
  retries: 0,
  timeout: 300_000,
  use: {
    // As most people have it: what turns, turns.
    contextOptions: { reducedMotion: "no-preference" },
  },
});
