import type { RepositoryCredential } from "@binnacle/charts";
import { canonicalJson } from "@binnacle/contract";
import { ownLabels } from "../desired/ownership.ts";
import type { InformerLog } from "../kube/informer.adapter.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { SECRETS } from "../kube/resource-types.ts";

export const REPOSITORIES_NAME = "binnacle-chart-repositories";

export interface ChartRepositories {
  readonly current: () => readonly RepositoryCredential[];
  /** These and no others hold from now on. They are kept in the cluster, for when the hub is away. */
  update(repositories: readonly RepositoryCredential[]): void;
  /** Resolves once the last update is stored, or has failed. */
  settled(): Promise<void>;
}

interface Ports {
  readonly kube: Pick<KubeClient, "get" | "create" | "patch">;
  readonly clusterId: string;
  /** Where the operator itself lives. Charts run with the rights of a project's namespace, and cannot read here. */
  readonly namespace: string;
  readonly log: InformerLog;
}

/**
 * The credentials of private chart repositories, as the organization has stored them. Rejects while the cluster does
 * not answer.
 */
export async function openChartRepositories({ kube, clusterId, namespace, log }: Ports): Promise<ChartRepositories> {
  const found = await kube.get(SECRETS, REPOSITORIES_NAME, namespace);
  let kept = decoded((found?.["data"] as Record<string, string> | undefined)?.[clusterId]);
  let current = kept;
  let last: Promise<void> = Promise.resolve();

  /** Operators of other clusters may have theirs in the same object, so only our own entry is written. */
  async function keep(): Promise<void> {
    const writing = current;
    if (canonicalJson(writing) === canonicalJson(kept)) return;
    const data = { [clusterId]: Buffer.from(JSON.stringify(writing)).toString("base64") };
    await kube
      .patch(SECRETS, REPOSITORIES_NAME, namespace, { data }, { kind: "merge" })
      .catch(async (error: unknown) => {
        if (!(error instanceof KubeError) || error.status !== 404) throw error;
        const metadata = { name: REPOSITORIES_NAME, namespace, labels: ownLabels(clusterId) };
        const object: KubeObject = { apiVersion: "v1", kind: "Secret", type: "Opaque", metadata, data };
        await kube.create(object);
      });
    kept = writing;
  }

  return {
    current: () => current,
    update(repositories) {
      current = repositories;
      last = last.then(keep).catch((err: unknown) => {
        log.warn(
          { err },
          "credentials of chart repositories could not be stored; after a restart the hub has to send them again",
        );
      });
    },
    settled: () => last,
  };
}

/** Content that is not ours is ignored. */
function decoded(content: string | undefined): readonly RepositoryCredential[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(content ?? "", "base64").toString("utf8"));
    return Array.isArray(value) ? value.filter(isCredential) : [];
  } catch {
    return [];
  }
}

function isCredential(value: unknown): value is RepositoryCredential {
  const { url, username, password } = (value ?? {}) as Record<string, unknown>;
  return [url, username, password].every((field) => typeof field === "string");
}
