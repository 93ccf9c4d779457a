import { ApiFault } from "../fault.ts";
import type { Core, LogSource, UsageSource } from "../ports.ts";
import { type Act, actingAs, checkAllowed, verbOf } from "./authorization.ts";
import { aggregated, coreVersions, groupDocument, groupList, isServed, resourceList } from "./discovery.ts";
import { type ApiRequest, type ApiResponse, json, refused, text } from "./message.ts";
import { METRICS_GROUP, metrics } from "./metrics.ts";
import { answered } from "./objects.adapter.ts";
import { openApiDocument, openApiIndex, openApiV2 } from "./openapi.ts";
import { isTrue } from "./options.ts";
import { review } from "./reviews.ts";
import { groupPath, type Route, routeOf } from "./route.ts";
import { Tokens } from "./tokens.ts";

export interface HandlerOptions {
  readonly core: Core;
  readonly logSource: LogSource;
  readonly usageSource: UsageSource;
  /** Null admits everybody. */
  readonly token: string | null;
}

export type Handler = (request: ApiRequest) => ApiResponse;

/** In every answer, so that nobody takes this for a real cluster. */
const MARK = { "x-binnacle-sandbox": "simulated" };

const VERSION = {
  major: "1",
  minor: "37",
  gitVersion: "v1.37.1-binnacle-sandbox",
  gitCommit: "simulated",
  gitTreeState: "clean",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "none",
  compiler: "none",
  platform: "binnacle/sandbox",
};

/** The Kubernetes API of one cluster, from a request to its answer. */
export function createHandler({ core, logSource, usageSource, token }: HandlerOptions): Handler {
  const tokens = new Tokens(token);

  function answer(request: ApiRequest): ApiResponse {
    const sender = tokens.identify(request.headers["authorization"]);
    if (!sender) throw new ApiFault(401, "Unauthorized", "Unauthorized");
    const identity = actingAs(core, sender, request);
    const about = aboutServer(core, request);
    if (about) return about;
    const place = groupPath(request.path);
    if (!place) return text(404, "404 page not found\n");
    const { group, version, rest } = place;
    if (!isServed(core.served, group, version)) return text(404, "404 page not found\n");
    if (rest.length === 0) return json(200, resourceList(core.served, group, version));
    const reviewed = review(core, identity, group, rest, request);
    if (reviewed) return reviewed;
    if (group === METRICS_GROUP) {
      const isInNamespace = rest[0] === "namespaces";
      const resource = (isInNamespace ? rest[2] : rest[0]) ?? "";
      checkAllowed(core, identity, {
        verb: "get",
        group,
        resource,
        name: undefined,
        namespace: isInNamespace ? rest[1] : undefined,
      });
      return metrics(core, usageSource, rest, request);
    }
    const route = routeOf(core.served, place);
    checkAllowed(core, identity, actOf(route, request));
    return answered({ core, logSource, tokens }, route, request);
  }

  return (request) => {
    const response = tried(() => answer(request));
    return { ...response, headers: { ...response.headers, ...MARK } };
  };
}

function actOf({ resource, namespace, name, subresource }: Route, { method, query }: ApiRequest): Act {
  return {
    verb: verbOf(method, name !== undefined, isTrue(query.get("watch"))),
    group: resource.group,
    resource: subresource === "" ? resource.plural : `${resource.plural}/${subresource}`,
    name,
    namespace,
  };
}

function tried(answer: () => ApiResponse): ApiResponse {
  try {
    return answer();
  } catch (error) {
    return refused(error);
  }
}

const AGGREGATED = "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const AGGREGATED_TYPE = { "content-type": `application/json;${AGGREGATED}` };

/** Questions about the server itself and not about any object. */
function aboutServer({ served }: Core, { path, headers }: ApiRequest): ApiResponse | null {
  const isAggregatedAsked = (headers["accept"] ?? "").includes(AGGREGATED);
  if (path === "/version" || path === "/version/") return json(200, VERSION);
  if (path === "/readyz" || path === "/livez" || path === "/healthz") return text(200, "ok");
  if (path === "/api")
    return isAggregatedAsked ? json(200, aggregated(served, true), AGGREGATED_TYPE) : json(200, coreVersions());
  if (path === "/apis")
    return isAggregatedAsked ? json(200, aggregated(served, false), AGGREGATED_TYPE) : json(200, groupList(served));
  if (path === "/openapi/v2") return json(200, openApiV2());
  if (path === "/openapi/v3") return json(200, openApiIndex(served));
  if (path.startsWith("/openapi/v3/")) return openApi(openApiDocument(served, path.slice("/openapi/v3/".length)));
  const group = /^\/apis\/([^/]+)\/?$/.exec(path)?.[1];
  if (group === undefined) return null;
  const document = groupDocument(served, group);
  return document ? json(200, document) : text(404, "404 page not found\n");
}

const openApi = (body: string | null): ApiResponse =>
  body === null
    ? text(404, "404 page not found\n")
    : { status: 200, headers: { "content-type": "application/json" }, body };
