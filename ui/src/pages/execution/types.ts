/** Types of the API that only this page uses. */
import type { components } from "@/api/schema";

export type Outline = components["schemas"]["Outline"];
export type OutlineStep = components["schemas"]["OutlineStep"];
