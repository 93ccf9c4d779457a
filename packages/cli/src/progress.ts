import type { App, Deployment, Suspension } from "@binnacle/client";
import type { Tone } from "./output.ts";
import { suspensionCause } from "./suspension.ts";

/** How an app does after a change, as far as it is known. */
export interface Progress {
  readonly app: App;
  /** The deployment that is waited for. */
  readonly deployment: Deployment;
}

export interface Line {
  readonly mark: string;
  readonly tone: Tone;
  readonly text: string;
}

export type Verdict =
  | { readonly kind: "succeeded" }
  | { readonly kind: "failed"; readonly cause: string }
  | { readonly kind: "superseded"; readonly by: number }
  | { readonly kind: "suspended"; readonly cause: string; readonly scope: Suspension["scope"] };

/** How long a component may have such a reason before it counts as failed: another change has to resolve it. */
const PATIENCE_MS: Readonly<Record<string, number>> = {
  ErrImagePull: 10_000,
  ImagePullBackOff: 10_000,
  InvalidImageName: 0,
  ErrImageNeverPull: 0,
  CreateContainerConfigError: 10_000,
  CreateContainerError: 10_000,
  RunContainerError: 10_000,
  // Apps often crash until what they depend on is there.
  CrashLoopBackOff: 60_000,
};

/** Since when each component has been in trouble. A reason that gives way to another of the kind keeps its time. */
export type Troubles = ReadonlyMap<string, number>;

export function troublesOf({ app }: { readonly app: Reported }, before: Troubles, nowMs: number): Troubles {
  if (!isReported(app)) return new Map();
  return new Map(
    app.components_status
      .filter(({ reason }) => reason !== null && Object.hasOwn(PATIENCE_MS, reason))
      .map(({ name }) => [name, before.get(name) ?? nowMs]),
  );
}

/** What the cluster has last said of components, and of which generation. */
type Reported = Pick<App, "observed_generation" | "generation" | "components_status">;

export const isReported = ({ observed_generation, generation }: Omit<Reported, "components_status">): boolean =>
  observed_generation !== null && observed_generation >= generation;

/** Whether the wait has an end. `failAfterMs` replaces the patience with every reason. */
export function verdictOf(
  { app, deployment }: Progress,
  troubles: Troubles,
  nowMs: number,
  failAfterMs: number | null,
): Verdict | null {
  if (deployment.status === "succeeded") return { kind: "succeeded" };
  if (deployment.status === "superseded") return { kind: "superseded", by: app.revision };
  if (deployment.status === "failed")
    return { kind: "failed", cause: deployment.message ?? app.phase_message ?? "The cluster has not said why." };
  if (app.suspended && app.suspended.state !== "not_in_effect")
    return { kind: "suspended", cause: suspensionCause(app.suspended), scope: app.suspended.scope };
  const cause = lastingTrouble(app, troubles, nowMs, failAfterMs);
  return cause === null ? null : { kind: "failed", cause };
}

/** The cause where a component has been in trouble for too long. */
export function lastingTrouble(
  { components_status: statuses }: Reported,
  troubles: Troubles,
  nowMs: number,
  failAfterMs: number | null,
): string | null {
  const failed = statuses.find(({ name, reason }) => {
    const since = troubles.get(name);
    return since !== undefined && nowMs - since >= (failAfterMs ?? PATIENCE_MS[reason ?? ""] ?? 0);
  });
  return failed ? `${failed.name}: ${failed.message ?? failed.reason}` : null;
}

const MARKS: Readonly<Record<string, readonly [string, Tone]>> = {
  running: ["✓", "good"],
  completed: ["✓", "good"],
  paused: ["✓", "dim"],
  failed: ["✗", "bad"],
  degraded: ["!", "warn"],
};

/** One line for each component, with what it waits for. */
export const progressLines = ({ app }: Pick<Progress, "app">): Line[] =>
  componentLines(
    app,
    app.components.map(({ name }) => name),
    app.phase_message ?? app.phase_reason ?? "waiting for the cluster",
  );

/** A line for each of some components; `waiting` is said of those that the cluster has not reported on yet. */
export function componentLines(it: Reported, names: readonly string[], waiting: string): Line[] {
  const width = Math.max(...names.map((name) => name.length), 0);
  const reported = new Map((isReported(it) ? it.components_status : []).map((status) => [status.name, status]));
  return names.map((name) => {
    const status = reported.get(name);
    if (!status) return { mark: "·", tone: "dim", text: `${name.padEnd(width)}  ${waiting}` };
    const [mark, tone] =
      status.reason && Object.hasOwn(PATIENCE_MS, status.reason)
        ? (["!", "bad"] as const)
        : (MARKS[status.phase] ?? ["·", "warn"]);
    const count = `${status.ready}/${status.desired} ready`;
    const isQuiet = status.phase === "running" || status.phase === "completed";
    const why = isQuiet ? "" : [status.reason, status.message].filter(Boolean).join(": ");
    return { mark, tone, text: `${name.padEnd(width)}  ${count}${why ? `  ${why}` : ""}` };
  });
}
