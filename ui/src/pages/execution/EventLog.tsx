/** Every event in order, with filters; one that is chosen is shown whole. */
import { useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import type { Json } from "@/api/types";
import { CliLine } from "@/components/CliLine";
import { ErrorPanel } from "@/components/ErrorPanel";
import { CheckField, SelectField, TextField } from "@/components/fields";
import { JsonView } from "@/components/JsonView";
import { Skeleton } from "@/components/Skeleton";
import { exactText } from "@/lib/time";
import { clockText } from "@/lib/time";
import type { RunEvent } from "@/lib/run-events";
import styles from "./EventLog.module.css";
import { eventQuery } from "./queries";

const ROW = 28;

interface EventLogProps {
  id: string;
  events: readonly RunEvent[];
  version: number;
  isLive: boolean;
  /** Shows the execution as it was at an event. */
  onTravel: (seq: number) => void;
}

export function EventLog({ id, events, version, isLive, onTravel }: EventLogProps) {
  const [type, setType] = useState("");
  const [step, setStep] = useState("");
  const [search, setSearch] = useState("");
  const [follow, setFollow] = useState(isLive);
  const [chosen, setChosen] = useState<number | null>(null);
  const types = useMemo(() => [...new Set(events.map((event) => event.type))].sort(), [events, version]);
  const steps = useMemo(() => [...new Set(events.flatMap((event) => event.step ?? []))].sort(), [events, version]);
  const shown = useMemo(() => {
    const wanted = search.trim().toLowerCase();
    return events.filter(
      (event) =>
        (type === "" || event.type === type) &&
        (step === "" || event.step === step) &&
        (wanted === "" || `${event.seq} ${event.type} ${event.step ?? ""} ${event.error ?? ""} ${event.worker ?? ""}`.toLowerCase().includes(wanted)),
    );
  }, [events, version, type, step, search]);

  const scroll = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({ count: shown.length, getScrollElement: () => scroll.current, estimateSize: () => ROW, overscan: 12 });
  useEffect(() => {
    if (follow && shown.length > 0) virtual.scrollToIndex(shown.length - 1, { align: "end" });
    // The virtualizer is the same one throughout.
  }, [follow, shown.length]);

  const any = { value: "", label: "All" };
  return (
    <div className={styles.log}>
      <div className={styles.filters}>
        <TextField label="Search" bare placeholder="Search the events" value={search} onChange={setSearch} type="search" />
        <SelectField label="Type" bare value={type} onChange={setType} options={[{ ...any, label: "All types" }, ...types.map((name) => ({ value: name, label: name }))]} />
        <SelectField label="Step" bare value={step} onChange={setStep} options={[{ ...any, label: "All steps" }, ...steps.map((name) => ({ value: name, label: name }))]} />
        <CheckField label="Follow" checked={follow} onChange={setFollow} />
        <span className="muted numbers">{shown.length.toLocaleString("en")} events</span>
      </div>
      <div className={styles.panes} data-open={chosen !== null || undefined}>
        <div ref={scroll} className={styles.scroll} tabIndex={0} role="region" aria-label="Events" onWheel={(event) => event.deltaY < 0 && setFollow(false)}>
          <div className={styles.sheet} style={{ height: virtual.getTotalSize() }}>
            {virtual.getVirtualItems().map((item) => {
              const event = shown[item.index];
              if (!event) return null;
              return (
                <button
                  key={event.seq}
                  type="button"
                  className={styles.row}
                  data-failed={event.status === "FAILED" || event.status === "LOST" || undefined}
                  aria-pressed={event.seq === chosen}
                  style={{ transform: `translateY(${item.start}px)` }}
                  onClick={() => setChosen(event.seq === chosen ? null : event.seq)}
                >
                  <span className={styles.seq}>{event.seq}</span>
                  <span className={styles.time} title={exactText(event.time)}>
                    {clockText(event.time)}
                  </span>
                  <span className={styles.type}>{event.type}</span>
                  <span className={styles.step}>
                    {event.step}
                    {event.item !== null && <span className="muted"> #{event.item}</span>}
                  </span>
                  <span className={styles.note}>{noteOf(event)}</span>
                </button>
              );
            })}
          </div>
        </div>
        {chosen !== null && <Whole id={id} seq={chosen} onTravel={onTravel} />}
      </div>
      <CliLine command={["noetl", "events", id, ...(isLive ? ["-f"] : [])]} />
    </div>
  );
}

function noteOf(event: RunEvent): string {
  if (event.error) return event.error;
  if (event.next.length > 0) return `→ ${event.next.join(", ")}`;
  if (event.worker) return `by ${event.worker}`;
  if (event.wait) return `waits for ${event.wait.kind} ${event.wait.name ?? ""}`;
  if (event.reason) return event.reason.replaceAll("_", " ");
  if (event.from) return `from ${event.from}`;
  return event.tool ?? "";
}

function Whole({ id, seq, onTravel }: { id: string; seq: number; onTravel: (seq: number) => void }) {
  const event = useQuery(eventQuery(id, seq));
  return (
    <div className={styles.whole}>
      <div className={styles.wholeTop}>
        <h2>Event {seq}</h2>
        <button type="button" className={styles.travel} onClick={() => onTravel(seq)}>
          Show the execution at this point
        </button>
      </div>
      {event.error && <ErrorPanel error={event.error} />}
      {event.data ? <JsonView value={event.data as unknown as Json} label={`Event ${seq}`} /> : <Skeleton />}
    </div>
  );
}
