/** Values that are tables: lists of objects with the same few names, and what the `render` block of a step declares. */
import type { Json } from "@/api/types";

export interface Table {
  columns: string[];
  rows: Json[][];
}

const MOST_COLUMNS = 30;

/** A list of objects, or `{columns, rows}` as databases answer; nothing for anything else. */
export function tableOf(value: Json): Table | null {
  if (value !== null && typeof value === "object" && !Array.isArray(value)) {
    const { columns, rows } = value;
    if (Array.isArray(columns) && Array.isArray(rows) && columns.every((column) => typeof column === "string")) {
      const isGrid = rows.every((row) => Array.isArray(row) && row.length === columns.length);
      if (isGrid) return { columns: columns as string[], rows: rows as Json[][] };
    }
    const inner = rows ?? value.data ?? value.results;
    return Array.isArray(inner) ? tableOf(inner) : null;
  }
  if (!Array.isArray(value) || value.length < 2) return null;
  const columns = new Set<string>();
  for (const row of value) {
    if (row === null || typeof row !== "object" || Array.isArray(row)) return null;
    for (const name of Object.keys(row)) columns.add(name);
    if (columns.size > MOST_COLUMNS) return null;
  }
  if (columns.size === 0) return null;
  const names = [...columns];
  return { columns: names, rows: (value as { [key: string]: Json }[]).map((row) => names.map((name) => row[name] ?? null)) };
}
