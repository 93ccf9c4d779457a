import type { LogLine } from "../api/ports.ts";
import { fractionOf, numberOf } from "../controllers/fingerprint.ts";
import type { KubeObject } from "../store/kube-object.ts";

/** One run of a container, of which each has lines of its own. */
export interface ContainerRun {
  readonly seed: string;
  readonly pod: string;
  readonly container: string;
  readonly image: string;
  readonly startedMs: number;
  /** Null while it runs. */
  readonly endedMs: number | null;
  readonly exitCode: number;
  readonly endReason: string;
}

const STEP_MS = 1_500;
const JITTER_MS = 1_000;
const FIRST_MS = 1_000;
const STARTUP_STEP_MS = 50;
/** As much as a node keeps of a log. */
export const LINES_KEPT = 2_000;

function startupLines({ pod, container, image }: ContainerRun): readonly string[] {
  return [
    `level=info msg="simulated container: nothing runs here, the Binnacle sandbox makes up these lines" container=${container}`,
    `level=info msg="starting" image=${image} pod=${pod}`,
    `level=info msg="configuration loaded"`,
    `level=info msg="listening" address=0.0.0.0:8080`,
  ];
}

/** Lines of a time that comes later are not there yet. All lines follow from the run, so that none is stored. */
export function linesUntil(run: ContainerRun, nowMs: number): readonly LogLine[] {
  const untilMs = Math.min(nowMs, run.endedMs ?? nowMs);
  const startup = startupLines(run)
    .map((text, index) => ({ atMs: run.startedMs + index * STARTUP_STEP_MS, text }))
    .filter(({ atMs }) => atMs <= untilMs);
  const count = Math.max(Math.floor((untilMs - run.startedMs - FIRST_MS) / STEP_MS) + 1, 0);
  const first = Math.max(count - LINES_KEPT, 0);
  const working = Array.from({ length: count - first }, (_, index) => workLine(run, first + index));
  const lines = [...(first === 0 ? startup : []), ...working.filter(({ atMs }) => atMs <= untilMs)];
  return run.endedMs === null || run.endedMs > nowMs ? lines : [...lines, lastLine(run, run.endedMs)];
}

/** When the first line after this time comes; null when there will be none. */
export function nextLineMs(run: ContainerRun, afterMs: number): number | null {
  const startup = startupLines(run)
    .map((_, index) => run.startedMs + index * STARTUP_STEP_MS)
    .find((atMs) => atMs > afterMs);
  const about = Math.max(Math.floor((afterMs - run.startedMs - FIRST_MS) / STEP_MS), 0);
  const work = [about, about + 1, about + 2].map((index) => workMs(run, index)).find((atMs) => atMs > afterMs);
  const nextMs = Math.min(startup ?? Number.POSITIVE_INFINITY, work ?? Number.POSITIVE_INFINITY);
  if (run.endedMs === null) return nextMs;
  return afterMs < run.endedMs ? Math.min(nextMs, run.endedMs) : null;
}

const workMs = ({ seed, startedMs }: ContainerRun, index: number): number =>
  startedMs + FIRST_MS + index * STEP_MS + Math.floor(fractionOf(`${seed}/${index}/time`) * JITTER_MS);

const METHODS = ["GET", "GET", "GET", "POST", "PUT"] as const;
const PATHS = ["/", "/health", "/api/orders", "/api/products", "/api/cart", "/api/users/me", "/assets/app.js"] as const;

function workLine(run: ContainerRun, index: number): LogLine {
  const number = numberOf(`${run.seed}/${index}`);
  const pick = <T>(from: readonly T[], shift: number): T | undefined => from[(number >>> shift) % from.length];
  const atMs = workMs(run, index);
  if (number % 41 === 0) return { atMs, text: `level=warn msg="slow query" took_ms=${400 + (number % 900)}` };
  if (number % 13 === 0) return { atMs, text: `level=debug msg="cache refreshed" entries=${100 + (number % 4_000)}` };
  const status = number % 53 === 0 ? 404 : 200;
  const took = 1 + (number % 90);
  const request = `method=${pick(METHODS, 3)} path=${pick(PATHS, 7)} status=${status} took_ms=${took}`;
  return { atMs, text: `level=info msg="request" ${request}` };
}

function lastLine({ exitCode, endReason }: ContainerRun, atMs: number): LogLine {
  if (exitCode === 0) return { atMs, text: `level=info msg="done"` };
  const text = endReason === "OOMKilled" ? "allocating memory" : "unrecoverable failure, giving up";
  return { atMs, text: `level=error msg="${text}" exit_code=${exitCode}` };
}

const ALL_PODS = "sandbox-log";

/** The names of the ConfigMaps that may hold a pod's log: its own, or the one of all pods beside it. */
export const logNamesOf = ({ metadata }: KubeObject): readonly string[] => [`${ALL_PODS}-${metadata.name}`, ALL_PODS];

const LINE = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))(?: (.*))?$/;

/** The lines that stand under `log`, each behind its time; one without a time has that of the line before it. */
export function writtenLines({ data }: KubeObject): readonly LogLine[] {
  const { log } = (data ?? {}) as { readonly log?: string };
  if (!log) return [];
  const lines: LogLine[] = [];
  for (const line of log.replace(/\n$/, "").split("\n")) {
    const [, stamp = "", text = ""] = LINE.exec(line) ?? [];
    const atMs = stamp === "" ? (lines.at(-1)?.atMs ?? 0) : Date.parse(stamp);
    lines.push({ atMs, text: stamp === "" ? line : text });
  }
  return lines;
}
