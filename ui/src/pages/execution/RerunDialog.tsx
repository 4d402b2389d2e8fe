/** Runs an execution again: all of it, or from a step on, with the input it had or another. */
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { api, ask } from "@/api/client";
import type { ExecutionDetail } from "@/api/types";
import { Button } from "@/components/Button";
import { CliLine } from "@/components/CliLine";
import { Dialog } from "@/components/Dialog";
import { ErrorPanel } from "@/components/ErrorPanel";
import { CheckField, RadioField, SelectField, TextArea } from "@/components/fields";
import { readJsonObject } from "@/lib/read-json";

type From = "start" | "failed" | "step";

export function RerunDialog({ execution, onClose, step: given }: { execution: ExecutionDetail; onClose: () => void; step?: string }) {
  const id = String(execution.execution_id);
  const navigate = useNavigate();
  const hasFailed = execution.status === "FAILED" || execution.status === "CANCELLED";
  const steps = execution.steps.map((step) => step.name);
  const [from, setFrom] = useState<From>(given ? "step" : hasFailed ? "failed" : "start");
  const [step, setStep] = useState(given ?? steps[0] ?? "");
  const [latest, setLatest] = useState(false);
  const before = JSON.stringify(execution.workload ?? {}, null, 2);
  const [text, setText] = useState(before);
  const read = readJsonObject(text);
  const changed = text !== before;
  const rerun = useMutation({
    mutationFn: () =>
      ask(
        api.POST("/api/executions/{id}/rerun", {
          params: { path: { id } },
          body: {
            ...(from === "failed" && { from_failed: true }),
            ...(from === "step" && { from: step }),
            ...(latest && { version: "latest" }),
            ...(changed && { workload: read.value ?? {} }),
          },
        }),
      ),
    onSuccess: (started) => {
      onClose();
      navigate(`/executions/${started.execution_id}`);
    },
  });
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="Run again"
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button kind="primary" busy={rerun.isPending} disabled={read.error !== undefined} onClick={() => rerun.mutate()}>
            Run again
          </Button>
        </>
      }
    >
      <RadioField
        legend="Where to begin"
        value={from}
        onChange={setFrom}
        options={[
          { value: "start", label: "From the start", hint: "Everything is done again." },
          {
            value: "failed",
            label: "From where it failed",
            hint: hasFailed ? "Steps that came to an end keep their results." : "This execution has not failed.",
            disabled: !hasFailed,
          },
          { value: "step", label: "From a step", hint: "Steps before it keep their results.", disabled: steps.length === 0 },
        ]}
      />
      {from === "step" && <SelectField label="Step" value={step} onChange={setStep} options={steps.map((name) => ({ value: name, label: name }))} />}
      <CheckField label={`Use the newest version of the playbook (this one ran version ${execution.version})`} checked={latest} onChange={setLatest} />
      <TextArea label="Input" hint="What you change is laid over the input of this execution." value={text} onChange={setText} error={read.error} code rows={8} />
      {rerun.error && <ErrorPanel error={rerun.error} />}
      <CliLine
        command={[
          "noetl",
          "rerun",
          id,
          ...(from === "failed" ? ["--failed"] : from === "step" ? ["--from", step] : []),
          ...(latest ? ["--version", "latest"] : []),
          ...(changed && read.value ? ["--payload", JSON.stringify(read.value)] : []),
        ]}
      />
    </Dialog>
  );
}
