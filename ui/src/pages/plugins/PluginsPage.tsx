/** WebAssembly modules that steps call: their versions and digests, and how they come and go. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { Download, Puzzle, Trash2, Upload } from "lucide-react";
import { useState } from "react";
import { api, ask } from "@/api/client";
import type { Plugin } from "@/api/types";
import { Button } from "@/components/Button";
import { CopyButton } from "@/components/CopyButton";
import type { Column } from "@/components/DataTable";
import { ListPage } from "@/components/ListPage";
import { RemoveDialog } from "@/components/RemoveDialog";
import { RelativeTime } from "@/components/Time";
import { useToasts } from "@/components/Toast";
import { bytesText } from "@/lib/bytes";
import { download } from "./download";
import { UploadDialog } from "./UploadDialog";

export default function PluginsPage() {
  const plugins = useQuery({
    queryKey: ["plugins"],
    queryFn: async ({ signal }) => (await ask(api.GET("/api/internal/plugins", { signal }))).plugins as Plugin[],
  });
  const toasts = useToasts();
  const save = useMutation({ mutationFn: download, onError: toasts.failure });
  const [uploading, setUploading] = useState(false);
  const [deleted, setDeleted] = useState<Plugin | null>(null);
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
      cell: (plugin) => {
        const which = `${plugin.path} version ${plugin.version}`;
        return (
          <>
            <Button
              kind="quiet"
              icon={<Download size={14} />}
              aria-label={`Download ${which}`}
              busy={save.isPending && save.variables === plugin}
              onClick={() => save.mutate(plugin)}
            >
              Download
            </Button>
            <Button kind="quiet" icon={<Trash2 size={14} />} aria-label={`Delete ${which}`} onClick={() => setDeleted(plugin)}>
              Delete
            </Button>
          </>
        );
      },
    },
  ];
  return (
    <ListPage
      title="Plug-ins"
      subtitle="WebAssembly modules that steps call by path. A version keeps its code."
      actions={
        <Button kind="primary" icon={<Upload size={15} />} onClick={() => setUploading(true)}>
          Upload a module
        </Button>
      }
      noun="Modules"
      columns={columns}
      rows={plugins.data}
      error={plugins.error}
      rowKey={({ path, version }) => `${path}@${version}`}
      searched={{ label: "Search by path or digest", text: ({ path, digest }) => `${path} ${digest}` }}
      empty={{
        icon: <Puzzle size={20} />,
        title: "No modules yet",
        text: "A module is code in WebAssembly that steps run as a tool. Upload one, or push it with the command line.",
      }}
      command={["noetl", "plugin", "list"]}
    >
      {uploading && <UploadDialog known={plugins.data ?? []} onClose={() => setUploading(false)} />}
      {deleted && <Delete plugin={deleted} onClose={() => setDeleted(null)} />}
    </ListPage>
  );
}

function Delete({ plugin: { path, version }, onClose }: { plugin: Plugin; onClose: () => void }) {
  return (
    <RemoveDialog
      title={`Delete version ${version} of ${path}`}
      action="Delete"
      consequence="Steps that call this version fail from now on."
      command={["noetl", "plugin", "delete", path, "--version", String(version)]}
      remove={() => ask(api.DELETE("/api/internal/plugins/{path}", { params: { path: { path }, query: { version } } }))}
      done={`Version ${version} of ${path} is deleted`}
      queryKey={["plugins"]}
      onClose={onClose}
    />
  );
}
