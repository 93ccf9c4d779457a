import type { Suspension } from "@binnacle/client";

const HELD: Readonly<Record<Suspension["state"], string>> = {
  in_effect: "Changes are stored and not applied, and drift is not corrected.",
  pending: "The operator has not confirmed it yet.",
  not_in_effect:
    "It is not in effect: the operator is too old, or could not store it, and goes on. Upgrade the operator.",
};

/** Who has suspended it or what it is in, why, and whether that holds. */
export const suspensionText = ({ scope, by, reason, state }: Suspension): string =>
  `${by ?? "Somebody"} has suspended the ${scope}${reason ? `: ${reason}` : "."} ${HELD[state]}`;
