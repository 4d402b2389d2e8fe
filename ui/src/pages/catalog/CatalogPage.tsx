/** The catalog: the newest version of every document, found by kind and text. */
import { useQuery } from "@tanstack/react-query";
import { Library, Pencil, Play } from "lucide-react";
import { Link } from "react-router";
import { catalogQuery, entryAddress, MOST_ENTRIES } from "@/api/catalog";
import type { Entry } from "@/api/types";
import { Bar } from "@/components/Bar";
import { LinkButton } from "@/components/Button";
import { Choice } from "@/components/Choice";
import { CliLine } from "@/components/CliLine";
import { type Column, DataTable } from "@/components/DataTable";
import { EmptyState } from "@/components/EmptyState";
import { CheckField } from "@/components/fields";
import { Page, Section } from "@/components/Page";
import { SearchField } from "@/components/SearchField";
import { RelativeTime } from "@/components/Time";
import { useAddress } from "@/lib/address";
import styles from "./CatalogPage.module.css";
import { descriptionOf } from "./document";

const KINDS = [
  { value: "", label: "All" },
  { value: "playbook", label: "Playbooks" },
  { value: "subscription", label: "Subscriptions" },
] as const;

const COLUMNS: Column<Entry>[] = [
  {
    title: "Path",
    grow: true,
    cell: (entry) => (
      <span className={styles.name}>
        <span>
          <Link to={entryAddress(entry.path)}>{entry.path}</Link>
          {entry.archived_at && <span className={styles.tag}>deleted</span>}
        </span>
        <span className={styles.note}>{descriptionOf(entry)}</span>
      </span>
    ),
  },
  { title: "Kind", from: "medium", cell: (entry) => <span className={styles.kind}>{entry.kind}</span> },
  { title: "Version", align: "right", cell: (entry) => entry.version },
  { title: "Registered", align: "right", from: "medium", cell: (entry) => <RelativeTime at={entry.created_at} /> },
  {
    title: "Actions",
    align: "right",
    cell: (entry) =>
      entry.kind === "playbook" &&
      !entry.archived_at && (
        <span className={styles.actions}>
          <LinkButton kind="quiet" to={`${entryAddress(entry.path)}?tab=run`} icon={<Play size={14} />} aria-label={`Run ${entry.path}`}>
            Run
          </LinkButton>
          <LinkButton
            kind="quiet"
            to={`/editor?path=${encodeURIComponent(entry.path)}`}
            icon={<Pencil size={14} />}
            aria-label={`Edit ${entry.path}`}
          >
            Edit
          </LinkButton>
        </span>
      ),
  },
];

export default function CatalogPage() {
  const [parameters, change] = useAddress();
  const kind = KINDS.find(({ value }) => value === parameters.get("kind"))?.value ?? "";
  const search = (parameters.get("search") ?? "").toLowerCase();
  const archived = parameters.get("deleted") === "1";
  const list = useQuery(catalogQuery(archived));
  const rows = list.data
    ?.filter((entry) => kind === "" || entry.kind === kind)
    .filter((entry) => `${entry.path} ${descriptionOf(entry)}`.toLowerCase().includes(search))
    .sort((one, other) => one.path.localeCompare(other.path));
  return (
    <Page
      title="Catalog"
      subtitle={
        <>
          Playbooks and subscriptions by path; every change of one is a new version. Modules that steps call are under{" "}
          <Link to="/plugins" className={styles.inline}>
            Plug-ins
          </Link>
          .
        </>
      }
      actions={
        <LinkButton kind="primary" to="/editor" icon={<Pencil size={15} />}>
          New playbook
        </LinkButton>
      }
    >
      <Bar>
        <SearchField label="Search by path or description" />
        <Choice label="Kind" value={kind} onChange={(kind) => change({ kind })} options={KINDS} />
        <CheckField label="With deleted ones" checked={archived} onChange={(on) => change({ deleted: on ? "1" : null })} />
      </Bar>
      <Section title="Documents" flush aside={rows && <span className="muted numbers">{rows.length.toLocaleString("en")}</span>}>
        <DataTable
          label="Documents"
          columns={COLUMNS}
          rows={rows}
          rowKey={(entry) => entry.path}
          error={list.error}
          paging={list.data?.length === MOST_ENTRIES ? { note: `The newest ${MOST_ENTRIES.toLocaleString("en")} are shown.` } : {}}
          empty={
            <EmptyState
              icon={<Library size={20} />}
              title={list.data?.length === 0 ? "The catalog is empty" : "Nothing matches"}
              actions={
                <LinkButton kind="primary" to="/editor">
                  Write a playbook
                </LinkButton>
              }
            >
              <p>
                {list.data?.length === 0
                  ? "Documents come here when they are registered: from the editor, over the API, or with the command line."
                  : "No document is like that. Another word may find it, or it was deleted."}
              </p>
            </EmptyState>
          }
        />
      </Section>
      <CliLine command={["noetl", "catalog", "list", ...(kind === "" ? [] : [capitalised(kind)]), ...(archived ? ["--all"] : [])]} />
    </Page>
  );
}

const capitalised = (word: string) => word[0]?.toUpperCase() + word.slice(1);
