import type { DiffLine } from "@binnacle/manifest/diff";
import { Box } from "@mantine/core";
import { visibleText } from "../../components/visible-text.ts";
import classes from "./diff-view.module.css";

const MARKS = { added: "+", removed: "-", same: " ", gap: "⋯" } as const;

/** Lines of a text that differ, each with its sign, so that the colour is never the only difference. */
export function DiffView({ lines, label }: { readonly lines: readonly DiffLine[]; readonly label: string }) {
  return (
    <Box component="section" aria-label={label} className={classes.diff} tabIndex={0}>
      {lines.map(({ kind, text }, index) => (
        <div key={index} className={classes.line} data-kind={kind}>
          <span className={classes.mark}>{MARKS[kind]}</span>
          {visibleText(text)}
        </div>
      ))}
    </Box>
  );
}
