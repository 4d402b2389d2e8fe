/** Whether the page hears from the server, put together from the streams that are open. */
import { useSyncExternalStore } from "react";

export type StreamState = "connecting" | "live" | "broken" | "resting" | "gone";
export type Connection = "connecting" | "live" | "broken";

const streams = new Map<symbol, StreamState>();
const listeners = new Set<() => void>();
let now: Connection = "connecting";

/** What one stream says of itself. */
export function report(stream: symbol, state: StreamState) {
  if (state === "gone") streams.delete(stream);
  else streams.set(stream, state);
  const next = combined();
  if (next === now) return;
  now = next;
  for (const listener of listeners) listener();
}

function combined(): Connection {
  const states = [...streams.values()];
  if (states.includes("broken")) return "broken";
  if (states.includes("live")) return "live";
  return states.length === 0 ? now : "connecting";
}

export function useConnection(): Connection {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => now,
  );
}
