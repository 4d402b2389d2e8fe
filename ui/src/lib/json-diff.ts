/** Where two values differ, as a flat list of places. */
import type { Json } from "@/api/types";

export interface Difference {
  /** `input.items[2].name`. */
  path: string;
  before: Json | undefined;
  after: Json | undefined;
}

const MOST = 500;

export function differences(before: Json | undefined, after: Json | undefined): Difference[] {
  const found: Difference[] = [];
  compare(before, after, "", found);
  return found;
}

function compare(before: Json | undefined, after: Json | undefined, path: string, found: Difference[]) {
  if (found.length >= MOST || Object.is(before, after)) return;
  if (Array.isArray(before) && Array.isArray(after)) {
    for (let index = 0; index < Math.max(before.length, after.length); index += 1) compare(before[index], after[index], `${path}[${index}]`, found);
    return;
  }
  if (isMap(before) && isMap(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) compare(before[key], after[key], path === "" ? key : `${path}.${key}`, found);
    return;
  }
  found.push({ path: path === "" ? "value" : path, before, after });
}

function isMap(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
