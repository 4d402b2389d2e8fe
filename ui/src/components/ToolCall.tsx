/** A call of a tool as it was, or would be, made: its settings, its input and its code. */
import type { FirstCall, Json } from "@/api/types";
import { CodeBlock } from "./CodeBlock";
import { JsonView } from "./JsonView";
import styles from "./ToolCall.module.css";

export function ToolCall({ call }: { call: FirstCall }) {
  const where = `${call.kind}, line ${call.line}`;
  return (
    <div className={styles.call}>
      <p className="muted">Calls {where}</p>
      <div className={styles.values}>
        {isEmpty(call.settings) || (
          <div>
            <h4>Settings</h4>
            <JsonView value={call.settings as Json} label={`Settings of ${where}`} />
          </div>
        )}
        <div>
          <h4>Input</h4>
          <JsonView value={call.input as Json} label={`Input of ${where}`} />
        </div>
      </div>
      {call.code && <CodeBlock text={call.code.trimEnd()} firstLine={1} label={`Code of ${where}`} />}
    </div>
  );
}

const isEmpty = (value: unknown) => typeof value === "object" && value !== null && Object.keys(value).length === 0;
