/**
 * The text field for YAML: CodeMirror, with completion and help from the JSON Schema and the server's diagnostics in the
 * margin. It lives in a shadow root: there it uses constructed style sheets, which the server's policy allows, where it
 * would add `<style>` elements to a page.
 */
import { autocompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "react";
import type { Diagnostic } from "@/api/types";
import { completeFrom, helpFrom } from "./assist";
import { asMarks } from "./marks";
import { colours, theme } from "./look";
import styles from "./YamlEditor.module.css";

interface YamlEditorProps {
  /** What it begins with. Another text makes another editor. */
  initial: string;
  diagnostics: Diagnostic[];
  /** Goes to this line when it changes; the number counts the wishes. */
  goTo: { line: number; wish: number } | null;
  onChange: (text: string) => void;
  onCursor: (line: number) => void;
}

export default function YamlEditor({ initial, diagnostics, goTo, onChange, onCursor }: YamlEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const listeners = useRef({ onChange, onCursor });
  listeners.current = { onChange, onCursor };

  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const editor = new EditorView({
      parent: root,
      root,
      state: EditorState.create({
        doc: initial,
        extensions: [
          lineNumbers(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          yaml(),
          syntaxHighlighting(colours),
          autocompletion({ override: [completeFrom], icons: false }),
          hoverTooltip(helpFrom),
          lintGutter(),
          search({ top: true }),
          highlightSelectionMatches(),
          keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap, ...searchKeymap]),
          theme,
          EditorState.tabSize.of(2),
          EditorView.contentAttributes.of({ "aria-label": "The document as YAML", tabindex: "0" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) listeners.current.onChange(update.state.doc.toString());
            if (update.docChanged || update.selectionSet) {
              listeners.current.onCursor(update.state.doc.lineAt(update.state.selection.main.head).number);
            }
          }),
        ],
      }),
    });
    view.current = editor;
    // From outside the shadow root what is typed looks as if it was meant for the page, which has shortcuts.
    const keep = (event: Event) => event.stopPropagation();
    element.addEventListener("keydown", keep);
    return () => {
      element.removeEventListener("keydown", keep);
      editor.destroy();
      view.current = null;
    };
  }, [initial]);

  useEffect(() => {
    const editor = view.current;
    if (editor) editor.dispatch(setDiagnostics(editor.state, asMarks(editor.state.doc, diagnostics)));
  }, [diagnostics, initial]);

  useEffect(() => {
    const editor = view.current;
    if (!editor || !goTo) return;
    const line = editor.state.doc.line(Math.min(Math.max(1, goTo.line), editor.state.doc.lines));
    editor.dispatch({ selection: { anchor: line.from }, effects: EditorView.scrollIntoView(line.from, { y: "center" }) });
    editor.focus();
  }, [goTo]);

  return <div ref={host} className={styles.host} />;
}
