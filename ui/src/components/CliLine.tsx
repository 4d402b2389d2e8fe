/** The command that does the same as the page, ready to be copied into a terminal. */
import { commandLine } from "@/lib/command-line";
import { CopyButton } from "./CopyButton";
import styles from "./CliLine.module.css";

/** `server` says whether the command asks a server, whose address is added where it is not the usual one. */
export function CliLine({ command, server = true }: { command: string[]; server?: boolean }) {
  const line = commandLine(command, server ? location.origin : null);
  return (
    <div className={styles.line}>
      <span className={styles.prompt} aria-hidden>
        $
      </span>
      <code className={styles.command} tabIndex={0} role="textbox" aria-readonly aria-label="The same as a command">
        {line}
      </code>
      <CopyButton text={line} label="Copy the command" />
    </div>
  );
}
