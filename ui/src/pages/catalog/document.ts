/** What a document says about itself. */
import type { Entry } from "@/api/types";

/** The first line of what it is for. */
export function descriptionOf(entry: Entry): string {
  const payload = entry.payload as { metadata?: { description?: unknown } } | null | undefined;
  const description = payload?.metadata?.description;
  return typeof description === "string" ? (description.trim().split("\n")[0] ?? "") : "";
}
