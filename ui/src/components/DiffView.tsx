/** A unified diff, with the numbers of the lines on both sides. */
import { useMemo } from "react";
import { readDiff } from "@/lib/diff";
import styles from "./DiffView.module.css";
import { EmptyState } from "./EmptyState";

const SIGNS = { added: "+", removed: "-", same: " ", gap: "" };

export function DiffView({ diff }: { diff: string }) {
  const lines = useMemo(() => readDiff(diff), [diff]);
  if (lines.length === 0) return <EmptyState title="Nothing changed" />;
  return (
    <div className={styles.frame} role="region" aria-label="What changed" tabIndex={0}>
      <table className={styles.table}>
        <tbody>
          {lines.map((line, index) => (
            // Lines have no name of their own, and the diff does not change while it is shown.
            <tr key={index} data-kind={line.kind}>
              <td className={styles.number}>{line.before}</td>
              <td className={styles.number}>{line.after}</td>
              <td className={styles.sign}>{SIGNS[line.kind]}</td>
              <td className={styles.text}>{line.kind === "gap" ? "…" : line.text}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
