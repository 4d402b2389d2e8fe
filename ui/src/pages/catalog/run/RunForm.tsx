/** Runs a playbook: its inputs as a form made from the workload, or as JSON or YAML, and how it is to be started. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Play } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useNavigate } from "react-router";
import { uiSchemaQuery } from "@/api/catalog";
import { api, ask } from "@/api/client";
import type { Entry, InputField, Json, UiSchema } from "@/api/types";
import { Button } from "@/components/Button";
import { Choice } from "@/components/Choice";
import { CliLine } from "@/components/CliLine";
import { ErrorPanel } from "@/components/ErrorPanel";
import { TextArea } from "@/components/fields";
import { Section } from "@/components/Page";
import { Skeleton } from "@/components/Skeleton";
import { readJsonObject } from "@/lib/read-json";
import { asYaml, readYamlObject } from "@/lib/read-yaml";
import { noteInput } from "@/lib/recent-inputs";
import { type Entries, hasSecrets, initialEntries, readEntries, withoutSecrets } from "@/lib/run-input";
import { InputFields } from "./InputFields";
import { Recent } from "./Recent";
import styles from "./RunForm.module.css";
import { NO_SETTINGS, type Settings, settingsRequest, settingsWords, StartSettings } from "./StartSettings";

type Mode = "form" | "json" | "yaml";

const MODES = [
  { value: "form", label: "Form" },
  { value: "json", label: "JSON" },
  { value: "yaml", label: "YAML" },
] as const;

export function RunForm({ entry, isNewest }: { entry: Entry; isNewest: boolean }) {
  const schema = useQuery(uiSchemaQuery(entry.path, entry.version));
  if (schema.error) return <ErrorPanel error={schema.error} />;
  if (!schema.data) return <Skeleton lines={6} />;
  return <Form entry={entry} schema={schema.data} isNewest={isNewest} />;
}

function Form({ entry, schema, isNewest }: { entry: Entry; schema: UiSchema; isNewest: boolean }) {
  const { fields } = schema;
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [mode, setMode] = useState<Mode>(fields.length > 0 ? "form" : "json");
  const [entries, setEntries] = useState<Entries>(() => initialEntries(fields));
  const [text, setText] = useState("");
  const [settings, setSettings] = useState<Settings>(NO_SETTINGS);
  const input = readInput(mode, fields, entries, text);

  const run = useMutation({
    mutationFn: (payload: Record<string, Json>) =>
      ask(api.POST("/api/execute", { body: { catalog_id: entry.catalog_id, payload, ...settingsRequest(settings) } })),
    onSuccess: (started, payload) => {
      noteInput(entry.path, withoutSecrets(fields, payload));
      void queries.invalidateQueries({ queryKey: ["executions"] });
      navigate(`/executions/${started.execution_id}`);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (input.payload) run.mutate(input.payload);
  };
  /** Shows an input in the mode that is chosen. */
  const show = (payload: Record<string, Json>, mode: Mode) => {
    if (mode === "form") setEntries(initialEntries(fields, payload));
    else setText(written(payload, mode));
  };
  const changeMode = (next: Mode) => {
    // Secrets stay in the fields that hide them.
    if (input.payload) show(withoutSecrets(fields, input.payload), next);
    setMode(next);
  };
  const shown = withoutSecrets(fields, input.payload ?? {});
  return (
    <form className={styles.form} onSubmit={submit} aria-label={`Run ${entry.path}`}>
      <Section title="Input" aside={<Choice label="Write the input as" value={mode} onChange={changeMode} options={MODES} />}>
        {mode === "form" ? (
          <InputFields fields={fields} entries={entries} errors={input.errors} onChange={setEntries} />
        ) : (
          <TextArea
            label={`The input as ${mode === "json" ? "JSON" : "YAML"}`}
            code
            rows={12}
            value={text}
            onChange={setText}
            error={input.errors[""]}
            hint={
              hasSecrets(fields)
                ? "It is laid over the playbook's own values. What is secret is better typed into the form, which hides it."
                : "It is laid over the playbook's own values."
            }
          />
        )}
      </Section>
      <div className={styles.side}>
        <Recent path={entry.path} onChoose={(payload) => show(payload, mode)} />
        <StartSettings settings={settings} onChange={setSettings} />
        {run.error && <ErrorPanel error={run.error} />}
        <Button type="submit" kind="primary" icon={<Play size={15} />} busy={run.isPending} disabled={!input.payload}>
          Run version {entry.version}
        </Button>
        <CliLine
          command={[
            "noetl",
            "exec",
            isNewest ? entry.path : `${entry.path}@${entry.version}`,
            ...(Object.keys(shown).length > 0 ? ["--payload", JSON.stringify(shown)] : []),
            ...settingsWords(settings),
          ]}
        />
        {hasSecrets(fields) && <p className="muted">Secret fields are not part of the command.</p>}
      </div>
    </form>
  );
}

interface Input {
  /** Nothing while something is wrong. */
  payload: Record<string, Json> | undefined;
  /** By field; under "" what is wrong with the text. */
  errors: Record<string, string>;
}

function readInput(mode: Mode, fields: InputField[], entries: Entries, text: string): Input {
  if (mode === "form") {
    const { payload, errors } = readEntries(fields, entries);
    return { payload: Object.keys(errors).length === 0 ? payload : undefined, errors };
  }
  const read = mode === "json" ? readJsonObject(text) : readYamlObject(text);
  return read.error === undefined ? { payload: read.value, errors: {} } : { payload: undefined, errors: { "": read.error } };
}

function written(payload: Record<string, Json>, mode: "json" | "yaml"): string {
  if (mode === "yaml") return asYaml(payload);
  return Object.keys(payload).length === 0 ? "" : JSON.stringify(payload, null, 2);
}
