/** What can be done to an execution, as its status allows. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Ban, MessageSquareReply, Pause, Play, RotateCcw } from "lucide-react";
import { useState } from "react";
import { api, ask } from "@/api/client";
import { isOver } from "@/api/executions";
import type { ExecutionDetail } from "@/api/types";
import { Button } from "@/components/Button";
import { CliLine } from "@/components/CliLine";
import { Dialog } from "@/components/Dialog";
import { TextField } from "@/components/fields";
import { ErrorPanel } from "@/components/ErrorPanel";
import { useToasts } from "@/components/Toast";
import { RerunDialog } from "./RerunDialog";
import { SignalDialog } from "./SignalDialog";

export function Actions({ execution }: { execution: ExecutionDetail }) {
  const id = String(execution.execution_id);
  const [open, setOpen] = useState<"cancel" | "rerun" | "signal" | null>(null);
  const queries = useQueryClient();
  const toasts = useToasts();
  const steer = useMutation({
    mutationFn: (what: "pause" | "resume") =>
      what === "pause"
        ? ask(api.POST("/api/executions/{id}/pause", { params: { path: { id } }, body: {} }))
        : ask(api.POST("/api/executions/{id}/resume", { params: { path: { id } } })),
    onSuccess: ({ message }) => toasts.success(message),
    onError: toasts.failure,
    onSettled: () => void queries.invalidateQueries({ queryKey: ["execution", id] }),
  });
  const close = () => setOpen(null);
  const over = isOver(execution.status);
  return (
    <>
      {!over && (
        <>
          {execution.status === "PAUSED" ? (
            <Button icon={<Play size={14} />} busy={steer.isPending} onClick={() => steer.mutate("resume")} title={`noetl resume ${id}`}>
              Resume
            </Button>
          ) : (
            <Button icon={<Pause size={14} />} busy={steer.isPending} onClick={() => steer.mutate("pause")} title={`noetl pause ${id}`}>
              Pause
            </Button>
          )}
          <Button icon={<MessageSquareReply size={14} />} onClick={() => setOpen("signal")}>
            Signal
          </Button>
          <Button kind="danger" icon={<Ban size={14} />} onClick={() => setOpen("cancel")}>
            Cancel
          </Button>
        </>
      )}
      <Button kind={over ? "primary" : "plain"} icon={<RotateCcw size={14} />} onClick={() => setOpen("rerun")}>
        Run again
      </Button>
      {open === "cancel" && <CancelDialog id={id} onClose={close} />}
      {open === "signal" && <SignalDialog id={id} onClose={close} />}
      {open === "rerun" && <RerunDialog execution={execution} onClose={close} />}
    </>
  );
}

function CancelDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const queries = useQueryClient();
  const toasts = useToasts();
  const [reason, setReason] = useState("");
  const cancel = useMutation({
    mutationFn: () =>
      ask(api.POST("/api/executions/{id}/cancel", { params: { path: { id } }, body: { cascade: true, reason: reason.trim() || null } })),
    onSuccess: ({ message }) => {
      toasts.success(message);
      onClose();
    },
    onSettled: () => void queries.invalidateQueries({ queryKey: ["execution", id] }),
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title="Cancel this execution"
      actions={
        <>
          <Button onClick={onClose}>Let it run</Button>
          <Button kind="danger" busy={cancel.isPending} onClick={() => cancel.mutate()}>
            Cancel the execution
          </Button>
        </>
      }
    >
      <p>Work under way is stopped, also in executions that this one has started. It can be run again afterwards.</p>
      <TextField label="Reason, kept with the execution" value={reason} onChange={setReason} />
      {cancel.error && <ErrorPanel error={cancel.error} />}
      <CliLine command={["noetl", "cancel", id, ...(reason.trim() ? ["--reason", reason.trim()] : [])]} />
    </Dialog>
  );
}
