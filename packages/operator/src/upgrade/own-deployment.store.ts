import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { fieldsIn, specOf, textIn } from "../kube/object-fields.ts";
import { troubleOf } from "../kube/pod-trouble.ts";
import { DEPLOYMENTS, PODS } from "../kube/resource-types.ts";
import { AnswerError, type LinkLog } from "../link/ports.ts";
import { podImageOf, type UpgradeRecord, upgradePatch } from "./upgrade.ts";

/** Kubernetes changes the status of a Deployment often while it is rolled, and so its version. */
const MOST_TRIES = 10;
/** A name of its own, so that its fields can be told from those of others. */
const FIELD_MANAGER = "binnacle-self-upgrade";

interface Ports {
  readonly kube: Pick<KubeClient, "get" | "list" | "patch">;
  readonly namespace: string;
  readonly deployment: string;
  readonly nowMs: () => number;
  readonly log: LinkLog;
}

/** The Deployment that the operator runs in, with the record of its upgrade. */
export function ownDeployment({ kube, namespace, deployment: name, nowMs, log }: Ports) {
  /** Decides on the Deployment as it is, and again if it has changed before the decision was written. */
  async function onDeployment<T>(work: (deployment: KubeObject) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      const found = await kube.get(DEPLOYMENTS, name, namespace);
      if (!found) throw new AnswerError("failed", `The operator's Deployment ${namespace}/${name} does not exist.`);
      try {
        return await work(found);
      } catch (error) {
        if (!(error instanceof KubeError) || error.status !== 409 || tries === MOST_TRIES) throw error;
      }
    }
  }

  const patch = (change: object) =>
    kube.patch(DEPLOYMENTS, name, namespace, change, { kind: "merge", fieldManager: FIELD_MANAGER });

  async function write(deployment: KubeObject, record: UpgradeRecord, image?: string): Promise<UpgradeRecord> {
    await patch(upgradePatch(deployment, record, image));
    await disown().catch((err: unknown) => log.warn({ err }, "Helm will have to be told --force-conflicts"));
    return record;
  }

  /** Gives the image up again: Helm applies it with the next upgrade of its release, and would meet a conflict with another owner. */
  const disown = () =>
    onDeployment(async ({ metadata: { resourceVersion, managedFields = [] } }) => {
      const others = managedFields.filter(({ manager }) => manager !== FIELD_MANAGER);
      if (others.length === 0 || others.length === managedFields.length) return;
      await patch({ metadata: { resourceVersion, managedFields: others } });
    });

  /** Why the new pod is not ready, as far as Kubernetes tells. */
  async function troubleWith(deployment: KubeObject, { to }: UpgradeRecord): Promise<string> {
    const labels = fieldsIn(fieldsIn(specOf(deployment)["selector"])["matchLabels"]);
    const labelSelector = Object.entries(labels)
      .map(([label, value]) => `${label}=${textIn(value)}`)
      .join(",");
    const { items } = await kube.list(PODS, { namespace, labelSelector });
    const trouble = troubleOf(
      items.filter((pod) => podImageOf(pod) === to),
      nowMs(),
    );
    return trouble?.message ?? "The new pod was not admitted by the hub in time. Its log says why.";
  }

  return { onDeployment, write, troubleWith };
}
