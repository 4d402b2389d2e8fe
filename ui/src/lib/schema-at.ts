/**
 * Finds the place of a JSON Schema that speaks about a place in a YAML text. It goes by indentation alone, so that it works
 * while the text is being written and is not yet YAML.
 */

export type Schema = boolean | SchemaObject;

export interface SchemaObject {
  $ref?: string;
  $defs?: Record<string, Schema>;
  description?: string;
  deprecated?: boolean;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  if?: SchemaObject;
  then?: Schema;
  else?: Schema;
  enum?: unknown[];
  examples?: unknown[];
  const?: unknown;
  type?: string | string[];
}

/** A key, or `[]` for an item of a list, and where the block that it stands in is. */
interface Place {
  name: string;
  line: number;
  column: number;
}

interface Line {
  dashes: number[];
  /** Where the key begins, or would. */
  column: number;
  key: string | null;
  isBlank: boolean;
  opensText: boolean;
}

function lineOf(text: string): Line {
  const [, space = "", marks = "", rest = ""] = /^(\s*)((?:-\s+|-$)*)(.*)$/.exec(text) ?? [];
  const dashes: number[] = [];
  for (let at = 0; at < marks.length; at += 1) if (marks[at] === "-") dashes.push(space.length + at);
  const key = /^["']?([\w.$/-]+)["']?\s*:(?:\s|$)/.exec(rest)?.[1] ?? null;
  return {
    dashes,
    column: space.length + marks.length,
    key,
    isBlank: marks === "" && (rest === "" || rest.startsWith("#")),
    opensText: /:\s*[|>][-+\d]*\s*(#.*)?$/.test(rest),
  };
}

/** What leads to the block in which a line stands, the outermost first; nothing within text of several lines. */
export function placesOf(lines: string[], at: number, column: number): Place[] | null {
  const places: Place[] = [];
  let limit = column;
  let belowDash = false;
  const enter = (dashes: number[], line: number) => {
    for (const dash of [...dashes].reverse()) {
      if (dash >= limit) continue;
      places.push({ name: "[]", line, column: dash });
      limit = dash;
      belowDash = true;
    }
  };
  enter(lineOf(lines[at] ?? "").dashes, at);
  for (let index = at - 1; index >= 0 && (limit > 0 || belowDash); index -= 1) {
    const line = lineOf(lines[index] ?? "");
    if (line.isBlank) continue;
    const isParent = line.column < limit || (belowDash && line.dashes.length === 0 && line.column === limit);
    if (line.key !== null && isParent) {
      if (line.opensText) return null;
      places.push({ name: line.key, line: index, column: line.column });
      limit = line.column;
      belowDash = false;
    }
    enter(line.dashes, index);
  }
  return places.reverse();
}

/** The value of `kind` in the block of a line, by which the schema of a tool is chosen. */
function kindBeside(lines: string[], at: number, column: number): string | null {
  for (const step of [-1, 1]) {
    for (let index = step === 1 ? at + 1 : at; index >= 0 && index < lines.length; index += step) {
      const text = lines[index] ?? "";
      const line = lineOf(text);
      if (line.isBlank) continue;
      if (line.column < column || (step === 1 && line.dashes.some((dash) => dash < column))) break;
      if (line.column === column && line.key === "kind") return /:\s*["']?([\w-]+)/.exec(text)?.[1] ?? null;
      if (line.dashes.some((dash) => dash < column)) break;
    }
  }
  return null;
}

/** All schemas that may be meant, with references followed and choices spread out. */
function spread(root: SchemaObject, schema: Schema | undefined, kind: string | null, depth = 0): SchemaObject[] {
  if (schema === undefined || typeof schema === "boolean" || depth > 12) return [];
  const found: SchemaObject[] = [schema];
  const add = (other: Schema | undefined) => found.push(...spread(root, other, kind, depth + 1));
  if (schema.$ref) add(root.$defs?.[schema.$ref.replace("#/$defs/", "")]);
  for (const one of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]) add(one);
  if (schema.if) {
    const choice = schema.if.properties?.kind;
    const kinds = typeof choice === "object" ? choice.enum : undefined;
    if (!kinds || kinds.includes(kind)) add(schema.then);
    if (!kinds || !kinds.includes(kind)) add(schema.else);
  }
  return found;
}

/** The schemas of the block in which a line stands. */
export function schemasAt(root: SchemaObject, lines: string[], at: number, column: number): SchemaObject[] {
  const places = placesOf(lines, at, column);
  if (places === null) return [];
  let current: Schema[] = [root];
  for (const { name, line, column } of places) {
    const kind = kindBeside(lines, line, column);
    const inside = current.flatMap((schema) => spread(root, schema, kind));
    current = inside.flatMap((schema) => {
      const next = name === "[]" ? schema.items : (schema.properties?.[name] ?? schema.additionalProperties);
      return next === undefined || typeof next === "boolean" ? [] : [next];
    });
  }
  const kind = kindBeside(lines, at, column);
  return current.flatMap((schema) => spread(root, schema, kind));
}

export interface Known {
  name: string;
  description: string;
}

/** The keys that a block may have, without older spellings. */
export function keysAt(root: SchemaObject, lines: string[], at: number, column: number): Known[] {
  const known = new Map<string, Known>();
  for (const schema of schemasAt(root, lines, at, column)) {
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      if (typeof property === "boolean" || property.deprecated || known.has(name)) continue;
      known.set(name, { name, description: descriptionOf(root, property) });
    }
  }
  return [...known.values()];
}

/** What a key is for. */
export function helpAt(root: SchemaObject, lines: string[], at: number): Known | null {
  const { key, column } = lineOf(lines[at] ?? "");
  if (key === null) return null;
  for (const schema of schemasAt(root, lines, at, column)) {
    const property = schema.properties?.[key];
    if (typeof property === "object") return { name: key, description: descriptionOf(root, property) };
  }
  return null;
}

/** The values to choose from for the key of a line. */
export function valuesAt(root: SchemaObject, lines: string[], at: number): string[] {
  const { key, column } = lineOf(lines[at] ?? "");
  if (key === null) return [];
  const values = new Set<string>();
  for (const schema of schemasAt(root, lines, at, column)) {
    for (const one of spread(root, schema.properties?.[key], null)) {
      for (const value of [...(one.enum ?? []), ...(one.examples ?? []), one.const]) {
        if (typeof value === "string" || typeof value === "number") values.add(String(value));
      }
      if (one.type === "boolean" || (Array.isArray(one.type) && one.type.includes("boolean") && one.type.length <= 2)) values.add("true").add("false");
    }
  }
  return [...values];
}

function descriptionOf(root: SchemaObject, schema: SchemaObject): string {
  return spread(root, schema, null).find((one) => one.description)?.description ?? "";
}
