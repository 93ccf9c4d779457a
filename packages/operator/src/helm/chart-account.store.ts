import { isDeleting, isOurs } from "../desired/ownership.ts";
import type { KubeClient, ResourceType } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { NAMESPACES } from "../kube/resource-types.ts";
import { ensureBinding, isBoundIn } from "../kube/role-binding.store.ts";
import type { Clock } from "../kube/work-queue.ts";
import type { ProjectRights } from "../project/project-rights.store.ts";
import { accountIn, bindingIn, CHARTS_ACCOUNT, isAccountAsWanted, projectUser } from "./rights.ts";

const ACCOUNTS: ResourceType = {
  group: "",
  version: "v1",
  plural: "serviceaccounts",
  kind: "ServiceAccount",
  namespaced: true,
};

export interface ChartAccountPorts {
  readonly kube: Pick<KubeClient, "get" | "apply" | "delete" | "as">;
  readonly clusterId: string;
  /** The ClusterRole with the rights of charts in the namespace of their project. */
  readonly role: string;
  readonly clock: Clock;
  /** The operator needs its own rights first. */
  readonly projectRights: ProjectRights;
}

export interface ChartAccounts {
  /** Makes what is missing of the account in a project's namespace. */
  ensure(namespace: string): Promise<void>;
  /** Comes back once the account is there and has its rights. */
  ready(namespace: string): Promise<void>;
  /** Something was forbidden, so the account is checked again before the next use. */
  doubt(namespace: string): void;
}

/** A checked account is trusted for this long. */
const BELIEVED_MS = 180_000;

export function createChartAccounts({ kube, clusterId, role, clock, projectRights }: ChartAccountPorts): ChartAccounts {
  const readyAtMs = new Map<string, number>();
  const working = new Map<string, Promise<void>>();

  async function ensure(namespace: string): Promise<void> {
    const place = await kube.get(NAMESPACES, namespace);
    if (!place || !isOurs(place, clusterId) || isDeleting(place)) {
      throw refused(
        "NoProject",
        `The namespace ${namespace} is not that of a project of this cluster, or it is leaving.`,
      );
    }
    await projectRights.ready(namespace);
    const account = accountIn(namespace, clusterId);
    if (!isAccountAsWanted(await kube.get(ACCOUNTS, CHARTS_ACCOUNT, namespace), account)) {
      await kube.apply(account, { force: true });
    }
    await ensureBinding(kube, bindingIn(namespace, clusterId, role));
  }

  async function prepare(namespace: string): Promise<void> {
    await ensure(namespace);
    // Asked as the account itself, which also shows whether we may act as it.
    if (await isBoundIn(namespace, kube.as(projectUser(namespace)), clock)) {
      readyAtMs.set(namespace, clock.now());
      return;
    }
    const message = `Charts have no rights in the namespace ${namespace}: is there a ClusterRole ${role} on the cluster? The operator's chart brings it.`;
    throw refused("NoChartRights", message);
  }

  return {
    ensure,
    ready(namespace) {
      const at = readyAtMs.get(namespace);
      if (at !== undefined && clock.now() - at < BELIEVED_MS) return Promise.resolve();
      const under = working.get(namespace) ?? prepare(namespace).finally(() => working.delete(namespace));
      working.set(namespace, under);
      return under;
    },
    doubt: (namespace) => void readyAtMs.delete(namespace),
  };
}

const refused = (reason: string, message: string) => new KubeError({ status: 403, reason, message });
