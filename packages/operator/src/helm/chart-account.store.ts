import { isDeleting, isOurs } from "../desired/ownership.ts";
import type { KubeClient, ResourceType } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { NAMESPACES } from "../kube/resource-types.ts";
import type { Clock } from "../kube/work-queue.ts";
import { accountIn, bindingIn, bindingStep, CHARTS_ACCOUNT, isAccountAsWanted, projectUser } from "./rights.ts";

const ACCOUNTS: ResourceType = {
  group: "",
  version: "v1",
  plural: "serviceaccounts",
  kind: "ServiceAccount",
  namespaced: true,
};
const BINDINGS: ResourceType = {
  group: "rbac.authorization.k8s.io",
  version: "v1",
  plural: "rolebindings",
  kind: "RoleBinding",
  namespaced: true,
};
const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

export interface ChartAccountPorts {
  readonly kube: Pick<KubeClient, "get" | "apply" | "delete" | "as">;
  readonly clusterId: string;
  /** The ClusterRole with the rights of charts in the namespace of their project. */
  readonly role: string;
  readonly clock: Clock;
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
/** The API server learns of a binding a moment after it is written. */
const REVIEW_EVERY_MS = 200;
const REVIEWS_AT_MOST = 25;

export function createChartAccounts({ kube, clusterId, role, clock }: ChartAccountPorts): ChartAccounts {
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
    const account = accountIn(namespace, clusterId);
    if (!isAccountAsWanted(await kube.get(ACCOUNTS, CHARTS_ACCOUNT, namespace), account)) {
      await kube.apply(account, { force: true });
    }
    const binding = bindingIn(namespace, clusterId, role);
    const found = await kube.get(BINDINGS, CHARTS_ACCOUNT, namespace);
    const step = bindingStep(found, binding);
    if (step === "keep") return;
    const { uid } = found?.metadata ?? {};
    if (step === "replace") {
      await kube.delete(BINDINGS, CHARTS_ACCOUNT, namespace, uid ? { preconditions: { uid } } : {});
    }
    await kube.apply(binding, { force: true });
  }

  /** Asked as the account itself, which also shows whether we may act as it. */
  async function mayWork(namespace: string): Promise<boolean> {
    const resourceAttributes = { namespace, verb: "create", group: "", resource: "secrets" };
    const body = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes },
    };
    const { status } = await kube
      .as(projectUser(namespace))
      .raw<{ status: { allowed: boolean } }>("POST", REVIEWS, { body });
    return status.allowed;
  }

  async function prepare(namespace: string): Promise<void> {
    await ensure(namespace);
    for (let count = 0; count < REVIEWS_AT_MOST; count += 1) {
      if (await mayWork(namespace)) {
        readyAtMs.set(namespace, clock.now());
        return;
      }
      await new Promise<void>((done) => clock.after(REVIEW_EVERY_MS, done));
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
