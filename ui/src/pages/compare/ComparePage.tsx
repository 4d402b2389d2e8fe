/** Two executions side by side: where their input, their steps and their results part ways. */
import { useQuery } from "@tanstack/react-query";
import { ArrowLeftRight, GitCompareArrows } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import type { ExecutionDetail, Json, Step } from "@/api/types";
import { Button } from "@/components/Button";
import { EmptyState } from "@/components/EmptyState";
import { ErrorPanel } from "@/components/ErrorPanel";
import { TextField } from "@/components/fields";
import { Page, Section } from "@/components/Page";
import { Skeleton } from "@/components/Skeleton";
import { StatusBadge } from "@/components/StatusBadge";
import { Elapsed, RelativeTime } from "@/components/Time";
import { detailQuery } from "@/pages/execution/queries";
import { useAddress } from "@/lib/address";
import { differences } from "@/lib/json-diff";
import { durationText } from "@/lib/time";
import styles from "./ComparePage.module.css";

export default function ComparePage() {
  const [parameters, change] = useAddress();
  const a = parameters.get("a") ?? "";
  const b = parameters.get("b") ?? "";
  return (
    <Page
      title="Compare"
      subtitle="Where two executions part ways: in what they were given, in their steps, in what came of them."
      actions={
        a !== "" &&
        b !== "" && (
          <Button icon={<ArrowLeftRight size={14} />} onClick={() => change({ a: b, b: a })}>
            Swap
          </Button>
        )
      }
    >
      <Choice key={`${a}/${b}`} a={a} b={b} onChoose={(a, b) => change({ a, b })} />
      {a !== "" && b !== "" ? (
        <Compared a={a} b={b} />
      ) : (
        <EmptyState icon={<GitCompareArrows size={20} />} title="Choose two executions">
          <p>
            Paste their ids above, or select two in the <Link to="/executions">list of executions</Link>. A run that repeats another links to their
            comparison by itself.
          </p>
        </EmptyState>
      )}
    </Page>
  );
}

function Choice({ a, b, onChoose }: { a: string; b: string; onChoose: (a: string, b: string) => void }) {
  const [first, setFirst] = useState(a);
  const [second, setSecond] = useState(b);
  return (
    <form
      className={styles.choice}
      onSubmit={(event) => {
        event.preventDefault();
        onChoose(first.trim(), second.trim());
      }}
    >
      <TextField label="First execution" value={first} onChange={setFirst} placeholder="Id" inputMode="numeric" />
      <TextField label="Second execution" value={second} onChange={setSecond} placeholder="Id" inputMode="numeric" />
      <Button type="submit" kind="primary" disabled={first.trim() === "" || second.trim() === ""}>
        Compare
      </Button>
    </form>
  );
}

function Compared({ a, b }: { a: string; b: string }) {
  const first = useQuery(detailQuery(a));
  const second = useQuery(detailQuery(b));
  if (first.error) return <ErrorPanel error={first.error} />;
  if (second.error) return <ErrorPanel error={second.error} />;
  if (!first.data || !second.data) return <Skeleton lines={8} />;
  return (
    <>
      <div className={styles.heads}>
        <Head execution={first.data} />
        <Head execution={second.data} />
      </div>
      <Section title="Steps" flush>
        <Steps before={first.data} after={second.data} />
      </Section>
      <Differences title="Input" before={first.data.workload as Json} after={second.data.workload as Json} />
      <Differences title="Result" before={first.data.result as Json} after={second.data.result as Json} />
    </>
  );
}

function Head({ execution }: { execution: ExecutionDetail }) {
  return (
    <div className={styles.head}>
      <div className={styles.headTop}>
        <Link to={`/executions/${execution.execution_id}`}>{execution.path}</Link>
        <span className="muted">v{execution.version}</span>
        <StatusBadge status={execution.status} />
      </div>
      <div className="muted">
        <span className="mono">{String(execution.execution_id)}</span> · <RelativeTime at={execution.started_at} /> ·{" "}
        <Elapsed from={execution.started_at} to={execution.completed_at} />
      </div>
      {execution.error && <div className={styles.error}>{execution.error}</div>}
    </div>
  );
}

function Steps({ before, after }: { before: ExecutionDetail; after: ExecutionDetail }) {
  const names = [...new Set([...before.steps, ...after.steps].map((step) => step.name))];
  const of = (execution: ExecutionDetail, name: string) => execution.steps.find((step) => step.name === name);
  return (
    <div className={styles.scroll} tabIndex={0} role="region" aria-label="Steps side by side">
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">First</th>
            <th scope="col">Second</th>
            <th scope="col">Duration</th>
            <th scope="col">Result</th>
          </tr>
        </thead>
        <tbody>
          {names.map((name) => {
            const [one, other] = [of(before, name), of(after, name)];
            const changes = differences(one?.result as Json, other?.result as Json).length;
            const differs = one?.status !== other?.status || changes > 0;
            return (
              <tr key={name} data-differs={differs || undefined}>
                <th scope="row">{name}</th>
                <td>{one ? <StatusBadge status={one.status} /> : <span className="muted">not reached</span>}</td>
                <td>{other ? <StatusBadge status={statusOf(other)} /> : <span className="muted">not reached</span>}</td>
                <td className="numbers">
                  {took(one)} → {took(other)}
                </td>
                <td>{changes === 0 ? <span className="muted">the same</span> : `${changes} ${changes === 1 ? "place differs" : "places differ"}`}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** A step that was not entered keeps what it came to in the run before. */
function statusOf(step: Step): string {
  return step.runs === 0 && step.status !== "skipped" ? "kept" : step.status;
}

function took(step: Step | undefined): string {
  if (!step?.started_at || !step.ended_at) return "–";
  return durationText((Date.parse(step.ended_at) - Date.parse(step.started_at)) / 1000);
}

function Differences({ title, before, after }: { title: string; before: Json; after: Json }) {
  const found = differences(before ?? null, after ?? null);
  return (
    <Section title={title} aside={<span className="muted">{found.length === 0 ? "the same" : `${found.length} ${found.length === 1 ? "place differs" : "places differ"}`}</span>} flush>
      {found.length === 0 ? (
        <p className={styles.same}>Both have the same.</p>
      ) : (
        <div className={styles.scroll} tabIndex={0} role="region" aria-label={`Differences of ${title.toLowerCase()}`}>
          <table className={styles.table}>
            <thead>
              <tr>
                <th scope="col">Place</th>
                <th scope="col">First</th>
                <th scope="col">Second</th>
              </tr>
            </thead>
            <tbody>
              {found.map(({ path, before, after }) => (
                <tr key={path}>
                  <th scope="row">
                    <code>{path}</code>
                  </th>
                  <td className={styles.before}>{shown(before)}</td>
                  <td className={styles.after}>{shown(after)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Section>
  );
}

function shown(value: Json | undefined): string {
  if (value === undefined) return "–";
  const text = JSON.stringify(value);
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}
