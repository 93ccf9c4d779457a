import type { PodSecurity, ProjectReport } from "@binnacle/contract";
import { finalize } from "../desired/finalizer.adapter.ts";
import { isDeleting, ownSelector } from "../desired/ownership.ts";
import type { ChartAccounts } from "../helm/chart-account.store.ts";
import type { HostClaims } from "../hosts/host-claims.reconciler.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { ADDON_INSTANCES, APPS, NAMESPACES, PROJECTS } from "../kube/resource-types.ts";
import type { DispatchedKind, Found, KindReconciler, Pass, ReconcilerPorts, Work } from "../reconcile/kind.ts";
import { createNamespacePolicies } from "./namespace-policy.reconciler.ts";
import { beyondLimit } from "./namespace-policy.ts";
import { decideProject, finalizersLeft, namespaceOf, type Project, policyFailed } from "./project.ts";

export interface ProjectPorts extends ReconcilerPorts {
  readonly accounts: Pick<ChartAccounts, "ensure">;
  readonly hosts: Pick<HostClaims, "served" | "notice" | "onChange">;
  /** The highest level of Pod Security that a project may have on the cluster. */
  readonly podSecurityLimit: PodSecurity;
}

/** A namespace of somebody else is not watched, so it is read again after a while. */
const REQUEUE_MS = 15_000;
const DELETING_MS = 3_000;

const WITHOUT_NAMESPACE: ProjectReport = {
  state: "apply_failed",
  message: "It is suspended: there is no namespace of it, and none is made until that ends.",
};

export const projectKind: DispatchedKind<"project", ProjectPorts> = {
  kind: "project",
  holder: PROJECTS,
  nameIn: (namespace) => namespace,
  companionPrefix: null,
  emptySecret: {},
  nameTaken: (message) => ({ state: "apply_failed", message }),
  reconciler: createProjectReconciler,
};

/** Makes a namespace for each project, and deletes it with everything in it when the project is deleted. */
function createProjectReconciler(ports: ProjectPorts, work: Work): KindReconciler<"project"> {
  const { kube, accounts, hosts, nowMs, log, view, clusterId, podSecurityLimit, projectRights } = ports;
  const policies = createNamespacePolicies({ kube, clusterId, cached: work.cached });

  async function apply({ resource: project, holder }: Found<"project">): Promise<Pass<"project">> {
    const namespace = await kube.get(NAMESPACES, project.spec.namespace);
    const facts = { clusterId, podSecurityLimit, nowMs: nowMs() };
    const decision = decideProject({ project, namespace, left: [], ...facts });
    const isCreated = decision.step === "create_namespace" && (await createNamespace(ports, project, holder));
    if (decision.step === "label_namespace") await labelNamespace(ports, project, namespace);
    if (decision.report?.state === "ready") await prepare(project);
    const report = withHosts(ports, project, await withPolicies(project, decision.report));
    const status = { generation: project.generation, suspended: null };
    return { report, status, requeueAfterMs: report?.state === "ready" ? null : isCreated ? 0 : REQUEUE_MS };
  }

  async function remove({ resource: project, holder }: Found<"project">): Promise<Pass<"project">> {
    const name = project.spec.namespace;
    const [namespace, left] = await Promise.all([kube.get(NAMESPACES, name), leftIn(ports, name)]);
    const facts = { clusterId, podSecurityLimit, nowMs: nowMs() };
    const { step, report } = decideProject({ project, namespace, left, ...facts });
    const uid = namespace?.metadata.uid;
    if (step === "delete_namespace") await kube.delete(NAMESPACES, name, null, uid ? { preconditions: { uid } } : {});
    if (step === "let_go") {
      const finalized = await finalize(kube, projectKind, holder);
      if (finalized.state === "gone") return { report: { state: "gone" }, requeueAfterMs: null };
      return { report: finalizersLeft(project, finalized.by), requeueAfterMs: DELETING_MS };
    }
    return { report, status: { generation: project.generation, suspended: null }, requeueAfterMs: DELETING_MS };
  }

  /** A namespace that is as it should be gets its policies, and is ready only with them. */
  async function withPolicies(project: Project, report: ProjectReport | null): Promise<ProjectReport | null> {
    if (report?.state !== "ready") return report;
    const beyond = beyondLimit(project, podSecurityLimit);
    const problems = [...(beyond === null ? [] : [beyond]), ...(await policies.put(project))];
    return problems.length > 0 ? policyFailed(problems) : report;
  }

  /** A project without charts works without their account. Installing a chart tries again, and reports the failure. */
  async function prepare({ key, spec }: Project): Promise<void> {
    projectRights.doubt(spec.namespace);
    await projectRights.ready(spec.namespace);
    await accounts.ensure(spec.namespace).catch((err: unknown) => {
      log.warn({ err, key }, "the account for the charts of a project could not be made");
    });
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
    observe: (found) => observe(ports, found),
    remove,
    rejected: ({ resource }, { message }) => ({
      state: resource.isDeleting ? "cleanup_blocked" : "apply_failed",
      message,
    }),
    forget: policies.forget,
  };
}

/** Its namespace and policies stay as they are. */
async function observe(ports: ProjectPorts, { resource: project }: Found<"project">): Promise<Pass<"project">> {
  const namespace = await ports.kube.get(NAMESPACES, project.spec.namespace);
  const { clusterId, podSecurityLimit, nowMs } = ports;
  const { report } = decideProject({ project, namespace, left: [], clusterId, podSecurityLimit, nowMs: nowMs() });
  const seen = { ...(withHosts(ports, project, report) ?? WITHOUT_NAMESPACE), suspended: true };
  const status = { generation: project.generation, suspended: true };
  return { report: seen, status, requeueAfterMs: seen.state === "ready" ? null : REQUEUE_MS };
}

/** The control plane keeps apps of other projects from the hosts, and a route that was removed is told for a while. */
function withHosts(
  { hosts }: Pick<ProjectPorts, "hosts">,
  { spec }: Project,
  report: ProjectReport | null,
): ProjectReport | null {
  if (report === null) return null;
  const served = [...hosts.served(spec.namespace)];
  const notice = report.state === "ready" ? hosts.notice(spec.namespace) : null;
  const noticed = notice === null ? report : ({ state: "apply_failed", message: notice } as const);
  return { ...noticed, ...(served.length > 0 ? { hosts: served } : {}) };
}

/** The cached project may be old, and a namespace that is made after its project was deleted would stay for good. */
async function createNamespace(ports: ProjectPorts, project: Project, holder: KubeObject): Promise<boolean> {
  const { name, uid } = holder.metadata;
  const current = await ports.kube.get(PROJECTS, name);
  if (current?.metadata.uid !== uid || !current || isDeleting(current)) return false;
  // A server-side apply would adopt a namespace that somebody has made in this very moment.
  await ports.kube.create(namespaceOf(project, ports));
  // Those in an earlier namespace of this name are gone with it.
  ports.projectRights.doubt(project.spec.namespace);
  return true;
}

async function labelNamespace(ports: ProjectPorts, project: Project, namespace: KubeObject | null): Promise<void> {
  const { labels } = namespaceOf(project, ports).metadata;
  const patch = { metadata: { uid: namespace?.metadata.uid, labels } };
  await ports.kube.patch(NAMESPACES, project.spec.namespace, null, patch, { kind: "merge" });
}

/** Apps and addon instances go before the namespace: Helm uninstalls a release only in a namespace that is not terminating. */
async function leftIn({ kube, clusterId }: ProjectPorts, namespace: string): Promise<string[]> {
  const options = { namespace, labelSelector: ownSelector(clusterId) };
  const [apps, addons] = await Promise.all([kube.list(APPS, options), kube.list(ADDON_INSTANCES, options)]);
  return [
    ...apps.items.map(({ metadata: { name } }) => `app ${name}`),
    ...addons.items.map(({ metadata: { name } }) => `addon ${name}`),
  ].sort();
}
