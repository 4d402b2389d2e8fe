/** The input of a run as a form has it: a text or a tick per field, and what is sent of them. */
import type { InputField, Json } from "@/api/types";

/** What is in the form, by the names that lead to a field with dots between them. */
export type Entries = Record<string, string | boolean>;

export interface Read {
  payload: Record<string, Json>;
  /** What is wrong, by field. */
  errors: Record<string, string>;
}

/** What the form shows before anything is typed. */
export function initialEntries(fields: InputField[], known: Record<string, Json> = {}): Entries {
  const entries: Entries = {};
  const visit = (fields: InputField[], prefix: string, known: Json | undefined) => {
    for (const field of fields) {
      const name = prefix + field.name;
      const given = isObject(known) ? known[field.name] : undefined;
      if (field.children.length > 0) visit(field.children, `${name}.`, given ?? (field.default as Json));
      else entries[name] = asEntry(field, given ?? (field.default as Json));
    }
  };
  visit(fields, "", known);
  return entries;
}

function asEntry(field: InputField, value: Json): string | boolean {
  if (field.kind === "boolean") return value === true;
  if (value === null || value === undefined || field.secret) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * What is to be sent: the fields that differ from the playbook's own values. A secret that was left empty is not sent,
 * so that the playbook's own counts.
 */
export function readEntries(fields: InputField[], entries: Entries): Read {
  const errors: Record<string, string> = {};
  const read = (fields: InputField[], prefix: string): Record<string, Json> => {
    const values: Record<string, Json> = {};
    for (const field of fields) {
      const name = prefix + field.name;
      if (field.children.length > 0) {
        const inside = read(field.children, `${name}.`);
        if (Object.keys(inside).length > 0) values[field.name] = inside;
        continue;
      }
      const entry = entries[name] ?? "";
      const value = valueOf(field, entry, (problem) => {
        errors[name] = problem;
      });
      const isUntouched = field.secret ? entry === "" : JSON.stringify(value) === JSON.stringify(field.default ?? null);
      if (value !== undefined && !isUntouched) values[field.name] = value;
    }
    return values;
  };
  return { payload: read(fields, ""), errors };
}

function valueOf(field: InputField, entry: string | boolean, onProblem: (problem: string) => void): Json | undefined {
  if (typeof entry === "boolean") return entry;
  if (field.options) {
    const options = field.options as Json[];
    return options.find((option) => optionText(option) === entry) ?? null;
  }
  switch (field.kind) {
    case "string":
      return entry;
    case "integer":
    case "number": {
      const number = Number(entry);
      if (entry.trim() === "" || !Number.isFinite(number)) {
        onProblem("A number is needed.");
        return undefined;
      }
      if (field.kind === "integer" && !Number.isInteger(number)) {
        onProblem("A whole number is needed.");
        return undefined;
      }
      return number;
    }
    case "array":
    case "object": {
      const parsed = parsedAs(entry);
      const fits = field.kind === "array" ? Array.isArray(parsed) : isObject(parsed);
      if (!fits) onProblem(field.kind === "array" ? 'A JSON list is needed, such as ["a", "b"].' : 'A JSON object is needed, such as {"a": 1}.');
      return fits ? parsed : undefined;
    }
    default:
      // A value that is null in the playbook may become anything: JSON where it is some, else text.
      return entry === "" ? null : (parsedAs(entry) ?? entry);
  }
}

function parsedAs(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

export const optionText = (option: Json) => (typeof option === "string" ? option : JSON.stringify(option));

/** The same without what is secret, for places where it can be seen or stays. */
export function withoutSecrets(fields: InputField[], payload: Record<string, Json>): Record<string, Json> {
  const kept: Record<string, Json> = {};
  for (const [name, value] of Object.entries(payload)) {
    const field = fields.find((field) => field.name === name);
    if (field?.secret) continue;
    kept[name] = field && isObject(value) ? withoutSecrets(field.children, value) : value;
  }
  return kept;
}

export const hasSecrets = (fields: InputField[]): boolean => fields.some((field) => field.secret || hasSecrets(field.children));

function isObject(value: Json | undefined): value is Record<string, Json> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
