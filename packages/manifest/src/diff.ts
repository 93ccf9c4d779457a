import { structuredPatch } from "diff";

export interface DiffLine {
  readonly kind: "added" | "removed" | "same" | "gap";
  readonly text: string;
}

/** The differences of two texts line by line, with a little of what is around them. */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const { hunks } = structuredPatch("", "", before, after, "", "", { context: 3 });
  return hunks.flatMap(({ lines }, index) => [
    ...(index > 0 ? [{ kind: "gap", text: "" } as const] : []),
    ...lines
      .filter((line) => !line.startsWith("\\"))
      .map((line) => ({ kind: kindOf(line[0]), text: line.slice(1) }) as const),
  ]);
}

const kindOf = (mark: string | undefined): DiffLine["kind"] =>
  mark === "+" ? "added" : mark === "-" ? "removed" : "same";
