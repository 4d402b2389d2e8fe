/** Credentials by name. Their values go to the server and never come back to this page. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound, Plus, Replace, Trash2 } from "lucide-react";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { api, ask } from "@/api/client";
import { credentialsQuery } from "@/api/credentials";
import type { Credential } from "@/api/types";
import { Bar } from "@/components/Bar";
import { Button } from "@/components/Button";
import { CliLine } from "@/components/CliLine";
import { ConfirmDialog } from "@/components/ConfirmDialog";
import { type Column, DataTable } from "@/components/DataTable";
import { EmptyState } from "@/components/EmptyState";
import { Page, Section } from "@/components/Page";
import { SearchField } from "@/components/SearchField";
import { RelativeTime } from "@/components/Time";
import { useToasts } from "@/components/Toast";
import { CredentialDialog } from "./CredentialDialog";

type Asked = { what: "new" } | { what: "replace" | "delete"; credential: Credential };

export default function CredentialsPage() {
  const [parameters] = useSearchParams();
  const search = (parameters.get("search") ?? "").toLowerCase();
  const credentials = useQuery(credentialsQuery);
  const [asked, setAsked] = useState<Asked | null>(null);
  const rows = credentials.data?.filter(({ name, type, description, tags }) =>
    `${name} ${type} ${description ?? ""} ${(tags ?? []).join(" ")}`.toLowerCase().includes(search),
  );
  const columns: Column<Credential>[] = [
    { title: "Name", grow: true, cell: ({ name }) => <span className="mono">{name}</span> },
    { title: "Type", cell: ({ type }) => type },
    { title: "Description", from: "wide", cell: ({ description }) => description ?? <span className="muted">–</span> },
    { title: "Tags", from: "wide", cell: ({ tags }) => (tags ?? []).join(", ") || <span className="muted">–</span> },
    { title: "Changed", align: "right", from: "medium", cell: ({ updated_at, created_at }) => <RelativeTime at={updated_at ?? created_at} /> },
    {
      title: "Actions",
      align: "right",
      cell: (credential) => (
        <>
          <Button kind="quiet" icon={<Replace size={14} />} aria-label={`Replace ${credential.name}`} onClick={() => setAsked({ what: "replace", credential })}>
            Replace
          </Button>
          <Button kind="quiet" icon={<Trash2 size={14} />} aria-label={`Delete ${credential.name}`} onClick={() => setAsked({ what: "delete", credential })}>
            Delete
          </Button>
        </>
      ),
    },
  ];
  const add = (
    <Button kind="primary" icon={<Plus size={15} />} onClick={() => setAsked({ what: "new" })}>
      New credential
    </Button>
  );
  return (
    <Page title="Credentials" subtitle="Steps use them by name. Their fields are encrypted in the store and are not shown here." actions={add}>
      <Bar>
        <SearchField label="Search by name, type or tag" />
      </Bar>
      <Section title="Credentials" flush aside={rows && <span className="muted numbers">{rows.length}</span>}>
        <DataTable
          label="Credentials"
          columns={columns}
          rows={rows}
          error={credentials.error}
          rowKey={({ name }) => name}
          empty={
            <EmptyState icon={<KeyRound size={20} />} title={search ? "Nothing matches" : "No credentials yet"}>
              <p>{search ? "No credential is like that." : "A credential has what a tool needs to reach something: a database, an API, a bucket."}</p>
            </EmptyState>
          }
        />
      </Section>
      <CliLine command={["noetl", "credential", "list"]} />
      {asked?.what === "delete" && <Delete credential={asked.credential} onClose={() => setAsked(null)} />}
      {asked && asked.what !== "delete" && (
        <CredentialDialog replaced={asked.what === "replace" ? asked.credential : null} onClose={() => setAsked(null)} />
      )}
    </Page>
  );
}

function Delete({ credential, onClose }: { credential: Credential; onClose: () => void }) {
  const queries = useQueryClient();
  const toasts = useToasts();
  const { name } = credential;
  const forget = useMutation({
    mutationFn: () => ask(api.DELETE("/api/credentials/{identifier}", { params: { path: { identifier: name } } })),
    onSuccess: () => {
      toasts.success(`${name} is deleted`);
      void queries.invalidateQueries({ queryKey: ["credentials"] });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={`Delete ${name}`}
      action="Delete"
      command={["noetl", "credential", "delete", name]}
      busy={forget.isPending}
      error={forget.error}
      onConfirm={() => forget.mutate()}
      onClose={onClose}
    >
      <p>Steps that use it fail from now on. It can't be brought back.</p>
    </ConfirmDialog>
  );
}
