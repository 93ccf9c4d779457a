import { execInPod } from "./client-exec.adapter.ts";
import { podLogs, watch } from "./client-streams.adapter.ts";
import { createTransport, type Transport } from "./client-transport.adapter.ts";
import { createDiscovery } from "./discovery.adapter.ts";
import type { KubeAccess } from "./kube-access.ts";
import type { KubeClient, KubeObject, ListOptions, ResourceType, WriteOptions } from "./kube-client.ts";
import { KubeError } from "./kube-error.ts";
import { pathOf, type Query } from "./kube-path.ts";

const FIELD_MANAGER = "binnacle";

/** As many objects as an answer may have; a large cluster is read page by page. */
const PAGE_SIZE = 500;

const PATCH_TYPES = { merge: "application/merge-patch+json", json: "application/json-patch+json" } as const;

interface Page<T> {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items: readonly T[];
}

export function createKubeClient(access: KubeAccess): KubeClient {
  const transport = createTransport(access);
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

    async list<T extends KubeObject>(type: ResourceType, { namespace, signal, ...selectors }: ListOptions = {}) {
      const path = pathOf(type, { namespace });
      const ask = (page: Query) => call<Page<T>>({ method: "GET", path, query: { ...selectors, ...page }, signal });
      let page = await ask({ limit: PAGE_SIZE });
      let items = page.items;
      while (page.metadata.continue) {
        page = await ask({ limit: PAGE_SIZE, continue: page.metadata.continue }).catch((error: unknown) => {
          // The list is older than what the server remembers; only as a whole can it still be had.
          if (!isStatus(error, 410)) throw error;
          items = [];
          return ask({});
        });
        items = items.concat(page.items);
      }
      return { resourceVersion: page.metadata.resourceVersion ?? "", items: items.map((item) => named(item, type)) };
    },

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

const inTheNameOf = (user: string, { call, stream }: Transport): Transport => ({
  call: (request) => call({ ...request, as: user }),
  stream: (request) => stream({ ...request, as: user }),
  // The connections are those of the client that it was made of, which closes them.
  close: async () => undefined,
});

/** The items of a list say neither their kind nor their version, which the reader of an object counts on. */
function named<T extends KubeObject>(item: T, { group, version, kind }: ResourceType): T {
  return { ...item, apiVersion: group === "" ? version : `${group}/${version}`, kind };
}

function writing({ dryRun = false, fieldManager = FIELD_MANAGER }: WriteOptions): Query {
  return { fieldManager, dryRun: dryRun ? "All" : undefined };
}

function nullWhenMissing(error: unknown): null {
  if (isStatus(error, 404)) return null;
  throw error;
}

const isStatus = (error: unknown, status: number) => error instanceof KubeError && error.status === status;
