/** A page that is one list: searched by the text in the address, with the command that lists the same at its foot. */
import type { ReactNode } from "react";
import { useSearchParams } from "react-router";
import { Bar } from "./Bar";
import { CliLine } from "./CliLine";
import { type Column, DataTable } from "./DataTable";
import { EmptyState } from "./EmptyState";
import { Page, Section } from "./Page";
import { SearchField } from "./SearchField";

interface ListPageProps<Row> {
  title: string;
  subtitle: string;
  actions: ReactNode;
  /** What the rows are called. */
  noun: string;
  columns: Column<Row>[];
  rows: Row[] | undefined;
  error: unknown;
  rowKey: (row: Row) => string;
  /** What of a row is searched, and how that is called. */
  searched: { label: string; text: (row: Row) => string };
  /** What would be there, and how it would come. */
  empty: { icon: ReactNode; title: string; text: string };
  command: string[];
  /** Dialogs. */
  children?: ReactNode;
}

export function ListPage<Row>({ title, subtitle, actions, noun, columns, rows, error, rowKey, searched, empty, command, children }: ListPageProps<Row>) {
  const [parameters] = useSearchParams();
  const search = (parameters.get("search") ?? "").toLowerCase();
  const found = rows?.filter((row) => searched.text(row).toLowerCase().includes(search));
  return (
    <Page title={title} subtitle={subtitle} actions={actions}>
      <Bar>
        <SearchField label={searched.label} />
      </Bar>
      <Section title={noun} flush aside={found && <span className="muted numbers">{found.length.toLocaleString("en")}</span>}>
        <DataTable
          label={noun}
          columns={columns}
          rows={found}
          error={error}
          rowKey={rowKey}
          empty={
            <EmptyState icon={empty.icon} title={search ? "Nothing matches" : empty.title}>
              <p>{search ? "Another word may find it." : empty.text}</p>
            </EmptyState>
          }
        />
      </Section>
      <CliLine command={command} />
      {children}
    </Page>
  );
}
