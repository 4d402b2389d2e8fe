/** A JSON value as a tree. Only the lines that can be seen are on the page, so that large values stay light. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { ChevronRight } from "lucide-react";
import { memo, useMemo, useRef, useState } from "react";
import type { Json } from "@/api/types";
import { type JsonRow, jsonRows, previewOf } from "@/lib/json-rows";
import { CopyButton } from "./CopyButton";
import styles from "./JsonView.module.css";

const ROW = 21;
/** A text that is longer is cut off until it is asked for. */
const LONG = 300;

export const JsonView = memo(function JsonView({ value, label = "Value" }: { value: Json; label?: string }) {
  const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map());
  const rows = useMemo(() => jsonRows(value, opened), [value, opened]);
  const scroll = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW,
    overscan: 20,
    getItemKey: (index) => rows[index]?.path ?? index,
  });
  const toggle = (row: JsonRow) => setOpened(new Map(opened).set(row.path, !row.isOpen));
  return (
    <div className={styles.frame}>
      <div ref={scroll} className={styles.scroll} tabIndex={0} role="region" aria-label={label}>
        <div className={styles.sheet} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            return (
              <div
                key={item.key}
                ref={virtual.measureElement}
                data-index={item.index}
                className={styles.row}
                style={{ transform: `translateY(${item.start}px)`, paddingLeft: 8 + row.depth * 16 }}
              >
                <Line row={row} onToggle={() => toggle(row)} />
              </div>
            );
          })}
        </div>
      </div>
      <div className={styles.copy}>
        <CopyButton text={JSON.stringify(value, null, 2) ?? "null"} label="Copy as JSON" />
      </div>
    </div>
  );
});

function Line({ row, onToggle }: { row: JsonRow; onToggle: () => void }) {
  const { name, value, size, isOpen } = row;
  const isNode = size !== null && size > 0;
  const label = name ?? (Array.isArray(value) ? "list" : "value");
  return (
    <>
      {isNode ? (
        <button type="button" className={styles.toggle} aria-expanded={isOpen} aria-label={`${isOpen ? "Close" : "Open"} ${label}`} onClick={onToggle}>
          <ChevronRight size={13} />
        </button>
      ) : (
        <span className={styles.space} />
      )}
      {name !== null && <span className={styles.name}>{name}:&nbsp;</span>}
      {isNode ? <span className={styles.preview}>{isOpen ? (Array.isArray(value) ? `[ ${size} ]` : `{ ${size} }`) : previewOf(value)}</span> : <Plain value={value} />}
    </>
  );
}

function Plain({ value }: { value: Json }) {
  const [whole, setWhole] = useState(false);
  const kind = value === null ? "null" : typeof value;
  const text = previewOf(value);
  if (text.length <= LONG || whole) {
    return (
      <span className={styles.plain} data-kind={kind}>
        {text}
      </span>
    );
  }
  return (
    <span className={styles.plain} data-kind={kind}>
      {text.slice(0, LONG)}…{" "}
      <button type="button" className={styles.more} onClick={() => setWhole(true)}>
        all {text.length.toLocaleString("en")} characters
      </button>
    </span>
  );
}
