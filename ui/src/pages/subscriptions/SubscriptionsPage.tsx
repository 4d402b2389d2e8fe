/** Subscriptions: what each is to do now, and the changes that are possible from there. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { RadioTower } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { catalogQuery, entryAddress } from "@/api/catalog";
import { api, ask } from "@/api/client";
import type { Subscription } from "@/api/types";
import { Button } from "@/components/Button";
import { CliLine } from "@/components/CliLine";
import { ConfirmDialog } from "@/components/ConfirmDialog";
import { type Column, DataTable } from "@/components/DataTable";
import { EmptyState } from "@/components/EmptyState";
import { Page, Section } from "@/components/Page";
import { StatusBadge } from "@/components/StatusBadge";
import { RelativeTime } from "@/components/Time";
import { useToasts } from "@/components/Toast";
import { type Action, possibleActions } from "./transitions";
import styles from "./SubscriptionsPage.module.css";

const EVERY = 5_000;

export default function SubscriptionsPage() {
  const subscriptions = useQuery({
    queryKey: ["subscriptions"],
    queryFn: async ({ signal }) => (await ask(api.GET("/api/subscriptions", { signal }))).subscriptions as Subscription[],
    refetchInterval: EVERY,
  });
  const catalog = useQuery(catalogQuery(false));
  const [asked, setAsked] = useState<{ subscription: Subscription; action: Action } | null>(null);
  const live = new Set(subscriptions.data?.filter(({ state }) => state !== "deactivated").map(({ path }) => path));
  const waiting = catalog.data?.filter(({ kind, path }) => kind === "subscription" && !live.has(path)) ?? [];
  const columns: Column<Subscription>[] = [
    { title: "State", cell: ({ state }) => <StatusBadge status={state} /> },
    { title: "Path", grow: true, cell: ({ path }) => <Link to={entryAddress(path)}>{path}</Link> },
    { title: "Id", from: "wide", cell: ({ subscription_id }) => <span className="mono muted">{String(subscription_id)}</span> },
    { title: "Changed", align: "right", from: "medium", cell: ({ updated_at }) => <RelativeTime at={updated_at} /> },
    {
      title: "Actions",
      align: "right",
      cell: (subscription) => (
        <span className={styles.actions}>
          {possibleActions(subscription.state).map((action) => (
            <Button key={action.name} onClick={() => setAsked({ subscription, action })} aria-label={`${action.label} ${subscription.path}`}>
              {action.label}
            </Button>
          ))}
        </span>
      ),
    },
  ];
  return (
    <Page title="Subscriptions" subtitle="Standing orders to start executions for messages that come in.">
      <Section title="Registered" flush>
        <DataTable
          label="Subscriptions"
          columns={columns}
          rows={subscriptions.data}
          error={subscriptions.error}
          rowKey={({ subscription_id }) => String(subscription_id)}
          empty={
            <EmptyState icon={<RadioTower size={20} />} title="No subscription is registered">
              <p>A document of the kind Subscription says which messages start which playbook. Write one in the editor, then register it here.</p>
            </EmptyState>
          }
        />
      </Section>
      {waiting.length > 0 && (
        <Section title="In the catalog, not registered">
          <ul className={styles.waiting}>
            {waiting.map(({ path }) => (
              <Waiting key={path} path={path} />
            ))}
          </ul>
        </Section>
      )}
      <CliLine command={["noetl", "subscription", "list"]} />
      {asked && <Change {...asked} onClose={() => setAsked(null)} />}
    </Page>
  );
}

function Waiting({ path }: { path: string }) {
  const queries = useQueryClient();
  const toasts = useToasts();
  const register = useMutation({
    mutationFn: () => ask(api.POST("/api/subscriptions", { body: { path } })),
    onSuccess: () => {
      toasts.success(`${path} is registered`);
      void queries.invalidateQueries({ queryKey: ["subscriptions"] });
    },
    onError: toasts.failure,
  });
  return (
    <li className={styles.one}>
      <Link to={entryAddress(path)}>{path}</Link>
      <CliLine command={["noetl", "subscription", "register", path]} />
      <Button busy={register.isPending} onClick={() => register.mutate()} aria-label={`Register ${path}`}>
        Register
      </Button>
    </li>
  );
}

function Change({ subscription, action, onClose }: { subscription: Subscription; action: Action; onClose: () => void }) {
  const queries = useQueryClient();
  const toasts = useToasts();
  const change = useMutation({
    mutationFn: () =>
      ask(api.POST("/api/subscriptions/{id}/{action}", { params: { path: { id: subscription.subscription_id, action: action.name } } })),
    onSuccess: (changed) => {
      toasts.success(`${changed.path} is ${changed.state}`);
      void queries.invalidateQueries({ queryKey: ["subscriptions"] });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={`${action.label} ${subscription.path}`}
      action={action.label}
      kind={action.name === "deactivate" ? "danger" : "primary"}
      command={["noetl", "subscription", action.name, subscription.path]}
      busy={change.isPending}
      error={change.error}
      onConfirm={() => change.mutate()}
      onClose={onClose}
    >
      <p>{action.meaning}</p>
    </ConfirmDialog>
  );
}
