import { canonicalJson, type ReleaseFacts } from "@binnacle/contract";
import { isOurs, ownLabels } from "../desired/ownership.ts";
import type { KubeClient, KubeObject, ResourceType } from "../kube/kube-client.ts";
import { SECRETS } from "../kube/resource-types.ts";
import { type ExportSchema, type ResolvedExports, resolveExports, sourceNames } from "./exports.ts";

const SERVICES: ResourceType = { group: "", version: "v1", plural: "services", kind: "Service", namespaced: true };

/** The Secret that apps read secret exports from. */
export interface ExportsPlace {
  readonly namespace: string;
  readonly name: string;
  /** Labels that name the owner of the exports, besides those of all our objects. */
  readonly labels: Readonly<Record<string, string>>;
}

export interface ExportsPorts {
  readonly kube: Pick<KubeClient, "get" | "apply" | "delete">;
  /** With the rights of the project: values decide which objects are read. */
  readonly kubeIn: (namespace: string) => Pick<KubeClient, "get">;
  readonly clusterId: string;
}

export function createExportsStore({ kube, kubeIn, clusterId }: ExportsPorts) {
  async function resolve(schema: ExportSchema, facts: ReleaseFacts): Promise<ResolvedExports> {
    const { namespace } = facts;
    const { secrets, services } = sourceNames(schema, facts);
    const [foundSecrets, foundServices] = await Promise.all([
      Promise.all(secrets.map((name) => kubeIn(namespace).get(SECRETS, name, namespace))),
      Promise.all(services.map((name) => kubeIn(namespace).get(SERVICES, name, namespace))),
    ]);
    return resolveExports(schema, facts, {
      secrets: new Map(foundSecrets.flatMap((secret) => (secret ? [[secret.metadata.name, contentOf(secret)]] : []))),
      services: new Set(foundServices.flatMap((service) => (service ? [service.metadata.name] : []))),
    });
  }

  const isTheirs = (found: KubeObject, { labels }: Pick<ExportsPlace, "labels">): boolean =>
    !isOurs(found, clusterId) ||
    Object.entries(labels).some(([label, value]) => found.metadata.labels?.[label] !== value);

  /** False where somebody else has a Secret of that name. */
  async function keep(place: ExportsPlace, secret: ResolvedExports["secret"]): Promise<boolean> {
    const { namespace, name, labels } = place;
    const found = await kube.get(SECRETS, name, namespace);
    const isNeeded = Object.keys(secret).length > 0;
    if (found && isTheirs(found, place)) return !isNeeded;
    if (!isNeeded) {
      if (found) await kube.delete(SECRETS, name, namespace);
      return true;
    }
    const data = Object.fromEntries(
      Object.entries(secret).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
    );
    const metadata = { name, namespace, labels: { ...ownLabels(clusterId), ...labels } };
    const isSame = found && canonicalJson(found["data"] ?? {}) === canonicalJson(data);
    if (!isSame)
      await kube.apply({ apiVersion: "v1", kind: "Secret", type: "Opaque", metadata, data }, { force: true });
    return true;
  }

  /** Whether it is gone, or somebody else's. */
  async function drop(place: ExportsPlace): Promise<boolean> {
    const { namespace, name } = place;
    const found = await kube.get(SECRETS, name, namespace);
    if (!found || isTheirs(found, place)) return true;
    const { uid } = found.metadata;
    return (await kube.delete(SECRETS, name, namespace, uid ? { preconditions: { uid } } : {})) === "gone";
  }

  return { resolve, keep, drop };
}

function contentOf(secret: KubeObject): Readonly<Record<string, string>> {
  const data = (secret["data"] ?? {}) as Record<string, string>;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]),
  );
}
