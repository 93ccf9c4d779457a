import { type AppState, obstacle } from "./app-action.ts";

export type BulkAction = "redeploy" | "pause" | "resume";

export const BULK_OPERATION = { redeploy: "redeployApp", pause: "pauseApp", resume: "resumeApp" } as const;

export interface BulkStep<T> {
  readonly row: T;
  /** Why it is left out; null where it is done. */
  readonly why: string | null;
}

/** What an action does with each of the chosen apps: those that may not be changed, or need no change, are left out with the reason. */
export function bulkSteps<T extends AppState>(
  action: BulkAction,
  rows: readonly T[],
  may: (row: T) => boolean,
): readonly BulkStep<T>[] {
  return rows.map((row) => ({ row, why: may(row) ? obstacle(action, row) : "You may not change it." }));
}

export type Outcome =
  | { readonly state: "waiting" }
  | { readonly state: "sending" }
  | { readonly state: "done" }
  | { readonly state: "failed"; readonly message: string }
  | { readonly state: "stopped" };

/**
 * Calls `run` for each item, at most `atMost` of them at once, and reports every change. One that fails does not keep the others
 * back. After `signal` no further one is begun.
 */
export async function runEach<T>(
  items: readonly T[],
  run: (item: T) => Promise<unknown>,
  onOutcome: (index: number, outcome: Outcome) => void,
  { atMost, signal }: { readonly atMost: number; readonly signal: AbortSignal },
): Promise<void> {
  let next = 0;
  async function work(): Promise<void> {
    for (let index = next++; index < items.length; index = next++) {
      if (signal.aborted) {
        onOutcome(index, { state: "stopped" });
        continue;
      }
      onOutcome(index, { state: "sending" });
      try {
        await run(items[index] as T);
        onOutcome(index, { state: "done" });
      } catch (error) {
        onOutcome(index, { state: "failed", message: error instanceof Error ? error.message : String(error) });
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atMost, items.length) }, work));
}

/** The end of a run in words, such as "11 done, 1 failed". */
export function outcomeText(outcomes: readonly Outcome[]): string {
  const count = (state: Outcome["state"]) => outcomes.filter((outcome) => outcome.state === state).length;
  return (["done", "failed", "stopped"] as const)
    .map((state) => [count(state), state] as const)
    .filter(([number]) => number > 0)
    .map(([number, state]) => `${number} ${state === "stopped" ? "not begun" : state}`)
    .join(", ");
}
