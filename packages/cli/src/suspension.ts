import type { Suspension } from "@binnacle/client";

const HELD: Readonly<Record<Suspension["state"], string>> = {
  in_effect: "the operator does not touch it.",
  pending: "the operator has not confirmed it yet.",
  not_in_effect:
    "IT IS NOT IN EFFECT: the operator is too old, or could not store it, and goes on. Upgrade the operator.",
};

type Named = Pick<Suspension, "scope"> & { readonly name: string };

/** Who has suspended it, or what it is in, why, and whether that holds. */
export function suspensionText({ scope, name }: Named, suspended: Suspension | null): string {
  if (!suspended) return `${name} is not suspended.`;
  const { by, at, reason, state } = suspended;
  const what = suspended.scope === scope ? name : `The ${suspended.scope} of ${name}`;
  return `${what} is suspended by ${by ?? "somebody"} since ${at}${reason ? ` (${reason})` : ""}: ${HELD[state]}`;
}

/** The cause why a change waits. */
export const suspensionCause = ({ scope, by, reason }: Suspension): string =>
  `${by ?? "somebody"} has suspended the ${scope}${reason ? `: ${reason}` : ""}`;

/** The command that ends it. */
export const unsuspending = ({ scope }: Pick<Suspension, "scope">, app: string): string =>
  `binnacle ${scope}s unsuspend ${scope === "app" ? app : `<${scope}>`}`;
