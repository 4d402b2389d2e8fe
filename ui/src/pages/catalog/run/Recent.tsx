/** Inputs that were used before, to begin from. */
import { History } from "lucide-react";
import { useState } from "react";
import type { Json } from "@/api/types";
import { RelativeTime } from "@/components/Time";
import { recentInputs } from "@/lib/recent-inputs";
import styles from "./Recent.module.css";

export function Recent({ path, onChoose }: { path: string; onChoose: (payload: Record<string, Json>) => void }) {
  const [inputs] = useState(() => recentInputs(path));
  if (inputs.length === 0) return null;
  return (
    <div className={styles.recent}>
      <h3>
        <History size={13} aria-hidden /> Recent inputs
      </h3>
      <ul>
        {inputs.map((input) => (
          <li key={input.at}>
            <button type="button" className={styles.input} onClick={() => onChoose(input.payload)}>
              <code>{JSON.stringify(input.payload)}</code>
              <span className="muted">
                <RelativeTime at={input.at} />
              </span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
