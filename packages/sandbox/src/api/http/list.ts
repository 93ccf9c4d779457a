import type { KubeObject } from "../../store/kube-object.ts";
import { badRequest, gone } from "../fault.ts";
import { isRecord } from "../fields/typed-value.ts";
import type { Core } from "../ports.ts";
import type { Resource } from "../resource.ts";
import { listed } from "../store-of.ts";
import type { ApiRequest } from "./message.ts";
import { selectionIn } from "./options.ts";

export interface Page {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly KubeObject[];
}

/** One page of the objects of a kind. */
export function page(core: Core, resource: Resource, namespace: string | undefined, request: ApiRequest): Page {
  const { query } = request;
  const isFromMemory = query.get("resourceVersion") === "0";
  // An API server that answers from its memory ignores the limit.
  const limit = isFromMemory ? 0 : Number(query.get("limit") ?? 0);
  if (query.get("continue") && query.has("resourceVersion"))
    throw badRequest("specifying resource version is not allowed when using continue");
  const from = continued(core, query.get("continue"));
  const version = from?.version ?? core.table.version;
  const all = listed(core, resource, selectionIn(request, namespace));
  const rest = from ? all.filter((object) => keyOf(object) > from.after) : all;
  const items = limit > 0 ? rest.slice(0, limit) : rest;
  const last = items.at(-1);
  const left = rest.length - items.length;
  const isSelected = query.has("labelSelector") || query.has("fieldSelector");
  return {
    metadata: {
      resourceVersion: String(version),
      ...(left > 0 && last ? { continue: tokenOf(version, keyOf(last)) } : {}),
      ...(left > 0 && !isSelected ? { remainingItemCount: left } : {}),
    },
    items,
  };
}

const keyOf = ({ metadata: { namespace = "", name } }: KubeObject) => `${namespace}/${name}`;

/** In the token that comes with the refusal of one that is too old. */
const ANY_VERSION = -1;

const tokenOf = (version: number, after: string) =>
  Buffer.from(JSON.stringify({ version, after })).toString("base64url");

function continued({ table }: Core, token: string | null): { readonly version: number; readonly after: string } | null {
  if (!token) return null;
  const value = decodedToken(token);
  if (!isRecord(value) || typeof value["version"] !== "number" || typeof value["after"] !== "string") {
    throw badRequest("invalid continue token: continue key is not valid");
  }
  const { version, after } = value;
  if (version !== ANY_VERSION && table.changesSince(version) === null) {
    throw gone(
      "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
      tokenOf(ANY_VERSION, after),
    );
  }
  return { version: version === ANY_VERSION ? table.version : version, after };
}

function decodedToken(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token, "base64url").toString());
  } catch {
    return null;
  }
}
