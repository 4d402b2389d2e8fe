/** A field per input: hidden ones for secrets, choices for what has options, credentials by name. */
import type { InputField, Json } from "@/api/types";
import { EmptyState } from "@/components/EmptyState";
import { CheckField, SelectField, TextArea, TextField } from "@/components/fields";
import { type Entries, optionText } from "@/lib/run-input";
import { CredentialField } from "./CredentialField";
import styles from "./InputFields.module.css";

interface InputFieldsProps {
  fields: InputField[];
  entries: Entries;
  errors: Record<string, string>;
  onChange: (entries: Entries) => void;
  /** What leads to these fields. */
  prefix?: string;
}

export function InputFields({ fields, entries, errors, onChange, prefix = "" }: InputFieldsProps) {
  if (fields.length === 0) {
    return (
      <EmptyState title="This playbook names no inputs">
        <p>Its workload is empty. Values can still be sent along as JSON or YAML.</p>
      </EmptyState>
    );
  }
  return (
    <div className={styles.fields}>
      {fields.map((field) => {
        const name = prefix + field.name;
        if (field.children.length > 0) {
          return (
            <fieldset key={name} className={styles.group}>
              <legend>{field.name}</legend>
              {field.description && <p className="muted">{field.description}</p>}
              <InputFields fields={field.children} entries={entries} errors={errors} onChange={onChange} prefix={`${name}.`} />
            </fieldset>
          );
        }
        return (
          <OneField
            key={name}
            field={field}
            entry={entries[name] ?? ""}
            error={errors[name]}
            onChange={(entry) => onChange({ ...entries, [name]: entry })}
          />
        );
      })}
    </div>
  );
}

interface OneFieldProps {
  field: InputField;
  entry: string | boolean;
  error: string | undefined;
  onChange: (entry: string | boolean) => void;
}

function OneField({ field, entry, error, onChange }: OneFieldProps) {
  if (typeof entry === "boolean") {
    return (
      <div>
        <CheckField label={field.name} checked={entry} onChange={onChange} />
        {field.description && <div className={styles.hint}>{field.description}</div>}
      </div>
    );
  }
  const common = { label: field.name, hint: field.description, error, value: entry, onChange };
  if (field.options) {
    const known = (field.options as Json[]).map(optionText);
    const options = known.includes(entry) ? known : [entry, ...known];
    return <SelectField {...common} options={options.map((value) => ({ value, label: value === "" ? "Nothing" : value }))} />;
  }
  if (field.secret) {
    return (
      <TextField {...common} type="password" autoComplete="off" hint={field.description ?? "Hidden. Left empty, the playbook's own value counts."} />
    );
  }
  if (field.credential_glob) return <CredentialField {...common} pattern={field.credential_glob} />;
  switch (field.kind) {
    case "integer":
    case "number":
      return <TextField {...common} inputMode="decimal" />;
    case "array":
    case "object":
      return <TextArea {...common} code rows={Math.min(8, Math.max(2, Math.ceil(entry.length / 60)))} hint={field.description ?? "JSON"} />;
    default:
      return entry.includes("\n") ? <TextArea {...common} rows={5} /> : <TextField {...common} />;
  }
}
