/** Which rule of a task's policy decided, in a sentence. */
import type { components } from "@/api/schema";
import styles from "./RuleWords.module.css";
import type { Outline } from "@/api/types";

type Decision = components["schemas"]["Decision"];

const ACTIONS: Record<string, string> = {
  continue: "go on",
  retry: "try again",
  break: "end the pipeline",
  jump: "jump",
  fail: "fail",
};

export function RuleWords({ decision, step, outline }: { decision: Decision; step: string; outline: Outline | undefined }) {
  const task = outline?.steps.find((found) => found.name === step)?.tasks.find((found) => found.label === decision.task);
  const action = ACTIONS[decision.action] ?? decision.action;
  if (decision.rule === null || decision.rule === undefined) {
    return (
      <div className={styles.rule}>
        No rule matched, so the default decided: <b>{action}</b>.
      </div>
    );
  }
  const rule = task?.rules[decision.rule];
  return (
    <div className={styles.rule}>
      Rule {decision.rule + 1}
      {rule && ` (line ${rule.line})`} decided: <b>{action}</b>
      {rule && (rule.when ? <> because <code>{rule.when}</code></> : <>, as nothing before it matched</>)}.
    </div>
  );
}
