/** How an execution is told in lists. */
import { Link } from "react-router";
import type { Execution } from "@/api/types";
import styles from "./ExecutionRow.module.css";

/** Its playbook, which leads to it, with the error or the step it is at beneath. */
export function ExecutionName({ execution }: { execution: Execution }) {
  const note = execution.error ?? (execution.status === "RUNNING" ? execution.current_step : undefined);
  return (
    <span className={styles.name}>
      <span className={styles.path}>
        <Link to={`/executions/${execution.execution_id}`}>{execution.path}</Link>
        <span className="muted"> v{execution.version}</span>
      </span>
      {note && (
        <span className={styles.note} data-error={execution.error ? true : undefined} title={note}>
          {execution.error ? note : `at ${note}`}
        </span>
      )}
    </span>
  );
}

export function Labels({ labels }: { labels: Record<string, string> }) {
  const entries = Object.entries(labels);
  if (entries.length === 0) return null;
  return (
    <span className={styles.labels}>
      {entries.map(([name, value]) => (
        <span key={name} className={styles.label}>
          {name}={value}
        </span>
      ))}
    </span>
  );
}
