/** The workers that the server knows, by pool, and when they were last heard of. */
import { useQuery } from "@tanstack/react-query";
import { Cpu } from "lucide-react";
import { api, ask } from "@/api/client";
import type { Part } from "@/api/types";
import { CliLine } from "@/components/CliLine";
import { type Column, DataTable } from "@/components/DataTable";
import { EmptyState } from "@/components/EmptyState";
import { Page, Section } from "@/components/Page";
import { StatusBadge } from "@/components/StatusBadge";
import { RelativeTime } from "@/components/Time";

const EVERY = 5_000;

const COLUMNS: Column<Part>[] = [
  { title: "Status", cell: (part) => <StatusBadge status={part.status} /> },
  { title: "Name", grow: true, cell: (part) => <span className="mono">{part.name}</span> },
  { title: "Pools", cell: (part) => poolsOf(part) },
  { title: "Runtime", from: "wide", cell: (part) => textIn(part.runtime, "kind") ?? "–" },
  { title: "Tools", from: "medium", cell: (part) => toolsOf(part) },
  { title: "At once", align: "right", from: "medium", cell: (part) => part.capacity ?? "–" },
  { title: "Since", align: "right", from: "wide", cell: (part) => <RelativeTime at={part.created_at} /> },
  { title: "Last heard of", align: "right", cell: (part) => <RelativeTime at={part.heartbeat} /> },
];

export default function WorkersPage() {
  const workers = useQuery({
    queryKey: ["workers"],
    queryFn: async ({ signal }) => (await ask(api.GET("/api/worker/pools", { params: { query: {} }, signal }))).items as Part[],
    refetchInterval: EVERY,
  });
  return (
    <Page title="Workers & pools" subtitle="Workers take commands of their pool and run the tools of steps. One that goes quiet loses its command to the next.">
      <Section title="Workers" flush aside={workers.data && <span className="muted numbers">{workers.data.length}</span>}>
        <DataTable
          label="Workers"
          columns={COLUMNS}
          rows={workers.data}
          error={workers.error}
          rowKey={(part) => String(part.runtime_id)}
          empty={
            <EmptyState icon={<Cpu size={20} />} title="No worker is there">
              <p>Executions wait until one comes. Start one on any machine that reaches this server:</p>
              <CliLine command={["noetl", "worker"]} />
            </EmptyState>
          }
        />
      </Section>
      <CliLine command={["noetl", "workers"]} />
    </Page>
  );
}

function textIn(value: unknown, name: string): string | null {
  const found = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  return typeof found === "string" ? found : null;
}

function toolsOf(part: Part): string {
  return listIn(part.capabilities, "tools") ?? "–";
}

/** The pools that it takes commands of. Workers of other makes name one, in their labels. */
function poolsOf(part: Part): string {
  return listIn(part.capabilities, "pools") ?? textIn(part.labels, "pool_name") ?? "–";
}

function listIn(facts: unknown, name: string): string | null {
  const found = (facts as Record<string, unknown> | null)?.[name];
  return Array.isArray(found) ? found.join(", ") : null;
}
