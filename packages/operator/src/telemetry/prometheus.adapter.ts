import { Agent, request } from "undici";
import type { KubeClient, KubeObject, ListOptions, ResourceType } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { AnswerError } from "../link/ports.ts";
import { type Found, IS_MEASURED, type RangeQuery, seriesIn } from "./prometheus.ts";
import { isKnownName, PROMETHEUS_NAMESPACES, PROMETHEUS_SELECTORS, prometheusPaths } from "./prometheus-service.ts";

const SERVICES: ResourceType = { group: "", version: "v1", plural: "services", kind: "Service", namespaced: true };

/** Less than the hub waits for an answer. */
const ANSWER_WITHIN_MS = 8_000;
const PROBE_WITHIN_MS = 3_000;
const LARGEST_ANSWER_BYTES = 16 * 1024 * 1024;

/** How long the result of a discovery is cached: with a Prometheus, and without one. */
const FOUND_FOR_MS = 600_000;
const MISSED_FOR_MS = 120_000;

export interface PrometheusPorts {
  readonly kube: Pick<KubeClient, "list" | "raw">;
  /** Null searches one in the cluster. */
  readonly url: string | null;
  readonly isProjectNamespace: (namespace: string) => boolean;
  readonly nowMs: () => number;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

export type Params = Readonly<Record<string, string | number>>;

/** One question to one Prometheus. */
type Ask = (path: string, params: Params, withinMs: number) => Promise<unknown>;

export interface Prometheus {
  /** Null where none measures the cluster. */
  find(): Promise<{ range(query: RangeQuery): Promise<readonly Found[]> } | null>;
  close(): Promise<void>;
}

export function createPrometheus({ kube, url, isProjectNamespace, nowMs, log }: PrometheusPorts): Prometheus {
  // HTTP/2 of Node.js 24 corrupts memory when streams are reset under load (nodejs/node#64841), which ends the process.
  const agent = new Agent({ connections: 4, maxResponseSize: LARGEST_ANSWER_BYTES, allowH2: false });
  let discovered: { readonly ask: Ask | null; readonly untilMs: number } | null = null;
  let discovering: Promise<Ask | null> | null = null;
  let loggedPath: string | null = null;
  let isDown = false;

  const directly =
    (address: string): Ask =>
    async (path, params, withinMs) => {
      const signal = AbortSignal.timeout(withinMs);
      const answer = await request(`${address}${path}`, { query: { ...params }, dispatcher: agent, signal });
      return answered(answer.statusCode, await answer.body.text());
    };

  const throughApi =
    (proxy: string): Ask =>
    (path, params, timeoutMs) =>
      kube.raw("GET", `${proxy}${path}`, { query: params, timeoutMs });

  async function discover(): Promise<Ask | null> {
    if (url !== null) return (await isMeasuring(directly(url))) ? directly(url) : null;
    const paths = prometheusPaths(await servicesLikeOne(kube), isProjectNamespace);
    let failure: unknown = null;
    for (const path of paths) {
      try {
        if (!(await isMeasuring(throughApi(path)))) continue;
        logSource(path);
        return throughApi(path);
      } catch (error) {
        if (!isForbidden(error)) failure ??= error;
      }
    }
    if (failure) throw failure;
    logSource(null);
    return null;
  }

  function logSource(path: string | null): void {
    if (path !== loggedPath) log.info({ path }, path ? "metrics are read from a Prometheus" : "Prometheus is gone");
    loggedPath = path;
  }

  /** Logs once per outage. */
  function failed(err: unknown): AnswerError {
    // Prometheus may have another address now.
    discovered = null;
    if (!isDown) log.warn({ err }, "Prometheus did not answer");
    isDown = true;
    return explained(err);
  }

  async function current(): Promise<Ask | null> {
    if (discovered && nowMs() < discovered.untilMs) return discovered.ask;
    discovering ??= discover().finally(() => {
      discovering = null;
    });
    const ask = await discovering;
    discovered = { ask, untilMs: nowMs() + (ask ? FOUND_FOR_MS : MISSED_FOR_MS) };
    return ask;
  }

  return {
    async find() {
      const ask = await current().catch((error: unknown) => {
        throw failed(error);
      });
      if (!ask) return null;
      return {
        async range({ query, start, end, stepSeconds }) {
          try {
            const params = { query, start, end, step: stepSeconds, timeout: `${ANSWER_WITHIN_MS}ms` };
            const series = found(await ask("/api/v1/query_range", params, ANSWER_WITHIN_MS));
            isDown = false;
            return series;
          } catch (error) {
            throw failed(error);
          }
        },
      };
    },
    close: () => agent.close(),
  };
}

async function servicesLikeOne(kube: PrometheusPorts["kube"]): Promise<readonly KubeObject[]> {
  const lists = await Promise.all([
    ...PROMETHEUS_SELECTORS.map((labelSelector) => servicesOf(kube, { labelSelector })),
    ...PROMETHEUS_NAMESPACES.map(async (namespace) => (await servicesOf(kube, { namespace })).filter(isKnownName)),
  ]);
  return lists.flat();
}

async function servicesOf(kube: PrometheusPorts["kube"], options: ListOptions): Promise<readonly KubeObject[]> {
  try {
    return (await kube.list(SERVICES, options)).items;
  } catch (error) {
    if (isForbidden(error)) return [];
    throw error;
  }
}

async function isMeasuring(ask: Ask): Promise<boolean> {
  const params = { query: IS_MEASURED, timeout: `${PROBE_WITHIN_MS}ms` };
  return found(await ask("/api/v1/query", params, PROBE_WITHIN_MS)).length > 0;
}

function found(answer: unknown): readonly Found[] {
  const series = seriesIn(answer);
  if ("problem" in series) throw new AnswerError("failed", `Prometheus could not answer: ${series.problem}.`);
  return series;
}

function answered(status: number, text: string): unknown {
  if (status >= 500) throw new AnswerError("unavailable", `Prometheus answered with ${status}.`);
  try {
    return JSON.parse(text);
  } catch {
    throw new AnswerError("failed", `What answers as Prometheus with ${status} is not a Prometheus.`);
  }
}

/** A forbidden service counts as absent. */
const isForbidden = (error: unknown): boolean => error instanceof KubeError && error.status === 403;

function explained(error: unknown): AnswerError {
  if (error instanceof AnswerError) return error;
  if (error instanceof KubeError && error.status >= 400 && error.status < 500) {
    return new AnswerError("failed", `Prometheus did not answer: ${error.reason}.`);
  }
  return new AnswerError("unavailable", "Prometheus does not answer.");
}
