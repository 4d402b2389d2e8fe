/** Whether what is shown is live. */
import { useConnection } from "@/api/connection";
import styles from "./ConnectionState.module.css";

const WORDS = {
  live: ["Live", "The page hears from the server as things happen."],
  connecting: ["Connecting", "The page is getting in touch with the server."],
  broken: ["Reconnecting", "The server does not answer. The page tries again, and catches up once it is back."],
} as const;

export function ConnectionState() {
  const connection = useConnection();
  const [word, explanation] = WORDS[connection];
  return (
    <span className={styles.state} data-state={connection} title={explanation} role="status">
      <span className={styles.dot} aria-hidden />
      <span className={styles.word}>{word}</span>
    </span>
  );
}
