/** A row of fields and buttons over a list. */
import type { ReactNode } from "react";
import styles from "./Bar.module.css";

export function Bar({ children }: { children: ReactNode }) {
  return <div className={styles.bar}>{children}</div>;
}
