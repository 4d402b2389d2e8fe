/** WebAssembly modules that steps call: their versions and digests, and how they come and go. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Puzzle, Trash2, Upload } from "lucide-react";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { api, ask } from "@/api/client";
import type { Plugin } from "@/api/types";
import { Bar } from "@/components/Bar";
import { Button } from "@/components/Button";
import { CliLine } from "@/components/CliLine";
import { ConfirmDialog } from "@/components/ConfirmDialog";
import { CopyButton } from "@/components/CopyButton";
import { type Column, DataTable } from "@/components/DataTable";
import { EmptyState } from "@/components/EmptyState";
import { Page, Section } from "@/components/Page";
import { SearchField } from "@/components/SearchField";
import { RelativeTime } from "@/components/Time";
import { useToasts } from "@/components/Toast";
import { bytesText } from "@/lib/bytes";
import { UploadDialog } from "./UploadDialog";

export default function PluginsPage() {
  const [parameters] = useSearchParams();
  const search = (parameters.get("search") ?? "").toLowerCase();
  const plugins = useQuery({
    queryKey: ["plugins"],
    queryFn: async ({ signal }) => (await ask(api.GET("/api/internal/plugins", { signal }))).plugins as Plugin[],
  });
  const [uploading, setUploading] = useState(false);
  const [deleted, setDeleted] = useState<Plugin | null>(null);
  const rows = plugins.data?.filter(({ path, digest }) => `${path} ${digest}`.toLowerCase().includes(search));
  const columns: Column<Plugin>[] = [
    { title: "Path", grow: true, cell: ({ path }) => <span className="mono">{path}</span> },
    { title: "Version", align: "right", cell: ({ version }) => version },
    {
      title: "SHA-256",
      from: "medium",
      cell: ({ digest }) => (
        <>
          <code title={digest}>{digest.slice(0, 12)}…</code> <CopyButton text={digest} label="Copy the digest" />
        </>
      ),
    },
    { title: "Form", from: "wide", cell: ({ media_type }) => (media_type === "text/wat" ? "text" : "binary") },
    { title: "Size", align: "right", from: "medium", cell: ({ bytes }) => bytesText(bytes) },
    { title: "Registered", align: "right", from: "medium", cell: ({ created_at }) => <RelativeTime at={created_at} /> },
    {
      title: "Actions",
      align: "right",
      cell: (plugin) => (
        <Button kind="quiet" icon={<Trash2 size={14} />} aria-label={`Delete ${plugin.path} version ${plugin.version}`} onClick={() => setDeleted(plugin)}>
          Delete
        </Button>
      ),
    },
  ];
  return (
    <Page
      title="Plug-ins"
      subtitle="WebAssembly modules that steps call by path. A version keeps its code."
      actions={
        <Button kind="primary" icon={<Upload size={15} />} onClick={() => setUploading(true)}>
          Upload a module
        </Button>
      }
    >
      <Bar>
        <SearchField label="Search by path or digest" />
      </Bar>
      <Section title="Modules" flush aside={rows && <span className="muted numbers">{rows.length}</span>}>
        <DataTable
          label="Modules"
          columns={columns}
          rows={rows}
          error={plugins.error}
          rowKey={({ path, version }) => `${path}@${version}`}
          empty={
            <EmptyState icon={<Puzzle size={20} />} title={search ? "Nothing matches" : "No modules yet"}>
              <p>{search ? "No module is like that." : "A module is code in WebAssembly that steps run as a tool. Upload one, or push it with the command line."}</p>
            </EmptyState>
          }
        />
      </Section>
      <CliLine command={["noetl", "plugin", "list"]} />
      {uploading && <UploadDialog known={plugins.data ?? []} onClose={() => setUploading(false)} />}
      {deleted && <Delete plugin={deleted} onClose={() => setDeleted(null)} />}
    </Page>
  );
}

function Delete({ plugin: { path, version }, onClose }: { plugin: Plugin; onClose: () => void }) {
  const queries = useQueryClient();
  const toasts = useToasts();
  const remove = useMutation({
    mutationFn: () => ask(api.DELETE("/api/internal/plugins/{path}", { params: { path: { path }, query: { version } } })),
    onSuccess: () => {
      toasts.success(`Version ${version} of ${path} is deleted`);
      void queries.invalidateQueries({ queryKey: ["plugins"] });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={`Delete version ${version} of ${path}`}
      action="Delete"
      command={["noetl", "plugin", "delete", path, "--version", String(version)]}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      <p>Steps that call this version fail from now on.</p>
    </ConfirmDialog>
  );
}
