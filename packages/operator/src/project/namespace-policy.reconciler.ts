import { LABELS } from "@binnacle/contract";
import { isOurs, ownLabels, ownSelector } from "../desired/ownership.ts";
import { createApplySet, type Planned, type PlanOptions, type Settled } from "../kube/apply-set.adapter.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { titleOf } from "../kube/object-fields.ts";
import type { Watch, Work } from "../reconcile/kind.ts";
import { POLICY_LABEL, POLICY_TYPES, policyObjects } from "./namespace-policy.ts";
import type { Project } from "./project.ts";

interface NamespacePolicyPorts {
  readonly kube: KubeClient;
  readonly clusterId: string;
  readonly cached: Work["cached"];
}

/** Keeps the objects that restrict the namespaces of projects as the policy says. */
export function createNamespacePolicies({ kube, clusterId, cached }: NamespacePolicyPorts) {
  const applySet = createApplySet(kube);
  const settled = new Map<string, Settled>();

  /** Applies the policy objects and returns the problems as sentences; none where all are in place. */
  async function put(project: Project): Promise<readonly string[]> {
    const wanted = policyObjects(project, clusterId);
    const options: PlanOptions = {
      inventory: [],
      isOurs: (object) => isPolicyOf(object, project, clusterId),
      settled: settledOf(project.key),
      finishedJobs: new Set(),
      takeOver: false,
    };
    const problems: string[] = [];
    for (const object of wanted) {
      const planned = await planFor(object, options);
      const problem = problemIn(planned);
      if (problem === null) await applySet.carryOut(planned);
      else problems.push(problem);
    }
    await prune(project, wanted);
    return problems;
  }

  /** Another manager that declares a part of our own object is overruled: nobody else may weaken a policy. */
  async function planFor(object: KubeObject, options: PlanOptions): Promise<Planned> {
    const planned = await applySet.plan(object, options);
    const isHeld = planned.step.action === "blocked" && planned.isOwn;
    return isHeld ? applySet.plan(object, { ...options, takeOver: true }) : planned;
  }

  async function prune(project: Project, wanted: readonly KubeObject[]): Promise<void> {
    const titles = new Set(wanted.map(titleOf));
    for (const type of POLICY_TYPES) {
      for (const found of cached(type)) {
        const { name, namespace, uid } = found.metadata;
        const isUnwanted = namespace === project.spec.namespace && !titles.has(titleOf(found));
        if (!isUnwanted || !isPolicyOf(found, project, clusterId)) continue;
        await kube.delete(type, name, namespace, uid ? { preconditions: { uid } } : {});
      }
    }
  }

  function settledOf(key: string): Settled {
    const known = settled.get(key) ?? new Map();
    settled.set(key, known);
    return known;
  }

  const watches: readonly Watch[] = POLICY_TYPES.map((type) => ({
    type,
    labelSelector: `${ownSelector(clusterId)},${POLICY_LABEL}`,
    labels: [...Object.keys(ownLabels(clusterId)), LABELS.project, POLICY_LABEL],
    keyOf: (name) => `project/${name.slice(0, name.indexOf("/"))}`,
  }));

  return { put, watches, forget: (key: string) => void settled.delete(key) };
}

const isPolicyOf = (object: KubeObject, { resource_id }: Project, clusterId: string): boolean =>
  isOurs(object, clusterId) &&
  object.metadata.labels?.[POLICY_LABEL] !== undefined &&
  object.metadata.labels[LABELS.project] === resource_id;

function problemIn({ step }: Planned): string | null {
  switch (step.action) {
    case "blocked":
      return step.summary;
    case "refused":
      return step.refusal.message;
    case "wait":
      return step.message;
    case "keep":
    case "apply":
    case "recreate":
    case "regrow":
      return null;
  }
}
