/** Stands in for what is on its way. */
import styles from "./Skeleton.module.css";

export function Skeleton({ lines = 3 }: { lines?: number }) {
  return (
    <div className={styles.skeleton} aria-busy="true" aria-label="Loading" role="status">
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} className={styles.line} data-short={index % 3 === 2 || undefined} />
      ))}
    </div>
  );
}
