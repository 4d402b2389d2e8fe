import { describe, expect, it } from "vitest";
import { rates, sumOf } from "./metrics";

const TEXT = `# HELP noetl_executions_ended_total Executions that came to an end.
noetl_executions_ended_total{status="completed"} 5
noetl_executions_ended_total{status="failed"} 2
noetl_executions_ended_total_other 100
noetl_drive_mailbox_depth 3
`;

describe("metrics", () => {
  it("are summed over their labels", () => {
    expect(sumOf(TEXT, "noetl_executions_ended_total")).toBe(7);
    expect(sumOf(TEXT, "noetl_executions_ended_total", 'status="failed"')).toBe(2);
    expect(sumOf(TEXT, "noetl_drive_mailbox_depth")).toBe(3);
  });

  it("become rates, also over a restart of the server", () => {
    const sample = (at: number, ended: number) => ({ at, ended, started: 0, failed: 0, backlog: 0, waiting: 0 });
    expect(rates([sample(0, 10), sample(2000, 14), sample(4000, 2)], "ended")).toEqual([2, 1]);
  });
});
