/** Buttons. `kind` says how much an action weighs. */
import { LoaderCircle } from "lucide-react";
import type { ButtonHTMLAttributes, ReactNode } from "react";
import { Link, type LinkProps } from "react-router";
import styles from "./Button.module.css";

type Kind = "plain" | "primary" | "danger" | "quiet";

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: Kind;
  icon?: ReactNode;
  /** What it started is under way. */
  busy?: boolean;
  children?: ReactNode;
}

export function Button({ kind = "plain", icon, busy = false, children, disabled, className, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled || busy}
      className={[styles.button, className].filter(Boolean).join(" ")}
      data-kind={kind}
      data-bare={children === undefined || undefined}
    >
      {busy ? <LoaderCircle size={15} className={styles.spinner} aria-hidden /> : icon}
      {children}
    </button>
  );
}

/** Looks like a button and leads somewhere. */
export function LinkButton({ kind = "plain", icon, children, ...rest }: LinkProps & { kind?: Kind; icon?: ReactNode }) {
  return (
    <Link {...rest} className={styles.button} data-kind={kind}>
      {icon}
      {children}
    </Link>
  );
}
