/** Numbers out of the text of the server's metrics. */

export interface Sample {
  /** Milliseconds. */
  at: number;
  started: number;
  ended: number;
  failed: number;
  /** Commands that went out and were not begun. */
  backlog: number;
  /** Inputs that wait for the drive loop. */
  waiting: number;
}

/** The sum of a metric over its labels, and of those with a label only where one is asked for. */
export function sumOf(text: string, name: string, label = ""): number {
  let sum = 0;
  for (const line of text.split("\n")) {
    if (!line.startsWith(name)) continue;
    const rest = line.slice(name.length);
    if (rest[0] !== " " && rest[0] !== "{") continue;
    if (!rest.includes(label)) continue;
    sum += Number(rest.slice(rest.lastIndexOf(" ") + 1)) || 0;
  }
  return sum;
}

export function read(text: string): Sample {
  return {
    at: Date.now(),
    started: sumOf(text, "noetl_executions_started_total"),
    ended: sumOf(text, "noetl_executions_ended_total"),
    failed: sumOf(text, "noetl_executions_ended_total", 'status="failed"'),
    backlog: Math.max(0, sumOf(text, "noetl_commands_dispatched_total") - sumOf(text, "noetl_commands_claimed_total")),
    waiting: sumOf(text, "noetl_drive_mailbox_depth"),
  };
}

/** How much a counter rose per second between one sample and the next. A server that began anew counts from 0. */
export function rates(samples: Sample[], counter: "started" | "ended" | "failed"): number[] {
  const rises: number[] = [];
  for (let index = 1; index < samples.length; index += 1) {
    const [before, now] = [samples[index - 1], samples[index]];
    if (!before || !now) continue;
    const rise = now[counter] >= before[counter] ? now[counter] - before[counter] : now[counter];
    rises.push(rise / Math.max(0.5, (now.at - before.at) / 1000));
  }
  return rises;
}
