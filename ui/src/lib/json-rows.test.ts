import { describe, expect, it } from "vitest";
import { jsonRows, previewOf } from "./json-rows";

const shown = (rows: ReturnType<typeof jsonRows>) => rows.map((row) => `${"  ".repeat(row.depth)}${row.name ?? "·"}`);

describe("a JSON tree", () => {
  it("shows the first levels", () => {
    expect(shown(jsonRows({ a: { b: { c: 1 } }, d: [1] }, new Map()))).toEqual(["·", "  a", "    b", "  d", "    0"]);
  });

  it("keeps what somebody opened or closed", () => {
    const opened = new Map([
      ["/a", false],
      ["/d", true],
    ]);
    expect(shown(jsonRows({ a: { b: 1 }, d: { e: { f: 1 } } }, opened))).toEqual(["·", "  a", "  d", "    e"]);
  });

  it("does not open what is large", () => {
    const rows = jsonRows({ items: Array.from({ length: 5000 }, (_, index) => index) }, new Map());
    expect(rows).toHaveLength(2);
  });

  it("tells keys with slashes apart", () => {
    const paths = jsonRows({ "a/b": { c: 1 }, a: { "b/c": 1 } }, new Map()).map((row) => row.path);
    expect(new Set(paths).size).toBe(paths.length);
  });

  it("previews what is closed", () => {
    expect(previewOf([1, 2])).toBe("[ 2 ]");
    expect(previewOf({ a: 1, b: 2, c: 3, d: 4, e: 5 })).toBe("{ a, b, c, d, +1 }");
    expect(previewOf("</script>")).toBe('"</script>"');
  });
});
