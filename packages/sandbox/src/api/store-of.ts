import { mergePatch } from "@binnacle/contract";
import type { KubeObject } from "../store/kube-object.ts";
import { fieldMatcher, labelMatcher } from "../store/selectors.ts";
import type { GroupResource, Selection, Store, WriteOptions } from "../store/store.ts";
import { create } from "./create.ts";
import { ApiFault, pathNotFound } from "./fault.ts";
import type { Core, WriteContext } from "./ports.ts";
import { remove } from "./remove.ts";
import type { Resource } from "./resource.ts";
import { scaled } from "./scale.ts";
import { update } from "./update.ts";

const CONTROLLER = "kube-controller-manager";

/** The cluster as its own controllers see it. */
export function storeOf(core: Core): Store {
  const { table, served } = core;

  function known(id: GroupResource): Resource {
    const resource = served.byId(id);
    if (!resource) throw pathNotFound();
    return resource;
  }
  const context = (subresource: string, { manager = CONTROLLER, dryRun = false }: WriteOptions = {}): WriteContext => ({
    manager,
    dryRun,
    subresource,
  });
  const placeOf = ({ metadata: { name, namespace } }: KubeObject) => ({ name, namespace });

  return {
    get: (resource, name, namespace) => table.get(resource, name, namespace),
    list: (resource, selection) => listed(core, known(resource), selection),
    create: (resource, object, options) =>
      create(core, known(resource), object.metadata.namespace, object, context("", options)),
    update: (resource, object, options) =>
      update(core, known(resource), placeOf(object), () => object, context("", options)),
    updateStatus: (resource, object, options) =>
      update(core, known(resource), placeOf(object), () => object, context("status", options)),
    patch: (resource, name, namespace, patch, options) =>
      update(core, known(resource), { name, namespace }, (live) => mergePatch(live, patch), context("", options)),
    patchStatus: (resource, name, namespace, status, options) =>
      update(
        core,
        known(resource),
        { name, namespace },
        (live) => mergePatch(live, { status }),
        context("status", options),
      ),
    scale(resource, name, namespace, replicas) {
      const type = known(resource);
      const change = (live: KubeObject) => scaled(type, live, { spec: { replicas } });
      return update(core, type, { name, namespace }, change, context("scale"));
    },
    delete(resource, name, namespace, { dryRun = false, ...options } = {}) {
      try {
        return remove(core, known(resource), { name, namespace }, { ...options, dryRun }).object;
      } catch (error) {
        if (error instanceof ApiFault && error.code === 404) return null;
        throw error;
      }
    },
    finalizeNamespace(name) {
      const change = (live: KubeObject) => ({ ...live, spec: {} });
      update(core, known("namespaces"), { name, namespace: undefined }, change, context("finalize"));
    },
    watch: (resource, listener) =>
      table.listen((change) => {
        if (resource === "*" || change.resource === resource) listener(change);
      }),
    resources: () =>
      served.all().map(({ id, group, version, plural, kind, namespaced }) => ({
        resource: id,
        group,
        version,
        plural,
        kind,
        namespaced,
      })),
  };
}

/** Objects of a kind that are of a selection. */
export function listed({ table }: Core, resource: Resource, selection: Selection = {}): readonly KubeObject[] {
  const { namespace, labelSelector, fieldSelector } = selection;
  const objects = table.list(resource.id, namespace);
  const byLabel = labelSelector ? labelMatcher(labelSelector) : null;
  const byField = fieldSelector
    ? fieldMatcher(fieldSelector, resource.id, resource.namespaced, resource.custom?.selectableFields)
    : null;
  return byLabel || byField
    ? objects.filter((object) => (byLabel?.(object) ?? true) && (byField?.(object) ?? true))
    : objects;
}
