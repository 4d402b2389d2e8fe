import { describe, expect, it } from "vitest";
import { tableOf } from "./table";

describe("tables", () => {
  it("are lists of objects, with all their names as columns", () => {
    expect(tableOf([{ a: 1 }, { a: 2, b: "x" }])).toEqual({
      columns: ["a", "b"],
      rows: [
        [1, null],
        [2, "x"],
      ],
    });
  });

  it("are what databases answer", () => {
    expect(tableOf({ columns: ["n"], rows: [[1], [2]] })?.rows).toHaveLength(2);
    expect(tableOf({ rows: [{ n: 1 }, { n: 2 }] })?.columns).toEqual(["n"]);
  });

  it("are nothing else", () => {
    for (const value of [1, "text", null, [1, 2], [{ a: 1 }, 2], { a: { b: 1 } }, [{ a: 1 }]]) expect(tableOf(value)).toBeNull();
  });
});
