import { expect, it } from "vitest";
import { matchesGlob } from "./glob";

it("takes a star for any text and everything else for itself", () => {
  expect(matchesGlob("pg_*", "pg_main")).toBe(true);
  expect(matchesGlob("pg_*", "my_pg_main")).toBe(false);
  expect(matchesGlob("a.b?", "a.b1")).toBe(true);
  expect(matchesGlob("a.b?", "axb1")).toBe(false);
});
