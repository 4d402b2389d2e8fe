/** What the checker found, as a list: the same findings as those of `noetl check`. */
import { CircleAlert, CircleCheck, Info, TriangleAlert } from "lucide-react";
import { Section } from "@/components/Page";
import styles from "./Findings.module.css";
import type { Check } from "./useCheck";

const ICONS = { error: CircleAlert, warning: TriangleAlert, note: Info };

export function Findings({ check, onChoose }: { check: Check; onChoose: (line: number) => void }) {
  const { diagnostics, isChecking, isValid } = check;
  return (
    <Section title="What the checker says" flush aside={<span className="muted">{isChecking ? "Checking…" : isValid ? "Valid" : "Not valid"}</span>}>
      {diagnostics.length === 0 ? (
        <p className={styles.fine}>
          <CircleCheck size={15} aria-hidden /> {isChecking ? "It is being checked." : "Nothing to say: it can be registered."}
        </p>
      ) : (
        <ul className={styles.list} aria-label="Findings">
          {diagnostics.map((finding, index) => {
            const Icon = ICONS[finding.severity as keyof typeof ICONS] ?? Info;
            return (
              <li key={`${finding.line}:${finding.column}:${finding.code}:${index}`}>
                <button type="button" className={styles.finding} data-severity={finding.severity} onClick={() => onChoose(finding.line)}>
                  <Icon size={15} aria-hidden />
                  <span className={styles.place}>line {finding.line}</span>
                  <span className={styles.message}>
                    {finding.message}
                    {finding.help && <span className="muted"> · {finding.help}</span>}
                  </span>
                  <code className={styles.code}>{finding.code}</code>
                </button>
              </li>
            );
          })}
        </ul>
      )}
    </Section>
  );
}
