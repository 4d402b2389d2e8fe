/** Takes a version, or the whole path, out of the catalog, and brings back what is hidden. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ArchiveRestore, Trash2 } from "lucide-react";
import { useState } from "react";
import { useNavigate } from "react-router";
import { api, ask } from "@/api/client";
import type { VersionInfo } from "@/api/types";
import { Button } from "@/components/Button";
import { ConfirmDialog } from "@/components/ConfirmDialog";
import { RadioField } from "@/components/fields";
import { useToasts } from "@/components/Toast";

export function Removal({ path, version, count }: { path: string; version: VersionInfo; count: number }) {
  const [asked, setAsked] = useState(false);
  return (
    <>
      {version.archived_at ? (
        <Button icon={<ArchiveRestore size={15} />} onClick={() => setAsked(true)}>
          Restore
        </Button>
      ) : (
        <Button icon={<Trash2 size={15} />} onClick={() => setAsked(true)}>
          Delete
        </Button>
      )}
      {asked && <Ask path={path} version={version} count={count} onClose={() => setAsked(false)} />}
    </>
  );
}

type Scope = "version" | "path";

function Ask({ path, version, count, onClose }: { path: string; version: VersionInfo; count: number; onClose: () => void }) {
  const queries = useQueryClient();
  const toasts = useToasts();
  const navigate = useNavigate();
  const [scope, setScope] = useState<Scope>(count === 1 ? "path" : "version");
  const isRestore = Boolean(version.archived_at);
  const body = scope === "path" ? { path } : { path, version: version.version };
  const change = useMutation({
    mutationFn: async () => {
      if (isRestore) return (await ask(api.POST("/api/catalog/restore", { body }))).message;
      return (await ask(api.POST("/api/catalog/delete", { body }))).message;
    },
    onSuccess: (message) => {
      toasts.success(message);
      onClose();
      if (!isRestore && scope === "path") navigate("/catalog");
      // What a version consists of stays as it is; only which ones are there has changed.
      void queries.invalidateQueries({ queryKey: ["catalog", "list"] });
      void queries.invalidateQueries({ queryKey: ["catalog", "versions", path] });
    },
  });
  const word = isRestore ? "Restore" : "Delete";
  return (
    <ConfirmDialog
      title={`${word} ${path}`}
      action={word}
      kind={isRestore ? "primary" : "danger"}
      command={["noetl", "catalog", word.toLowerCase(), scope === "path" ? path : `${path}@${version.version}`]}
      busy={change.isPending}
      error={change.error}
      onConfirm={() => change.mutate()}
      onClose={onClose}
    >
      <p>
        {isRestore
          ? "What was hidden is found by its path again and can be run."
          : "Nobody can start it any more. Versions that executions ran are only hidden and can be restored; the others are gone for good."}
      </p>
      {count > 1 && (
        <RadioField<Scope>
          legend="Which"
          value={scope}
          onChange={setScope}
          options={[
            { value: "version", label: `Version ${version.version} only` },
            { value: "path", label: `All ${count} versions` },
          ]}
        />
      )}
    </ConfirmDialog>
  );
}
