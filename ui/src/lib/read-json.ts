/** Reads what somebody typed as JSON. */
import type { Json } from "@/api/types";

export type ReadJson = { value: Json; error?: undefined } | { value?: undefined; error: string };

/** Nothing at all is null. */
export function readJson(text: string): ReadJson {
  if (text.trim() === "") return { value: null };
  try {
    return { value: JSON.parse(text) as Json };
  } catch (error) {
    return { error: `This is no JSON: ${error instanceof Error ? error.message : "it can't be read"}` };
  }
}

/** As above, for places that take an object and nothing else. */
export function readJsonObject(text: string): { value: Record<string, Json>; error?: undefined } | { value?: undefined; error: string } {
  const read = readJson(text);
  if (read.error !== undefined) return read;
  if (read.value === null) return { value: {} };
  if (typeof read.value !== "object" || Array.isArray(read.value)) return { error: "An object is needed, such as {\"name\": \"Ada\"}." };
  return { value: read.value };
}
