import { describe, expect, it } from "vitest";
import { durationText, instantOf, relativeText } from "./time";

describe("durations", () => {
  it.each([
    [0, "0 ms"],
    [0.00008, "80 µs"],
    [0.0025, "2.5 ms"],
    [0.34, "340 ms"],
    [0.9996, "1.0 s"],
    [4.23, "4.2 s"],
    [125, "2 m 5 s"],
    [10_800, "3 h 0 m"],
    [187_200, "2 d 4 h"],
    [-1, "–"],
  ])("%d seconds are %s", (seconds, text) => expect(durationText(seconds)).toBe(text));
});

describe("instants", () => {
  const now = Date.parse("2026-01-10T12:00:00Z");
  it.each([
    ["2026-01-10T11:59:58Z", "just now"],
    ["2026-01-10T11:59:20Z", "40 s ago"],
    ["2026-01-10T09:00:00Z", "3 h ago"],
    ["2026-01-12T12:00:00Z", "in 2 d"],
    ["2025-06-01T12:00:00Z", "Jun 1, 2025"],
  ])("%s is %s", (at, text) => expect(relativeText(at, now)).toBe(text));
});

it("instants keep their microseconds", () => {
  expect(instantOf("2026-01-10T12:00:00.525261Z") - instantOf("2026-01-10T12:00:00.525Z")).toBeCloseTo(0.261, 3);
});
