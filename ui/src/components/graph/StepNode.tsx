/** A step in the graph: its state, its tools, how long it took or how far its loop is. */
import { Handle, type NodeProps, Position } from "@xyflow/react";
import { memo } from "react";
import { StatusIcon } from "@/components/StatusBadge";
import type { StepState } from "@/lib/run-model";
import { durationText } from "@/lib/time";
import type { StepElement } from "./elements";
import styles from "./graph.module.css";

export const StepNode = memo(function StepNode({ data, selected }: NodeProps<StepElement>) {
  const { name, kinds, state, isEntry, isRun } = data;
  const status = state?.status ?? "pending";
  const took = state?.startedAt && state.endedAt ? durationText((state.endedAt - state.startedAt) / 1000) : null;
  return (
    <div className={styles.node} data-status={status} data-chosen={selected || undefined} data-entered={state !== null || !isRun || undefined}>
      {!isEntry && <Handle type="target" position={Position.Top} isConnectable={false} />}
      <div className={styles.nodeTop}>
        {isRun && <StatusIcon status={status} size={15} />}
        <span className={styles.nodeName} title={name}>
          {name}
        </span>
        {state && state.runs > 1 && <span className={styles.runs}>×{state.runs}</span>}
      </div>
      <div className={styles.nodeNote}>
        <span>{kinds}</span>
        {state?.loop ? <LoopWords loop={state.loop} /> : took && <span className="numbers">{took}</span>}
      </div>
      {state?.loop?.total ? <LoopBar done={state.loop.done} failed={state.loop.failed} total={state.loop.total} /> : null}
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </div>
  );
});

function LoopWords({ loop }: { loop: NonNullable<StepState["loop"]> }) {
  const total = loop.total === null ? "?" : loop.total.toLocaleString("en");
  return (
    <span className="numbers">
      {loop.done.toLocaleString("en")}/{total}
      {loop.failed > 0 && <span className={styles.failed}> · {loop.failed.toLocaleString("en")} failed</span>}
    </span>
  );
}

function LoopBar({ done, failed, total }: { done: number; failed: number; total: number }) {
  const share = (part: number) => `${Math.min(100, (100 * part) / total)}%`;
  return (
    <div className={styles.bar} aria-hidden>
      <div className={styles.barDone} style={{ width: share(done - failed) }} />
      <div className={styles.barFailed} style={{ width: share(failed) }} />
    </div>
  );
}
