/** YAML that somebody typed, and values as YAML. */
import { parse, stringify } from "yaml";
import type { Json } from "@/api/types";

/** For places that take an object and nothing else. Nothing at all is an empty one. */
export function readYamlObject(text: string): { value: Record<string, Json>; error?: undefined } | { value?: undefined; error: string } {
  let value: unknown;
  try {
    value = parse(text, { maxAliasCount: 100 });
  } catch (error) {
    return { error: `This is no YAML: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : "it can't be read"}` };
  }
  if (value === null || value === undefined) return { value: {} };
  if (typeof value !== "object" || Array.isArray(value)) return { error: "Keys and values are needed, such as name: Ada." };
  return { value: value as Record<string, Json> };
}

export function asYaml(value: Record<string, Json>): string {
  return Object.keys(value).length === 0 ? "" : stringify(value);
}
