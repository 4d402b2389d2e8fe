/** Asks before something that weighs, and shows the command that does the same. */
import type { ReactNode } from "react";
import { Button } from "./Button";
import { CliLine } from "./CliLine";
import { Dialog } from "./Dialog";
import { ErrorPanel } from "./ErrorPanel";

interface ConfirmDialogProps {
  title: string;
  /** What the button says. */
  action: string;
  /** What the other button says. */
  leave?: string;
  command: string[];
  children: ReactNode;
  busy: boolean;
  error?: unknown;
  onConfirm: () => void;
  onClose: () => void;
  kind?: "danger" | "primary";
}

export function ConfirmDialog({ title, action, leave = "Leave it", command, children, busy, error, onConfirm, onClose, kind = "danger" }: ConfirmDialogProps) {
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      actions={
        <>
          <Button onClick={onClose}>{leave}</Button>
          <Button kind={kind} busy={busy} onClick={onConfirm}>
            {action}
          </Button>
        </>
      }
    >
      {children}
      {error !== undefined && error !== null && <ErrorPanel error={error} />}
      <CliLine command={command} />
    </Dialog>
  );
}
