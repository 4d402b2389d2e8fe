/** Pauses, resumes or cancels an execution, with the reason that is kept with it. */
import { useState } from "react";
import { api, ask } from "@/api/client";
import { ConfirmDialog } from "@/components/ConfirmDialog";
import { TextField } from "@/components/fields";
import { useSteering } from "./useSteering";

export type Steering = "pause" | "resume" | "cancel";

interface Words {
  title: string;
  action: string;
  leave: string;
  explanation: string;
  kind: "danger" | "primary";
  hasReason: boolean;
}

const WORDS: Record<Steering, Words> = {
  pause: {
    title: "Pause this execution",
    action: "Pause the execution",
    leave: "Let it run",
    explanation: "Work under way comes to its end, and nothing new is begun until the execution is resumed.",
    kind: "primary",
    hasReason: true,
  },
  resume: {
    title: "Resume this execution",
    action: "Resume the execution",
    leave: "Leave it paused",
    explanation: "It goes on where it was paused.",
    kind: "primary",
    hasReason: false,
  },
  cancel: {
    title: "Cancel this execution",
    action: "Cancel the execution",
    leave: "Let it run",
    explanation: "Work under way is stopped, also in executions that this one has started. It can be run again afterwards.",
    kind: "danger",
    hasReason: true,
  },
};

export function SteerDialog({ id, steering, onClose }: { id: string; steering: Steering; onClose: () => void }) {
  const { title, action, leave, explanation, kind, hasReason } = WORDS[steering];
  const [text, setText] = useState("");
  const reason = text.trim();
  const steer = useSteering(id, () => call(id, steering, reason || null), onClose);
  return (
    <ConfirmDialog
      title={title}
      action={action}
      leave={leave}
      kind={kind}
      command={["noetl", steering, id, ...(reason ? ["--reason", reason] : [])]}
      busy={steer.isPending}
      error={steer.error}
      onConfirm={() => steer.mutate()}
      onClose={onClose}
    >
      <p>{explanation}</p>
      {hasReason && <TextField label="Reason, kept with the execution" value={text} onChange={setText} />}
    </ConfirmDialog>
  );
}

function call(id: string, steering: Steering, reason: string | null) {
  const params = { path: { id } };
  switch (steering) {
    case "pause":
      return ask(api.POST("/api/executions/{id}/pause", { params, body: { reason } }));
    case "resume":
      return ask(api.POST("/api/executions/{id}/resume", { params }));
    case "cancel":
      return ask(api.POST("/api/executions/{id}/cancel", { params, body: { cascade: true, reason } }));
  }
}
