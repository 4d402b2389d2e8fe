/** Names and what they come to, in two columns. */
import type { ReactNode } from "react";
import styles from "./Facts.module.css";

export function Facts({ facts }: { facts: [string, ReactNode][] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name} className={styles.fact}>
          <dt>{name}</dt>
          <dd>{value || "–"}</dd>
        </div>
      ))}
    </dl>
  );
}
