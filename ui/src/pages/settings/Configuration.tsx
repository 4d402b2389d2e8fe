/** The settings that the server runs with, and where each came from. Of secrets it is only told that they are set. */
import { useQuery } from "@tanstack/react-query";
import { SlidersHorizontal } from "lucide-react";
import { useState } from "react";
import { api, ask } from "@/api/client";
import { asApiError } from "@/api/error";
import type { ConfigInEffect, SettingInEffect } from "@/api/types";
import { CliLine } from "@/components/CliLine";
import { type Column, DataTable } from "@/components/DataTable";
import { EmptyState } from "@/components/EmptyState";
import { CheckField } from "@/components/fields";
import { Section } from "@/components/Page";
import styles from "./SettingsPage.module.css";

const COLUMNS: Column<SettingInEffect>[] = [
  { title: "Setting", grow: true, cell: ({ key }) => <code>{key}</code> },
  { title: "Value", cell: ({ value }) => <Value value={value} /> },
  { title: "From", cell: ({ origin }) => <Origin origin={origin} /> },
  { title: "Environment variable", from: "wide", cell: ({ variable }) => <code className="muted">{variable}</code> },
];

export function Configuration() {
  const [all, setAll] = useState(false);
  const config = useQuery({
    queryKey: ["config"],
    queryFn: ({ signal }) => ask(api.GET("/api/config", { signal })) as Promise<ConfigInEffect>,
    staleTime: 60_000,
  });
  const isRefused = config.error && asApiError(config.error).status === 403;
  const settings = config.data?.settings;
  const changed = settings?.filter(({ origin }) => origin.source !== "default");
  return (
    <Section
      title="Configuration of the server"
      flush
      aside={settings && <CheckField label={`All ${settings.length} settings`} checked={all} onChange={setAll} />}
    >
      {isRefused ? (
        <EmptyState icon={<SlidersHorizontal size={20} />} title="For administrators">
          <p>The configuration is shown to who has a token of the scope admin.</p>
        </EmptyState>
      ) : (
        <DataTable
          label="Settings"
          columns={COLUMNS}
          rows={all ? settings : changed}
          error={config.error}
          rowKey={({ key }) => key}
          empty={
            <EmptyState icon={<SlidersHorizontal size={20} />} title="Everything is at its default">
              <p>A configuration file, the environment and flags can change it. Nothing of that was used.</p>
            </EmptyState>
          }
        />
      )}
      <div className={`${styles.foot} ${styles.stack}`}>
        {config.data?.file && (
          <p className="muted">
            The file <code>{config.data.file}</code> was read when the server started.
          </p>
        )}
        <p className="muted">On the machine of the server, with the environment it has:</p>
        <CliLine command={["noetl", "config", "show"]} server={false} />
      </div>
    </Section>
  );
}

function Value({ value }: { value: SettingInEffect["value"] }) {
  if (value === null || value === undefined) return <span className="muted">none</span>;
  return <code>{typeof value === "string" ? value : JSON.stringify(value)}</code>;
}

function Origin({ origin }: { origin: SettingInEffect["origin"] }) {
  switch (origin.source) {
    case "default":
      return <span className="muted">default</span>;
    case "file":
      return (
        <span>
          file, line {origin.line} <span className="visually-hidden">of {origin.file}</span>
        </span>
      );
    case "environment":
      return <code>{origin.variable}</code>;
    case "flag":
      return <code>{origin.flag}</code>;
  }
}
