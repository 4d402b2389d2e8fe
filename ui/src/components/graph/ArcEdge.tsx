/** An arc in the graph, with its condition and how often it was taken. */
import { BaseEdge, EdgeLabelRenderer, type EdgeProps, getBezierPath } from "@xyflow/react";
import { memo } from "react";
import type { ArcElement } from "./elements";
import styles from "./graph.module.css";

export const ArcEdge = memo(function ArcEdge({
  id,
  sourceX,
  sourceY,
  targetX,
  targetY,
  sourcePosition,
  targetPosition,
  markerEnd,
  data,
}: EdgeProps<ArcElement>) {
  const [path, , labelY] = getBezierPath({ sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition });
  const taken = data?.taken ?? 0;
  const when = data?.when;
  // Nearer to where the arc leads, so that labels of arcs that begin together do not cover each other.
  const labelX = sourceX * 0.3 + targetX * 0.7;
  return (
    <>
      <BaseEdge id={id} path={path} {...(markerEnd ? { markerEnd } : {})} className={taken > 0 ? styles.taken : data?.isRun ? styles.untaken : styles.planned} />
      {(when || taken > 1) && (
        <EdgeLabelRenderer>
          <div
            className={styles.arcLabel}
            data-taken={taken > 0 || undefined}
            title={when ?? undefined}
            style={{ transform: `translate(-50%, -50%) translate(${labelX}px, ${labelY}px)` }}
          >
            {when ? shortened(when) : ""}
            {taken > 1 ? ` ×${taken}` : ""}
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  );
});

function shortened(when: string): string {
  const bare = when.replace(/^\{\{\s*|\s*\}\}$/g, "");
  return bare.length > 28 ? `${bare.slice(0, 27)}…` : bare;
}
