/** Makes a token and shows its secret this once. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask } from "@/api/client";
import type { TokenScope } from "@/api/types";
import { Button } from "@/components/Button";
import { CliLine } from "@/components/CliLine";
import { CodeBlock } from "@/components/CodeBlock";
import { Dialog } from "@/components/Dialog";
import { ErrorPanel } from "@/components/ErrorPanel";
import { RadioField, TextField } from "@/components/fields";

const SCOPES: { value: TokenScope; label: string; hint: string }[] = [
  { value: "viewer", label: "Viewer", hint: "Reads everything but secrets" },
  { value: "operator", label: "Operator", hint: "Also starts and steers executions and changes the catalog" },
  { value: "worker", label: "Worker", hint: "Takes commands and reads the credentials they need" },
  { value: "admin", label: "Admin", hint: "Everything, tokens too" },
];

const A_DAY = 86_400;

export function TokenDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [scope, setScope] = useState<TokenScope>("viewer");
  const [days, setDays] = useState("");
  const wanted = days.trim() === "" ? null : Number(days);
  const daysError = wanted === null || (Number.isInteger(wanted) && wanted > 0) ? undefined : "A whole number of days is needed.";
  const create = useMutation({
    mutationFn: async () => {
      const body = { name: name.trim(), scopes: [scope], ...(wanted === null ? {} : { expires_in: wanted * A_DAY }) };
      return ask(api.POST("/api/tokens", { body }));
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ["tokens"] }),
  });
  if (create.data) {
    return (
      <Dialog open onClose={onClose} title="The token" actions={<Button onClick={onClose}>Done</Button>}>
        <p>Copy it now: it is shown this once.</p>
        <CodeBlock text={(create.data as { token: string }).token} label="The token" />
      </Dialog>
    );
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title="New token"
      actions={
        <>
          <Button onClick={onClose}>Leave it</Button>
          <Button kind="primary" busy={create.isPending} disabled={name.trim() === "" || daysError !== undefined} onClick={() => create.mutate()}>
            Make it
          </Button>
        </>
      }
    >
      <TextField label="Name" value={name} onChange={setName} hint="For people, to tell tokens apart." />
      <RadioField<TokenScope> legend="Good for" value={scope} onChange={setScope} options={SCOPES} />
      <TextField label="Valid for days" inputMode="numeric" value={days} onChange={setDays} error={daysError} hint="Until it is revoked when left empty." />
      {create.error && <ErrorPanel error={create.error} />}
      <CliLine command={["noetl", "token", "create", "--scope", scope, "--name", name.trim() || "NAME", ...(wanted === null || daysError !== undefined ? [] : ["--days", String(wanted)])]} />
    </Dialog>
  );
}
