import type { KubeObject } from "../../store/kube-object.ts";
import { badRequest, methodNotAllowed, notFound } from "../fault.ts";
import type { Core, LogSource } from "../ports.ts";
import { remove } from "../remove.ts";
import type { Resource } from "../resource.ts";
import { scaleOf } from "../scale.ts";
import { listed } from "../store-of.ts";
import { update } from "../update.ts";
import { at } from "../validation/metadata.ts";
import { page } from "./list.ts";
import { exec, logs } from "./logs.ts";
import { type ApiRequest, type ApiResponse, json, parsedBody } from "./message.ts";
import { asMetadata, asMetadataList, isAList, metadataAsked, notAList } from "./metadata.ts";
import { isTrue, managerIn, removalIn, selectionIn } from "./options.ts";
import type { Route } from "./route.ts";
import { asTable, isTableAsked, tableEvent } from "./table.ts";
import type { Tokens } from "./tokens.ts";
import { watched } from "./watch.adapter.ts";
import { patch, post, put, type Written } from "./writes.ts";

export interface ObjectsContext {
  readonly core: Core;
  readonly logSource: LogSource;
  readonly tokens: Tokens;
}

/** Answers whatever is asked of objects of a kind. */
export function answered(context: ObjectsContext, route: Route, request: ApiRequest): ApiResponse {
  if (route.name === undefined) return ofMany(context.core, route, request);
  return ofOne(context, { ...route, name: route.name }, request);
}

function ofMany(core: Core, { resource, namespace }: Route, request: ApiRequest): ApiResponse {
  switch (request.method) {
    case "GET": {
      const isTable = isTableAsked(request.headers["accept"]);
      const asked = metadataAsked(request.headers["accept"]);
      if (isTrue(request.query.get("watch"))) {
        if (asked === "PartialObjectMetadataList") throw notAList();
        const whole = isTable ? tableEvent(core, resource) : (object: KubeObject) => inVersion(resource, object);
        return watched(core, resource, namespace, request, asked ? asMetadata : whole);
      }
      if (asked === "PartialObjectMetadata") throw isAList();
      const { metadata, items } = page(core, resource, namespace, request);
      if (asked) return json(200, asMetadataList({ metadata, items }));
      if (isTable) return json(200, asTable(core, resource, items, metadata));
      return json(200, {
        kind: `${resource.kind}List`,
        apiVersion: resource.apiVersion,
        metadata,
        items: items.map((item) => asItem(resource, item)),
      });
    }
    case "POST":
      if (resource.namespaced && namespace === undefined) throw methodNotAllowed();
      return written(resource, "", post(core, resource, namespace, request));
    case "DELETE":
      if (resource.id === "namespaces") throw methodNotAllowed();
      return removeMany(core, resource, namespace, request);
    default:
      throw methodNotAllowed();
  }
}

function ofOne(context: ObjectsContext, route: Route & { readonly name: string }, request: ApiRequest): ApiResponse {
  const { core, logSource } = context;
  const { resource, namespace, name, subresource } = route;
  if (subresource === "token" || subresource === "binding" || subresource === "eviction")
    return special(context, route, request);
  switch (request.method) {
    case "GET": {
      const object = found(core, route);
      if (subresource === "log") return logs(logSource, object, request, core.clock.nowMs());
      if (subresource === "exec") return exec(logSource, object, request);
      if (subresource === "scale") return json(200, scaleOf(resource, object));
      if (isTableAsked(request.headers["accept"]))
        return json(200, asTable(core, resource, [object], { resourceVersion: object.metadata.resourceVersion ?? "" }));
      const asked = metadataAsked(request.headers["accept"]);
      if (asked === "PartialObjectMetadataList") throw notAList();
      if (asked) return json(200, asMetadata(object));
      return json(200, inVersion(resource, object));
    }
    case "PUT":
      return written(resource, subresource, put(core, resource, { name, namespace }, subresource, request));
    case "PATCH":
      return written(resource, subresource, patch(core, resource, { name, namespace }, subresource, request));
    case "DELETE":
      if (subresource !== "") throw methodNotAllowed();
      return removeOne(core, resource, { name, namespace }, request);
    default:
      throw methodNotAllowed();
  }
}

function found({ table }: Core, { resource, name = "", namespace }: Route): KubeObject {
  const object = table.get(resource.id, name, namespace);
  if (!object) throw notFound(resource, name);
  return object;
}

/** Subresources that are not a view of the object but something to be done with it. */
function special(
  { core, tokens }: ObjectsContext,
  route: Route & { readonly name: string },
  request: ApiRequest,
): ApiResponse {
  if (request.method !== "POST") throw methodNotAllowed();
  const { resource, name, namespace, subresource } = route;
  const object = found(core, route);
  const body = parsedBody(request.body, request.headers["content-type"]);
  if (subresource === "token") return json(201, tokens.give(object, body, core.chance.uid(), core.clock.nowMs()));
  if (subresource === "eviction") {
    remove(core, resource, { name, namespace }, { dryRun: false });
  } else {
    const nodeName = at(body, "target", "name");
    if (typeof nodeName !== "string") throw badRequest("a binding needs a target");
    const change = (live: KubeObject) => ({ ...live, spec: { ...(live["spec"] as object), nodeName } });
    update(core, resource, { name, namespace }, change, {
      manager: managerIn(request),
      dryRun: false,
      subresource: "binding",
    });
  }
  return json(201, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 });
}

function written(resource: Resource, subresource: string, { object, isNew, unknown }: Written): ApiResponse {
  const warnings = unknown.map((path) => `299 - ${JSON.stringify(`unknown field ${JSON.stringify(path)}`)}`);
  const headers: Record<string, string> = warnings.length > 0 ? { warning: warnings.join(", ") } : {};
  return json(
    isNew ? 201 : 200,
    subresource === "scale" ? scaleOf(resource, object) : inVersion(resource, object),
    headers,
  );
}

/** Kinds of which the object itself is the answer to its deletion. */
const TOLD_IN_FULL = new Set([
  "pods",
  "services",
  "namespaces",
  "serviceaccounts",
  "persistentvolumeclaims",
  "nodes",
  "persistentvolumes",
  "resourcequotas",
]);

function removeOne(
  core: Core,
  resource: Resource,
  place: { name: string; namespace: string | undefined },
  request: ApiRequest,
): ApiResponse {
  const body = parsedBody(request.body, request.headers["content-type"]);
  const { object, isGone } = remove(core, resource, place, removalIn(request, body));
  if (!isGone || TOLD_IN_FULL.has(resource.id)) return json(200, inVersion(resource, object));
  const { group, plural } = resource;
  const details = { name: place.name, ...(group === "" ? {} : { group }), kind: plural, uid: object.metadata.uid };
  return json(200, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details });
}

function removeMany(core: Core, resource: Resource, namespace: string | undefined, request: ApiRequest): ApiResponse {
  const body = parsedBody(request.body, request.headers["content-type"]);
  const { preconditions: _, ...removal } = removalIn(request, body);
  const objects = listed(core, resource, selectionIn(request, namespace));
  const items = objects.map(
    ({ metadata }) => remove(core, resource, { name: metadata.name, namespace: metadata.namespace }, removal).object,
  );
  const metadata = { resourceVersion: String(core.table.version) };
  return json(200, {
    kind: `${resource.kind}List`,
    apiVersion: resource.apiVersion,
    metadata,
    items: items.map((item) => asItem(resource, item)),
  });
}

/** Stored in one version, an object is given out in each. */
const inVersion = ({ apiVersion }: Resource, object: KubeObject): KubeObject =>
  object.apiVersion === apiVersion ? object : { ...object, apiVersion };

/** Within a list, the kinds of Kubernetes itself are not told again. */
function asItem(resource: Resource, object: KubeObject): unknown {
  if (resource.custom) return inVersion(resource, object);
  const { kind: _, apiVersion: __, ...item } = object;
  return item;
}
