import type { KubeObject } from "../store/kube-object.ts";
import { defaultsOf } from "./defaults/kind-defaults.ts";
import { badRequest } from "./fault.ts";
import { isRecord, type JsonRecord } from "./fields/typed-value.ts";
import type { Resource } from "./resource.ts";
import { hollow, normalize, WrongType } from "./schema/normalize.ts";

/** The object as the server keeps it, with its defaults; anything else is refused. */
export function decoded(resource: Resource, body: unknown, onUnknown?: (path: string) => void): KubeObject {
  if (!isRecord(body)) throw badRequest(`the object provided is unrecognized (must be of type ${resource.kind})`);
  const { apiVersion = resource.apiVersion, kind = resource.kind, ...rest } = body;
  const version = String(apiVersion).split("/").at(-1);
  const title = `${String(kind)} in version ${JSON.stringify(version)} cannot be handled as a ${resource.kind}`;
  if (kind !== resource.kind)
    throw badRequest(`${title}: converting (${version}.${String(kind)}) to (${resource.kind}): unknown conversion`);
  if (apiVersion !== resource.apiVersion) {
    throw badRequest(
      `the API version in the data (${String(apiVersion)}) does not match the expected API version (${resource.apiVersion})`,
    );
  }
  const named = { apiVersion, kind, metadata: {}, ...rest };
  try {
    const options = { defaultsOf, ...(onUnknown ? { onUnknown } : {}) };
    return normalize(resource.schema, named, options) as KubeObject;
  } catch (error) {
    if (error instanceof WrongType) throw badRequest(`${title}: ${error.message}`);
    throw error;
  }
}

/** An object of the kind on which nobody has set anything. */
export function nothingOf({ schema, custom, apiVersion, kind }: Resource): JsonRecord {
  return custom ? { apiVersion, kind } : { ...hollow(schema), apiVersion, kind };
}
