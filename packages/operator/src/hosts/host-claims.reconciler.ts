import type { DesiredView } from "../desired/desired-state.ts";
import { isOurs, resourceIdOf } from "../desired/ownership.ts";
import type { InformerLog } from "../kube/informer.adapter.ts";
import type { KubeClient } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { statusOf } from "../kube/object-fields.ts";
import { NAMESPACES, PROJECTS } from "../kube/resource-types.ts";
import { type Clock, createWorkQueue } from "../kube/work-queue.ts";
import { type Claims, createClaims, type Decision, type Demand, decideHosts } from "./host-claims.ts";
import {
  demandsOf,
  firstRecords,
  type HostRecord,
  nextRecords,
  pairOf,
  recordIn,
  recordPatch,
  removalNotice,
  servedByCharts,
} from "./host-records.ts";
import { type Route, startRouteWatch } from "./route-watch.adapter.ts";

export interface HostClaimsPorts {
  readonly kube: Pick<KubeClient, "get" | "list" | "watch" | "resourceTypeOf" | "patchStatus" | "delete">;
  readonly view: Pick<DesiredView, "list" | "get" | "holder" | "onChange">;
  readonly clusterId: string;
  readonly clock: Clock;
  /** Wall-clock time in milliseconds. */
  readonly nowMs: () => number;
  readonly log: InformerLog;
}

/** Which namespace has which host on this cluster. */
export interface HostClaims {
  /** Those of the hosts that another namespace has. The control plane has given granted ones to an app of the project. */
  taken(namespace: string, hosts: readonly string[], given?: { readonly isGranted: boolean }): string[];
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

/**
 * Follows all routes of the cluster, and removes those of projects that ask for a host of another namespace: a check before
 * an installation does not see what the pods of a chart make later. Who had a host first keeps it. The status of each
 * project remembers its hosts, because the age of a route does not tell since when it has had a host.
 */
export function startHostClaims(ports: HostClaimsPorts): RunningHostClaims {
  const { kube, view, clusterId, clock, nowMs, log } = ports;
  const listeners = new Set<(namespace: string) => void>();
  const notices = new Map<string, { readonly message: string; readonly untilMs: number }>();
  const written = new Map<string, HostRecord>();
  const decided = Promise.withResolvers<void>();
  let records: ReadonlyMap<string, HostRecord> | null = null;
  let decision: Decision = { held: [], taken: [] };
  let claims: Claims = createClaims();
  let own: ReadonlySet<string> = new Set();
  let granted: ReadonlySet<string> = new Set();

  const queue = createWorkQueue({
    clock,
    firstRetryMs: 1_000,
    longestRetryMs: 30_000,
    run: decide,
    onError: (_, err, retryMs) =>
      log.warn({ err, retryMs }, "the hosts of the cluster could not be settled; it is retried"),
  });
  const gather = () => queue.add(ALL, { afterMs: GATHER_MS });
  const watch = startRouteWatch({ kube, clock, log, onChange: gather });
  const endings = [view.onChange("app", gather), view.onChange("project", gather)];
  void watch.synced.then(() => queue.add(ALL));

  async function decide(): Promise<void> {
    await watch.synced;
    const projects = view.list("project");
    const demands = demandsOf(watch.list(), projects, view.list("app"));
    const at = new Date(nowMs()).toISOString();
    if (records === null) {
      for (const { key, spec } of projects)
        written.set(spec.namespace, recordIn(statusOf(view.holder("project", key) ?? NOTHING)));
      records = firstRecords(written, demands, at);
    }
    const before = decision;
    decision = decideHosts(demands, records);
    records = nextRecords(records, decision.held, at);
    claims = createClaims(decision.held);
    own = new Set(decision.held.map(pairOf));
    granted = new Set(demands.filter(({ isGranted }) => isGranted).map(pairOf));
    decided.resolve();
    for (const namespace of changedBetween(before, decision)) notify(namespace);
    for (const { spec } of projects) await remember(spec.namespace, records.get(spec.namespace) ?? new Map());
    await removeTaken();
  }

  async function remember(namespace: string, record: HostRecord): Promise<void> {
    const hosts = recordPatch(written.get(namespace) ?? new Map(), record);
    if (hosts === null) return;
    await ignoringGone(kube.patchStatus(PROJECTS, namespace, null, { hosts }));
    written.set(namespace, record);
  }

  async function removeTaken(): Promise<void> {
    const lost = new Set(decision.taken.map(pairOf));
    for (const route of watch.list()) {
      const hosts = route.hosts.filter((host) => lost.has(pairOf({ namespace: route.namespace, host })));
      if (hosts.length > 0 && !route.isDeleting && (await isOwnNamespace(route.namespace)))
        await removeRoute(route, hosts);
    }
  }

  /** A namespace that somebody else has made under the name of a project is left alone. */
  async function isOwnNamespace(name: string): Promise<boolean> {
    const namespace = await kube.get(NAMESPACES, name);
    const project = view.get("project", `project/${name}`);
    return !!namespace && isOurs(namespace, clusterId) && resourceIdOf(namespace) === project?.resource_id;
  }

  async function removeRoute(
    { type, namespace, name, uid, resourceVersion }: Route,
    hosts: readonly string[],
  ): Promise<void> {
    const preconditions = { uid, resourceVersion };
    const isRemoved = await ignoringGone(kube.delete(type, name, namespace, { preconditions }));
    if (!isRemoved) return;
    log.warn(
      { namespace, kind: type.kind, name, hosts },
      "a route was removed, because another namespace has its host",
    );
    notices.set(namespace, { message: removalNotice(type.kind, name, hosts), untilMs: nowMs() + NOTICE_MS });
    notify(namespace);
  }

  function notify(namespace: string): void {
    for (const listener of listeners) listener(namespace);
  }

  return {
    taken(namespace, hosts, { isGranted = false } = { isGranted: false }) {
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
      await queue.stop();
      decided.resolve();
    },
  };
}

const NOTHING = { apiVersion: "", kind: "", metadata: { name: "" } };

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
  const entries = ({ held, taken }: Decision) =>
    new Map<string, Demand>([
      ...held.map((demand): [string, Demand] => [`held ${pairOf(demand)} ${demand.isGranted}`, demand]),
      ...taken.map((demand): [string, Demand] => [`taken ${pairOf(demand)}`, demand]),
    ]);
  const [one, other] = [entries(before), entries(after)];
  const isMissingIn =
    (all: ReadonlyMap<string, Demand>) =>
    ([key]: [string, Demand]) =>
      !all.has(key);
  const changed = [...[...one].filter(isMissingIn(other)), ...[...other].filter(isMissingIn(one))];
  return new Set(changed.map(([, { namespace }]) => namespace));
}
