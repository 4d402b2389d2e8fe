/** Credentials by name. Their values go to the server and never come back to this page. */
import { useQuery } from "@tanstack/react-query";
import { KeyRound, Plus, Replace, Trash2 } from "lucide-react";
import { useState } from "react";
import { api, ask } from "@/api/client";
import { credentialsQuery } from "@/api/credentials";
import type { Credential } from "@/api/types";
import { Button } from "@/components/Button";
import type { Column } from "@/components/DataTable";
import { ListPage } from "@/components/ListPage";
import { RemoveDialog } from "@/components/RemoveDialog";
import { RelativeTime } from "@/components/Time";
import { CredentialDialog } from "./CredentialDialog";

type Asked = { what: "new" } | { what: "replace" | "delete"; credential: Credential };

export default function CredentialsPage() {
  const credentials = useQuery(credentialsQuery);
  const [asked, setAsked] = useState<Asked | null>(null);
  const close = () => setAsked(null);
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
  return (
    <ListPage
      title="Credentials"
      subtitle="Steps use them by name. Their fields are encrypted in the store and are not shown here."
      actions={
        <Button kind="primary" icon={<Plus size={15} />} onClick={() => setAsked({ what: "new" })}>
          New credential
        </Button>
      }
      noun="Credentials"
      columns={columns}
      rows={credentials.data}
      error={credentials.error}
      rowKey={({ name }) => name}
      searched={{
        label: "Search by name, type or tag",
        text: ({ name, type, description, tags }) => `${name} ${type} ${description ?? ""} ${(tags ?? []).join(" ")}`,
      }}
      empty={{
        icon: <KeyRound size={20} />,
        title: "No credentials yet",
        text: "A credential has what a tool needs to reach something: a database, an API, a bucket.",
      }}
      command={["noetl", "credential", "list"]}
    >
      {asked?.what === "delete" && <Delete name={asked.credential.name} onClose={close} />}
      {asked && asked.what !== "delete" && <CredentialDialog replaced={asked.what === "replace" ? asked.credential : null} onClose={close} />}
    </ListPage>
  );
}

function Delete({ name, onClose }: { name: string; onClose: () => void }) {
  return (
    <RemoveDialog
      title={`Delete ${name}`}
      action="Delete"
      consequence="Steps that use it fail from now on. It can't be brought back."
      command={["noetl", "credential", "delete", name]}
      remove={() => ask(api.DELETE("/api/credentials/{identifier}", { params: { path: { identifier: name } } }))}
      done={`${name} is deleted`}
      queryKey={["credentials"]}
      onClose={onClose}
    />
  );
}
