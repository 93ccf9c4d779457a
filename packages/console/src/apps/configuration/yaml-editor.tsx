import type { TextProblem } from "@binnacle/manifest/read";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import {
  bracketMatching,
  defaultHighlightStyle,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { useEffect, useRef } from "react";
import { escapeOf, INVISIBLE } from "../../components/visible-text.ts";

/** The colours of CodeMirror's own style are for light pages; these follow the theme. */
const COLORS: Readonly<Record<string, string>> = {
  "#00c": "var(--tone-progress)",
  "#219": "var(--tone-progress)",
  "#a11": "var(--tone-good)",
  "#164": "var(--tone-warning)",
  "#940": "var(--mantine-color-dimmed)",
};

const HIGHLIGHTING = HighlightStyle.define(
  defaultHighlightStyle.specs.map((spec) => {
    const { color } = spec as { color?: string };
    return color === undefined ? spec : { ...spec, color: COLORS[color] ?? "var(--mantine-color-text)" };
  }),
);

const THEME = EditorView.theme({
  "&": {
    border: "1px solid var(--mantine-color-default-border)",
    borderRadius: "var(--mantine-radius-sm)",
    background: "var(--mantine-color-body)",
    color: "var(--mantine-color-text)",
    fontSize: "13px",
  },
  "&.cm-focused": { outline: "2px solid var(--mantine-primary-color-filled)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "var(--mantine-font-family-monospace)", minHeight: "320px", maxHeight: "70vh" },
  ".cm-content": { caretColor: "var(--mantine-color-text)" },
  ".cm-cursor": { borderLeftColor: "var(--mantine-color-text)" },
  ".cm-gutters": { background: "transparent", color: "var(--mantine-color-dimmed)", border: "none" },
  ".cm-specialChar": { color: "var(--tone-bad)" },
  ".cm-activeLine": { background: "var(--mantine-color-default-hover)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    background: "var(--mantine-primary-color-light) !important",
  },
  ".cm-tooltip": {
    background: "var(--mantine-color-body)",
    color: "var(--mantine-color-text)",
    border: "1px solid var(--mantine-color-default-border)",
  },
});

/** What would hide or reorder text is written out, in the editor's view alone: the text keeps it. */
const VISIBLE = highlightSpecialChars({
  addSpecialChars: INVISIBLE,
  render(code) {
    const shown = document.createElement("span");
    shown.className = "cm-specialChar";
    shown.textContent = escapeOf(String.fromCodePoint(code));
    return shown;
  },
});

/** A text editor for YAML. Tab moves on to the next field, as everywhere on the page. */
export function YamlEditor(props: {
  readonly label: string;
  readonly value: string;
  readonly problems: readonly TextProblem[];
  readonly isReadOnly?: boolean;
  readonly onChange?: (text: string) => void;
}) {
  const { label, value, problems, isReadOnly = false } = props;
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const onChange = useRef(props.onChange);
  onChange.current = props.onChange;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor is made once; later values are set below.
  useEffect(() => {
    if (!place.current) return;
    const made = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: value,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          VISIBLE,
          highlightActiveLine(),
          indentOnInput(),
          bracketMatching(),
          lintGutter(),
          indentUnit.of("  "),
          yaml(),
          syntaxHighlighting(HIGHLIGHTING),
          keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
          EditorView.lineWrapping,
          EditorState.readOnly.of(isReadOnly),
          EditorView.contentAttributes.of({ "aria-label": label, "aria-multiline": "true", tabindex: "0" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !update.transactions.some((each) => each.isUserEvent("outside")))
              onChange.current?.(update.state.doc.toString());
          }),
          THEME,
        ],
      }),
    });
    view.current = made;
    return () => {
      made.destroy();
      view.current = null;
    };
  }, []);

  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value }, userEvent: "outside" });
  }, [value]);

  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const { length } = editor.state.doc;
    const diagnostics = problems.map(({ from, to, message }) => ({
      from: Math.min(from, length),
      to: Math.min(Math.max(to, from), length),
      severity: "error" as const,
      message,
    }));
    editor.dispatch(setDiagnostics(editor.state, diagnostics));
  }, [problems]);

  return <div ref={place} />;
}
