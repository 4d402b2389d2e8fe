/**
 * The one stream that is always open: executions that begin, end, pause or go on, whichever page is shown. Lists refresh
 * by it, and the header tells from it whether the server is there.
 */
import { createContext, type ReactNode, useCallback, useContext, useEffect, useRef } from "react";
import { throttled } from "@/lib/throttle";
import type { EventRow } from "./types";
import { useEventStream } from "./useEventStream";

type Listener = (events: EventRow[]) => void;

const Feed = createContext<Set<Listener>>(new Set());

const TYPES = ["playbook_started", "playbook.completed", "playbook.failed", "playbook.cancelled", "playbook.paused", "playbook.resumed"];
const URL = `/api/executions/stream?event_type=${TYPES.join(",")}`;

export function FeedProvider({ children }: { children: ReactNode }) {
  const listeners = useRef(new Set<Listener>()).current;
  const onMessages = useCallback(
    (messages: { data: string }[]) => {
      const events = messages.map((message) => JSON.parse(message.data) as EventRow);
      for (const listener of listeners) listener(events);
    },
    [listeners],
  );
  useEventStream(URL, { onMessages });
  return <Feed.Provider value={listeners}>{children}</Feed.Provider>;
}

/** Calls back when executions begin, end, pause or go on; at most once in `every` milliseconds. */
export function useFeed(onChange: () => void, every = 1000) {
  const listeners = useContext(Feed);
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => {
    const { ring, cancel } = throttled(() => latest.current(), every);
    listeners.add(ring);
    return () => {
      cancel();
      listeners.delete(ring);
    };
  }, [listeners, every]);
}
