import type { KubeObject } from "../store/kube-object.ts";
import { bare, comparable, store, withoutStatus, writerOf } from "./create.ts";
import { decoded, nothingOf } from "./decode.ts";
import { ApiFault, badRequest, conflict, notFound } from "./fault.ts";
import { managersOf } from "./fields/managers.ts";
import { afterUpdate, applied } from "./fields/tracking.ts";
import { typeProblems } from "./fields/type-problems.ts";
import { isRecord, type JsonRecord, omitting } from "./fields/typed-value.ts";
import type { Core, WriteContext } from "./ports.ts";
import type { Resource } from "./resource.ts";
import { checkPlace, checkVersion, finish, inScope, type Place } from "./update.ts";
import { recordAt, textAt } from "./validation/metadata.ts";

export interface Applying extends WriteContext {
  readonly force: boolean;
}

/** Server-side apply; tells whether the object is new. */
export function apply(
  core: Core,
  resource: Resource,
  place: Place,
  config: unknown,
  context: Applying,
): { readonly object: KubeObject; readonly isNew: boolean } {
  const body = checked(resource, place, config);
  const live = core.table.get(resource.id, place.name, place.namespace);
  if (!live) return { object: applyNew(core, resource, place, body, context), isNew: true };
  const liveNow = { ...comparable(live), apiVersion: resource.apiVersion };
  const known = live.metadata.managedFields?.length
    ? managersOf(live)
    : beforeFirstApply(core, resource, liveNow, context);
  const writer = { ...writerOf(core, resource, context), force: context.force };
  const result = applied(resource.schema, liveNow, body, known, writer);
  const candidate = decoded(resource, result.object, context.onUnknown);
  checkVersion(resource, live, candidate);
  const next = inScope(resource, context.subresource, live, candidate);
  return { object: finish(core, resource, live, next, result.managers, context), isNew: false };
}

function applyNew(core: Core, resource: Resource, place: Place, body: JsonRecord, context: Applying): KubeObject {
  if (context.subresource !== "") throw notFound(resource, place.name);
  const { uid, name: given } = isRecord(body["metadata"]) ? body["metadata"] : {};
  if (!given)
    throw badRequest(`the name of the object (${place.name} based on URL) was undeterminable: name must be provided`);
  if (uid) {
    const why = `uid mismatch: the provided object specified uid ${textAt({ uid }, "uid")}, and no existing object was found`;
    throw conflict(resource, place.name, why);
  }
  const writer = { ...writerOf(core, resource, context), force: context.force };
  const { object, managers } = applied(resource.schema, nothingOf(resource), body, new Map(), writer);
  const { name, namespace } = place;
  const candidate = decoded(resource, object, context.onUnknown);
  const metadata = { ...bare(candidate).metadata, name, ...(namespace === undefined ? {} : { namespace }) };
  return store(core, resource, withoutStatus(resource, { ...candidate, metadata }), managers, context);
}

/** Fields of an object that nobody has managed are held by whoever was there before. */
function beforeFirstApply(core: Core, resource: Resource, live: JsonRecord, context: Applying) {
  const writer = writerOf(core, resource, { ...context, manager: "before-first-apply" });
  return afterUpdate(resource.schema, nothingOf(resource), live, new Map(), writer);
}

function checked(resource: Resource, { name, namespace }: Place, config: unknown): JsonRecord {
  if (!isRecord(config)) throw badRequest("error decoding YAML: the patch is not an object");
  const [apiVersion, kind] = [textAt(config, "apiVersion"), textAt(config, "kind")];
  if (apiVersion !== resource.apiVersion || kind !== resource.kind) {
    throw badRequest(`invalid object type: ${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${kind}`);
  }
  const metadata = recordAt(config, "metadata");
  if ((metadata["managedFields"] ?? null) !== null) throw badRequest("metadata.managedFields must be nil");
  const [givenName, givenNamespace] = [textAt(metadata, "name"), textAt(metadata, "namespace")];
  const problems = typeProblems(resource.schema, config);
  if (problems.length > 0) {
    const title = `${givenNamespace}/${givenName}; ${resource.group}/${resource.version}, Kind=${resource.kind}`;
    const text = problems.length === 1 ? problems[0] : `errors:\n  ${problems.join("\n  ")}`;
    throw new ApiFault(500, "", `failed to create typed patch object (${title}): ${text}`);
  }
  checkPlace({ name, namespace }, config);
  return { ...config, metadata: omitting(metadata, "creationTimestamp") };
}
