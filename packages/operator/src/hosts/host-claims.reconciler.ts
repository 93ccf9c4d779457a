import type { DesiredView } from "../desired/desired-state.ts";
import { isOurs, resourceIdOf } from "../desired/ownership.ts";
import type { InformerLog } from "../kube/informer.adapter.ts";
import type { KubeClient } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { statusOf } from "../kube/object-fields.ts";
import { NAMESPACES, PROJECTS } from "../kube/resource-types.ts";
import { type Clock, createWorkQueue } from "../kube/work-queue.ts";
import type { ProjectRights } from "../project/project-rights.store.ts";
import { type Claims, createClaims, type Decision, type Demand, decideHosts, removalSentence } from "./host-claims.ts";
import {
  demandsOf,
  firstRecords,
  type HostRecord,
  nextRecords,
  pairOf,
  recordIn,
  recordPatch,
  servedByCharts,
} from "./host-records.ts";
import { type Route, startRouteWatch } from "./route-watch.adapter.ts";

export interface HostClaimsPorts {
  readonly kube: Pick<KubeClient, "get" | "list" | "watch" | "resourceTypeOf" | "patchStatus" | "delete">;
  readonly view: Pick<DesiredView, "list" | "get" | "holder" | "onChange">;
  readonly clusterId: string;
  readonly projectRights: ProjectRights;
  readonly clock: Clock;
  /** Wall-clock time in milliseconds. */
  readonly nowMs: () => number;
  readonly log: InformerLog;
}

/** Which namespace has which host on this cluster. */
export interface HostClaims {
  /** Those of the hosts that another namespace has. The control plane has given granted ones to an app of the project. */
  takenByOthers(namespace: string, hosts: readonly string[], given?: { readonly isGranted: boolean }): string[];
  /** The hosts that charts of a project, or their pods, serve. */
  served(namespace: string): readonly string[];
  /** Tells of a route that was removed from a namespace of late; null where there was none. */
  notice(namespace: string): string | null;
  /** Calls with a namespace of which one of these answers may have changed. */
  onChange(listener: (namespace: string) => void): () => void;
}

export interface RunningHostClaims extends HostClaims {
  /** Resolves when every route that was there at the start is known. */
  readonly synced: Promise<void>;
  stop(): Promise<void>;
}

/** Charts make many routes in a moment; one decision is enough. */
const GATHER_MS = 100;
const NOTICE_MS = 3_600_000;
const ALL = "all";
const PROJECT = "project/";

/**
 * Follows all routes of the cluster, and removes those of projects that ask for a host of another namespace: a check before
 * an installation does not see what the pods of a chart make later. Who had a host first keeps it. The status of each
 * project remembers its hosts, because the age of a route does not tell since when it has had a host.
 */
export function startHostClaims(ports: HostClaimsPorts): RunningHostClaims {
  const { kube, view, projectRights, clock, nowMs, log } = ports;
  const listeners = new Set<(namespace: string) => void>();
  const notices = new Map<string, { readonly message: string; readonly untilMs: number }>();
  /** As the status of each project has them. */
  const written = new Map<string, HostRecord>();
  const decided = Promise.withResolvers<void>();
  let records: ReadonlyMap<string, HostRecord> | null = null;
  let decision: Decision = { held: [], taken: [] };
  let claims: Claims = createClaims();
  let own: ReadonlySet<string> = new Set();
  let granted: ReadonlySet<string> = new Set();
  let lost: ReadonlySet<string> = new Set();

  /** Apart from each other, so that nobody delays decisions by many routes to remove. */
  const decisions = createWorkQueue({ clock, run: async () => decide() });
  const writes = createWorkQueue({
    clock,
    longestRetryMs: 30_000,
    run: (key) => (key.startsWith(PROJECT) ? remember(key.slice(PROJECT.length)) : removeRoute(key)),
    onError: (key, err, retryMs) => log.warn({ err, key, retryMs }, "a host could not be settled; it is retried"),
  });
  const gather = () => decisions.add(ALL, { afterMs: GATHER_MS });
  const watch = startRouteWatch({ kube, clock, log, onChange: gather });
  const endings = [view.onChange("app", gather), view.onChange("project", gather)];
  let isSynced = false;
  void watch.synced.then(() => {
    isSynced = true;
    decisions.add(ALL);
  });

  function decide(): void {
    if (!isSynced) return;
    const projects = view.list("project");
    const demands = demandsOf(watch.list(), projects, view.list("app"));
    const at = new Date(nowMs()).toISOString();
    records ??= firstRecords(storedRecords(), demands, at);
    const before = decision;
    decision = decideHosts(demands, records);
    records = nextRecords(records, decision.held, at);
    claims = createClaims(decision.held);
    own = pairsOf(decision.held);
    granted = pairsOf(demands.filter(({ isGranted }) => isGranted));
    lost = pairsOf(decision.taken);
    decided.resolve();
    for (const namespace of changedBetween(before, decision)) notify(namespace);
    const namespaces = new Set(projects.map(({ spec }) => spec.namespace));
    for (const namespace of written.keys()) if (!namespaces.has(namespace)) written.delete(namespace);
    for (const namespace of namespaces) if (recordChange(namespace)) writes.add(`${PROJECT}${namespace}`);
    for (const route of watch.list()) if (lostHosts(route).length > 0) writes.add(route.key);
  }

  function storedRecords(): ReadonlyMap<string, HostRecord> {
    for (const { key, spec } of view.list("project")) {
      const holder = view.holder("project", key);
      if (holder) written.set(spec.namespace, recordIn(statusOf(holder)));
    }
    return new Map(written);
  }

  const recordChange = (namespace: string) =>
    recordPatch(written.get(namespace) ?? new Map(), records?.get(namespace) ?? new Map());

  async function remember(namespace: string): Promise<void> {
    const [hosts, record] = [recordChange(namespace), records?.get(namespace) ?? new Map()];
    if (hosts === null) return;
    const isWritten = await ignoringGone(kube.patchStatus(PROJECTS, namespace, null, { hosts }));
    if (isWritten) written.set(namespace, record);
  }

  const lostHosts = ({ namespace, hosts, isDeleting }: Route): string[] =>
    isDeleting ? [] : hosts.filter((host) => lost.has(pairOf({ namespace, host })));

  async function removeRoute(key: string): Promise<void> {
    const route = watch.get(key);
    const hosts = route ? lostHosts(route) : [];
    if (!route || hosts.length === 0 || !(await isOwnNamespace(ports, route.namespace))) return;
    const { type, namespace, name, uid, resourceVersion } = route;
    // Only as it was judged: whoever changes it in this moment may have put it right.
    const preconditions = { uid, resourceVersion };
    await projectRights.ready(namespace);
    if (!(await ignoringGone(kube.delete(type, name, namespace, { preconditions })))) return;
    log.warn(
      { namespace, kind: type.kind, name, hosts },
      "a route was removed, because another namespace has its host",
    );
    notices.set(namespace, { message: removalSentence(type.kind, name, hosts), untilMs: nowMs() + NOTICE_MS });
    notify(namespace);
  }

  function notify(namespace: string): void {
    for (const listener of listeners) listener(namespace);
  }

  return {
    takenByOthers(namespace, hosts, { isGranted = false } = { isGranted: false }) {
      const isLost = (host: string) => {
        const pair = pairOf({ namespace, host });
        return !own.has(pair) && claims.isTaken({ namespace, host, isGranted: isGranted || granted.has(pair) });
      };
      return [...new Set(hosts)].filter(isLost);
    },
    served: (namespace) => servedByCharts(decision.held, namespace),
    notice(namespace) {
      const found = notices.get(namespace);
      if (found && found.untilMs > nowMs()) return found.message;
      notices.delete(namespace);
      return null;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    synced: decided.promise,
    async stop() {
      for (const end of endings) end();
      await watch.stop();
      await Promise.all([decisions.stop(), writes.stop()]);
      decided.resolve();
    },
  };
}

const pairsOf = (demands: readonly Demand[]): Set<string> => new Set(demands.map(pairOf));

/** False where the object is gone or has changed, so that it is looked at again. */
async function ignoringGone(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (error instanceof KubeError && (error.status === 404 || error.status === 409)) return false;
    throw error;
  }
}

function changedBetween(before: Decision, after: Decision): Set<string> {
  const facts = ({ held, taken }: Decision) =>
    new Set([
      ...held.map((demand) => `${pairOf(demand)} held ${demand.isGranted}`),
      ...taken.map((demand) => `${pairOf(demand)} taken`),
    ]);
  const [one, other] = [facts(before), facts(after)];
  const changed = [...[...one].filter((fact) => !other.has(fact)), ...[...other].filter((fact) => !one.has(fact))];
  return new Set(changed.map((fact) => fact.split(" ")[0] ?? ""));
}

/** A namespace that somebody else has made under the name of a project is left alone. */
async function isOwnNamespace({ kube, view, clusterId }: HostClaimsPorts, name: string): Promise<boolean> {
  const namespace = await kube.get(NAMESPACES, name);
  const project = view.get("project", `project/${name}`);
  return !!namespace && isOurs(namespace, clusterId) && resourceIdOf(namespace) === project?.resource_id;
}
