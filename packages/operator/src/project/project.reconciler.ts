import type { DesiredKind, ProjectReport } from "@binnacle/contract";
import type { DesiredView } from "../desired/desired-view.ts";
import { letGo } from "../desired/farewell.adapter.ts";
import { createLeavers, type Seen } from "../desired/leavers.ts";
import { isLeaving, ownSelector } from "../desired/ownership.ts";
import { isForPeople } from "../desired/refusal.ts";
import { ADDON_INSTANCES, APPS, NAMESPACES, PROJECTS } from "../desired/resource-types.ts";
import type { ChartAccounts } from "../helm/chart-account.store.ts";
import { type Informer, type InformerLog, startInformer } from "../kube/informer.adapter.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { type Clock, createWorkQueue, type WorkQueue } from "../kube/work-queue.ts";
import type { StatusSink } from "../link/status-sink.ts";
import type { Reconciler } from "../reconciler.ts";
import { type Fences, startFences } from "./fence.reconciler.ts";
import { decideProject, heldBack, namespaceOf, type Project, type ProjectDecision, unfenced } from "./project.ts";

export interface ReconcilerPorts {
  readonly kube: KubeClient;
  readonly view: DesiredView;
  readonly sink: StatusSink;
  readonly clock: Clock;
  /** The time of day. */
  readonly nowMs: () => number;
  readonly log: InformerLog;
  readonly clusterId: string;
}

export interface ProjectPorts extends ReconcilerPorts {
  readonly accounts: Pick<ChartAccounts, "ensure">;
}

/** A namespace of somebody else is not watched, so it is looked at from time to time. */
const LOOK_AGAIN_MS = 15_000;
const LOOK_AGAIN_LEAVING_MS = 3_000;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 60_000;

/** Makes a namespace for each project, and takes it away with everything in it when the project leaves. */
export function createProjectReconciler(ports: ProjectPorts): Reconciler {
  const { kube, accounts, view, sink, clock, nowMs, log, clusterId } = ports;
  const projects = createLeavers(view, "project");
  let namespaces: Informer<KubeObject> | null = null;
  let fences: Fences | null = null;
  let queue: WorkQueue | null = null;
  const endings: (() => void)[] = [];

  async function reconcile(key: string): Promise<void> {
    const seen = projects.see(key);
    if (!seen) return;
    const { resource: project } = seen;
    try {
      await look(seen);
    } catch (error) {
      if (error instanceof KubeError && isForPeople(error)) {
        tell(project, { state: project.isLeaving ? "cleanup_blocked" : "apply_failed", message: error.message });
      }
      throw error;
    }
  }

  async function look({ resource: project, holder }: Seen<"project">): Promise<void> {
    const name = project.spec.namespace;
    const [namespace, left] = await Promise.all([
      kube.get(NAMESPACES, name),
      project.isLeaving ? leftIn(name) : Promise.resolve([]),
    ]);
    const decision = decideProject({ project, namespace, left, clusterId, nowMs: nowMs() });
    await act(project, holder, namespace, decision);
    if (decision.report?.state === "ready") await prepareForCharts(project);
    const report = await afterFence(project, decision.report);
    if (report) {
      tell(project, report);
      await note(project, report);
    }
    if (report?.state !== "ready") {
      queue?.add(project.key, { afterMs: project.isLeaving ? LOOK_AGAIN_LEAVING_MS : LOOK_AGAIN_MS });
    }
  }

  /** A namespace that is as it should be gets its fence, and is ready only with it. */
  async function afterFence(project: Project, report: ProjectReport | null): Promise<ProjectReport | null> {
    if (report?.state !== "ready") return report;
    const problems = (await fences?.put(project)) ?? [];
    return problems.length > 0 ? unfenced(problems) : report;
  }

  async function act(
    project: Project,
    holder: KubeObject,
    namespace: KubeObject | null,
    { step }: ProjectDecision,
  ): Promise<void> {
    const name = project.spec.namespace;
    const uid = namespace?.metadata.uid;
    if (step === "create_namespace" && (await isStillWanted(holder))) {
      // Never by apply, which would adopt a namespace that somebody has made in this very moment.
      await kube.create(namespaceOf(project, clusterId));
      queue?.add(project.key);
    }
    if (step === "label_namespace") {
      const { labels } = namespaceOf(project, clusterId).metadata;
      await kube.patch(NAMESPACES, name, null, { metadata: { uid, labels } }, { kind: "merge" });
    }
    if (step === "delete_namespace") await kube.delete(NAMESPACES, name, null, uid ? { preconditions: { uid } } : {});
    if (step === "let_go") await bidFarewell(project, holder);
  }

  /** Who installs a chart there sees to it once more, and says why it fails: a project without charts gets along. */
  async function prepareForCharts({ key, spec }: Project): Promise<void> {
    await accounts.ensure(spec.namespace).catch((err: unknown) => {
      log.warn({ err, key }, "the account for the charts of a project could not be made");
    });
  }

  /** What is seen may be old, and a namespace without its project would stay for good. */
  async function isStillWanted({ metadata: { name, uid } }: KubeObject): Promise<boolean> {
    const current = await kube.get(PROJECTS, name);
    return current?.metadata.uid === uid && current !== null && !isLeaving(current);
  }

  async function bidFarewell(project: Project, holder: KubeObject): Promise<void> {
    const farewell = await letGo(kube, PROJECTS, holder);
    if (farewell.state === "held") {
      tell(project, heldBack(project, farewell.by));
      return;
    }
    projects.forget(project.key);
    fences?.forget(project.key);
    sink.report("project", project, { state: "gone" });
  }

  /** What still has to be undone before the namespace may go: a release, for one, is undone in a living namespace. */
  async function leftIn(namespace: string): Promise<string[]> {
    const options = { namespace, labelSelector: ownSelector(clusterId) };
    const [apps, addons] = await Promise.all([kube.list(APPS, options), kube.list(ADDON_INSTANCES, options)]);
    return [
      ...apps.items.map(({ metadata: { name } }) => `app ${name}`),
      ...addons.items.map(({ metadata: { name } }) => `addon ${name}`),
    ].sort();
  }

  const tell = (project: Project, report: ProjectReport) => sink.report("project", project, report);

  /** For those who look at the cluster with kubectl. */
  async function note({ key, generation }: Project, { state, message }: ProjectReport): Promise<void> {
    const holder = view.holder("project", key);
    const before = holder?.["status"] as Readonly<Record<string, unknown>> | undefined;
    if (
      !holder ||
      (before?.["phase"] === state && before["generation"] === generation && (before["message"] ?? null) === message)
    )
      return;
    await kube.patchStatus(PROJECTS, holder.metadata.name, null, { phase: state, message, generation });
  }

  const enqueue = (kind: DesiredKind) => (key: string) => {
    const [, namespace = ""] = key.split("/");
    queue?.add(kind === "project" ? key : `project/${namespace}`);
  };

  /** Looks at everything again. */
  function resync(): void {
    for (const { key } of view.list("project")) queue?.add(key);
  }

  return {
    start(): void {
      queue = createWorkQueue({
        run: reconcile,
        clock,
        firstRetryMs: FIRST_RETRY_MS,
        longestRetryMs: LONGEST_RETRY_MS,
        onError: (key, err, retryMs) => log.warn({ err, key, retryMs }, "a project could not be reconciled"),
      });
      for (const kind of ["project", "app", "addon_instance"] as const) {
        endings.push(view.onChange(kind, enqueue(kind)));
      }
      namespaces = startInformer({
        client: kube,
        type: NAMESPACES,
        labelSelector: ownSelector(clusterId),
        log,
        onChange: (name) => queue?.add(`project/${name}`),
      });
      fences = startFences({ kube, log, clusterId, onChange: (namespace) => queue?.add(`project/${namespace}`) });
      resync();
    },

    resync,

    async stop(): Promise<void> {
      for (const end of endings.splice(0)) end();
      await Promise.all([namespaces?.stop(), fences?.stop(), queue?.stop()]);
    },
  };
}
