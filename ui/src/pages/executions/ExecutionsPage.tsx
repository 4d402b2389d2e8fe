/** Executions: a live list with filters that stay in the address, and what can be done to many at once. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ListTree } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { type ExecutionFilter, executionsQuery } from "@/api/executions";
import { useFeed } from "@/api/feed";
import type { Execution } from "@/api/types";
import { Button, LinkButton } from "@/components/Button";
import { CliLine } from "@/components/CliLine";
import { type Column, DataTable } from "@/components/DataTable";
import { EmptyState } from "@/components/EmptyState";
import { ExecutionName, Labels } from "@/components/ExecutionRow";
import { Page, Section } from "@/components/Page";
import { StatusBadge } from "@/components/StatusBadge";
import { Elapsed, RelativeTime } from "@/components/Time";
import { BulkActions } from "./BulkActions";
import { commandOf, type Filters, sinceInstant, useFilters } from "./filters";
import { FilterBar } from "./FilterBar";

const PAGE_SIZE = 50;

const COLUMNS: Column<Execution>[] = [
  { title: "Status", cell: (row) => <StatusBadge status={row.status} /> },
  { title: "Playbook", grow: true, cell: (row) => <ExecutionName execution={row} /> },
  { title: "Labels", from: "wide", cell: (row) => <Labels labels={row.labels} /> },
  {
    title: "Parent",
    from: "wide",
    cell: (row) =>
      row.parent_execution_id ? (
        <Link className="mono" to={`/executions/${row.parent_execution_id}`} title={`Execution ${row.parent_execution_id}`}>
          …{String(row.parent_execution_id).slice(-6)}
        </Link>
      ) : (
        <span className="muted">–</span>
      ),
  },
  { title: "Id", from: "medium", cell: (row) => <span className="mono muted">{String(row.execution_id)}</span> },
  { title: "Events", align: "right", from: "wide", cell: (row) => row.event_count.toLocaleString("en") },
  { title: "Duration", align: "right", cell: (row) => <Elapsed from={row.started_at} to={row.completed_at} /> },
  { title: "Started", align: "right", from: "medium", cell: (row) => <RelativeTime at={row.started_at} /> },
];

export default function ExecutionsPage() {
  const queries = useQueryClient();
  const [filters, setFilters] = useFilters();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  // One more than is shown says whether there is another page.
  const list = useQuery(executionsQuery({ ...asked(filters), limit: PAGE_SIZE + 1 }));
  useFeed(() => void queries.invalidateQueries({ queryKey: ["executions", "list"] }));

  const { rows, hasNewer, hasOlder } = paged(list.data, filters);
  const first = rows?.[0];
  const last = rows?.at(-1);
  const shown = rows?.filter((row) => chosen.has(String(row.execution_id))) ?? [];
  return (
    <Page
      title="Executions"
      subtitle="Every run of a playbook, newest first. The list follows what happens."
      actions={
        shown.length === 2 && (
          <LinkButton to={`/compare?a=${shown[1]?.execution_id}&b=${shown[0]?.execution_id}`}>Compare the two</LinkButton>
        )
      }
    >
      <FilterBar filters={filters} onChange={setFilters} />
      {shown.length > 0 && <BulkActions executions={shown} onDone={() => setChosen(new Set())} />}
      <Section
        title={Object.keys(filters).length === 0 ? "All executions" : "Matches"}
        aside={list.isFetching && <span className="muted">Refreshing…</span>}
        flush
      >
        <DataTable
          label="Executions"
          columns={COLUMNS}
          rows={rows}
          error={list.error}
          rowKey={(row) => String(row.execution_id)}
          selection={{ chosen, onChange: setChosen, name: (row) => `${row.path} ${row.execution_id}` }}
          paging={{
            note: rows && rows.length > 0 ? `${rows.length} shown` : undefined,
            onNewer: hasNewer && first ? () => setFilters({ ...filters, before: undefined, after: String(first.execution_id) }) : undefined,
            onOlder: hasOlder && last ? () => setFilters({ ...filters, after: undefined, before: String(last.execution_id) }) : undefined,
          }}
          empty={<Nothing filters={filters} onClear={() => setFilters({})} />}
        />
      </Section>
      <CliLine command={commandOf(filters)} />
    </Page>
  );
}

function asked({ since, ...rest }: Filters): ExecutionFilter {
  return { ...rest, started_from: sinceInstant(since) };
}

/** Cuts the extra row off, on the side from which the page was entered. */
function paged(found: Execution[] | undefined, filters: Filters) {
  if (found === undefined) return { rows: undefined, hasNewer: false, hasOlder: false };
  const isFull = found.length > PAGE_SIZE;
  if (filters.after) {
    const rows = isFull ? found.slice(found.length - PAGE_SIZE) : found;
    return { rows, hasNewer: isFull, hasOlder: true };
  }
  return { rows: found.slice(0, PAGE_SIZE), hasNewer: filters.before !== undefined, hasOlder: isFull };
}

function Nothing({ filters, onClear }: { filters: Filters; onClear: () => void }) {
  if (Object.values(filters).some((value) => value !== undefined)) {
    return (
      <EmptyState icon={<ListTree size={20} />} title="Nothing matches" actions={<Button onClick={onClear}>Clear the filters</Button>}>
        <p>No execution is like that. The search looks at ids, paths, errors and labels.</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={<ListTree size={20} />} title="No executions yet" actions={<LinkButton to="/">Run your first playbook</LinkButton>}>
      <p>An execution is one run of a playbook. Start one from the home page, over the API, or with the command line.</p>
    </EmptyState>
  );
}
