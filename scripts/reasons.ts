import { POD_TROUBLES, REASON_GROUPS, REASONS } from "../packages/contract/src/app/reasons.ts";

/** Writes the list of reasons for the client, and as a page for people. */
export const REASONS_FILE = new URL("../packages/client/src/generated/reasons.ts", import.meta.url);
export const REASONS_PAGE = new URL("../docs/reasons.md", import.meta.url);

export const reasonsSource = (): string => `// Written by \`npm run openapi\` from the contract. Do not edit.

/** Why pods do not get ready. Time alone seldom resolves one of these. */
export const POD_TROUBLES = ${JSON.stringify(POD_TROUBLES)} as const;

/** What each reason means, and what to do. Operators of other versions may report other reasons. */
export const REASONS: Readonly<Record<string, { readonly meaning: string; readonly action: string }>> = {
${Object.entries(REASONS)
  .map(([reason, explanation]) => `  ${reason}: ${JSON.stringify(explanation)},`)
  .join("\n")}
};
`;

const tableOf = (texts: Readonly<Record<string, readonly [string, string]>>): string[] =>
  Object.entries(texts).map(([reason, [meaning, action]]) => `| \`${reason}\` | ${meaning} | ${action} |`);

export const reasonsPage = (): string =>
  [
    "# Reasons",
    "",
    "Apps, components, addon instances and projects say in one word why they are in their phase: `phase_reason` and `lifecycle_reason` of the API,",
    "`REASON` of the command line. `binnacle explain <reason>` prints the line of this page. An operator of another version may report other",
    "reasons: the message beside a reason always says what is the matter.",
    ...REASON_GROUPS.flatMap(([title, texts]) => [
      "",
      `## ${title}`,
      "",
      "| Reason | What it means | What to do |",
      "| --- | --- | --- |",
      ...tableOf(texts),
    ]),
    "",
  ].join("\n");
