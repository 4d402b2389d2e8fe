/** The inputs with which a playbook was run lately from this browser. What is secret never comes here. */
import type { Json } from "@/api/types";

export interface RecentInput {
  /** When it was used. */
  at: string;
  payload: Record<string, Json>;
}

const KEPT = 5;
const key = (path: string) => `noetl.inputs.${path}`;

export function recentInputs(path: string): RecentInput[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key(path)) ?? "[]");
    return Array.isArray(stored) ? (stored as RecentInput[]).slice(0, KEPT) : [];
  } catch {
    return [];
  }
}

/** Notes an input without secrets. One that was used before moves to the front. */
export function noteInput(path: string, payload: Record<string, Json>) {
  if (Object.keys(payload).length === 0) return;
  const text = JSON.stringify(payload);
  const others = recentInputs(path).filter((input) => JSON.stringify(input.payload) !== text);
  try {
    localStorage.setItem(key(path), JSON.stringify([{ at: new Date().toISOString(), payload }, ...others].slice(0, KEPT)));
  } catch {
    // Without storage nothing is remembered.
  }
}
