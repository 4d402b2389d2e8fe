/** Asks for a token, in place of the page that needs it. The address stays, so that one is where one was afterwards. */
import { useQueryClient } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { ApiError, asApiError } from "@/api/error";
import { authorization, takeToken, useAccess } from "@/api/token";
import { Button } from "@/components/Button";
import { CliLine } from "@/components/CliLine";
import { ErrorPanel } from "@/components/ErrorPanel";
import { CheckField, TextField } from "@/components/fields";
import styles from "./TokenPage.module.css";

export function TokenPage() {
  const queries = useQueryClient();
  const { token: refused } = useAccess();
  const [token, setToken] = useState("");
  const [remember, setRemember] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);

  const enter = async () => {
    setBusy(true);
    setError(null);
    try {
      await tryToken(token.trim());
      takeToken(token.trim(), remember);
      await queries.resetQueries();
    } catch (problem) {
      setError(asApiError(problem));
    } finally {
      setBusy(false);
    }
  };

  return (
    <main className={styles.page}>
      <form
        className={styles.box}
        onSubmit={(event) => {
          event.preventDefault();
          void enter();
        }}
      >
        <img src="/icon.svg" alt="" width={36} height={36} />
        <h1>This server asks for a token</h1>
        <p className="muted">
          {refused === null ? "Paste one to go on where you were." : "The token it was given is unknown, has expired or was revoked."}
        </p>
        <TextField label="Token" type="password" value={token} onChange={setToken} autoFocus autoComplete="off" />
        <CheckField label="Remember it in this browser" checked={remember} onChange={setRemember} />
        {error && <ErrorPanel error={error} />}
        <Button type="submit" kind="primary" disabled={token.trim() === ""} busy={busy} icon={<KeyRound size={15} />}>
          Enter
        </Button>
        <div className={styles.help}>
          <p className="muted">Who runs the server can make one:</p>
          <CliLine command={["noetl", "token", "create", "--data", "noetl-data", "--scope", "operator", "--name", "me"]} server={false} />
        </div>
      </form>
    </main>
  );
}

/** Sees whether a token opens the door before it is taken into use. */
async function tryToken(token: string) {
  const response = await fetch("/api/executions?limit=1", { headers: authorization(token) }).catch(() => {
    throw ApiError.unreachable();
  });
  if (!response.ok) throw ApiError.of(response.status, await response.json().catch(() => undefined));
}
