/** The rows of the timeline, and where their bars are. */
import type { Span } from "./run-model";

export interface TimelineRow {
  key: string;
  depth: number;
  label: string;
  span: Span;
  /** How many attempts are beneath; nothing for an attempt. */
  size: number | null;
  isOpen: boolean;
}

/** Visits with up to this many attempts are open unless somebody closed them. */
const FEW = 12;

/** Visits in the order in which they began, each with its attempts beneath while it is open. */
export function timelineRows(spans: readonly Span[], opened: ReadonlyMap<string, boolean>): TimelineRow[] {
  const beneath = new Map<number, Span[]>();
  const visits: Span[] = [];
  for (const span of spans) {
    if (span.kind === "visit") visits.push(span);
    else {
      const list = beneath.get(span.visit);
      if (list) list.push(span);
      else beneath.set(span.visit, [span]);
    }
  }
  const counts = new Map<string, number>();
  const rows: TimelineRow[] = [];
  for (const visit of visits) {
    const count = (counts.get(visit.step) ?? 0) + 1;
    counts.set(visit.step, count);
    const attempts = beneath.get(visit.visit) ?? [];
    // A single attempt says no more than its visit.
    const shows = attempts.length > 1 || attempts.some((attempt) => attempt.item !== null);
    const isOpen = shows && (opened.get(visit.key) ?? attempts.length <= FEW);
    rows.push({
      key: visit.key,
      depth: 0,
      label: count > 1 ? `${visit.step} (visit ${count})` : visit.step,
      span: attempts.length === 1 && attempts[0] && !shows ? merged(visit, attempts[0]) : visit,
      size: shows ? attempts.length : null,
      isOpen,
    });
    if (!isOpen) continue;
    for (const attempt of attempts) {
      const of = attempt.item === null ? "attempt" : `item ${attempt.item}`;
      const label = attempt.item !== null && attempt.attempt === 1 ? of : attempt.item === null ? `attempt ${attempt.attempt}` : `${of}, attempt ${attempt.attempt}`;
      rows.push({ key: attempt.key, depth: 1, label, span: attempt, size: null, isOpen: false });
    }
  }
  return rows;
}

function merged(visit: Span, attempt: Span): Span {
  return { ...visit, began: attempt.began ?? visit.began, waits: attempt.waits, worker: attempt.worker, tool: attempt.tool };
}

/** What of the whole time is shown. */
export interface Window {
  from: number;
  to: number;
}

/** Makes the window smaller or larger around a point of it, within the whole and no smaller than a millisecond. */
export function zoomed(window: Window, whole: Window, factor: number, around = (window.from + window.to) / 2): Window {
  const size = Math.min(whole.to - whole.from, Math.max(1, (window.to - window.from) * factor));
  const share = (around - window.from) / Math.max(1e-9, window.to - window.from);
  return held({ from: around - size * share, to: around + size * (1 - share) }, whole);
}

export function moved(window: Window, whole: Window, by: number): Window {
  return held({ from: window.from + by, to: window.to + by }, whole);
}

function held(window: Window, whole: Window): Window {
  const size = Math.min(window.to - window.from, whole.to - whole.from);
  const from = Math.min(Math.max(window.from, whole.from), whole.to - size);
  return { from, to: from + size };
}

/** Round instants to write along the top: how far from the beginning, in seconds. */
export function ticks(window: Window, origin: number, most = 8): number[] {
  const size = (window.to - window.from) / 1000;
  const raw = size / most;
  const power = 10 ** Math.floor(Math.log10(raw || 1));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= raw) ?? power * 10;
  const first = Math.ceil((window.from - origin) / 1000 / step) * step;
  const found: number[] = [];
  for (let at = first; at <= (window.to - origin) / 1000 && found.length < 20; at += step) found.push(Number(at.toPrecision(12)));
  return found;
}
