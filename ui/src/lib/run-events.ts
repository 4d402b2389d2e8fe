/** Events of an execution, reduced to what the graph, the timeline and the log need. Values stay at the server. */
import type { EventRow } from "@/api/types";
import { instantOf } from "./time";

export interface RunEvent {
  seq: number;
  type: string;
  /** Milliseconds. */
  at: number;
  /** As the server wrote it, for those who want it exact. */
  time: string;
  status: string;
  step: string | null;
  /** Which share of which visit: `3`, `3.i1` for an item of a loop. */
  command: string | null;
  item: number | null;
  attempt: number | null;
  worker: string | null;
  tool: string | null;
  error: string | null;
  visit: number | null;
  from: string | null;
  next: string[];
  /** Of a loop: how many items there are, and whether that is known. */
  loop: { total: number | null } | null;
  child: string | null;
  /** What a suspended call waits for. */
  wait: { kind: string; name: string | null; prompt: unknown } | null;
  reason: string | null;
  rerunOf: string | null;
}

type Facts = Record<string, unknown>;

const facts = (value: unknown): Facts => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Facts) : {});
const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
const number = (value: unknown): number | null => (typeof value === "number" ? value : null);

export function runEvent(row: EventRow): RunEvent {
  const context = facts(facts(row.result).context);
  const meta = facts(row.meta);
  const waits = context.waits_for === undefined ? null : facts(context.waits_for);
  const ofRun = row.event_type.startsWith("playbook") || row.event_type === "signal.received";
  return {
    seq: row.seq,
    type: row.event_type,
    at: instantOf(row.created_at),
    time: row.created_at,
    status: row.status,
    step: ofRun ? null : (row.node_name ?? null),
    command: text(meta.command_key),
    item: row.current_index ?? null,
    attempt: number(meta.attempt),
    worker: row.worker_id ?? null,
    tool: row.event_type === "command.issued" ? (row.node_type ?? null) : null,
    error: row.error ?? null,
    visit: number(context.visit),
    from: text(context.from),
    next: Array.isArray(context.next) ? context.next.filter((name) => typeof name === "string") : [],
    loop: "iterations_expected" in context ? { total: number(context.iterations_expected) } : null,
    child: text(context.child_execution_id),
    wait: waits && { kind: text(waits.await) ?? "something", name: text(waits.name), prompt: waits.prompt },
    reason: text(context.reason),
    rerunOf: text(facts(row.context).rerun_of),
  };
}
