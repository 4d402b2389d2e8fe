/** Who did what, newest first, page by page. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ScrollText } from "lucide-react";
import { Link } from "react-router";
import { api, ask } from "@/api/client";
import type { AuditEntry } from "@/api/types";
import { Button } from "@/components/Button";
import { type Column, DataTable } from "@/components/DataTable";
import { EmptyState } from "@/components/EmptyState";
import { Section } from "@/components/Page";
import { StatusBadge } from "@/components/StatusBadge";
import { RelativeTime } from "@/components/Time";
import { useAddress } from "@/lib/address";

const PAGE_SIZE = 50;

const COLUMNS: Column<AuditEntry>[] = [
  { title: "Outcome", cell: ({ outcome }) => <StatusBadge status={outcome === "success" ? "Done" : outcome} quiet /> },
  { title: "Who", cell: ({ actor }) => actor },
  { title: "What", from: "medium", cell: ({ action }) => <code>{action}</code> },
  { title: "To what", grow: true, cell: ({ target }) => <span title={target}>{target}</span> },
  {
    title: "Execution",
    from: "wide",
    cell: ({ execution_id }) =>
      execution_id ? (
        <Link className="mono" to={`/executions/${execution_id}`}>
          …{String(execution_id).slice(-6)}
        </Link>
      ) : (
        <span className="muted">–</span>
      ),
  },
  { title: "When", align: "right", cell: ({ at }) => <RelativeTime at={at} /> },
];

export function AuditView() {
  const [parameters, change] = useAddress();
  const before = parameters.get("before");
  const list = useQuery({
    queryKey: ["audit", before],
    queryFn: ({ signal }) => ask(api.GET("/api/audit", { params: { query: { limit: PAGE_SIZE, ...(before ? { before } : {}) } }, signal })),
    placeholderData: keepPreviousData,
  });
  const next = list.data?.next;
  return (
    <Section
      title="Changes that were asked for"
      flush
      aside={
        before && (
          <Button kind="quiet" onClick={() => change({ before: null })}>
            To the newest
          </Button>
        )
      }
    >
      <DataTable
        label="Audit log"
        columns={COLUMNS}
        rows={list.data?.items as AuditEntry[] | undefined}
        error={list.error}
        rowKey={({ id }) => String(id)}
        paging={next ? { onOlder: () => change({ before: String(next) }) } : {}}
        empty={
          <EmptyState icon={<ScrollText size={20} />} title="Nothing was changed yet">
            <p>Every change that somebody asks for is written down here: who, what, to what, and what came of it.</p>
          </EmptyState>
        }
      />
    </Section>
  );
}
