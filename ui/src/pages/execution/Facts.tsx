/** The facts of an execution that fit on a line. */
import { Link } from "react-router";
import type { ExecutionDetail } from "@/api/types";
import { CopyButton } from "@/components/CopyButton";
import { Labels } from "@/components/ExecutionRow";
import { Elapsed, RelativeTime } from "@/components/Time";
import styles from "./Facts.module.css";

export function Facts({ execution, rerunOf }: { execution: ExecutionDetail; rerunOf: string | null }) {
  const id = String(execution.execution_id);
  return (
    <dl className={styles.facts}>
      <div>
        <dt>Execution</dt>
        <dd>
          <span className="mono">{id}</span>
          <CopyButton text={id} label="Copy the id" />
        </dd>
      </div>
      <div>
        <dt>Version</dt>
        <dd>{execution.version}</dd>
      </div>
      <div>
        <dt>Started</dt>
        <dd>
          <RelativeTime at={execution.started_at} />
        </dd>
      </div>
      <div>
        <dt>Duration</dt>
        <dd>
          <Elapsed from={execution.started_at} to={execution.completed_at} />
        </dd>
      </div>
      <div>
        <dt>Events</dt>
        <dd className="numbers">{execution.event_count.toLocaleString("en")}</dd>
      </div>
      {execution.parent_execution_id && (
        <div>
          <dt>Started by</dt>
          <dd>
            <Link className="mono" to={`/executions/${execution.parent_execution_id}`}>
              {String(execution.parent_execution_id)}
            </Link>
          </dd>
        </div>
      )}
      {rerunOf && (
        <div>
          <dt>Runs again</dt>
          <dd>
            <Link className="mono" to={`/executions/${rerunOf}`}>
              {rerunOf}
            </Link>
            <Link className={styles.compare} to={`/compare?a=${rerunOf}&b=${id}`}>
              compare the two
            </Link>
          </dd>
        </div>
      )}
      {Object.keys(execution.labels).length > 0 && (
        <div>
          <dt>Labels</dt>
          <dd>
            <Labels labels={execution.labels} />
          </dd>
        </div>
      )}
    </dl>
  );
}
