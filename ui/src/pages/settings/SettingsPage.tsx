/** Tokens that open this server, the token that this page uses, how it looks, and the configuration in effect. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { KeySquare, LogOut, Plus } from "lucide-react";
import { useState } from "react";
import { api, ask } from "@/api/client";
import { forgetToken, useAccess } from "@/api/token";
import type { Token } from "@/api/types";
import { toggleTheme, useTheme } from "@/app/theme";
import { Button } from "@/components/Button";
import { Choice } from "@/components/Choice";
import { CliLine } from "@/components/CliLine";
import { type Column, DataTable } from "@/components/DataTable";
import { EmptyState } from "@/components/EmptyState";
import { Page, Section } from "@/components/Page";
import { RemoveDialog } from "@/components/RemoveDialog";
import { StatusBadge } from "@/components/StatusBadge";
import { RelativeTime } from "@/components/Time";
import styles from "./SettingsPage.module.css";
import { Configuration } from "./Configuration";
import { TokenDialog } from "./TokenDialog";

export default function SettingsPage() {
  return (
    <Page title="Settings" subtitle="Who may come in, how this page looks, and how the server was set up.">
      <Tokens />
      <ThisBrowser />
      <Configuration />
    </Page>
  );
}

function Tokens() {
  const tokens = useQuery({
    queryKey: ["tokens"],
    queryFn: async ({ signal }) => (await ask(api.GET("/api/tokens", { signal }))).items as Token[],
  });
  const [creating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<Token | null>(null);
  const columns: Column<Token>[] = [
    { title: "Status", cell: (token) => <StatusBadge status={statusOf(token)} /> },
    { title: "Name", grow: true, cell: ({ name }) => name },
    { title: "Good for", cell: ({ scopes }) => scopes.join(", ") },
    { title: "Made", align: "right", from: "medium", cell: ({ created_at }) => <RelativeTime at={created_at} /> },
    { title: "Last used", align: "right", from: "medium", cell: ({ last_used_at }) => <RelativeTime at={last_used_at} /> },
    { title: "Expires", align: "right", from: "wide", cell: ({ expires_at }) => (expires_at ? <RelativeTime at={expires_at} /> : "never") },
    {
      title: "Actions",
      align: "right",
      cell: (token) =>
        !token.revoked_at && (
          <Button kind="quiet" aria-label={`Revoke ${token.name}`} onClick={() => setRevoked(token)}>
            Revoke
          </Button>
        ),
    },
  ];
  return (
    <Section
      title="API tokens"
      flush
      aside={
        <Button icon={<Plus size={14} />} onClick={() => setCreating(true)}>
          New token
        </Button>
      }
    >
      <DataTable
        label="API tokens"
        columns={columns}
        rows={tokens.data}
        error={tokens.error}
        rowKey={({ id }) => String(id)}
        empty={
          <EmptyState icon={<KeySquare size={20} />} title="No tokens yet">
            <p>A server that was started with --auth tokens lets in only who sends one.</p>
          </EmptyState>
        }
      />
      <div className={styles.foot}>
        <CliLine command={["noetl", "token", "list"]} />
      </div>
      {creating && <TokenDialog onClose={() => setCreating(false)} />}
      {revoked && <Revoke token={revoked} onClose={() => setRevoked(null)} />}
    </Section>
  );
}

function statusOf(token: Token): string {
  if (token.revoked_at) return "Revoked";
  return token.expires_at && Date.parse(token.expires_at) < Date.now() ? "Expired" : "Valid";
}

function Revoke({ token, onClose }: { token: Token; onClose: () => void }) {
  return (
    <RemoveDialog
      title={`Revoke ${token.name}`}
      action="Revoke"
      consequence="Whoever uses it is refused from now on, for good."
      command={["noetl", "token", "revoke", String(token.id)]}
      remove={() => ask(api.DELETE("/api/tokens/{id}", { params: { path: { id: token.id } } }))}
      done={`${token.name} is revoked`}
      queryKey={["tokens"]}
      onClose={onClose}
    />
  );
}

function ThisBrowser() {
  const theme = useTheme();
  const queries = useQueryClient();
  const { token } = useAccess();
  return (
    <Section title="This browser">
      <div className={styles.stack}>
        <div className={styles.line}>
          <span>Theme</span>
          <Choice
            label="Theme"
            value={theme}
            onChange={(wanted) => wanted !== theme && toggleTheme()}
            options={[
              { value: "light", label: "Light" },
              { value: "dark", label: "Dark" },
            ]}
          />
        </div>
        <div className={styles.line}>
          <span>{token === null ? "This page sends no token." : "This page sends a token that was entered here."}</span>
          {token !== null && (
            <Button
              icon={<LogOut size={14} />}
              onClick={() => {
                forgetToken();
                void queries.resetQueries();
              }}
            >
              Forget it
            </Button>
          )}
        </div>
      </div>
    </Section>
  );
}
