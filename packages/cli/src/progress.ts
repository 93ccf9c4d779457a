import type { Row, Tone } from "./output.ts";

/** How an app does after a change, as far as it is known. */
export interface Progress {
  readonly app: Row;
  /** The deployment that is waited for. */
  readonly deployment: Row;
}

export interface Line {
  readonly mark: string;
  readonly tone: Tone;
  readonly text: string;
}

export type Verdict =
  | { readonly kind: "succeeded" }
  | { readonly kind: "failed"; readonly cause: string }
  | { readonly kind: "superseded"; readonly by: number };

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

export function troublesOf({ app }: Progress, before: Troubles, nowMs: number): Troubles {
  if (!isReported(app)) return new Map();
  return new Map(
    (app.components_status as Row[])
      .filter(({ reason }) => reason !== null && Object.hasOwn(PATIENCE_MS, reason))
      .map(({ name }) => [name, before.get(name) ?? nowMs]),
  );
}

const isReported = ({ observed_generation, generation }: Row): boolean =>
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
  for (const { name, reason, message } of app.components_status as Row[]) {
    const since = troubles.get(name);
    if (since === undefined) continue;
    if (nowMs - since >= (failAfterMs ?? PATIENCE_MS[reason] ?? 0))
      return { kind: "failed", cause: `${name}: ${message ?? reason}` };
  }
  return null;
}

const MARKS: Readonly<Record<string, readonly [string, Tone]>> = {
  running: ["✓", "good"],
  completed: ["✓", "good"],
  paused: ["✓", "dim"],
  failed: ["✗", "bad"],
  degraded: ["!", "warn"],
};

/** One line for each component, with what it waits for. */
export function progressLines({ app }: Progress): Line[] {
  const names = (app.components as Row[]).map(({ name }) => String(name));
  const width = Math.max(...names.map((name) => name.length), 0);
  const reported = new Map(
    (isReported(app) ? (app.components_status as Row[]) : []).map((status) => [status.name, status]),
  );
  return names.map((name) => {
    const status = reported.get(name);
    if (!status)
      return {
        mark: "·",
        tone: "dim",
        text: `${name.padEnd(width)}  ${app.phase_message ?? app.phase_reason ?? "waiting for the cluster"}`,
      };
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
