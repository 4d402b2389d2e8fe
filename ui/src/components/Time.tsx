/** Instants and durations. What is relative says the exact instant when one points at it. */
import { useEffect, useState } from "react";
import { durationText, exactText, relativeText } from "@/lib/time";

/** The present, anew every so many milliseconds while somebody needs it. */
export function useNow(every: number | null): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (every === null) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

/** It is drawn anew now and then; whenever that is, what it says is about that moment. */
export function RelativeTime({ at }: { at: string | null | undefined }) {
  useNow(at ? 5_000 : null);
  if (!at) return <span className="muted">–</span>;
  return (
    <time dateTime={at} title={exactText(at)} className="numbers">
      {relativeText(at, Date.now())}
    </time>
  );
}

/** From one instant to another, or to now while there is no end. */
export function Elapsed({ from, to }: { from: string | null | undefined; to?: string | null | undefined }) {
  const now = useNow(from && !to ? 1_000 : null);
  if (!from) return <span className="muted">–</span>;
  const end = to ? Date.parse(to) : Math.max(now, Date.parse(from));
  return <span className="numbers">{durationText((end - Date.parse(from)) / 1000)}</span>;
}
