import { expect, it } from "vitest";
import { readDiff } from "./diff";

it("numbers the lines of both sides", () => {
  const diff = "--- a@1\n+++ a@2\n@@ -2,3 +2,3 @@\n one\n-two\n+2\n three\n@@ -9 +9,2 @@\n nine\n+ten\n";
  expect(readDiff(diff).map(({ kind, text, before, after }) => [kind, text, before, after])).toEqual([
    ["gap", "", null, null],
    ["same", "one", 2, 2],
    ["removed", "two", 3, null],
    ["added", "2", null, 3],
    ["same", "three", 4, 4],
    ["gap", "", null, null],
    ["same", "nine", 9, 9],
    ["added", "ten", null, 10],
  ]);
});

it("takes a line that looks like a heading for a line", () => {
  expect(readDiff("@@ -1 +1 @@\n--- was a rule\n+++ is another\n").map(({ text }) => text)).toEqual(["-- was a rule", "++ is another"]);
});
