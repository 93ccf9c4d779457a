import { REASONS } from "@binnacle/client";

/** The sentence and the action of a reason; null for a reason that this version does not know. */
export const explanationOf = (reason: string | null) =>
  reason !== null && Object.hasOwn(REASONS, reason) ? (REASONS[reason] ?? null) : null;

/** Whether something is to do or to wait for; the reason of what runs says nothing about a drift or a cluster that is silent. */
export const asksForAction = (reason: string | null): reason is string =>
  reason !== null && explanationOf(reason)?.action !== "Nothing.";

/**
 * What is shown beside a message: what its reason means, unless the message says that already, and what to do. The texts
 * alternate with names of fields, which the list of reasons writes between backticks.
 */
export function adviceParts(reason: string | null, message: string | null): readonly string[] {
  const explained = explanationOf(reason);
  if (!explained) return [];
  const { meaning, action } = explained;
  return (message === meaning ? action : `${meaning} ${action}`).split("`");
}
