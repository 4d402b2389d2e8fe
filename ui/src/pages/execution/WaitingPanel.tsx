/** Why an execution is where it is, in the engine's words; and the answer to a question that it asks. */
import { useQuery } from "@tanstack/react-query";
import { Check, Hourglass, X } from "lucide-react";
import { useState } from "react";
import { api, ask } from "@/api/client";
import type { Json } from "@/api/types";
import { Button } from "@/components/Button";
import { CliLine } from "@/components/CliLine";
import { ErrorPanel } from "@/components/ErrorPanel";
import { TextField } from "@/components/fields";
import type { RunModel, Wait } from "@/lib/run-model";
import { explainQuery } from "./queries";
import { SignalDialog } from "./SignalDialog";
import { useSteering } from "./useSteering";
import styles from "./WaitingPanel.module.css";

export function WaitingPanel({ id, model }: { id: string; model: RunModel }) {
  const explained = useQuery(explainQuery(id));
  const signals = [...model.waits.values()].filter((wait) => wait.kind === "signal");
  const lines = explained.data?.lines ?? [];
  if (lines.length === 0 && signals.length === 0) return null;
  return (
    <section className={styles.panel} aria-label="Why it is where it is">
      <div className={styles.top}>
        <Hourglass size={15} aria-hidden />
        <h2>What it is waiting for</h2>
      </div>
      <ul className={styles.lines}>
        {lines.slice(0, 6).map((line) => (
          <li key={line}>{line}</li>
        ))}
        {lines.length > 6 && <li className="muted">and {lines.length - 6} more</li>}
      </ul>
      {signals.map((wait) => (
        <Answer key={wait.command} id={id} wait={wait} />
      ))}
    </section>
  );
}

function Answer({ id, wait }: { id: string; wait: Wait }) {
  const [by, setBy] = useState("");
  const [other, setOther] = useState(false);
  const name = wait.name ?? "";
  const payload = (approved: boolean) => ({ approved, ...(by.trim() && { by: by.trim() }) });
  const send = useSteering(id, (approved: boolean) =>
    ask(api.POST("/api/executions/{id}/signal", { params: { path: { id } }, body: { name, payload: payload(approved) } })),
  );
  return (
    <div className={styles.answer}>
      <div className={styles.question}>
        <b>{promptText(wait.prompt) ?? `Step ${wait.step} waits for the signal ${name}.`}</b>
        <span className="muted">
          Step {wait.step} · signal <code>{name}</code>
        </span>
      </div>
      <div className={styles.buttons}>
        <TextField label="Your name, kept with the answer" bare placeholder="Your name" value={by} onChange={setBy} />
        <Button kind="primary" icon={<Check size={15} />} busy={send.isPending} onClick={() => send.mutate(true)}>
          Approve
        </Button>
        <Button kind="danger" icon={<X size={15} />} disabled={send.isPending} onClick={() => send.mutate(false)}>
          Reject
        </Button>
        <Button onClick={() => setOther(true)}>Send something else</Button>
      </div>
      {send.error && <ErrorPanel error={send.error} />}
      <CliLine command={["noetl", "signal", id, name, "--payload", JSON.stringify(payload(true))]} />
      {other && <SignalDialog id={id} name={name} payload={payload(true) as Json} onClose={() => setOther(false)} />}
    </div>
  );
}

function promptText(prompt: unknown): string | null {
  if (typeof prompt === "string" && prompt !== "") return prompt;
  return prompt === null || prompt === undefined ? null : JSON.stringify(prompt);
}
