import { type DesiredKind, type Reports, safeText } from "@binnacle/contract";

/** A report whose texts may be shown to people. The hub ends the session of an operator that sends others. */
export function safeReport<R extends Reports[DesiredKind]>(report: R): R {
  const { message, drift } = report as { message?: string | null; drift?: { summary: string | null } };
  return {
    ...report,
    ...(message ? { message: safeText(message) } : {}),
    ...(drift?.summary ? { drift: { ...drift, summary: safeText(drift.summary) } } : {}),
  };
}
