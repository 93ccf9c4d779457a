import type { KubeObject, ObjectDraft } from "../store/kube-object.ts";
import { decoded, nothingOf } from "./decode.ts";
import { alreadyExists, badRequest } from "./fault.ts";
import type { FieldSet } from "./fields/field-set.ts";
import { entriesOf, type Managers } from "./fields/managers.ts";
import { afterUpdate, allButStatus, onlyStatus, type Writer } from "./fields/tracking.ts";
import { isRecord, type JsonRecord, omitting } from "./fields/typed-value.ts";
import { type Core, timestamp, type WriteContext } from "./ports.ts";
import { preparedForCreate } from "./prepare.ts";
import type { Resource } from "./resource.ts";
import { checkDefinition, checkNamespace, validateNew } from "./validate.ts";

/** Stores a new object as somebody has drawn it up. */
export function create(
  core: Core,
  resource: Resource,
  namespace: string | undefined,
  draft: unknown,
  context: WriteContext,
): KubeObject {
  const body = placed(core, resource, namespace, draft);
  const object = withoutStatus(resource, decoded(resource, body, context.onUnknown));
  const managers = afterUpdate(
    resource.schema,
    nothingOf(resource),
    bare(object),
    new Map(),
    writerOf(core, resource, context),
  );
  return store(core, resource, object, managers, context);
}

/** The last steps, which an apply that finds nothing takes too. */
export function store(
  core: Core,
  resource: Resource,
  object: KubeObject,
  managers: Managers,
  context: WriteContext,
): KubeObject {
  checkNamespace(core, resource, object);
  checkDefinition(core, resource);
  const managedFields = entriesOf(managers);
  const born = {
    ...bare(object),
    metadata: {
      ...bare(object).metadata,
      uid: core.chance.uid(),
      creationTimestamp: timestamp(core),
      ...(managedFields.length > 0 ? { managedFields } : {}),
    },
  };
  const complete = preparedForCreate(core, resource, born);
  validateNew(resource, complete);
  const { name, namespace } = complete.metadata;
  if (core.table.get(resource.id, name, namespace)) throw alreadyExists(resource, name);
  return context.dryRun ? complete : core.table.put(resource.id, complete);
}

/** The draft in the namespace of the request, with a name made up when only its beginning is given. */
function placed({ chance }: Core, resource: Resource, namespace: string | undefined, draft: unknown): unknown {
  if (!isRecord(draft)) return draft;
  const metadata: ObjectDraft["metadata"] = isRecord(draft["metadata"])
    ? (draft["metadata"] as ObjectDraft["metadata"])
    : {};
  if (namespace !== undefined && metadata.namespace && metadata.namespace !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  const { namespace: _, ...rest } = metadata;
  const name =
    metadata.name || (metadata.generateName ? `${metadata.generateName.slice(0, 58)}${chance.suffix()}` : undefined);
  return {
    ...draft,
    metadata: {
      ...rest,
      ...(name ? { name } : {}),
      ...(resource.namespaced && namespace !== undefined ? { namespace } : {}),
    },
  };
}

/** Without what only the server decides. */
export function bare(object: KubeObject): KubeObject {
  return { ...object, metadata: omitting(object.metadata, ...SERVER_FIELDS) };
}

const SERVER_FIELDS = [
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "generation",
  "managedFields",
] as const;

/** Whoever creates an object cannot set its status. */
export function withoutStatus(resource: Resource, object: KubeObject): KubeObject {
  if (!resource.subresources.includes("status") || object["status"] === undefined) return object;
  const { status: _, ...rest } = object;
  return resource.custom ? (rest as KubeObject) : decoded(resource, rest);
}

export function writerOf(core: Core, resource: Resource, { manager, subresource }: WriteContext): Writer {
  return {
    manager,
    subresource,
    apiVersion: resource.apiVersion,
    time: timestamp(core),
    filter: filterFor(resource, subresource),
  };
}

function filterFor({ subresources }: Resource, subresource: string): (set: FieldSet) => FieldSet {
  if (subresource === "status") return onlyStatus;
  return subresource === "" && subresources.includes("status") ? allButStatus : (set) => set;
}

/** As it is compared with another: who manages what is not part of what it says. */
export function comparable(object: JsonRecord | KubeObject): JsonRecord {
  const { managedFields: _, ...metadata } = isRecord(object["metadata"]) ? object["metadata"] : {};
  return { ...object, metadata };
}
