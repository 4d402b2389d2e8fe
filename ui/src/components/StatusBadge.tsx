/** The status of an execution, a step or an attempt: always an icon and a word, so that colour is never all there is. */
import { Ban, CircleCheck, CircleDashed, CirclePause, CircleX, Clock, History, Hourglass, LoaderCircle, type LucideIcon, SkipForward, Unplug } from "lucide-react";
import styles from "./StatusBadge.module.css";

export type Tone = "ok" | "bad" | "run" | "warn" | "idle";

interface Look {
  word: string;
  tone: Tone;
  icon: LucideIcon;
}

const LOOKS: Record<string, Look> = {
  pending: { word: "Pending", tone: "idle", icon: Clock },
  running: { word: "Running", tone: "run", icon: LoaderCircle },
  paused: { word: "Paused", tone: "warn", icon: CirclePause },
  completed: { word: "Completed", tone: "ok", icon: CircleCheck },
  failed: { word: "Failed", tone: "bad", icon: CircleX },
  cancelled: { word: "Cancelled", tone: "idle", icon: Ban },
  skipped: { word: "Skipped", tone: "idle", icon: SkipForward },
  kept: { word: "Kept", tone: "idle", icon: History },
  waiting: { word: "Waiting", tone: "warn", icon: Hourglass },
  suspended: { word: "Waiting", tone: "warn", icon: Hourglass },
  ready: { word: "Ready", tone: "ok", icon: CircleCheck },
  active: { word: "Active", tone: "ok", icon: CircleCheck },
  draining: { word: "Draining", tone: "warn", icon: Hourglass },
  registered: { word: "Registered", tone: "idle", icon: Clock },
  deactivated: { word: "Deactivated", tone: "idle", icon: Ban },
  valid: { word: "Valid", tone: "ok", icon: CircleCheck },
  expired: { word: "Expired", tone: "idle", icon: Clock },
  revoked: { word: "Revoked", tone: "idle", icon: Ban },
  healthy: { word: "Healthy", tone: "ok", icon: CircleCheck },
  complete: { word: "Complete", tone: "ok", icon: CircleCheck },
  incomplete: { word: "Incomplete", tone: "bad", icon: CircleX },
  done: { word: "Done", tone: "ok", icon: CircleCheck },
  error: { word: "Refused", tone: "bad", icon: CircleX },
  lost: { word: "Lost", tone: "bad", icon: Unplug },
};

/** Whatever case the server uses. A status that is not known here is shown by its own name. */
export function lookOf(status: string): Look {
  const known = LOOKS[status.toLowerCase()];
  return known ?? { word: status, tone: "idle", icon: CircleDashed };
}

export function StatusBadge({ status, quiet = false }: { status: string; quiet?: boolean }) {
  const { word, tone, icon: Icon } = lookOf(status);
  return (
    <span className={styles.badge} data-tone={tone} data-quiet={quiet || undefined} data-status={status.toLowerCase()}>
      <Icon size={13} strokeWidth={2.2} aria-hidden />
      {word}
    </span>
  );
}

/** For places without room for the word; it is still read out. */
export function StatusIcon({ status, size = 14 }: { status: string; size?: number }) {
  const { word, tone, icon: Icon } = lookOf(status);
  return (
    <span className={styles.icon} data-tone={tone} data-status={status.toLowerCase()} title={word}>
      <Icon size={size} strokeWidth={2.2} aria-hidden />
      <span className="visually-hidden">{word}</span>
    </span>
  );
}
