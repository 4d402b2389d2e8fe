/** What is chosen on a page, kept in its address: it can be shared, and the browser's Back undoes it. */
import { useSearchParams } from "react-router";

/** Names with their new values. Without a value a name leaves the address. */
export type Change = Record<string, string | null | undefined>;

/** The parameters of the address, and how to change some of them; `replace` leaves no step to go back to. */
export function useAddress(): [URLSearchParams, (change: Change, how?: { replace?: boolean }) => void] {
  const [parameters, setParameters] = useSearchParams();
  const change = (change: Change, how: { replace?: boolean } = {}) =>
    // At once: a field that shows what the address says would otherwise show its old value for a moment.
    setParameters((before) => changed(before, change), { ...how, flushSync: true });
  return [parameters, change];
}

export function changed(before: URLSearchParams, change: Change): URLSearchParams {
  const next = new URLSearchParams(before);
  for (const [name, value] of Object.entries(change)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  return next;
}
