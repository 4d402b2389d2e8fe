import { describe, expect, it } from "vitest";
import type { Span } from "./run-model";
import { moved, ticks, timelineRows, zoomed } from "./timeline";

const span = (part: Partial<Span>): Span => ({
  key: "k",
  kind: "visit",
  step: "s",
  visit: 1,
  item: null,
  attempt: 1,
  from: 0,
  began: 0,
  to: 10,
  status: "completed",
  worker: null,
  tool: null,
  error: null,
  waits: [],
  ...part,
});

const items = (count: number) =>
  Array.from({ length: count }, (_, item) => span({ key: `a${item}`, kind: "attempt", item }));

describe("rows of the timeline", () => {
  it("show a step with one attempt as one row", () => {
    const rows = timelineRows([span({ key: "v" }), span({ key: "a", kind: "attempt", worker: "w" })], new Map());
    expect(rows.map((row) => [row.label, row.size, row.span.worker])).toEqual([["s", null, "w"]]);
  });

  it("show attempts and items beneath their step, and hide many until they are asked for", () => {
    expect(timelineRows([span({ key: "v" }), ...items(3)], new Map()).map((row) => row.label)).toEqual(["s", "item 0", "item 1", "item 2"]);
    expect(timelineRows([span({ key: "v" }), ...items(10_000)], new Map())).toHaveLength(1);
    expect(timelineRows([span({ key: "v" }), ...items(10_000)], new Map([["v", true]]))).toHaveLength(10_001);
  });

  it("tell visits of the same step apart", () => {
    const rows = timelineRows([span({ key: "v1", visit: 1 }), span({ key: "v2", visit: 2 })], new Map());
    expect(rows.map((row) => row.label)).toEqual(["s", "s (visit 2)"]);
  });
});

describe("the window", () => {
  const whole = { from: 0, to: 1000 };
  it("zooms around a point and stays within the whole", () => {
    expect(zoomed(whole, whole, 0.5, 500)).toEqual({ from: 250, to: 750 });
    expect(zoomed({ from: 250, to: 750 }, whole, 4)).toEqual(whole);
    expect(zoomed(whole, whole, 0.5, 0)).toEqual({ from: 0, to: 500 });
  });

  it("moves no further than the ends", () => {
    expect(moved({ from: 0, to: 100 }, whole, 50)).toEqual({ from: 50, to: 150 });
    expect(moved({ from: 0, to: 100 }, whole, 5000)).toEqual({ from: 900, to: 1000 });
  });

  it("has round instants along it", () => {
    expect(ticks({ from: 0, to: 4000 }, 0)).toEqual([0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4]);
  });
});
