/** When what happened: a row for each visit of a step, its attempts and items beneath. Only rows in sight are drawn. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { ChevronRight, Maximize2, ZoomIn, ZoomOut } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { Button } from "@/components/Button";
import { EmptyState } from "@/components/EmptyState";
import { lookOf, StatusIcon } from "@/components/StatusBadge";
import { useNow } from "@/components/Time";
import type { RunModel, Span } from "@/lib/run-model";
import { durationText } from "@/lib/time";
import { moved, ticks, timelineRows, type TimelineRow, type Window, zoomed } from "@/lib/timeline";
import styles from "./TimelineView.module.css";

const ROW = 26;

interface TimelineViewProps {
  model: RunModel;
  version: number;
  isLive: boolean;
  onChoose: (step: string) => void;
}

export function TimelineView({ model, version, isLive, onChoose }: TimelineViewProps) {
  const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [chosenWindow, setWindow] = useState<Window | null>(null);
  const now = useNow(isLive ? 1_000 : null);
  const rows = useMemo(() => timelineRows(model.spans, opened), [model, version, opened]);
  const origin = model.startedAt ?? 0;
  const end = Math.max(model.endedAt ?? (isLive ? now : (model.lastAt ?? origin)), model.lastAt ?? origin, origin + 1);
  const whole = { from: origin, to: end };
  const window = chosenWindow ?? whole;

  const scroll = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW,
    overscan: 8,
    getItemKey: (index) => rows[index]?.key ?? index,
  });
  useWheel(scroll, (event, share) => {
    if (event.ctrlKey || event.metaKey) {
      const around = window.from + share * (window.to - window.from);
      setWindow(zoomed(window, whole, event.deltaY > 0 ? 1.25 : 0.8, around));
      return true;
    }
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      setWindow(moved(window, whole, ((event.deltaX || event.deltaY) / 600) * (window.to - window.from)));
      return true;
    }
    return false;
  });
  const step = (window.to - window.from) / 5;
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key === "+" || event.key === "=") setWindow(zoomed(window, whole, 0.6));
    else if (event.key === "-") setWindow(zoomed(window, whole, 1.7));
    else if (event.key === "0") setWindow(null);
    else if (event.key === "ArrowLeft") setWindow(moved(window, whole, -step));
    else if (event.key === "ArrowRight") setWindow(moved(window, whole, step));
    else return;
    event.preventDefault();
  };

  if (rows.length === 0) return <EmptyState title="Nothing has happened yet" />;
  const toggle = (row: TimelineRow) => setOpened(new Map(opened).set(row.key, !row.isOpen));
  return (
    <div className={styles.timeline}>
      <div className={styles.tools}>
        <span className="muted numbers">
          {durationText((window.to - window.from) / 1000)} of {durationText((end - origin) / 1000)} · {rows.length.toLocaleString("en")} rows
        </span>
        <span className={styles.buttons}>
          <Button aria-label="Zoom in" title="Zoom in (+)" icon={<ZoomIn size={15} />} onClick={() => setWindow(zoomed(window, whole, 0.6))} />
          <Button aria-label="Zoom out" title="Zoom out (-)" icon={<ZoomOut size={15} />} onClick={() => setWindow(zoomed(window, whole, 1.7))} />
          <Button aria-label="Show all" title="Show all (0)" icon={<Maximize2 size={14} />} onClick={() => setWindow(null)} />
        </span>
      </div>
      <div className={styles.scale} aria-hidden>
        <div className={styles.label} />
        <div className={styles.track}>
          {ticks(window, origin)
            .filter((at) => share(origin + at * 1000, window) < NEAR_THE_END)
            .map((at) => (
            <span key={at} className={styles.tick} style={{ left: percent(origin + at * 1000, window) }}>
              {at === 0 ? "0" : durationText(at)}
            </span>
            ))}
        </div>
      </div>
      <div
        ref={scroll}
        className={styles.scroll}
        tabIndex={0}
        role="region"
        aria-label="Timeline. Plus and minus zoom, the arrows move."
        onKeyDown={onKeyDown}
      >
        <div className={styles.sheet} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            return (
              <div key={item.key} className={styles.row} data-depth={row.depth} style={{ transform: `translateY(${item.start}px)` }}>
                <div className={styles.label}>
                  {row.size !== null ? (
                    <button
                      type="button"
                      className={styles.toggle}
                      aria-expanded={row.isOpen}
                      aria-label={`${row.isOpen ? "Hide" : "Show"} what is in ${row.label}`}
                      onClick={() => toggle(row)}
                    >
                      <ChevronRight size={13} />
                    </button>
                  ) : (
                    <span className={styles.space} />
                  )}
                  <StatusIcon status={row.span.status} size={13} />
                  <button type="button" className={styles.name} onClick={() => onChoose(row.span.step)} title={row.label}>
                    {row.label}
                  </button>
                  {row.size !== null && <span className={styles.count}>{row.size.toLocaleString("en")}</span>}
                </div>
                <div className={styles.track}>
                  <Bar span={row.span} window={window} end={end} />
                </div>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Bar({ span, window, end }: { span: Span; window: Window; end: number }) {
  const to = span.to ?? end;
  const seconds = (to - span.from) / 1000;
  const waited = span.began === null ? to - span.from : span.began - span.from;
  const words = [
    `${span.step}: ${lookOf(span.status).word}, ${durationText(seconds)}`,
    span.kind === "attempt" && waited > 0 ? `waited ${durationText(waited / 1000)} for a worker` : null,
    span.worker ? `by ${span.worker}` : null,
    span.error,
  ];
  return (
    <div
      className={styles.bar}
      data-tone={lookOf(span.status).tone}
      data-open={span.to === null || undefined}
      data-words={wordsOf(span.from, to, window)}
      style={{ left: percent(span.from, window), width: width(span.from, to, window) }}
      title={words.filter(Boolean).join("\n")}
    >
      {span.kind === "attempt" && waited > 0 && <div className={styles.queued} style={{ width: `${(100 * waited) / Math.max(1, to - span.from)}%` }} />}
      {span.waits.map((wait) => (
        <div
          key={wait.from}
          className={styles.wait}
          title={`Waited for ${wait.what}`}
          style={{
            left: `${(100 * (wait.from - span.from)) / Math.max(1, to - span.from)}%`,
            width: `${(100 * ((wait.to ?? end) - wait.from)) / Math.max(1, to - span.from)}%`,
          }}
        />
      ))}
      <span className={styles.took}>{durationText(seconds)}</span>
    </div>
  );
}

/** Behind this there is no room for words, and before the other there is none either. */
const NEAR_THE_END = 0.92;
const NEAR_THE_START = 0.1;

/** Where it stands how long something took: behind its bar, where there is room. */
function wordsOf(from: number, to: number, window: Window): "behind" | "before" | "inside" {
  if (share(to, window) <= NEAR_THE_END) return "behind";
  return share(from, window) < NEAR_THE_START ? "inside" : "before";
}

const share = (at: number, window: Window) => (at - window.from) / (window.to - window.from);
const percent = (at: number, window: Window) => `${100 * share(at, window)}%`;
const width = (from: number, to: number, window: Window) => `${Math.max(0, (100 * (to - from)) / (window.to - window.from))}%`;

/** React's own handlers can't keep the page from zooming. `take` says whether the event was used. */
function useWheel(element: React.RefObject<HTMLElement | null>, take: (event: WheelEvent, share: number) => boolean) {
  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    const target = element.current;
    if (!target) return;
    const onWheel = (event: WheelEvent) => {
      const track = target.querySelector(`.${styles.track}`)?.getBoundingClientRect();
      const share = track ? Math.min(1, Math.max(0, (event.clientX - track.left) / track.width)) : 0.5;
      if (latest.current(event, share)) event.preventDefault();
    };
    target.addEventListener("wheel", onWheel, { passive: false });
    return () => target.removeEventListener("wheel", onWheel);
  });
}
