/** A JSON value as the lines of a tree, of which only those below open nodes are there. */
import type { Json } from "@/api/types";

export interface JsonRow {
  /** Unique in the tree. */
  path: string;
  depth: number;
  /** The name or index under which the value stands. */
  name: string | null;
  value: Json;
  /** How many values are directly below; nothing for one that has none by nature. */
  size: number | null;
  isOpen: boolean;
}

export type Opened = ReadonlyMap<string, boolean>;

/** Nodes of the first levels are open as long as they are small, unless somebody has opened or closed them. */
export function jsonRows(value: Json, opened: Opened, openDepth = 2): JsonRow[] {
  const rows: JsonRow[] = [];
  const visit = (value: Json, name: string | null, path: string, depth: number) => {
    const entries = entriesOf(value);
    const isOpen = entries !== null && (opened.get(path) ?? (depth < openDepth && entries.length <= 100));
    rows.push({ path, depth, name, value, size: entries?.length ?? null, isOpen });
    if (!isOpen || entries === null) return;
    for (const [key, below] of entries) visit(below, key, `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, depth + 1);
  };
  visit(value, null, "", 0);
  return rows;
}

function entriesOf(value: Json): [string, Json][] | null {
  if (Array.isArray(value)) return value.map((item, index) => [String(index), item]);
  if (value !== null && typeof value === "object") return Object.entries(value);
  return null;
}

/** What a closed node or a plain value looks like on one line. */
export function previewOf(value: Json): string {
  if (Array.isArray(value)) return value.length === 0 ? "[]" : `[ ${value.length.toLocaleString("en")} ]`;
  if (value !== null && typeof value === "object") {
    const keys = Object.keys(value);
    if (keys.length === 0) return "{}";
    const shown = keys.slice(0, 4).join(", ");
    return `{ ${shown}${keys.length > 4 ? `, +${keys.length - 4}` : ""} }`;
  }
  return JSON.stringify(value);
}
