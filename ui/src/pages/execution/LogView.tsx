/** What steps print, followed while they do. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { LogLine } from "@/api/types";
import { useEventStream } from "@/api/useEventStream";
import { CliLine } from "@/components/CliLine";
import { clockText } from "@/lib/time";
import styles from "./LogView.module.css";

interface Line {
  key: string;
  at: string;
  step: string;
  stream: string;
  text: string;
}

/** Lines beyond these are left out, the oldest first. */
const KEPT = 20_000;

export function LogView({ id, step, isLive, tall = false }: { id: string; step?: string; isLive: boolean; tall?: boolean }) {
  const [lines, setLines] = useState<Line[]>([]);
  const [follow, setFollow] = useState(true);
  const [ended, setEnded] = useState(false);
  const url = `/api/executions/${id}/logs/stream${step === undefined ? "" : `?step=${encodeURIComponent(step)}`}`;
  useEffect(() => {
    setLines([]);
    setEnded(false);
  }, [url]);
  const onMessages = useCallback((messages: { data: string }[]) => {
    const more = messages.flatMap((message) => linesOf(JSON.parse(message.data) as LogLine));
    setLines((lines) => [...lines, ...more].slice(-KEPT));
  }, []);
  useEventStream(url, { onMessages, onEnd: useCallback(() => setEnded(true), []) });

  const scroll = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({ count: lines.length, getScrollElement: () => scroll.current, estimateSize: () => 19, overscan: 20 });
  useEffect(() => {
    if (follow && lines.length > 0) virtual.scrollToIndex(lines.length - 1, { align: "end" });
    // The virtualizer is the same one throughout.
  }, [follow, lines.length]);
  const withSteps = step === undefined;
  const note = useMemo(() => (ended || !isLive ? "Nothing was printed." : "Nothing was printed so far."), [ended, isLive]);
  return (
    <div className={styles.log} data-tall={tall || undefined}>
      {lines.length === 0 ? (
        <p className="muted">{note}</p>
      ) : (
        <div
          ref={scroll}
          className={styles.scroll}
          tabIndex={0}
          role="log"
          aria-label={step === undefined ? "What was printed" : `What ${step} printed`}
          onScroll={(event) => {
            const { scrollTop, clientHeight, scrollHeight } = event.currentTarget;
            setFollow(scrollTop + clientHeight > scrollHeight - 30);
          }}
        >
          <div className={styles.sheet} style={{ height: virtual.getTotalSize() }}>
            {virtual.getVirtualItems().map((item) => {
              const line = lines[item.index];
              if (!line) return null;
              return (
                <div
                  key={line.key}
                  ref={virtual.measureElement}
                  data-index={item.index}
                  className={styles.line}
                  data-stream={line.stream}
                  style={{ transform: `translateY(${item.start}px)` }}
                >
                  <span className={styles.time}>{clockText(line.at)}</span>
                  {withSteps && <span className={styles.step}>{line.step}</span>}
                  <span className={styles.text}>{line.text}</span>
                </div>
              );
            })}
          </div>
        </div>
      )}
      {tall && <CliLine command={["noetl", "logs", id, ...(isLive ? ["-f"] : [])]} />}
    </div>
  );
}

function linesOf(chunk: LogLine): Line[] {
  const texts = chunk.text.replace(/\n$/, "").split("\n");
  const lines = texts.map((text, index) => ({
    key: `${chunk.cursor}/${index}`,
    at: chunk.at,
    step: chunk.step,
    stream: chunk.stream,
    text,
  }));
  if (chunk.dropped_bytes > 0) {
    lines.push({
      key: `${chunk.cursor}/dropped`,
      at: chunk.at,
      step: chunk.step,
      stream: "note",
      text: `${chunk.dropped_bytes.toLocaleString("en")} bytes over the limit were not kept`,
    });
  }
  return lines;
}
