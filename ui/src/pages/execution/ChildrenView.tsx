/** The executions that this one started, and those that they started, as a tree. */
import { useQuery } from "@tanstack/react-query";
import { ChevronRight, Network } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import type { Execution } from "@/api/types";
import { EmptyState } from "@/components/EmptyState";
import { ErrorPanel } from "@/components/ErrorPanel";
import { Skeleton } from "@/components/Skeleton";
import { StatusBadge } from "@/components/StatusBadge";
import { Elapsed } from "@/components/Time";
import styles from "./ChildrenView.module.css";
import { childrenQuery } from "./queries";

export function ChildrenView({ id }: { id: string }) {
  const children = useQuery(childrenQuery(id));
  if (children.error) return <ErrorPanel error={children.error} />;
  if (!children.data) return <Skeleton />;
  if (children.data.length === 0) {
    return (
      <EmptyState icon={<Network size={20} />} title="It has started no other execution">
        <p>
          A step of kind <code>playbook</code> runs another playbook. What it starts appears here.
        </p>
      </EmptyState>
    );
  }
  return (
    <ul className={styles.tree}>
      {children.data.map((child) => (
        <Child key={String(child.execution_id)} execution={child} />
      ))}
    </ul>
  );
}

function Child({ execution }: { execution: Execution }) {
  const [open, setOpen] = useState(false);
  const id = String(execution.execution_id);
  return (
    <li>
      <div className={styles.row}>
        <button type="button" className={styles.toggle} aria-expanded={open} aria-label={`What ${execution.path} started`} onClick={() => setOpen(!open)}>
          <ChevronRight size={14} />
        </button>
        <StatusBadge status={execution.status} />
        <Link to={`/executions/${id}`}>{execution.path}</Link>
        <span className="mono muted">{id}</span>
        <span className="muted">
          <Elapsed from={execution.started_at} to={execution.completed_at} />
        </span>
      </div>
      {open && <Below id={id} />}
    </li>
  );
}

function Below({ id }: { id: string }) {
  const children = useQuery(childrenQuery(id));
  if (children.error) return <ErrorPanel error={children.error} />;
  if (!children.data) return <Skeleton lines={1} />;
  if (children.data.length === 0) return <div className={styles.none}>nothing</div>;
  return (
    <ul className={styles.below}>
      {children.data.map((child) => (
        <Child key={String(child.execution_id)} execution={child} />
      ))}
    </ul>
  );
}
