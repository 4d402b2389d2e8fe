/** Follows the events of an execution and keeps what they add up to, now or at an earlier event. */
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useRef, useState } from "react";
import type { EventRow } from "@/api/types";
import { useEventStream } from "@/api/useEventStream";
import { type RunEvent, runEvent } from "@/lib/run-events";
import { RunModel } from "@/lib/run-model";

export interface Run {
  /** All that have come so far, oldest first. The list grows in place; `version` changes with it. */
  events: readonly RunEvent[];
  /** As it is now. */
  now: RunModel;
  /** As it was at the event that is looked at, or now. */
  shown: RunModel;
  version: number;
  /** Every event has been read, and no more will come. */
  isComplete: boolean;
}

/** Above this many events the stream leaves values out. */
const MANY = 2_000;

export function useRun(id: string, eventCount: number | undefined, at: number | null): Run {
  const queries = useQueryClient();
  const kept = useRef({ id: "", events: [] as RunEvent[], model: new RunModel() });
  if (kept.current.id !== id) kept.current = { id, events: [], model: new RunModel() };
  const [version, setVersion] = useState(0);
  const [complete, setComplete] = useState<string | null>(null);
  const isBrief = useRef<boolean | null>(null);
  if (eventCount === undefined) isBrief.current = null;
  else isBrief.current ??= eventCount > MANY;
  const url = isBrief.current === null ? null : `/api/executions/${id}/stream${isBrief.current ? "?brief=true" : ""}`;
  const onMessages = useCallback(
    (messages: { data: string }[]) => {
      const { events, model } = kept.current;
      let changed = false;
      for (const message of messages) {
        const event = runEvent(JSON.parse(message.data) as EventRow);
        if (event.seq <= model.seq) continue;
        events.push(event);
        const statusBefore = model.status;
        model.apply(event);
        changed ||= model.status !== statusBefore || event.type === "step.exit" || event.type === "call.suspended" || event.type === "child.started";
      }
      setVersion((version) => version + 1);
      if (changed) void queries.invalidateQueries({ queryKey: ["execution", id] });
    },
    [id, queries],
  );
  const onEnd = useCallback(() => {
    setComplete(id);
    void queries.invalidateQueries({ queryKey: ["execution", id] });
  }, [id, queries]);
  useEventStream(url, { onMessages, onEnd });

  const { events, model } = kept.current;
  const shown = useMemo(() => (at === null ? model : RunModel.of(events, at)), [at, events, model, at === null ? 0 : version]);
  return { events, now: model, shown, version, isComplete: complete === id };
}
