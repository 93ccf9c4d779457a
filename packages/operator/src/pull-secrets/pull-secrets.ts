import { API_GROUP, canonicalJson, LABELS } from "@binnacle/contract";
import type { StoredResource } from "../desired/desired-state.ts";
import { isOurs, ownLabels } from "../desired/ownership.ts";
import type { KubeObject } from "../kube/kube-client.ts";

export type RegistrySecrets = StoredResource<"registry_secrets">;
type Registry = RegistrySecrets["secret"]["registries"][number];

/** Tells pull secrets from the other Secrets that are ours. */
export const PULL_SECRET_LABEL = `${API_GROUP}/pull-secret`;
const TYPE = "kubernetes.io/dockerconfigjson";
const CONTENT = ".dockerconfigjson";

/** The pull secrets of the workloads in a namespace; none where the hub has sent no registries. */
export const pullSecretNames = (stored: Pick<RegistrySecrets, "spec" | "isDeleting"> | null): readonly string[] =>
  stored === null || stored.isDeleting ? [] : stored.spec.names;

/** Docker Hub has this name in every tool's configuration, whatever people call it. */
const DOCKER_HUB = "https://index.docker.io/v1/";
const IS_DOCKER_HUB = /^(https?:\/\/)?((registry-1|index)\.)?docker\.io(\/v[12])?\/*$/i;

/** As the kubelet compares it with the beginning of an image's name. */
function serverOf(server: string): string {
  if (IS_DOCKER_HUB.test(server)) return DOCKER_HUB;
  const [host = "", ...path] = server
    .replace(/^https?:\/\//i, "")
    .replace(/\/+$/, "")
    .split("/");
  return [host.toLowerCase(), ...path].join("/");
}

function pullSecretOf(registry: Registry, stored: RegistrySecrets, clusterId: string): KubeObject {
  const { name, server, username, password } = registry;
  const auth = Buffer.from(`${username}:${password}`).toString("base64");
  const config = canonicalJson({ auths: { [serverOf(server)]: { username, password, auth } } });
  return {
    apiVersion: "v1",
    kind: "Secret",
    type: TYPE,
    metadata: {
      name,
      namespace: stored.spec.namespace,
      labels: { ...ownLabels(clusterId), [LABELS.project]: stored.spec.project_id, [PULL_SECRET_LABEL]: "true" },
    },
    data: { [CONTENT]: Buffer.from(config).toString("base64") },
  };
}

export interface PullSecretPlan {
  readonly apply: readonly KubeObject[];
  readonly prune: readonly KubeObject[];
  /** Names that somebody else's Secrets have; those are not touched. */
  readonly taken: readonly string[];
}

/** `found` are the Secrets of the namespace that are ours by their labels, and those with the names that are wanted. */
export function planPullSecrets(
  stored: RegistrySecrets,
  found: readonly KubeObject[],
  clusterId: string,
): PullSecretPlan {
  const wanted = stored.isDeleting
    ? []
    : stored.secret.registries.map((registry) => pullSecretOf(registry, stored, clusterId));
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  const byName = new Map(found.map((secret) => [secret.metadata.name, secret]));
  const isPullSecretOfOurs = (secret: KubeObject) =>
    isOurs(secret, clusterId) && secret.metadata.labels?.[PULL_SECRET_LABEL] !== undefined;
  const isTaken = ({ metadata: { name } }: KubeObject) => {
    const there = byName.get(name);
    return there !== undefined && !isPullSecretOfOurs(there);
  };
  return {
    apply: wanted.filter((secret) => !isTaken(secret) && !isSame(byName.get(secret.metadata.name), secret)),
    prune: found.filter((secret) => isPullSecretOfOurs(secret) && !names.has(secret.metadata.name)),
    taken: wanted.filter(isTaken).map(({ metadata }) => metadata.name),
  };
}

function isSame(found: KubeObject | undefined, wanted: KubeObject): boolean {
  if (!found) return false;
  const { labels = {} } = wanted.metadata;
  return (
    canonicalJson(found["data"]) === canonicalJson(wanted["data"]) &&
    Object.entries(labels).every(([name, value]) => found.metadata.labels?.[name] === value)
  );
}
