import type { DesiredKind, LinkSettings } from "@binnacle/contract";
import type { Commands } from "./link/commands.ts";

/** Makes resources of one kind real and reports what it sees of them. */
export interface Reconciler {
  start(): void;
  /** Looks at everything again. */
  resync(): void;
  /** What the organization has decided. */
  settings?(settings: LinkSettings): void;
  /** Waits for the runs that are under way. */
  stop(): Promise<void>;
}

export type Reconcilers = { readonly [K in DesiredKind]?: Reconciler };

/** What the hub commands, carried out by whoever it is about. */
export function commandsFor(reconcilers: Reconcilers): Omit<Commands, "chartRepositories"> {
  return {
    resync() {
      for (const reconciler of Object.values(reconcilers)) reconciler.resync();
    },
    settings(settings) {
      for (const reconciler of Object.values(reconcilers)) reconciler.settings?.(settings);
    },
  };
}
