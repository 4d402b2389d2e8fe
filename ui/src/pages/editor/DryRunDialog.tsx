/** Says what a run of the text would do first. Nothing is registered, recorded or called. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask } from "@/api/client";
import type { DryRun, Json } from "@/api/types";
import { Button } from "@/components/Button";
import { CliLine } from "@/components/CliLine";
import { Dialog } from "@/components/Dialog";
import { ErrorPanel } from "@/components/ErrorPanel";
import { TextArea } from "@/components/fields";
import { JsonView } from "@/components/JsonView";
import { Skeleton } from "@/components/Skeleton";
import { ToolCall } from "@/components/ToolCall";
import { readJsonObject } from "@/lib/read-json";
import styles from "./DryRunDialog.module.css";

export function DryRunDialog({ content, onClose }: { content: string; onClose: () => void }) {
  const [text, setText] = useState("{}");
  const [payload, setPayload] = useState<Record<string, Json>>({});
  const read = readJsonObject(text);
  const tried = useQuery({
    queryKey: ["dry-run", content, payload],
    queryFn: ({ signal }) => ask(api.POST("/api/catalog/dry-run", { body: { content, payload }, signal })) as Promise<DryRun>,
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  });
  return (
    <Dialog open wide onClose={onClose} title="Dry run" actions={<Button onClick={onClose}>Done</Button>}>
      <p>What a run would do first, with every template rendered. Nothing is recorded, no tool is called and no credential is looked up.</p>
      <TextArea label="Input, laid over the playbook's workload" code rows={3} value={text} onChange={setText} error={read.error} />
      <div>
        <Button busy={tried.isFetching} disabled={read.error !== undefined} onClick={() => setPayload((read.value ?? {}) as Record<string, Json>)}>
          Try with this input
        </Button>
      </div>
      {tried.error ? <ErrorPanel error={tried.error} /> : tried.data ? <Found tried={tried.data} /> : <Skeleton lines={5} />}
      <CliLine
        server={false}
        command={["noetl", "run", "playbook.yaml", "--dry-run", ...(Object.keys(payload).length > 0 ? ["--payload", JSON.stringify(payload)] : [])]}
      />
    </Dialog>
  );
}

function Found({ tried }: { tried: DryRun }) {
  const { tools, credentials, playbooks } = tried.needs;
  return (
    <div className={styles.found} role="region" aria-label="What it would do">
      <dl className={styles.facts}>
        <Fact name="Begins at" words={[tried.entry]} />
        <Fact name="Tools" words={tools} />
        <Fact name="Credentials" words={credentials} />
        <Fact name="Playbooks" words={playbooks} />
        <Fact name="Never reached" words={tried.unreachable} />
      </dl>
      <h3>Workload</h3>
      <JsonView value={tried.workload as Json} label="The workload" />
      {tried.first.map(({ step, calls, error }) => (
        <section key={step} className={styles.step} aria-label={`First, ${step}`}>
          <h3>First, {step}</h3>
          {error && <p className={styles.error}>It can't be called: {error}</p>}
          {calls.length === 0 && !error && <p className="muted">It calls nothing at once.</p>}
          {calls.map((call) => (
            <ToolCall key={call.label} call={call} />
          ))}
        </section>
      ))}
      {tried.first.length === 0 && <p className="muted">No step needs a worker at the start.</p>}
      <p className="muted">What follows depends on what comes of this.</p>
    </div>
  );
}

function Fact({ name, words }: { name: string; words: string[] }) {
  if (words.length === 0) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{words.join(", ")}</dd>
    </div>
  );
}
