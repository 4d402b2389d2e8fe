import { describe, expect, it } from "vitest";
import { differences } from "./json-diff";

describe("differences of values", () => {
  it("are none where values are alike", () => {
    expect(differences({ a: [1, { b: null }] }, { a: [1, { b: null }] })).toEqual([]);
  });

  it("are named by their place", () => {
    expect(differences({ a: [1, { b: 2 }], gone: 1 }, { a: [1, { b: 3 }], come: 1 })).toEqual([
      { path: "a[1].b", before: 2, after: 3 },
      { path: "gone", before: 1, after: undefined },
      { path: "come", before: undefined, after: 1 },
    ]);
  });

  it("are whole where the kinds differ", () => {
    expect(differences({ a: 1 }, [1])).toEqual([{ path: "value", before: { a: 1 }, after: [1] }]);
  });
});
