/** The command that does the same as the page, ready to be copied into a terminal. */
import { commandLine } from "@/lib/command-line";
import { CopyButton } from "./CopyButton";
import styles from "./CliLine.module.css";

interface CliLineProps {
  command: string[];
  /** The command asks a server, whose address is added where it is not the usual one. */
  server?: boolean;
  /** It is done for each of these, which become its last word in turn. */
  each?: string[];
}

export function CliLine({ command, server = true, each }: CliLineProps) {
  const line = commandLine(command, server ? location.origin : null, each);
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
