import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { helpAt, keysAt, placesOf, type SchemaObject, valuesAt } from "./schema-at";

const SCHEMA = JSON.parse(readFileSync(new URL("../../../docs/playbook.schema.json", import.meta.url), "utf8")) as SchemaObject;

const TEXT = `apiVersion: noetl.io/v2
kind: Playbook
metadata:
  name: a
workflow:
  - step: start
    tool:
      kind: http
      url: x
    next:
      arcs:
        - step: end
  - step: code
    tool:
      kind: python
      code: |
        kind: nothing
`.split("\n");

const names = (line: number, column: number) => keysAt(SCHEMA, TEXT, line, column).map(({ name }) => name);

it("finds what leads to a line", () => {
  expect(placesOf(TEXT, 8, 6)?.map(({ name }) => name)).toEqual(["workflow", "[]", "tool"]);
  expect(placesOf(TEXT, 11, 10)?.map(({ name }) => name)).toEqual(["workflow", "[]", "next", "arcs", "[]"]);
  expect(placesOf(["arcs:", "- step: a", "- step: b"], 2, 2)?.map(({ name }) => name)).toEqual(["arcs", "[]"]);
});

it("knows the keys of each place", () => {
  expect(names(0, 0)).toContain("workload");
  expect(names(5, 4)).toContain("loop");
  expect(names(11, 10)).toContain("when");
});

it("knows the keys of the kind of tool that is written", () => {
  expect(names(8, 6)).toContain("url");
  expect(names(8, 6)).not.toContain("code");
  expect(names(14, 6)).toContain("code");
});

it("offers nothing within code", () => {
  expect(names(16, 8)).toEqual([]);
});

it("tells values and what keys are for", () => {
  expect(valuesAt(SCHEMA, TEXT, 7)).toContain("postgres");
  expect(helpAt(SCHEMA, TEXT, 9)?.description).not.toBe("");
});
