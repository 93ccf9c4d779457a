import type { ProjectReport } from "@binnacle/contract";
import { finalize } from "../desired/finalizer.adapter.ts";
import { isDeleting, ownSelector } from "../desired/ownership.ts";
import type { ChartAccounts } from "../helm/chart-account.store.ts";
import type { HostClaims } from "../hosts/host-claims.reconciler.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { ADDON_INSTANCES, APPS, NAMESPACES, PROJECTS } from "../kube/resource-types.ts";
import type { DispatchedKind, Found, KindReconciler, Pass, ReconcilerPorts, Work } from "../reconcile/kind.ts";
import { createNamespacePolicies } from "./namespace-policy.reconciler.ts";
import { decideProject, finalizersLeft, namespaceOf, type Project, policyFailed } from "./project.ts";

export interface ProjectPorts extends ReconcilerPorts {
  readonly accounts: Pick<ChartAccounts, "ensure">;
  readonly hosts: Pick<HostClaims, "served" | "notice" | "onChange">;
  /** Wall-clock time in milliseconds. */
  readonly nowMs: () => number;
}

/** A namespace of somebody else is not watched, so it is read again after a while. */
const REQUEUE_MS = 15_000;
const DELETING_MS = 3_000;

export const projectKind: DispatchedKind<"project", ProjectPorts> = {
  kind: "project",
  holder: PROJECTS,
  nameIn: (namespace) => namespace,
  companionPrefix: null,
  emptySecret: {},
  reconciler: createProjectReconciler,
};

/** Makes a namespace for each project, and deletes it with everything in it when the project is deleted. */
function createProjectReconciler(ports: ProjectPorts, work: Work): KindReconciler<"project"> {
  const { kube, accounts, hosts, view, nowMs, log, clusterId } = ports;
  const policies = createNamespacePolicies({ kube, clusterId, cached: work.cached });

  async function apply({ resource: project, holder }: Found<"project">): Promise<Pass<"project">> {
    const namespace = await kube.get(NAMESPACES, project.spec.namespace);
    const decision = decideProject({ project, namespace, left: [], clusterId, nowMs: nowMs() });
    const isCreated = decision.step === "create_namespace" && (await createNamespace(project, holder));
    if (decision.step === "label_namespace") await labelNamespace(project, namespace);
    if (decision.report?.state === "ready") await prepareForCharts(project);
    const report = withHosts(project, await withPolicies(project, decision.report));
    if (report) await writeStatus(project, report);
    return { report, requeueAfterMs: report?.state === "ready" ? null : isCreated ? 0 : REQUEUE_MS };
  }

  async function remove({ resource: project, holder }: Found<"project">): Promise<Pass<"project">> {
    const name = project.spec.namespace;
    const [namespace, left] = await Promise.all([kube.get(NAMESPACES, name), leftIn(name)]);
    const { step, report } = decideProject({ project, namespace, left, clusterId, nowMs: nowMs() });
    const uid = namespace?.metadata.uid;
    if (step === "delete_namespace") await kube.delete(NAMESPACES, name, null, uid ? { preconditions: { uid } } : {});
    if (step === "let_go") {
      const finalized = await finalize(kube, projectKind, holder);
      if (finalized.state === "gone") return { report: { state: "gone" }, requeueAfterMs: null };
      return { report: finalizersLeft(project, finalized.by), requeueAfterMs: DELETING_MS };
    }
    if (report) await writeStatus(project, report);
    return { report, requeueAfterMs: DELETING_MS };
  }

  /** A namespace that is as it should be gets its policies, and is ready only with them. */
  async function withPolicies(project: Project, report: ProjectReport | null): Promise<ProjectReport | null> {
    if (report?.state !== "ready") return report;
    const problems = await policies.put(project);
    return problems.length > 0 ? policyFailed(problems) : report;
  }

  /** The control plane keeps apps of other projects from the hosts, and a route that was removed is told for a while. */
  function withHosts({ spec }: Project, report: ProjectReport | null): ProjectReport | null {
    if (report === null) return null;
    const served = [...hosts.served(spec.namespace)];
    const notice = report.state === "ready" ? hosts.notice(spec.namespace) : null;
    const told = notice === null ? report : ({ state: "apply_failed", message: notice } as const);
    return { ...told, ...(served.length > 0 ? { hosts: served } : {}) };
  }

  /** The cached project may be old, and a namespace that is made after its project was deleted would stay for good. */
  async function createNamespace(project: Project, { metadata: { name, uid } }: KubeObject): Promise<boolean> {
    const current = await kube.get(PROJECTS, name);
    if (current?.metadata.uid !== uid || !current || isDeleting(current)) return false;
    // A server-side apply would adopt a namespace that somebody has made in this very moment.
    await kube.create(namespaceOf(project, clusterId));
    return true;
  }

  async function labelNamespace(project: Project, namespace: KubeObject | null): Promise<void> {
    const { labels } = namespaceOf(project, clusterId).metadata;
    const patch = { metadata: { uid: namespace?.metadata.uid, labels } };
    await kube.patch(NAMESPACES, project.spec.namespace, null, patch, { kind: "merge" });
  }

  /** A project without charts works without the account. Installing a chart tries again, and reports the failure. */
  async function prepareForCharts({ key, spec }: Project): Promise<void> {
    await accounts.ensure(spec.namespace).catch((err: unknown) => {
      log.warn({ err, key }, "the account for the charts of a project could not be made");
    });
  }

  /** Apps and addon instances go before the namespace: Helm uninstalls a release only in a namespace that is not terminating. */
  async function leftIn(namespace: string): Promise<string[]> {
    const options = { namespace, labelSelector: ownSelector(clusterId) };
    const [apps, addons] = await Promise.all([kube.list(APPS, options), kube.list(ADDON_INSTANCES, options)]);
    return [
      ...apps.items.map(({ metadata: { name } }) => `app ${name}`),
      ...addons.items.map(({ metadata: { name } }) => `addon ${name}`),
    ].sort();
  }

  /** The status shows the phase to whoever reads the cluster with kubectl. */
  async function writeStatus({ key, generation }: Project, { state, message }: ProjectReport): Promise<void> {
    const holder = view.holder("project", key);
    const before = holder?.["status"] as Readonly<Record<string, unknown>> | undefined;
    const isSame =
      before?.["phase"] === state && before["generation"] === generation && (before["message"] ?? null) === message;
    if (!holder || isSame) return;
    await kube.patchStatus(PROJECTS, holder.metadata.name, null, { phase: state, message, generation });
  }

  const enqueueProjectOf = (key: string) => work.enqueue(`project/${key.split("/")[1] ?? ""}`);

  return {
    firstRetryMs: 500,
    readsStatus: false,
    watches: [
      { type: NAMESPACES, labelSelector: ownSelector(clusterId), keyOf: (name) => `project/${name}` },
      ...policies.watches,
    ],
    subscribe: () => [
      view.onChange("app", enqueueProjectOf),
      view.onChange("addon_instance", enqueueProjectOf),
      hosts.onChange((namespace) => work.enqueue(`project/${namespace}`)),
    ],
    apply,
    remove,
    rejected: ({ resource }, { message }) => ({
      state: resource.isDeleting ? "cleanup_blocked" : "apply_failed",
      message,
    }),
    forget: policies.forget,
  };
}
