import { isDeleting, isOurs, ownLabels } from "../desired/ownership.ts";
import type { KubeClient } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { NAMESPACES } from "../kube/resource-types.ts";
import { ensureBinding, isBoundIn } from "../kube/role-binding.store.ts";
import { roleBinding, type ServiceAccountName } from "../kube/role-binding.ts";
import type { Clock } from "../kube/work-queue.ts";

/** Of the RoleBinding in the namespace of each project. The operator's chart names it too. */
export const OPERATORS_BINDING = "binnacle-operator";

/** The operator's own rights in the namespaces of projects. Beyond them it reads, and writes nothing but its own custom resources. */
export interface ProjectRights {
  /**
   * Comes back once the operator has its rights in the namespace, as far as it can give them to itself: in a namespace that is not ours or
   * is leaving it has none, and whatever needs them is refused.
   */
  ready(namespace: string): Promise<void>;
  /** Something was forbidden, or the namespace is new, so the binding is looked at before the next use. */
  doubt(namespace: string): void;
}

interface Ports {
  readonly kube: Pick<KubeClient, "get" | "apply" | "delete" | "raw">;
  readonly clusterId: string;
  /** The account that the operator works as, and the ClusterRole that it binds itself to. */
  readonly account: ServiceAccountName;
  readonly role: string;
  readonly clock: Clock;
}

export function createProjectRights({ kube, clusterId, account, role, clock }: Ports): ProjectRights {
  const bound = new Set<string>();
  const working = new Map<string, Promise<void>>();

  async function bind(namespace: string): Promise<void> {
    const place = await kube.get(NAMESPACES, namespace);
    if (!place || !isOurs(place, clusterId) || isDeleting(place)) return;
    const binding = roleBinding({ name: OPERATORS_BINDING, namespace, labels: ownLabels(clusterId), role, account });
    const isWritten = await ensureBinding(kube, binding);
    if (isWritten && !(await isBoundIn(namespace, kube, clock))) {
      const message = `The operator has no rights in the namespace ${namespace}: is there a ClusterRole ${role} on the cluster? The operator's chart brings it.`;
      throw new KubeError({ status: 403, reason: "NoProjectRights", message });
    }
    bound.add(namespace);
  }

  return {
    ready(namespace) {
      if (bound.has(namespace)) return Promise.resolve();
      const under = working.get(namespace) ?? bind(namespace).finally(() => working.delete(namespace));
      working.set(namespace, under);
      return under;
    },
    doubt: (namespace) => void bound.delete(namespace),
  };
}

/** Of an operator that is not installed by its chart: it has the rights of whoever started it. */
export const ALL_RIGHTS: ProjectRights = { ready: async () => undefined, doubt: () => undefined };
