/** Home: what runs now, what failed lately, how busy the server is, and who works. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleCheckBig, Cpu } from "lucide-react";
import { Link } from "react-router";
import { api, ask } from "@/api/client";
import { executionsQuery } from "@/api/executions";
import { useFeed } from "@/api/feed";
import { type Column, DataTable } from "@/components/DataTable";
import { EmptyState } from "@/components/EmptyState";
import { ErrorPanel } from "@/components/ErrorPanel";
import { ExecutionName } from "@/components/ExecutionRow";
import { Page, Section } from "@/components/Page";
import { StatusBadge } from "@/components/StatusBadge";
import { Elapsed, RelativeTime } from "@/components/Time";
import type { Execution, Part } from "@/api/types";
import { FirstRun } from "./FirstRun";
import styles from "./HomePage.module.css";
import { Pulse } from "./Pulse";

const COLUMNS: Column<Execution>[] = [
  { title: "Status", cell: (row) => <StatusBadge status={row.status} /> },
  { title: "Playbook", grow: true, cell: (row) => <ExecutionName execution={row} /> },
  { title: "Duration", align: "right", cell: (row) => <Elapsed from={row.started_at} to={row.completed_at} /> },
  { title: "Started", align: "right", from: "medium", cell: (row) => <RelativeTime at={row.started_at} /> },
];

export default function HomePage() {
  const queries = useQueryClient();
  const stats = useQuery({
    queryKey: ["executions", "stats"],
    queryFn: ({ signal }) => ask(api.GET("/api/dashboard/stats", { signal })),
  });
  const running = useQuery(executionsQuery({ status: "PENDING,RUNNING,PAUSED", limit: 8 }));
  const failed = useQuery(executionsQuery({ status: "FAILED", limit: 6 }));
  useFeed(() => void queries.invalidateQueries({ queryKey: ["executions"] }));

  const counts = stats.data?.stats;
  const isNew = stats.data?.total_executions === 0;
  return (
    <Page title="Home">
      {stats.error && <ErrorPanel error={stats.error} />}
      {isNew && <FirstRun />}
      <Pulse counts={counts} />
      <div className={styles.columns}>
        <div className={styles.column}>
          <Section title="Running now" aside={<Link to="/executions?status=PENDING,RUNNING,PAUSED">All that run</Link>} flush>
            <DataTable
              label="Executions that run now"
              columns={COLUMNS}
              rows={running.data}
              error={running.error}
              rowKey={(row) => String(row.execution_id)}
              empty={
                <EmptyState title="Nothing runs right now">
                  <p>Executions appear here the moment they start.</p>
                </EmptyState>
              }
            />
          </Section>
          <Section title="Recent failures" aside={<Link to="/executions?status=FAILED">All failures</Link>} flush>
            <DataTable
              label="Executions that failed lately"
              columns={COLUMNS}
              rows={failed.data}
              error={failed.error}
              rowKey={(row) => String(row.execution_id)}
              empty={<EmptyState icon={<CircleCheckBig size={20} />} title="No failures" />}
            />
          </Section>
        </div>
        <div className={styles.column}>
          <Workers />
          <Section title="Recent executions" aside={<Link to="/executions">All executions</Link>} flush>
            <Recent executions={stats.data?.recent_executions} />
          </Section>
        </div>
      </div>
    </Page>
  );
}

function Recent({ executions }: { executions: Execution[] | undefined }) {
  if (executions?.length === 0) return <EmptyState title="No executions yet" />;
  return (
    <ul className={styles.recent}>
      {executions?.slice(0, 8).map((execution) => (
        <li key={String(execution.execution_id)}>
          <span className={styles.status}>
            <StatusBadge status={execution.status} />
          </span>
          <Link to={`/executions/${execution.execution_id}`}>{execution.path}</Link>
          <span className="muted">
            <RelativeTime at={execution.started_at} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function Workers() {
  const workers = useQuery({
    queryKey: ["workers"],
    queryFn: ({ signal }) => ask(api.GET("/api/worker/pools", { signal })),
    refetchInterval: 5_000,
  });
  const items = workers.data?.items as Part[] | undefined;
  return (
    <Section title="Workers" flush>
      {workers.error && <ErrorPanel error={workers.error} />}
      {items?.length === 0 && (
        <EmptyState icon={<Cpu size={20} />} title="No workers">
          <p>
            Executions wait until there is one. Start it with <code>noetl worker --server {location.origin}</code>.
          </p>
        </EmptyState>
      )}
      <ul className={styles.recent}>
        {items?.map((worker) => (
          <li key={String(worker.runtime_id)}>
            <span className={styles.beat} data-ready={worker.status === "ready" || undefined} aria-hidden />
            <span className={styles.worker}>{worker.name}</span>
            <span className="muted">
              {worker.status} · <RelativeTime at={worker.heartbeat} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
