/** Completion and help from the JSON Schema of the language, which is the one that `noetl schema` writes. */
import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { EditorState, Text } from "@codemirror/state";
import type { EditorView, Tooltip } from "@codemirror/view";
import { helpAt, keysAt, type SchemaObject, valuesAt } from "@/lib/schema-at";
import playbook from "../../../../docs/playbook.schema.json";
import subscription from "../../../../docs/subscription.schema.json";

const schemaOf = (text: Text): SchemaObject =>
  (/^kind:\s*["']?Subscription/m.test(text.sliceString(0, 2_000)) ? subscription : playbook) as unknown as SchemaObject;

const linesOf = (state: EditorState) => state.doc.toString().split("\n");

export function completeFrom(context: CompletionContext): CompletionResult | null {
  const { state, pos, explicit } = context;
  const line = state.doc.lineAt(pos);
  const before = line.text.slice(0, pos - line.from);
  const schema = schemaOf(state.doc);

  const key = /^([\s-]*)([\w]*)$/.exec(before);
  if (key) {
    const [, indent = "", typed = ""] = key;
    if (typed === "" && !explicit) return null;
    const known = keysAt(schema, linesOf(state), line.number - 1, indent.length);
    return {
      from: pos - typed.length,
      options: known.map(({ name, description }) => ({ label: name, apply: `${name}: `, type: "property", info: description })),
      validFor: /^\w*$/,
    };
  }
  const value = /:\s+["']?([\w./-]*)$/.exec(before);
  if (value) {
    const typed = value[1] ?? "";
    const values = [...stepsFor(before, state), ...valuesAt(schema, linesOf(state), line.number - 1)];
    if (values.length === 0) return null;
    return { from: pos - typed.length, options: values.map((label) => ({ label, type: "enum" })), validFor: /^[\w./-]*$/ };
  }
  return null;
}

/** An arc leads to a step, so the steps of the text are what can stand there. */
function stepsFor(before: string, state: EditorState): string[] {
  if (!/^\s*-?\s*step:\s/.test(before)) return [];
  const names = [...state.doc.toString().matchAll(/^\s*-\s+step:\s*["']?([\w.-]+)/gm)].map((match) => match[1] ?? "");
  return [...new Set([...names, "end"])].filter((name) => name !== "");
}

export function helpFrom(view: EditorView, pos: number): Tooltip | null {
  const line = view.state.doc.lineAt(pos);
  const key = /^[\s-]*["']?[\w.$-]+["']?\s*:/.exec(line.text);
  if (!key || pos > line.from + key[0].length) return null;
  const help = helpAt(schemaOf(view.state.doc), linesOf(view.state), line.number - 1);
  if (!help?.description) return null;
  return {
    pos: line.from + (line.text.length - line.text.trimStart().length),
    end: line.from + key[0].length,
    above: true,
    create: () => {
      const dom = document.createElement("div");
      dom.className = "cm-help";
      const name = document.createElement("b");
      name.textContent = help.name;
      dom.append(name, ` ${help.description}`);
      return { dom };
    },
  };
}
