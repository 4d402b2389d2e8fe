/** Why an execution failed: the message, the line of the playbook, the traceback, and the rule that decided. */
import { useQuery } from "@tanstack/react-query";
import { CircleX, RotateCcw } from "lucide-react";
import { useState } from "react";
import type { ExecutionDetail, RanStep, Step } from "@/api/types";
import { Button } from "@/components/Button";
import { CodeBlock } from "@/components/CodeBlock";
import styles from "./FailurePanel.module.css";
import { sourceQuery, stepQuery } from "./queries";
import { RerunDialog } from "./RerunDialog";
import { RuleWords } from "./RuleWords";
import type { Outline } from "@/api/types";

/** Lines of the playbook around the one that failed. */
const AROUND = 4;

interface Problem {
  message?: string;
  code?: string;
  kind?: string;
  line?: number;
  retryable?: boolean;
}

interface FailurePanelProps {
  execution: ExecutionDetail;
  outline: Outline | undefined;
  onChoose: (step: string) => void;
}

export function FailurePanel({ execution, outline, onChoose }: FailurePanelProps) {
  const failed = execution.steps.filter((step) => step.status === "failed");
  const [rerun, setRerun] = useState(false);
  const culprit = failed.find((step) => execution.error?.includes(`'${step.name}'`)) ?? failed.at(-1);
  return (
    <section className={styles.panel} aria-label="Why it failed">
      <div className={styles.top}>
        <CircleX size={18} aria-hidden />
        <div className={styles.message}>{execution.error ?? "The execution failed."}</div>
        <Button icon={<RotateCcw size={14} />} onClick={() => setRerun(true)}>
          Run again from where it failed
        </Button>
      </div>
      {culprit && <Culprit execution={execution} step={culprit} outline={outline} onChoose={onChoose} />}
      {rerun && <RerunDialog execution={execution} onClose={() => setRerun(false)} />}
    </section>
  );
}

function Culprit({ execution, step, outline, onChoose }: { execution: ExecutionDetail; step: Step; outline: Outline | undefined; onChoose: (step: string) => void }) {
  const ran = useQuery(stepQuery(String(execution.execution_id), step.name));
  const source = useQuery(sourceQuery(String(execution.catalog_id)));
  const problem = problemOf(step, ran.data);
  const attempt = ran.data?.attempts.find((attempt) => attempt.status === "failed");
  const decision = attempt?.decisions.at(-1);
  const line = problem.line ?? outline?.steps.find((known) => known.name === step.name)?.line;
  const traceback = tracebackOf(attempt?.result) ?? tracebackOf(step.result);
  return (
    <div className={styles.body}>
      <div className={styles.facts}>
        <span>
          Step{" "}
          <button type="button" className={styles.step} onClick={() => onChoose(step.name)}>
            {step.name}
          </button>
          {attempt?.item !== null && attempt?.item !== undefined && `, item ${attempt.item}`}
        </span>
        {line !== undefined && <span>Line {line}</span>}
        {problem.code && <code>{problem.code}</code>}
        <span className="muted">{problem.retryable ? "may pass when it is tried again" : "will not pass by trying again"}</span>
        {attempt?.worker && <span className="muted">on {attempt.worker}</span>}
      </div>
      {decision && <RuleWords decision={decision} step={step.name} outline={outline} />}
      <div className={styles.columns}>
        {source.data?.content && line !== undefined && <Excerpt text={source.data.content} line={line} path={execution.path} />}
        {traceback && <CodeBlock text={traceback} label="Traceback; its lines are those of the playbook" />}
      </div>
    </div>
  );
}

/** The step's own error, or that of the item that failed where the step's says no line. */
function problemOf(step: Step, ran: RanStep | undefined): Problem {
  const own = (step.error ?? {}) as Problem;
  const item = ran?.attempts.find((attempt) => attempt.status === "failed")?.error as Problem | null | undefined;
  return { ...item, ...own, ...(own.line === undefined && item?.line !== undefined ? { line: item.line } : {}) };
}

function tracebackOf(result: unknown): string | null {
  const stderr = (result as { stderr?: unknown } | null)?.stderr;
  return typeof stderr === "string" && stderr.trim() !== "" ? stderr.trimEnd() : null;
}

function Excerpt({ text, line, path }: { text: string; line: number; path: string }) {
  const lines = text.split("\n");
  const first = Math.max(1, line - AROUND);
  return <CodeBlock text={lines.slice(first - 1, line + AROUND).join("\n")} firstLine={first} mark={line} label={`${path}, around line ${line}`} />;
}
