import type { KubeObject } from "../store/kube-object.ts";
import type { Core } from "./ports.ts";
import { remove } from "./remove.ts";
import { isDone } from "./update.ts";

const DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io";
const CLEANUP = "customresourcecleanup.apiextensions.k8s.io";

/** Serves the kinds of all custom resource definitions, and takes their objects away with them. */
export function keepDefinitions(core: Core): void {
  const { table, served } = core;
  for (const definition of table.list(DEFINITIONS)) served.define(definition);
  table.listen(({ type, resource, object }) => {
    if (resource === DEFINITIONS) {
      if (type === "DELETED") served.forget(object.metadata.name);
      else served.define(object);
      if (type === "MODIFIED" && isDeleting(object)) removeObjects(core, object);
    } else if (type === "DELETED") finishWhenEmpty(core, table.get(DEFINITIONS, resource));
  });
}

const isDeleting = ({ metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(CLEANUP);

function removeObjects(core: Core, definition: KubeObject): void {
  const resource = core.served.byId(definition.metadata.name);
  if (!resource) return;
  for (const { metadata } of core.table.list(resource.id)) {
    const { name, namespace, deletionTimestamp } = metadata;
    if (!deletionTimestamp) remove(core, resource, { name, namespace }, { dryRun: false });
  }
}

function finishWhenEmpty({ table }: Core, definition: KubeObject | null): void {
  if (!definition || !isDeleting(definition) || table.list(definition.metadata.name).length > 0) return;
  const finalizers = (definition.metadata.finalizers ?? []).filter((one) => one !== CLEANUP);
  const { finalizers: _, ...metadata } = definition.metadata;
  const freed = { ...definition, metadata: { ...metadata, ...(finalizers.length > 0 ? { finalizers } : {}) } };
  if (isDone(freed)) table.remove(DEFINITIONS, freed);
  else table.put(DEFINITIONS, freed);
}
