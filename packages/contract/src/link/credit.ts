import type { LogLine } from "../rest/app-operations.ts";

/** What lines take of a stream's credit: the length of their JSON. Both sides count alike, or a stream would run dry. */
export const creditOf = (lines: readonly LogLine[]): number => JSON.stringify(lines).length;
