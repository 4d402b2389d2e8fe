/** Sends a signal to a step that waits for one, or will. */
import { useState } from "react";
import { api, ask } from "@/api/client";
import type { Json } from "@/api/types";
import { Button } from "@/components/Button";
import { CliLine } from "@/components/CliLine";
import { Dialog } from "@/components/Dialog";
import { ErrorPanel } from "@/components/ErrorPanel";
import { TextArea, TextField } from "@/components/fields";
import { readJson } from "@/lib/read-json";
import { useSteering } from "./useSteering";

interface SignalDialogProps {
  id: string;
  onClose: () => void;
  name?: string;
  payload?: Json;
}

export function SignalDialog({ id, onClose, name: given = "", payload = {} }: SignalDialogProps) {
  const [name, setName] = useState(given);
  const [text, setText] = useState(JSON.stringify(payload, null, 2));
  const read = readJson(text);
  const body = { name: name.trim(), payload: read.value };
  const send = useSteering(id, () => ask(api.POST("/api/executions/{id}/signal", { params: { path: { id } }, body })), onClose);
  return (
    <Dialog
      open
      onClose={onClose}
      title="Send a signal"
      actions={
        <>
          <Button onClick={onClose}>Do not send</Button>
          <Button kind="primary" busy={send.isPending} disabled={name.trim() === "" || read.error !== undefined} onClick={() => send.mutate()}>
            Send
          </Button>
        </>
      }
    >
      <p>A step of kind wait goes on when the signal it waits for comes. One that comes early is kept for it.</p>
      <TextField label="Name" value={name} onChange={setName} placeholder="approval" />
      <TextArea label="What it carries, as JSON" value={text} onChange={setText} error={read.error} code />
      {send.error && <ErrorPanel error={send.error} />}
      <CliLine command={["noetl", "signal", id, name.trim() || "NAME", "--payload", JSON.stringify(read.value ?? {})]} />
    </Dialog>
  );
}
