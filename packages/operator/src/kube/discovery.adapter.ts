import type { Transport } from "./client-transport.adapter.ts";
import type { ResourceType } from "./kube-client.ts";
import { KubeError } from "./kube-error.ts";
import { groupPath, splitApiVersion } from "./kube-path.ts";

type Types = ReadonlyMap<string, ResourceType>;

/** Knows where each kind lives. A kind is asked for until it is found, because definitions come at any time. */
export function createDiscovery({ call }: Pick<Transport, "call">) {
  const known = new Map<string, Types>();
  const asked = new Map<string, Promise<Types>>();

  async function discover(apiVersion: string): Promise<Types> {
    const { group, version } = splitApiVersion(apiVersion);
    const answer = await call({ method: "GET", path: groupPath(group, version) }).catch((error: unknown) => {
      if (error instanceof KubeError && error.status === 404) return {};
      throw error;
    });
    const types = typesIn(apiVersion, answer);
    known.set(apiVersion, types);
    return types;
  }

  return async (apiVersion: string, kind: string): Promise<ResourceType> => {
    const seen = known.get(apiVersion)?.get(kind);
    if (seen) return seen;
    const asking = asked.get(apiVersion) ?? discover(apiVersion).finally(() => asked.delete(apiVersion));
    asked.set(apiVersion, asking);
    const type = (await asking).get(kind);
    if (type) return type;
    const message = `The cluster knows no kind ${kind} in ${apiVersion}.`;
    throw new KubeError({ status: 404, reason: "UnknownKind", message, details: { kind } });
  };
}

interface ApiResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** The kinds that the API server lists under a group and version, without their subresources. */
function typesIn(apiVersion: string, answer: unknown): ReadonlyMap<string, ResourceType> {
  const { resources = [] } = answer as { readonly resources?: readonly ApiResource[] };
  const place = splitApiVersion(apiVersion);
  return new Map(
    resources
      .filter(({ name }) => !name.includes("/"))
      .map(({ name, kind, namespaced }) => [kind, { ...place, plural: name, kind, namespaced }]),
  );
}
