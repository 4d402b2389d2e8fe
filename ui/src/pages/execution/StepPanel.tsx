/** One step: what it was given and came to, what it printed, each attempt, and which rule decided. */
import { useQuery } from "@tanstack/react-query";
import { RotateCcw, X } from "lucide-react";
import { useState } from "react";
import type { Attempt, ExecutionDetail, Json } from "@/api/types";
import { Button } from "@/components/Button";
import { ErrorPanel } from "@/components/ErrorPanel";
import { Skeleton } from "@/components/Skeleton";
import { StatusBadge } from "@/components/StatusBadge";
import { Elapsed } from "@/components/Time";
import { ValueView } from "@/components/ValueView";
import { durationText } from "@/lib/time";
import type { StepState } from "@/lib/run-model";
import { LogView } from "./LogView";
import { stepQuery } from "./queries";
import { RerunDialog } from "./RerunDialog";
import { RuleWords } from "./RuleWords";
import { StepCalls } from "./StepCalls";
import styles from "./StepPanel.module.css";
import type { Outline } from "@/api/types";

interface StepPanelProps {
  execution: ExecutionDetail;
  name: string;
  outline: Outline | undefined;
  /** The step at the point in time that is looked at. */
  state: StepState | null;
  onClose: () => void;
}

const SKIPPED: Record<string, string> = {
  guard: "Its own condition was false.",
  not_admitted: "Its policy kept it out.",
  not_reached: "No arc that leads here was taken.",
  failure_before: "A step before it failed.",
};

export function StepPanel({ execution, name, outline, state, onClose }: StepPanelProps) {
  const id = String(execution.execution_id);
  const [rerun, setRerun] = useState(false);
  const described = outline?.steps.find((step) => step.name === name);
  const entered = state !== null && state.status !== "pending";
  const step = useQuery({ ...stepQuery(id, name), enabled: entered });
  const data = step.data;
  return (
    <aside className={styles.panel} aria-label={`Step ${name}`}>
      <div className={styles.top}>
        <div className={styles.title}>
          <h2>{name}</h2>
          <StatusBadge status={state?.status ?? "pending"} />
        </div>
        <Button kind="quiet" aria-label="Close the step" icon={<X size={16} />} onClick={onClose} />
      </div>
      <div className={styles.body}>
        {described?.desc && <p className="muted">{described.desc}</p>}
        <dl className={styles.facts}>
          <Fact name="Tool">{described?.tasks.map((task) => task.kind).join(" → ") ?? "–"}</Fact>
          <Fact name="Line">{described ? described.line : "–"}</Fact>
          <Fact name="Visits">{state?.runs ?? 0}</Fact>
          <Fact name="Duration">
            <Elapsed from={data?.started_at} to={data?.ended_at} />
          </Fact>
          {data?.from && <Fact name="Came from">{data.from}</Fact>}
          {data && data.next.length > 0 && <Fact name="Led to">{data.next.join(", ")}</Fact>}
          {state?.loop && (
            <Fact name="Items">
              {state.loop.done.toLocaleString("en")} of {state.loop.total?.toLocaleString("en") ?? "?"} done, {state.loop.failed.toLocaleString("en")} failed
            </Fact>
          )}
        </dl>
        {!entered && <p className="muted">The execution has not come to this step.</p>}
        {step.error && <ErrorPanel error={step.error} />}
        {entered && step.isPending && <Skeleton />}
        {data?.skipped_because && <p>{SKIPPED[data.skipped_because] ?? data.skipped_because}</p>}
        {data && (
          <>
            {data.error !== null && data.error !== undefined && (
              <Part title={data.error_handled ? "Error, taken care of by an arc" : "Error"}>
                <ValueView value={data.error as Json} label={`The error of ${name}`} />
              </Part>
            )}
            {data.runs > 0 && (
              <Part title="Called with">
                <StepCalls id={id} step={name} visit={`${data.runs}/${data.attempts.length}`} />
              </Part>
            )}
            {data.input !== null && data.input !== undefined && (
              <Part title="What its templates read">
                <ValueView value={data.input as Json} label={`What the templates of ${name} read`} />
              </Part>
            )}
            {data.status !== "skipped" && data.status !== "running" && (
              <Part title="Result">
                <ValueView value={data.result as Json} label={`The result of ${name}`} />
              </Part>
            )}
            {data.attempts.length > 0 && (
              <Part title={data.attempts.length === 1 ? "Attempt" : `Attempts, ${data.attempts.length}`}>
                <Attempts attempts={data.attempts} outline={outline} step={name} />
              </Part>
            )}
            {data.runs > 0 && (
              <Part title="Printed">
                <LogView id={id} step={name} isLive={data.status === "running"} />
              </Part>
            )}
            {data.runs > 0 && (
              <div>
                <Button icon={<RotateCcw size={14} />} onClick={() => setRerun(true)}>
                  Run again from here
                </Button>
              </div>
            )}
          </>
        )}
      </div>
      {rerun && <RerunDialog execution={execution} step={name} onClose={() => setRerun(false)} />}
    </aside>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Part({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section className={styles.part}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function Attempts({ attempts, outline, step }: { attempts: Attempt[]; outline: Outline | undefined; step: string }) {
  const [all, setAll] = useState(false);
  const ordered = [...attempts].sort((one, other) => (one.item ?? 0) - (other.item ?? 0) || one.attempt - other.attempt);
  const shown = all ? ordered : ordered.slice(0, 8);
  return (
    <>
      <ul className={styles.attempts}>
        {shown.map((attempt) => {
          const error = attempt.error as { message?: string } | null;
          return (
            <li key={`${attempt.command}/${attempt.attempt}`}>
              <div className={styles.attemptTop}>
                <StatusBadge status={attempt.status} />
                <span>
                  {attempt.item !== null && attempt.item !== undefined ? `Item ${attempt.item}, attempt` : "Attempt"} {attempt.attempt}
                </span>
                <span className="muted numbers">{attempt.duration_seconds == null ? "" : durationText(attempt.duration_seconds)}</span>
                {attempt.worker && <span className="muted">by {attempt.worker}</span>}
              </div>
              {error?.message && <div className={styles.attemptError}>{error.message}</div>}
              {attempt.decisions.map((decision, index) => (
                <RuleWords key={index} decision={decision} step={step} outline={outline} />
              ))}
            </li>
          );
        })}
      </ul>
      {attempts.length > shown.length && <Button onClick={() => setAll(true)}>Show all {attempts.length}</Button>}
    </>
  );
}
