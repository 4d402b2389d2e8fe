/**
 * What the events of an execution add up to: the state of each step, which arcs were taken, and what took when how long.
 * The server's engine decides; this only retells, so that any point in time can be shown without asking again.
 */
import type { RunEvent } from "./run-events";

export interface StepState {
  name: string;
  /** `running`, `waiting`, `completed`, `failed`, `skipped`, `kept`. */
  status: string;
  runs: number;
  startedAt: number | null;
  endedAt: number | null;
  error: string | null;
  loop: LoopState | null;
}

export interface LoopState {
  /** Unknown for a cursor. */
  total: number | null;
  done: number;
  failed: number;
  running: number;
}

/** Something that took time: a visit of a step, or one attempt at a command of it. */
export interface Span {
  key: string;
  kind: "visit" | "attempt";
  step: string;
  visit: number;
  item: number | null;
  attempt: number;
  /** When it was entered or issued. */
  from: number;
  /** When a worker began. */
  began: number | null;
  to: number | null;
  status: string;
  worker: string | null;
  tool: string | null;
  error: string | null;
  /** Stretches in which it waited for a signal, a child or a time. */
  waits: { from: number; to: number | null; what: string }[];
}

export interface Wait {
  step: string;
  command: string;
  kind: string;
  name: string | null;
  prompt: unknown;
  since: number;
}

const ENDS: Record<string, string> = {
  "playbook.completed": "COMPLETED",
  "playbook.failed": "FAILED",
  "playbook.cancelled": "CANCELLED",
};

export class RunModel {
  status = "PENDING";
  seq = 0;
  startedAt: number | null = null;
  endedAt: number | null = null;
  lastAt: number | null = null;
  rerunOf: string | null = null;
  readonly steps = new Map<string, StepState>();
  /** How often an arc was taken, by `from` and `to`. */
  readonly arcs = new Map<string, number>();
  readonly spans: Span[] = [];
  readonly waits = new Map<string, Wait>();
  readonly children: { step: string; id: string }[] = [];

  /** Visits and attempts that are open, by what names them. */
  private readonly visits = new Map<number, Span>();
  private readonly attempts = new Map<string, Span>();

  static of(events: readonly RunEvent[], upTo = Number.POSITIVE_INFINITY): RunModel {
    const model = new RunModel();
    for (const event of events) {
      if (event.seq > upTo) break;
      model.apply(event);
    }
    return model;
  }

  apply(event: RunEvent) {
    if (event.seq <= this.seq) return;
    this.seq = event.seq;
    this.lastAt = event.at;
    const end = ENDS[event.type];
    if (end !== undefined) this.end(end, event);
    else if (event.type === "playbook_started") this.start(event);
    else if (event.type === "playbook.paused") this.status = "PAUSED";
    else if (event.type === "playbook.resumed") this.status = "RUNNING";
    else if (event.step !== null) this.applyToStep(event, event.step);
  }

  /** The steps that matter most: those that failed, else those under way, the one that was entered last first. */
  focus(): string[] {
    const failed: string[] = [];
    const open: StepState[] = [];
    for (const step of this.steps.values()) {
      if (step.status === "failed") failed.push(step.name);
      else if (step.status === "running" || step.status === "waiting") open.push(step);
    }
    if (failed.length > 0) return failed;
    return open.sort((one, other) => (other.startedAt ?? 0) - (one.startedAt ?? 0)).map((step) => step.name);
  }

  private start(event: RunEvent) {
    this.status = "RUNNING";
    this.startedAt = event.at;
    this.rerunOf = event.rerunOf;
  }

  /** What is under way when the run ends is stopped with it. */
  private end(status: string, event: RunEvent) {
    this.status = status;
    this.endedAt = event.at;
    const left = status === "COMPLETED" ? "completed" : "cancelled";
    for (const span of [...this.visits.values(), ...this.attempts.values()]) close(span, event.at, left);
    for (const step of this.steps.values()) {
      if (step.status !== "running" && step.status !== "waiting") continue;
      step.status = left;
      step.endedAt = event.at;
    }
    this.visits.clear();
    this.attempts.clear();
    this.waits.clear();
  }

  private applyToStep(event: RunEvent, name: string) {
    const step = this.step(name);
    switch (event.type) {
      case "step.enter":
        return this.enter(event, step);
      case "step.exit":
        return this.exit(event, step);
      case "step.skipped":
        step.status = "skipped";
        return this.take(name, event.next);
      case "step.kept":
        step.status = "kept";
        return;
      case "command.issued":
        return this.issue(event, step);
      case "command.started": {
        const span = this.attempts.get(event.command ?? "");
        if (span) {
          span.began = event.at;
          span.worker = event.worker;
          span.status = "running";
        }
        return;
      }
      case "call.done":
      case "call.error":
        return this.called(event, step, event.type === "call.done" ? "completed" : "failed");
      case "command.lost":
        return this.finish(event, "lost");
      case "call.suspended":
        return this.suspend(event, step);
      case "call.resumed":
        return this.resume(event, step);
      case "child.started":
        if (event.child) this.children.push({ step: name, id: event.child });
    }
  }

  private step(name: string): StepState {
    let step = this.steps.get(name);
    if (!step) {
      step = { name, status: "pending", runs: 0, startedAt: null, endedAt: null, error: null, loop: null };
      this.steps.set(name, step);
    }
    return step;
  }

  private enter(event: RunEvent, step: StepState) {
    step.status = "running";
    step.runs += 1;
    step.startedAt = event.at;
    step.endedAt = null;
    step.error = null;
    step.loop = event.loop && { total: event.loop.total, done: 0, failed: 0, running: 0 };
    const visit = event.visit ?? step.runs;
    const span = spanOf("visit", `v${visit}`, event, step.name, visit);
    span.began = event.at;
    span.status = "running";
    this.spans.push(span);
    this.visits.set(visit, span);
  }

  private exit(event: RunEvent, step: StepState) {
    step.status = event.status.toLowerCase();
    step.endedAt = event.at;
    step.error = event.error;
    this.take(step.name, event.next);
    const visit = event.visit ?? step.runs;
    const span = this.visits.get(visit);
    if (span) {
      span.error = event.error;
      close(span, event.at, step.status);
    }
    this.visits.delete(visit);
    for (const [command, open] of this.attempts) {
      if (open.visit !== visit) continue;
      close(open, event.at, "cancelled");
      this.attempts.delete(command);
      this.waits.delete(command);
    }
  }

  private take(from: string, next: string[]) {
    for (const to of next) {
      const key = arcKey(from, to);
      this.arcs.set(key, (this.arcs.get(key) ?? 0) + 1);
    }
  }

  private issue(event: RunEvent, step: StepState) {
    const command = event.command ?? "";
    const visit = Number.parseInt(command, 10) || 0;
    if (!this.attempts.has(command) && step.loop && event.item !== null) step.loop.running += 1;
    const span = spanOf("attempt", `a${event.seq}`, event, step.name, visit);
    span.tool = event.tool;
    this.spans.push(span);
    this.attempts.set(command, span);
  }

  private called(event: RunEvent, step: StepState, status: string) {
    if (step.loop && event.item !== null) {
      step.loop.running = Math.max(0, step.loop.running - 1);
      step.loop.done += 1;
      if (status === "failed") step.loop.failed += 1;
    }
    this.finish(event, status);
  }

  private finish(event: RunEvent, status: string) {
    const command = event.command ?? "";
    const span = this.attempts.get(command);
    if (span) {
      span.error = event.error;
      close(span, event.at, status);
    }
    this.attempts.delete(command);
    this.waits.delete(command);
  }

  private suspend(event: RunEvent, step: StepState) {
    const command = event.command ?? "";
    const kind = event.wait?.kind ?? "something";
    const what = event.wait?.name ? `${kind} ${event.wait.name}` : kind;
    this.attempts.get(command)?.waits.push({ from: event.at, to: null, what });
    this.waits.set(command, {
      step: step.name,
      command,
      kind,
      name: event.wait?.name ?? null,
      prompt: event.wait?.prompt,
      since: event.at,
    });
    step.status = "waiting";
  }

  private resume(event: RunEvent, step: StepState) {
    const command = event.command ?? "";
    const wait = this.attempts.get(command)?.waits.at(-1);
    if (wait) wait.to = event.at;
    this.waits.delete(command);
    if (![...this.waits.values()].some((other) => other.step === step.name)) step.status = "running";
  }
}

export const arcKey = (from: string, to: string) => `${from}\u0000${to}`;

function spanOf(kind: Span["kind"], key: string, event: RunEvent, step: string, visit: number): Span {
  return {
    key,
    kind,
    step,
    visit,
    item: event.item,
    attempt: event.attempt ?? 1,
    from: event.at,
    began: null,
    to: null,
    status: "pending",
    worker: null,
    tool: null,
    error: null,
    waits: [],
  };
}

function close(span: Span, at: number, status: string) {
  span.to = at;
  span.status = status;
  const wait = span.waits.at(-1);
  if (wait && wait.to === null) wait.to = at;
}
