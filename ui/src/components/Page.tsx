/** The inside of a page: its title, what can be done, and its content. */
import { type ReactNode, useEffect } from "react";
import styles from "./Page.module.css";

interface PageProps {
  title: string;
  /** Shown in place of the title's text. */
  heading?: ReactNode;
  subtitle?: ReactNode;
  actions?: ReactNode;
  /** As wide as the window. */
  wide?: boolean;
  children: ReactNode;
}

export function Page({ title, heading, subtitle, actions, wide = false, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · NoETL`;
  }, [title]);
  return (
    <div className={styles.page} data-wide={wide || undefined}>
      <div className={styles.top}>
        <div className={styles.titles}>
          <h1>{heading ?? title}</h1>
          {subtitle && <div className={styles.subtitle}>{subtitle}</div>}
        </div>
        {actions && <div className={styles.actions}>{actions}</div>}
      </div>
      {children}
    </div>
  );
}

/** A part of a page with its own heading. */
export function Section({ title, aside, children, flush = false }: { title: ReactNode; aside?: ReactNode; children: ReactNode; flush?: boolean }) {
  return (
    <section className={styles.section}>
      <div className={styles.sectionTop}>
        <h2>{title}</h2>
        {aside}
      </div>
      <div className={styles.sectionBody} data-flush={flush || undefined}>
        {children}
      </div>
    </section>
  );
}
