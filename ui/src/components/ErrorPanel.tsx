/** An error of the API: the sentence, the code that is explained in the documentation, and what can be done. */
import { CircleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { asApiError } from "@/api/error";
import styles from "./ErrorPanel.module.css";

export function ErrorPanel({ error, actions }: { error: unknown; actions?: ReactNode }) {
  const { message, code, help, diagnostics } = asApiError(error);
  return (
    <div className={styles.panel} role="alert">
      <CircleAlert size={16} aria-hidden />
      <div className={styles.text}>
        <div>
          {message} <code className={styles.code}>{code}</code>
        </div>
        {help && <div className={styles.help}>{help}</div>}
        {diagnostics.length > 0 && (
          <ul className={styles.diagnostics}>
            {diagnostics.map((one) => (
              <li key={`${one.line}:${one.column}:${one.code}`}>
                line {one.line}: {one.message}
                {one.help ? ` (${one.help})` : ""}
              </li>
            ))}
          </ul>
        )}
        {actions && <div className={styles.actions}>{actions}</div>}
      </div>
    </div>
  );
}
