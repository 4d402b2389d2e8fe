/** Keeps a credential. One that is replaced begins with empty fields, since what it had is not told. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { useId, useState } from "react";
import { api, ask } from "@/api/client";
import type { Credential } from "@/api/types";
import { Button } from "@/components/Button";
import { CliLine } from "@/components/CliLine";
import { Dialog } from "@/components/Dialog";
import { ErrorPanel } from "@/components/ErrorPanel";
import { TextField } from "@/components/fields";
import { useToasts } from "@/components/Toast";
import styles from "./CredentialDialog.module.css";

/** The fields that tools look for, by the type of the credential. */
const USUAL: Record<string, string[]> = {
  bearer: ["token"],
  basic: ["username", "password"],
  api_key: ["key"],
  postgres: ["db_host", "db_port", "db_user", "db_password", "db_name"],
};

interface OneField {
  name: string;
  value: string;
}

const usualFields = (type: string): OneField[] => (USUAL[type] ?? ["value"]).map((name) => ({ name, value: "" }));

export function CredentialDialog({ replaced, onClose }: { replaced: Credential | null; onClose: () => void }) {
  const queries = useQueryClient();
  const toasts = useToasts();
  const types = useId();
  const [name, setName] = useState(replaced?.name ?? "");
  const [type, setType] = useState(replaced?.type ?? "bearer");
  const [description, setDescription] = useState(replaced?.description ?? "");
  const [tags, setTags] = useState((replaced?.tags ?? []).join(", "));
  const [fields, setFields] = useState<OneField[]>(() => usualFields(type));
  const filled = fields.filter((field) => field.name.trim() !== "" && field.value !== "");
  const tagList = tags.split(",").map((tag) => tag.trim()).filter((tag) => tag !== "");

  const keep = useMutation({
    mutationFn: () =>
      ask(
        api.POST("/api/credentials", {
          body: {
            name: name.trim(),
            type: type.trim(),
            data: Object.fromEntries(filled.map((field) => [field.name.trim(), field.value])),
            tags: tagList,
            ...(description.trim() ? { description: description.trim() } : {}),
          },
        }),
      ),
    onSuccess: () => {
      toasts.success(`${name.trim()} is kept`);
      void queries.invalidateQueries({ queryKey: ["credentials"] });
      onClose();
    },
  });
  const change = (index: number, part: Partial<OneField>) => setFields(fields.map((field, at) => (at === index ? { ...field, ...part } : field)));
  const changeType = (type: string) => {
    setType(type);
    if (type in USUAL && fields.every((field) => field.value === "")) setFields(usualFields(type));
  };
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={replaced ? `Replace ${replaced.name}` : "New credential"}
      actions={
        <>
          <Button onClick={onClose}>Leave it</Button>
          <Button kind="primary" busy={keep.isPending} disabled={name.trim() === "" || type.trim() === "" || filled.length === 0} onClick={() => keep.mutate()}>
            {replaced ? "Replace" : "Keep"}
          </Button>
        </>
      }
    >
      {replaced && <p>All its fields are replaced by these. What it has now is not shown.</p>}
      <div className={styles.two}>
        <TextField label="Name" value={name} onChange={setName} readOnly={replaced !== null} />
        <TextField label="Type" value={type} onChange={changeType} list={types} hint="bearer, basic, api_key, postgres, or another that a tool knows" />
        <datalist id={types}>
          {Object.keys(USUAL).map((type) => (
            <option key={type} value={type} />
          ))}
        </datalist>
      </div>
      <fieldset className={styles.fields}>
        <legend>Fields</legend>
        {fields.map((field, index) => (
          // Fields have no name of their own until one is typed.
          <div key={index} className={styles.field}>
            <TextField bare label={`Name of field ${index + 1}`} placeholder="name" value={field.name} onChange={(name) => change(index, { name })} />
            <TextField
              bare
              label={`Value of ${field.name || `field ${index + 1}`}`}
              type="password"
              autoComplete="off"
              placeholder="value"
              value={field.value}
              onChange={(value) => change(index, { value })}
            />
            <Button kind="quiet" icon={<X size={14} />} aria-label={`Remove ${field.name || `field ${index + 1}`}`} onClick={() => setFields(fields.filter((_, at) => at !== index))} />
          </div>
        ))}
        <div>
          <Button icon={<Plus size={14} />} onClick={() => setFields([...fields, { name: "", value: "" }])}>
            Another field
          </Button>
        </div>
      </fieldset>
      <div className={styles.two}>
        <TextField label="Description" value={description} onChange={setDescription} />
        <TextField label="Tags" value={tags} onChange={setTags} hint="With commas between them" />
      </div>
      {keep.error && <ErrorPanel error={keep.error} />}
      <CliLine command={["noetl", "credential", "set", name.trim() || "NAME", "--type", type.trim() || "TYPE", "--file", "fields.yaml"]} />
    </Dialog>
  );
}
