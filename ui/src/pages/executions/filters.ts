/** The filters of the list, as they stand in the address. */
import { useMemo } from "react";
import { useAddress } from "@/lib/address";

export interface Filters {
  search?: string | undefined;
  /** Several with commas between them. */
  status?: string | undefined;
  path?: string | undefined;
  labels?: string | undefined;
  parent_execution_id?: string | undefined;
  /** How far back: `1h`, `24h`, `7d`. */
  since?: string | undefined;
  before?: string | undefined;
  after?: string | undefined;
}

const NAMES = ["search", "status", "path", "labels", "parent_execution_id", "since", "before", "after"] as const;

export function useFilters(): [Filters, (filters: Filters) => void] {
  const [parameters, change] = useAddress();
  const filters = useMemo(() => {
    const read: Filters = {};
    for (const name of NAMES) {
      const value = parameters.get(name);
      if (value) read[name] = value;
    }
    return read;
  }, [parameters]);
  const write = (next: Filters) => change(Object.fromEntries(NAMES.map((name) => [name, next[name]])));
  return [filters, write];
}

export const SINCE: Record<string, number> = { "1h": 3_600, "24h": 86_400, "7d": 604_800 };

/** Rounded to the minute, so that the same question is not asked anew each second. */
export function sinceInstant(since: string | undefined): string | undefined {
  const seconds = since === undefined ? undefined : SINCE[since];
  if (seconds === undefined) return undefined;
  const minute = Math.floor(Date.now() / 60_000) * 60_000;
  return new Date(minute - seconds * 1000).toISOString();
}

/** The command that lists the same. */
export function commandOf(filters: Filters): string[] {
  const words = ["noetl", "list"];
  if (filters.status) words.push("--status", filters.status);
  if (filters.path) words.push("--path", filters.path);
  if (filters.search) words.push("--search", filters.search);
  return words;
}
