/** How the editor looks. The colours are those of the page, which reach into the shadow root. */
import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export const theme = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--surface)", color: "var(--ink)", fontSize: "13px" },
  // The frame around the editor shows the focus.
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--ink-3)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 7%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "var(--hover)", color: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 28%, transparent)",
  },
  ".cm-selectionMatch": { backgroundColor: "var(--accent-soft)" },
  ".cm-tooltip": {
    border: "1px solid var(--line-strong)",
    borderRadius: "6px",
    backgroundColor: "var(--raised)",
    color: "var(--ink)",
    boxShadow: "var(--shadow)",
    overflow: "hidden",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "16em" },
  ".cm-tooltip-autocomplete ul li": { padding: "2px 8px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--accent-ink)" },
  ".cm-completionInfo": { padding: "8px 10px", maxWidth: "320px", fontFamily: "var(--font)" },
  ".cm-help": { padding: "8px 10px", maxWidth: "420px", fontFamily: "var(--font)", lineHeight: "1.5" },
  ".cm-help b": { fontFamily: "var(--mono)" },
  ".cm-diagnostic": { padding: "6px 10px", fontFamily: "var(--font)" },
  ".cm-panels": { backgroundColor: "var(--sunken)", color: "var(--ink)", borderBottom: "1px solid var(--line)" },
  ".cm-textfield, .cm-button": {
    border: "1px solid var(--line-strong)",
    borderRadius: "4px",
    backgroundColor: "var(--surface)",
    backgroundImage: "none",
    color: "var(--ink)",
  },
});

export const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: [tags.string, tags.content], color: "var(--ink)" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword, tags.atom], color: "var(--run)" },
  { tag: [tags.comment, tags.lineComment], color: "var(--ink-3)", fontStyle: "italic" },
  { tag: [tags.separator, tags.punctuation, tags.squareBracket, tags.brace], color: "var(--ink-3)" },
]);
