/** Registers a module from a file. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { api, ask } from "@/api/client";
import type { Plugin } from "@/api/types";
import { Button } from "@/components/Button";
import { CliLine } from "@/components/CliLine";
import { Dialog } from "@/components/Dialog";
import { ErrorPanel } from "@/components/ErrorPanel";
import { TextField } from "@/components/fields";
import { useToasts } from "@/components/Toast";
import { bytesText } from "@/lib/bytes";

export function UploadDialog({ known, onClose }: { known: Plugin[]; onClose: () => void }) {
  const queries = useQueryClient();
  const toasts = useToasts();
  const input = useId();
  const [path, setPath] = useState("");
  const [wanted, setWanted] = useState("");
  const [file, setFile] = useState<File | null>(null);
  const next = 1 + Math.max(0, ...known.filter((plugin) => plugin.path === path.trim()).map((plugin) => plugin.version));
  const version = wanted.trim() === "" ? next : Number(wanted);
  const versionError = Number.isInteger(version) && version >= 0 ? undefined : "A whole number is needed.";
  const type = file?.name.endsWith(".wat") ? "text/wat" : "application/wasm";
  const upload = useMutation({
    mutationFn: (file: File) =>
      ask(
        api.POST("/api/internal/plugins/{path}", {
          params: { path: { path: path.trim() }, query: { version } },
          headers: { "content-type": type },
          body: file as unknown as string,
          bodySerializer: (body) => body as unknown as BodyInit,
        }),
      ),
    onSuccess: (registered) => {
      toasts.success(`${registered.path} is registered as version ${registered.version}`);
      void queries.invalidateQueries({ queryKey: ["plugins"] });
      onClose();
    },
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title="Upload a module"
      actions={
        <>
          <Button onClick={onClose}>Leave it</Button>
          <Button
            kind="primary"
            busy={upload.isPending}
            disabled={path.trim() === "" || file === null || versionError !== undefined}
            onClick={() => file && upload.mutate(file)}
          >
            Upload
          </Button>
        </>
      }
    >
      <TextField label="Path" value={path} onChange={setPath} placeholder="tools/score" hint="Steps call the module by this path." />
      <TextField label="Version" value={wanted} onChange={setWanted} inputMode="numeric" error={versionError} hint={`${next} when left empty.`} />
      <div>
        <label htmlFor={input}>File, .wasm or .wat</label>
        <div>
          <input id={input} type="file" accept=".wasm,.wat,application/wasm" onChange={(event) => setFile(event.target.files?.[0] ?? null)} />
          {file && <span className="muted numbers"> {bytesText(file.size)}</span>}
        </div>
      </div>
      {upload.error && <ErrorPanel error={upload.error} />}
      <CliLine command={["noetl", "plugin", "push", path.trim() || "PATH", file?.name ?? "module.wasm", ...(wanted.trim() ? ["--version", wanted.trim()] : [])]} />
    </Dialog>
  );
}
