import type { Handler } from "./handler.adapter.ts";
import type { ApiRequest, ApiResponse } from "./message.ts";

export interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
  readonly type?: string | undefined;
  readonly token?: string;
  readonly accept?: string | undefined;
  readonly as?: string;
}

function requestOf({ method = "GET", path, body, type = "application/json", token, accept, as }: Asked): ApiRequest {
  const [place = "", query = ""] = path.split("?");
  return {
    method,
    path: place,
    query: new URLSearchParams(query),
    headers: {
      "user-agent": "tester/1",
      "content-type": type,
      accept,
      "impersonate-user": as,
      authorization: token === undefined ? undefined : `Bearer ${token}`,
    },
    body: body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body),
  };
}

/** Asks the API without a connection; JSON comes parsed. */
export function ask(
  handler: Handler,
  asked: Asked,
): { readonly status: number; readonly answer: unknown; readonly response: ApiResponse } {
  const response = handler(requestOf(asked));
  const isJson = response.headers["content-type"]?.startsWith("application/json");
  const answer: unknown = isJson && response.body ? JSON.parse(response.body) : response.body;
  return { status: response.status, answer, response };
}

/** The path of objects in a namespace: `deployments.apps/d` stands for `/apis/apps/v1/namespaces/…/deployments/d`. */
export function pathIn(namespace: string, path: string): string {
  if (path.startsWith("/")) return path;
  const [, plural = "", group = "", rest = ""] = /^([a-z]+)(?:\.([a-z0-9.]+))?(.*)$/.exec(path) ?? [];
  const version = group === "autoscaling" ? "v2" : "v1";
  return `${group === "" ? "/api" : `/apis/${group}`}/${version}/namespaces/${namespace}/${plural}${rest}`;
}
