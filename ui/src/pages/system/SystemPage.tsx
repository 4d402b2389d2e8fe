/** How the server fares: health, numbers over time, its database, and who changed what. */
import { useQuery } from "@tanstack/react-query";
import { api, ask } from "@/api/client";
import { CliLine } from "@/components/CliLine";
import { ErrorPanel } from "@/components/ErrorPanel";
import { Page, Section } from "@/components/Page";
import { StatusBadge } from "@/components/StatusBadge";
import { Tabs } from "@/components/Tabs";
import { RelativeTime } from "@/components/Time";
import { useAddress } from "@/lib/address";
import { bytesText } from "@/lib/bytes";
import { durationText } from "@/lib/time";
import { AuditView } from "./AuditView";
import { Charts } from "./Charts";
import { Facts } from "./Facts";
import styles from "./SystemPage.module.css";

const EVERY = 5_000;

type TabName = "health" | "metrics" | "audit";

export default function SystemPage() {
  const [parameters, change] = useAddress();
  const asked = parameters.get("tab");
  const tab: TabName = asked === "metrics" || asked === "audit" ? asked : "health";
  return (
    <Page title="System" subtitle="How the server fares, and who changed what.">
      <Tabs<TabName>
        label="About the server"
        chosen={tab}
        onChoose={(tab) => change({ tab, before: null })}
        tabs={[
          { name: "health", label: "Health" },
          { name: "metrics", label: "Metrics" },
          { name: "audit", label: "Audit log" },
        ]}
      >
        {tab === "health" ? <Health /> : tab === "metrics" ? <Charts /> : <AuditView />}
      </Tabs>
    </Page>
  );
}

function Health() {
  const health = useQuery({ queryKey: ["system", "health"], queryFn: ({ signal }) => ask(api.GET("/api/health", { signal })), refetchInterval: EVERY });
  const status = useQuery({ queryKey: ["system", "status"], queryFn: ({ signal }) => ask(api.GET("/api/status", { signal })), refetchInterval: EVERY });
  const pool = useQuery({ queryKey: ["system", "pool"], queryFn: ({ signal }) => ask(api.GET("/api/pool/status", { signal })), refetchInterval: EVERY });
  const database = useQuery({ queryKey: ["system", "database"], queryFn: ({ signal }) => ask(api.GET("/api/db/validate", { signal })) });
  const stats = useQuery({ queryKey: ["system", "stats"], queryFn: ({ signal }) => ask(api.GET("/api/dashboard/stats", { signal })), refetchInterval: EVERY });
  const number = (value: number | undefined) => value?.toLocaleString("en") ?? "–";
  const error = health.error ?? status.error ?? pool.error ?? database.error ?? stats.error;
  const counts = stats.data?.stats;
  return (
    <div className={styles.grid}>
      {error && <ErrorPanel error={error} />}
      <Section title="Server" aside={health.data && <StatusBadge status={health.data.status === "ok" ? "Healthy" : health.data.status} />}>
        <Facts
          facts={[
            ["Version", status.data?.version],
            ["Started", status.data && <RelativeTime at={status.data.started_at} />],
            ["Runs for", status.data && durationText(status.data.uptime_seconds)],
            ["Memory", status.data?.memory_bytes && bytesText(status.data.memory_bytes)],
            ["Processor time", status.data?.cpu_seconds != null && durationText(status.data.cpu_seconds)],
            ["Threads", number(status.data?.threads ?? undefined)],
            ["Open files", number(status.data?.open_files ?? undefined)],
            ["Workers", number(status.data?.workers)],
          ]}
        />
      </Section>
      <Section title="Storage" aside={database.data && <StatusBadge status={database.data.valid ? "Complete" : "Incomplete"} />}>
        <Facts
          facts={[
            ["Database", health.data?.database],
            ["What it has", database.data?.message],
            ["Tables", number(database.data?.tables.length)],
            ["Missing", database.data && (database.data.missing.join(", ") || "none")],
            ["Places to the store", pool.data && `${number(pool.data.slots_available)} of ${number(pool.data.pool_max)} free`],
            ["Requests that wait", number(pool.data?.requests_waiting)],
            ["Inputs that wait", number(status.data?.waiting_inputs)],
            ["Message bus", health.data?.nats.replaceAll("_", " ")],
          ]}
        />
      </Section>
      <Section title="Executions">
        <Facts
          facts={[
            ["All", number(counts?.total_executions)],
            ["Running", number(counts?.running_executions)],
            ["Paused", number(counts?.paused_executions)],
            ["Completed", number(counts?.successful_executions)],
            ["Failed", number(counts?.failed_executions)],
            ["Cancelled", number(counts?.cancelled_executions)],
            ["Playbooks", number(counts?.total_playbooks)],
          ]}
        />
      </Section>
      <Section title="From a terminal">
        <div className={styles.stack}>
          <p>The same with advice for what is wrong, and with SQL over the tables:</p>
          <CliLine command={["noetl", "doctor"]} />
          <CliLine command={["noetl", "query", "SELECT status, count(*) FROM noetl.execution GROUP BY 1"]} />
        </div>
      </Section>
    </div>
  );
}
