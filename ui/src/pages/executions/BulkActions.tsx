/** What can be done to all executions that are selected. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Ban, RotateCcw } from "lucide-react";
import { useState } from "react";
import { api, ask } from "@/api/client";
import { asApiError } from "@/api/error";
import { isOver } from "@/api/executions";
import type { Execution } from "@/api/types";
import { Button } from "@/components/Button";
import { CliLine } from "@/components/CliLine";
import { Dialog } from "@/components/Dialog";
import { useToasts } from "@/components/Toast";
import styles from "./BulkActions.module.css";

type Action = "cancel" | "rerun";

/** Calls under way at once. */
const AT_ONCE = 4;

export function BulkActions({ executions, onDone }: { executions: Execution[]; onDone: () => void }) {
  const [asked, setAsked] = useState<Action | null>(null);
  const open = executions.filter((execution) => !isOver(execution.status));
  const over = executions.filter((execution) => isOver(execution.status));
  return (
    <div className={styles.bar} role="toolbar" aria-label="Actions for the selected executions">
      <span className="numbers">{executions.length} selected</span>
      <Button kind="danger" icon={<Ban size={14} />} disabled={open.length === 0} onClick={() => setAsked("cancel")}>
        Cancel {open.length}
      </Button>
      <Button icon={<RotateCcw size={14} />} disabled={over.length === 0} onClick={() => setAsked("rerun")}>
        Run {over.length} again
      </Button>
      <Button kind="quiet" onClick={onDone}>
        Clear the selection
      </Button>
      {asked && (
        <Confirm action={asked} executions={asked === "cancel" ? open : over} onClose={() => setAsked(null)} onDone={onDone} />
      )}
    </div>
  );
}

function Confirm({ action, executions, onClose, onDone }: { action: Action; executions: Execution[]; onClose: () => void; onDone: () => void }) {
  const queries = useQueryClient();
  const toasts = useToasts();
  const ids = executions.map((execution) => String(execution.execution_id));
  const run = useMutation({
    mutationFn: () => forAll(ids, (id) => (action === "cancel" ? cancel(id) : rerun(id))),
    onSuccess: ({ done, problems }) => {
      if (done > 0) toasts.success(action === "cancel" ? `${done} cancelled` : `${done} started again`);
      if (problems[0] !== undefined) toasts.failure(problems[0]);
      void queries.invalidateQueries({ queryKey: ["executions"] });
      onClose();
      onDone();
    },
  });
  const words = action === "cancel" ? `Cancel ${ids.length}` : `Run ${ids.length} again`;
  return (
    <Dialog
      open
      onClose={onClose}
      title={words}
      actions={
        <>
          <Button onClick={onClose}>Leave them</Button>
          <Button kind={action === "cancel" ? "danger" : "primary"} busy={run.isPending} onClick={() => run.mutate()}>
            {words}
          </Button>
        </>
      }
    >
      <p>
        {action === "cancel"
          ? "Work under way is stopped, also in executions that these have started."
          : "Each is started anew with the input it was sent, on the version of its playbook that it ran."}
      </p>
      <ul className={styles.list}>
        {executions.slice(0, 8).map((execution) => (
          <li key={String(execution.execution_id)}>
            {execution.path} <span className="mono muted">{String(execution.execution_id)}</span>
          </li>
        ))}
        {executions.length > 8 && <li className="muted">and {executions.length - 8} more</li>}
      </ul>
      <CliLine command={["noetl", action]} each={ids} />
    </Dialog>
  );
}

const cancel = (id: string) => ask(api.POST("/api/executions/{id}/cancel", { params: { path: { id } }, body: { cascade: true } }));
const rerun = (id: string) => ask(api.POST("/api/executions/{id}/rerun", { params: { path: { id } }, body: {} }));

/** A few at a time; one that is refused does not stop the others. */
async function forAll(ids: string[], call: (id: string) => Promise<unknown>) {
  const left = [...ids];
  const problems: unknown[] = [];
  let done = 0;
  const work = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      try {
        await call(id);
        done += 1;
      } catch (error) {
        problems.push(asApiError(error));
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { done, problems };
}
