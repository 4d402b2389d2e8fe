/** Reads unified diffs. */

export interface DiffLine {
  kind: "added" | "removed" | "same" | "gap";
  text: string;
  /** Its number on the earlier and on the later side, where it is there. */
  before: number | null;
  after: number | null;
}

export function readDiff(diff: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let before = 0;
  let after = 0;
  let inside = false;
  for (const text of diff.split("\n")) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      if (inside || before > 1) lines.push({ kind: "gap", text: "", before: null, after: null });
      inside = true;
    } else if (!inside || text === "" || text.startsWith("\\")) {
      // The names of the files, the end, and the note about a missing line end say nothing here.
    } else if (text.startsWith("+")) {
      lines.push({ kind: "added", text: text.slice(1), before: null, after: after++ });
    } else if (text.startsWith("-")) {
      lines.push({ kind: "removed", text: text.slice(1), before: before++, after: null });
    } else {
      lines.push({ kind: "same", text: text.slice(1), before: before++, after: after++ });
    }
  }
  return lines;
}
