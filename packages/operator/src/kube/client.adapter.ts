import { execInPod } from "./client-exec.adapter.ts";
import { listPages } from "./client-lists.adapter.ts";
import { podLogs, watch } from "./client-streams.adapter.ts";
import { createTransport, type Transport, type TransportTimes } from "./client-transport.adapter.ts";
import { createDiscovery } from "./discovery.adapter.ts";
import type { KubeAccess } from "./kube-access.ts";
import type { KubeClient, KubeObject, WriteOptions } from "./kube-client.ts";
import { KubeError } from "./kube-error.ts";
import { pathOf, type Query } from "./kube-path.ts";

const FIELD_MANAGER = "binnacle";

const PATCH_TYPES = { merge: "application/merge-patch+json", json: "application/json-patch+json" } as const;

export function createKubeClient(access: KubeAccess, times: TransportTimes = {}): KubeClient {
  const transport = createTransport(access, times);
  const exec: KubeClient["exec"] = (...command) => execInPod(access, ...command);
  return clientOver(transport, createDiscovery(transport), exec);
}

function clientOver(
  transport: Transport,
  resourceTypeOf: KubeClient["resourceTypeOf"],
  exec: KubeClient["exec"],
): KubeClient {
  const { call } = transport;

  async function placeOf(object: KubeObject, subresource?: string): Promise<string> {
    const type = await resourceTypeOf(object.apiVersion, object.kind);
    const { name, namespace } = object.metadata;
    return pathOf(type, { name, namespace, subresource });
  }

  return {
    async get(type, name, namespace) {
      return call<never>({ method: "GET", path: pathOf(type, { name, namespace }) }).catch(nullWhenMissing);
    },

    list: (type, options) => listPages(transport, type, options),

    async apply(object, { force = false, ...options } = {}) {
      return call({
        method: "PATCH",
        path: await placeOf(object, options.subresource),
        query: { ...writing(options), force },
        body: object,
        // Every JSON document is a YAML document.
        contentType: "application/apply-patch+yaml",
      });
    },

    async create(object, options = {}) {
      const type = await resourceTypeOf(object.apiVersion, object.kind);
      const { namespace, name } = object.metadata;
      // A namespaced object without a namespace is found out here and not by a bewildering 405.
      pathOf(type, { namespace, name });
      const path = pathOf(type, { namespace });
      return call({ method: "POST", path, query: writing(options), body: object });
    },

    async patch(type, name, namespace, patch, { kind, ...options }) {
      const path = pathOf(type, { name, namespace, subresource: options.subresource });
      const contentType = PATCH_TYPES[kind];
      return call({ method: "PATCH", path, query: writing(options), body: patch, contentType });
    },

    async patchStatus(type, name, namespace, status) {
      const path = pathOf(type, { name, namespace, subresource: "status" });
      const contentType = PATCH_TYPES.merge;
      return call({ method: "PATCH", path, query: writing({}), body: { status }, contentType });
    },

    async delete(type, name, namespace, { propagation, dryRun, ...options } = {}) {
      const body = {
        apiVersion: "v1",
        kind: "DeleteOptions",
        propagationPolicy: propagation,
        ...(dryRun ? { dryRun: ["All"] } : {}),
        ...options,
      };
      const answer = call({ method: "DELETE", path: pathOf(type, { name, namespace }), body });
      return (await answer.catch(nullWhenMissing)) === null ? "gone" : "deleting";
    },

    async raw(method, path, options = {}) {
      return call({ method, path, ...options });
    },

    watch: (type, options) => watch(transport, type, options),
    podLogs: (namespace, pod, options) => podLogs(transport, namespace, pod, options),
    exec,
    version: () => call({ method: "GET", path: "/version" }),
    resourceTypeOf,
    as: (user) =>
      clientOver(inTheNameOf(user, transport), resourceTypeOf, () => {
        throw new Error("Commands in containers are run with the operator's own rights.");
      }),
    close: () => transport.close(),
  };
}

const inTheNameOf = (user: string, { call, read, stream }: Transport): Transport => ({
  call: (request) => call({ ...request, as: user }),
  read: (request, take) => read({ ...request, as: user }, take),
  stream: (request) => stream({ ...request, as: user }),
  // The connections are those of the client that it was made of, which closes them.
  close: async () => undefined,
});

function writing({ dryRun = false, fieldManager = FIELD_MANAGER }: WriteOptions): Query {
  return { fieldManager, dryRun: dryRun ? "All" : undefined };
}

function nullWhenMissing(error: unknown): null {
  if (isStatus(error, 404)) return null;
  throw error;
}

const isStatus = (error: unknown, status: number) => error instanceof KubeError && error.status === status;
