/** Puts what the checker found into the text of the editor. */
import type { Diagnostic as Mark } from "@codemirror/lint";
import type { Text } from "@codemirror/state";
import type { Diagnostic } from "@/api/types";

export function asMarks(text: Text, diagnostics: Diagnostic[]): Mark[] {
  return diagnostics.map(({ line, column, end_line, end_column, severity, message, help, code }) => {
    const from = offset(text, line, column);
    return {
      from,
      to: Math.max(from, offset(text, end_line, end_column)),
      severity: severity === "error" ? "error" : severity === "warning" ? "warning" : "info",
      message: help ? `${message} (${help})` : message,
      source: code,
    };
  });
}

/** Lines and columns count from 1. The text may have become shorter since it was checked. */
function offset(text: Text, line: number, column: number): number {
  const found = text.line(Math.min(Math.max(1, line), text.lines));
  return Math.min(found.from + Math.max(0, column - 1), found.to);
}
