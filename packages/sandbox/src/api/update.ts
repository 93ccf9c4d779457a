import type { KubeObject } from "../store/kube-object.ts";
import { bare, comparable, writerOf } from "./create.ts";
import { decoded } from "./decode.ts";
import { badRequest, conflict, isStale, notFound } from "./fault.ts";
import { entriesOf, type Managers, managersOf } from "./fields/managers.ts";
import { afterUpdate } from "./fields/tracking.ts";
import { isRecord } from "./fields/typed-value.ts";
import type { Core, WriteContext } from "./ports.ts";
import { preparedForUpdate } from "./prepare.ts";
import type { Resource } from "./resource.ts";
import { validateChange } from "./validate.ts";
import { at, isUnchanged, textAt } from "./validation/metadata.ts";

export interface Place {
  readonly name: string;
  readonly namespace: string | undefined;
}

/** Changes an object to what `change` makes of it. */
export function update(
  core: Core,
  resource: Resource,
  { name, namespace }: Place,
  change: (live: KubeObject) => unknown,
  context: WriteContext,
): KubeObject {
  const live = core.table.get(resource.id, name, namespace);
  if (!live) throw notFound(resource, name);
  const candidate = decoded(
    resource,
    inVersion(resource, change(inVersion(resource, live) as KubeObject)),
    context.onUnknown,
  );
  checkVersion(resource, live, candidate);
  const next = inScope(resource, context.subresource, live, candidate);
  const known = givenManagers(live, candidate, context.subresource);
  const managers =
    known.size === 0 && live.metadata.uid && !live.metadata.managedFields
      ? known
      : afterUpdate(resource.schema, comparable(live), comparable(next), known, writerOf(core, resource, context));
  return finish(core, resource, live, next, managers, context);
}

/** Stored in one version, an object is given out in each. */
function inVersion({ apiVersion }: Resource, object: unknown): unknown {
  return isRecord(object) ? { ...object, apiVersion } : object;
}

export function checkVersion(resource: Resource, live: KubeObject, candidate: KubeObject): void {
  const { resourceVersion } = candidate.metadata;
  if (resourceVersion && resourceVersion !== live.metadata.resourceVersion) throw isStale(resource, live.metadata.name);
}

/** Refuses an object whose name or namespace differs from the request. */
export function checkPlace({ name, namespace = "" }: Place, body: unknown): void {
  const [givenName, givenNamespace] = [textAt(body, "metadata", "name"), textAt(body, "metadata", "namespace")];
  if (givenName !== "" && givenName !== name) {
    throw badRequest(`the name of the object (${givenName}) does not match the name on the URL (${name})`);
  }
  if (givenNamespace === "" || givenNamespace === namespace) return;
  const places = `the namespace of the object (${givenNamespace}) does not match the namespace on the request (${namespace})`;
  throw badRequest(places);
}

/** Refuses to replace another object than the one that was read. */
export function checkUid(resource: Resource, live: KubeObject, uid: unknown): void {
  if (typeof uid !== "string" || uid === "" || uid === live.metadata.uid) return;
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.metadata.uid}`;
  throw conflict(resource, live.metadata.name, why);
}

/** Fields outside the written subresource stay as they are. */
export function inScope(resource: Resource, subresource: string, live: KubeObject, candidate: KubeObject): KubeObject {
  if (subresource === "status") {
    const { status: _, ...rest } = live;
    return { ...rest, ...(candidate["status"] === undefined ? {} : { status: candidate["status"] }) } as KubeObject;
  }
  if (!resource.subresources.includes("status")) return candidate;
  const { status: _, ...rest } = candidate;
  return { ...rest, ...(live["status"] === undefined ? {} : { status: live["status"] }) } as KubeObject;
}

function givenManagers(live: KubeObject, candidate: KubeObject, subresource: string): Managers {
  const given = candidate.metadata.managedFields;
  if (subresource !== "" || given === undefined) return managersOf(live);
  const isReset = given.length === 0 || (given.length === 1 && !given[0]?.operation);
  return isReset ? new Map() : managersOf(candidate);
}

/** The last steps, which an apply takes too. */
export function finish(
  core: Core,
  resource: Resource,
  live: KubeObject,
  next: KubeObject,
  managers: Managers,
  context: WriteContext,
): KubeObject {
  const managedFields = entriesOf(managers);
  const { metadata: was } = live;
  const metadata = {
    ...bare(next).metadata,
    ...present({
      uid: next.metadata.uid ?? was.uid,
      creationTimestamp: was.creationTimestamp,
      deletionTimestamp: was.deletionTimestamp,
      deletionGracePeriodSeconds: was.deletionGracePeriodSeconds,
      generation: was.generation,
      resourceVersion: was.resourceVersion,
      namespace: was.namespace,
    }),
    ...(managedFields.length > 0 ? { managedFields } : {}),
  };
  const fixed = fixedParts(resource, context.subresource, live, { ...next, metadata });
  const complete = preparedForUpdate(core, resource, live, fixed);
  validateChange(resource, live, complete);
  if (isUnchanged(live, complete)) return live;
  if (context.dryRun) return complete;
  return isDone(complete) ? core.table.remove(resource.id, complete) : core.table.put(resource.id, complete);
}

type Present<F> = { readonly [N in keyof F]?: Exclude<F[N], undefined> };

/** Without the fields that are not there. */
const present = <F extends object>(fields: F): Present<F> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<F>;

/** The finalizers of a namespace are changed by their own subresource only. */
function fixedParts({ id }: Resource, subresource: string, live: KubeObject, next: KubeObject): KubeObject {
  return id === "namespaces" && subresource !== "finalize" && live["spec"] !== undefined
    ? { ...next, spec: live["spec"] }
    : next;
}

/** Whether nothing holds an object any more that is being deleted. */
export function isDone(object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  if (!deletionTimestamp || deletionGracePeriodSeconds > 0 || finalizers.length > 0) return false;
  const inSpec = object.kind === "Namespace" ? at(object, "spec", "finalizers") : [];
  return !Array.isArray(inSpec) || inSpec.length === 0;
}
