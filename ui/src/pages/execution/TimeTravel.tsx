/** A slider over the events: the page shows the execution as it was right after one of them. */
import { History, StepBack, StepForward } from "lucide-react";
import { Button } from "@/components/Button";
import type { RunEvent } from "@/lib/run-events";
import { clockText } from "@/lib/time";
import styles from "./TimeTravel.module.css";

interface TimeTravelProps {
  events: readonly RunEvent[];
  /** The number of the event that is looked at; nothing is now. */
  at: number | null;
  onChange: (seq: number | null) => void;
}

export function TimeTravel({ events, at, onChange }: TimeTravelProps) {
  const last = events.at(-1)?.seq ?? 0;
  if (last < 2) return null;
  const seq = at ?? last;
  const event = events[seq - 1];
  const go = (next: number) => onChange(next >= last ? null : Math.max(1, next));
  return (
    <div className={styles.travel} data-past={at !== null || undefined}>
      <History size={15} aria-hidden />
      <Button kind="quiet" aria-label="One event back" icon={<StepBack size={14} />} disabled={seq <= 1} onClick={() => go(seq - 1)} />
      <input
        type="range"
        className={styles.slider}
        min={1}
        max={last}
        value={seq}
        aria-label="The event that is looked at"
        aria-valuetext={`event ${seq} of ${last}${event ? `, ${event.type} ${event.step ?? ""}` : ""}`}
        onChange={(change) => go(Number(change.target.value))}
      />
      <Button kind="quiet" aria-label="One event on" icon={<StepForward size={14} />} disabled={at === null} onClick={() => go(seq + 1)} />
      <span className={styles.words}>
        <span className="numbers">
          {seq.toLocaleString("en")} of {last.toLocaleString("en")}
        </span>
        {event && (
          <span className="muted">
            {" "}
            {clockText(event.time)} {event.type} {event.step}
          </span>
        )}
      </span>
      {at !== null && (
        <Button kind="primary" onClick={() => onChange(null)}>
          Back to now
        </Button>
      )}
    </div>
  );
}
