/** Numbers of the server's metrics over the last minutes, gathered while the page is open. */
import { useEffect, useSyncExternalStore } from "react";
import { read, type Sample } from "@/lib/metrics";
import { askText } from "./client";

const EVERY = 2_000;
const KEPT = 150;

let samples: Sample[] = [];
const listeners = new Set<() => void>();
let users = 0;
let timer: ReturnType<typeof setInterval> | undefined;

async function take() {
  if (document.hidden) return;
  try {
    samples = [...samples.slice(-KEPT + 1), read(await askText("/metrics"))];
    for (const listener of listeners) listener();
  } catch {
    // The header tells when the server is away. There is a gap then.
  }
}

export function useSamples(): Sample[] {
  useEffect(() => {
    users += 1;
    if (users === 1) {
      void take();
      timer = setInterval(() => void take(), EVERY);
    }
    return () => {
      users -= 1;
      if (users === 0) clearInterval(timer);
    };
  }, []);
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => samples,
  );
}
