import { mergePatch } from "@binnacle/contract";
import type { KubeObject } from "../../store/kube-object.ts";
import { apply } from "../apply.ts";
import { create } from "../create.ts";
import { ApiFault, badRequest, invalid, invalidValue } from "../fault.ts";
import { isRecord } from "../fields/typed-value.ts";
import { jsonPatch } from "../patch/json-patch.ts";
import { strategicPatch } from "../patch/strategic-patch.ts";
import type { Core, WriteContext } from "../ports.ts";
import type { Resource } from "../resource.ts";
import { scaled, scaleOf } from "../scale.ts";
import { checkPlace, checkUid, type Place, update } from "../update.ts";
import { at, textAt } from "../validation/metadata.ts";
import { type ApiRequest, parsedBody } from "./message.ts";
import { applierIn, dryRunIn, isTrue, managerIn } from "./options.ts";

export interface Written {
  readonly object: KubeObject;
  readonly isNew: boolean;
  /** Fields that the server does not know. */
  readonly unknown: readonly string[];
}

type Answer = Omit<Written, "unknown">;

/** Runs a write. Unknown fields are refused or warned about, as the request asks. */
function carriedOut(
  request: ApiRequest,
  resource: Resource,
  subresource: string,
  kind: string,
  write: (context: WriteContext) => Answer,
): Written {
  const unknown = new Set<string>();
  const dryRun = dryRunIn(request.query.getAll("dryRun"), kind);
  const isStrict = request.query.get("fieldValidation") === "Strict";
  const context = { manager: managerIn(request), dryRun, subresource, onUnknown: (path: string) => unknown.add(path) };
  // A refused object must not have been written first.
  if (isStrict && !dryRun) {
    write({ ...context, dryRun: true });
    refuseUnknown(request, resource, unknown);
  }
  const answer = write(context);
  if (isStrict) refuseUnknown(request, resource, unknown);
  return { ...answer, unknown: [...unknown] };
}

function refuseUnknown(request: ApiRequest, { kind, version }: Resource, unknown: ReadonlySet<string>): void {
  if (unknown.size === 0) return;
  const text = `strict decoding error: ${[...unknown].map((path) => `unknown field ${JSON.stringify(path)}`).join(", ")}`;
  if (request.method === "PATCH")
    throw invalid({ group: "", kind: "" }, "", [invalidValue("patch", request.body, text)]);
  throw badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${text}`);
}

export function post(core: Core, resource: Resource, namespace: string | undefined, request: ApiRequest): Written {
  const body = parsedBody(request.body, request.headers["content-type"], resource.kind);
  return carriedOut(request, resource, "", "CreateOptions", (context) => ({
    object: create(core, resource, namespace, body, context),
    isNew: true,
  }));
}

export function put(core: Core, resource: Resource, place: Place, subresource: string, request: ApiRequest): Written {
  const body = parsedBody(request.body, request.headers["content-type"], resource.kind);
  checkPlace(place, body);
  if (textAt(body, "metadata", "name") === "") {
    throw badRequest(`the name of the object (${place.name} based on URL) was undeterminable: name must be provided`);
  }
  const change = (live: KubeObject) => {
    if (subresource === "scale") return scaled(resource, live, body);
    checkUid(resource, live, at(body, "metadata", "uid"));
    return body;
  };
  return carriedOut(request, resource, subresource, "UpdateOptions", (context) => ({
    object: update(core, resource, place, change, context),
    isNew: false,
  }));
}

export function patch(core: Core, resource: Resource, place: Place, subresource: string, request: ApiRequest): Written {
  const type = (request.headers["content-type"] ?? "").split(";")[0]?.trim() ?? "";
  if (type === "application/apply-patch+yaml") return applyPatch(core, resource, place, subresource, request);
  const how = patchOf(resource, type);
  const body = parsedBody(request.body, type, resource.kind);
  const change = (live: KubeObject) =>
    subresource === "scale" ? scaled(resource, live, how(scaleOf(resource, live), body)) : how(live, body);
  return carriedOut(request, resource, subresource, "PatchOptions", (context) => ({
    object: update(core, resource, place, change, context),
    isNew: false,
  }));
}

function applyPatch(core: Core, resource: Resource, place: Place, subresource: string, request: ApiRequest): Written {
  const manager = applierIn(request);
  const force = isTrue(request.query.get("force"));
  const config = parsedBody(request.body, "yaml", resource.kind);
  return carriedOut(request, resource, subresource, "PatchOptions", (context) => {
    if (subresource !== "scale") return apply(core, resource, place, config, { ...context, manager, force });
    const change = (live: KubeObject) => scaled(resource, live, mergePatch(scaleOf(resource, live), config));
    return { object: update(core, resource, place, change, { ...context, manager }), isNew: false };
  });
}

function patchOf(resource: Resource, type: string): (target: unknown, patch: unknown) => unknown {
  if (type === "application/merge-patch+json") return mergePatch;
  if (type === "application/json-patch+json") return jsonPatch;
  if (type === "application/strategic-merge-patch+json" && !resource.custom) {
    return (target, changes) => {
      if (!isRecord(target) || !isRecord(changes)) throw badRequest("the patch is not an object");
      return strategicPatch(resource.schema, target, changes);
    };
  }
  throw new ApiFault(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
}
