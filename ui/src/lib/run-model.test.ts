import { describe, expect, it } from "vitest";
import type { RunEvent } from "./run-events";
import { arcKey, RunModel } from "./run-model";

/** Events as `type step [facts]`, a second apart. */
function events(...told: [type: string, step: string | null, facts?: Partial<RunEvent>][]): RunEvent[] {
  return told.map(([type, step, facts], index) => ({
    seq: index + 1,
    type,
    at: (index + 1) * 1000,
    time: "",
    status: "",
    step,
    command: null,
    item: null,
    attempt: 1,
    worker: null,
    tool: null,
    error: null,
    visit: null,
    from: null,
    next: [],
    loop: null,
    child: null,
    wait: null,
    reason: null,
    rerunOf: null,
    ...facts,
  }));
}

describe("what events add up to", () => {
  it("follows a step from its entry to its exit and takes its arcs", () => {
    const model = RunModel.of(
      events(
        ["playbook_started", null],
        ["step.enter", "a", { visit: 1 }],
        ["command.issued", "a", { command: "1" }],
        ["command.started", "a", { command: "1", worker: "w" }],
        ["call.done", "a", { command: "1" }],
        ["step.exit", "a", { visit: 1, status: "COMPLETED", next: ["b"] }],
        ["playbook.completed", null],
      ),
    );
    expect(model.status).toBe("COMPLETED");
    expect(model.steps.get("a")).toMatchObject({ status: "completed", runs: 1, startedAt: 2000, endedAt: 6000 });
    expect(model.arcs.get(arcKey("a", "b"))).toBe(1);
    expect(model.spans.map(({ kind, from, began, to, status }) => ({ kind, from, began, to, status }))).toEqual([
      { kind: "visit", from: 2000, began: 2000, to: 6000, status: "completed" },
      { kind: "attempt", from: 3000, began: 4000, to: 5000, status: "completed" },
    ]);
  });

  it("counts the items of a loop", () => {
    const model = RunModel.of(
      events(
        ["playbook_started", null],
        ["step.enter", "many", { visit: 1, loop: { total: 3 } }],
        ["command.issued", "many", { command: "1.i0", item: 0 }],
        ["command.issued", "many", { command: "1.i1", item: 1 }],
        ["call.done", "many", { command: "1.i0", item: 0 }],
        ["call.error", "many", { command: "1.i1", item: 1 }],
        ["command.issued", "many", { command: "1.i2", item: 2 }],
      ),
    );
    expect(model.steps.get("many")?.loop).toEqual({ total: 3, done: 2, failed: 1, running: 1 });
  });

  it("knows what is waited for until it comes", () => {
    const told = events(
      ["playbook_started", null],
      ["step.enter", "ask", { visit: 1 }],
      ["command.issued", "ask", { command: "1" }],
      ["call.suspended", "ask", { command: "1", wait: { kind: "signal", name: "approval", prompt: "Go?" } }],
      ["call.resumed", "ask", { command: "1" }],
    );
    const waiting = RunModel.of(told, 4);
    expect(waiting.steps.get("ask")?.status).toBe("waiting");
    expect([...waiting.waits.values()]).toMatchObject([{ step: "ask", kind: "signal", name: "approval", prompt: "Go?" }]);
    const resumed = RunModel.of(told);
    expect(resumed.steps.get("ask")?.status).toBe("running");
    expect(resumed.waits.size).toBe(0);
    expect(resumed.spans[1]?.waits).toEqual([{ from: 4000, to: 5000, what: "signal approval" }]);
  });

  it("is as it was at any event", () => {
    const told = events(["playbook_started", null], ["step.enter", "a", { visit: 1 }], ["step.exit", "a", { visit: 1, status: "FAILED" }]);
    expect(RunModel.of(told, 2).steps.get("a")?.status).toBe("running");
    expect(RunModel.of(told).steps.get("a")?.status).toBe("failed");
  });

  it("puts forward what failed, else what was entered last", () => {
    const told = events(
      ["playbook_started", null],
      ["step.enter", "a", { visit: 1 }],
      ["step.enter", "b", { visit: 2 }],
      ["step.exit", "a", { visit: 1, status: "FAILED" }],
    );
    expect(RunModel.of(told, 1).focus()).toEqual([]);
    expect(RunModel.of(told, 3).focus()).toEqual(["b", "a"]);
    expect(RunModel.of(told).focus()).toEqual(["a"]);
  });

  it("does not count an event twice", () => {
    const told = events(["playbook_started", null], ["step.enter", "a", { visit: 1 }]);
    const model = RunModel.of([...told, ...told]);
    expect(model.steps.get("a")?.runs).toBe(1);
  });

  it("ends what was under way with the run", () => {
    const model = RunModel.of(
      events(["playbook_started", null], ["step.enter", "a", { visit: 1 }], ["command.issued", "a", { command: "1" }], ["playbook.cancelled", null]),
    );
    expect(model.steps.get("a")?.status).toBe("cancelled");
    expect(model.spans.every((span) => span.to === 4000)).toBe(true);
  });
});
