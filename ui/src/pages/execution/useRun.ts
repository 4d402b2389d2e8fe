/** Follows the events of an execution and keeps what they add up to, now or at an earlier event. */
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { EventRow } from "@/api/types";
import { useEventStream } from "@/api/useEventStream";
import { type RunEvent, runEvent } from "@/lib/run-events";
import { RunModel } from "@/lib/run-model";
import { throttled } from "@/lib/throttle";

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

/** What the server is asked again while steps end, in milliseconds between two times. */
const REFRESH = 2_000;

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
  const refresh = useMemo(() => () => void queries.invalidateQueries({ queryKey: ["execution", id] }), [id, queries]);
  const later = useMemo(() => throttled(refresh, REFRESH), [refresh]);
  useEffect(() => later.cancel, [later]);
  const onMessages = useCallback(
    (messages: { data: string }[]) => {
      const { events, model } = kept.current;
      const statusBefore = model.status;
      let hasNews = false;
      let hasWait = false;
      for (const message of messages) {
        const event = runEvent(JSON.parse(message.data) as EventRow);
        if (event.seq <= model.seq) continue;
        events.push(event);
        model.apply(event);
        hasWait ||= event.type === "call.suspended" && event.wait?.kind === "signal";
        hasNews ||= event.type === "step.exit" || event.type === "call.suspended" || event.type === "child.started";
      }
      setVersion((version) => version + 1);
      if (model.status !== statusBefore || hasWait) refresh();
      else if (hasNews) later.ring();
    },
    [refresh, later],
  );
  const onEnd = useCallback(() => {
    later.cancel();
    setComplete(id);
    refresh();
  }, [id, refresh, later]);
  useEventStream(url, { onMessages, onEnd });

  const { events, model } = kept.current;
  const shown = useMemo(() => (at === null ? model : RunModel.of(events, at)), [at, events, model, at === null ? 0 : version]);
  return { events, now: model, shown, version, isComplete: complete === id };
}
