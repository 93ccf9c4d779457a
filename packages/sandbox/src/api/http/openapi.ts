import { isRecord, type JsonRecord } from "../fields/typed-value.ts";
import { KINDS } from "../kinds.ts";
import type { ServedResources } from "../resource.ts";
import { BUILT_IN, type Resource } from "../resource.ts";
import { longName } from "../schema/go-types.ts";
import { compactFieldsOf } from "../schema/kubernetes-schema.ts";

const TITLE = { title: "Kubernetes (simulated by the Binnacle sandbox)", version: "1.37" };
const META = "meta.v1.ObjectMeta";

const pathOf = (group: string, version: string) => (group === "" ? `api/${version}` : `apis/${group}/${version}`);

/** `/openapi/v3`: where the document of each group and version is. */
export function openApiIndex(served: ServedResources) {
  const paths = new Set(served.all().map(({ group, version }) => pathOf(group, version)));
  const entries = [...paths].map((path) => [
    path,
    { serverRelativeURL: `/openapi/v3/${path}?hash=${served.revision}` },
  ]);
  return { paths: Object.fromEntries(entries) };
}

const builtInDocuments = new Map<string, string>();

/** The document of a group and version as JSON; those of Kubernetes itself are made once for all sandboxes. */
export function openApiDocument(served: ServedResources, path: string): string | null {
  const custom = served.custom().filter(({ group, version }) => pathOf(group, version) === path);
  if (custom.length > 0) return JSON.stringify(documentOf(custom));
  const known = builtInDocuments.get(path);
  if (known !== undefined) return known;
  const resources = BUILT_IN.filter(({ group, version }) => pathOf(group, version) === path);
  if (resources.length === 0) return null;
  const document = JSON.stringify(documentOf(resources));
  builtInDocuments.set(path, document);
  return document;
}

function documentOf(resources: readonly Resource[]) {
  return {
    openapi: "3.0.0",
    info: TITLE,
    paths: Object.assign({}, ...resources.map(pathsOf)) as JsonRecord,
    components: { schemas: Object.assign(schemasFor(META), ...resources.map(schemasOf)) as JsonRecord },
  };
}

const typeOf = (resource: Resource): string | undefined =>
  KINDS.find(
    ({ group, version, kind }) => group === resource.group && version === resource.version && kind === resource.kind,
  )?.type;

function nameOf(resource: Resource): string {
  const type = typeOf(resource);
  return type ? longName(type) : [...resource.group.split(".").reverse(), resource.version, resource.kind].join(".");
}

const gvk = ({ group, version, kind }: Resource) => ({ group, version, kind });

function schemasOf(resource: Resource): JsonRecord {
  const type = typeOf(resource);
  const marks = { "x-kubernetes-group-version-kind": [gvk(resource)] };
  if (type) {
    const schemas = schemasFor(type);
    const own = schemas[longName(type)];
    return { ...schemas, [longName(type)]: { ...(isRecord(own) ? own : {}), ...marks } };
  }
  const { openApi = {} } = resource.custom ?? {};
  const properties = {
    ...(isRecord(openApi["properties"]) ? openApi["properties"] : {}),
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { allOf: [{ $ref: `#/components/schemas/${longName(META)}` }] },
  };
  return { [nameOf(resource)]: { type: "object", ...openApi, properties, ...marks } };
}

/** A type and all that it is made of. */
function schemasFor(root: string): Record<string, unknown> {
  const schemas: Record<string, unknown> = {};
  const queue = [root];
  for (let type = queue.shift(); type !== undefined; type = queue.shift()) {
    const name = longName(type);
    if (schemas[name]) continue;
    const { "": flags, ...fields } = compactFieldsOf(type);
    const properties = Object.fromEntries(
      Object.entries(fields).map(([field, text]) => [field, propertyOf(text, queue)]),
    );
    const required = Object.entries(fields)
      .filter(([, text]) => text.split(" ").includes("!"))
      .map(([field]) => field);
    schemas[name] = {
      type: "object",
      properties,
      ...(required.length > 0 ? { required } : {}),
      ...(flags ? { "x-kubernetes-map-type": "atomic" } : {}),
    };
  }
  return schemas;
}

const SCALARS: Readonly<Record<string, JsonRecord>> = {
  string: { type: "string" },
  integer: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  number: { type: "number", format: "double" },
  boolean: { type: "boolean" },
  bytes: { type: "string", format: "byte" },
  any: { type: "object" },
  Quantity: { oneOf: [{ type: "string" }, { type: "number" }] },
  IntOrString: { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
  Time: { type: "string", format: "date-time" },
  MicroTime: { type: "string", format: "date-time" },
};

function propertyOf(text: string, queue: string[]): JsonRecord {
  const [type = "", ...words] = text.split(" ");
  const after = (prefix: string) => words.find((word) => word.startsWith(prefix))?.slice(prefix.length);
  const keys = after("map:")?.split(",");
  const mergeKey = after("merge:");
  const strategy = [
    ...(mergeKey || words.includes("merge") ? ["merge"] : []),
    ...(words.includes("retainKeys") ? ["retainKeys"] : []),
    ...(words.includes("replace") ? ["replace"] : []),
  ];
  return {
    ...typeSchema(type, queue),
    ...(type.startsWith("[")
      ? { "x-kubernetes-list-type": keys ? "map" : words.includes("set") ? "set" : "atomic" }
      : {}),
    ...(keys ? { "x-kubernetes-list-map-keys": keys } : {}),
    ...(mergeKey ? { "x-kubernetes-patch-merge-key": mergeKey } : {}),
    ...(strategy.length > 0 ? { "x-kubernetes-patch-strategy": strategy.join(",") } : {}),
    ...(words.includes("atomic") && !type.startsWith("[") ? { "x-kubernetes-map-type": "atomic" } : {}),
  };
}

function typeSchema(type: string, queue: string[]): JsonRecord {
  if (type.startsWith("[")) return { type: "array", items: typeSchema(type.slice(1, -1), queue) };
  if (type.startsWith("{")) return { type: "object", additionalProperties: typeSchema(type.slice(1, -1), queue) };
  if (!type.includes(".")) return SCALARS[type] ?? { type: "object" };
  queue.push(type);
  return { allOf: [{ $ref: `#/components/schemas/${longName(type)}` }] };
}

const WRITE_PARAMETERS = ["dryRun", "fieldManager", "fieldValidation"].map((name) => ({
  name,
  in: "query",
  schema: { type: "string", uniqueItems: true },
}));
const FORCE = { name: "force", in: "query", schema: { type: "boolean", uniqueItems: true } };

/** Clients look here for what they may ask of the server, above all whether it validates fields. */
function pathsOf(resource: Resource): JsonRecord {
  const inNamespace = resource.namespaced ? "/namespaces/{namespace}" : "";
  const all = `/${pathOf(resource.group, resource.version)}${inNamespace}/${resource.plural}`;
  const schema = { $ref: `#/components/schemas/${nameOf(resource)}` };
  const operation = (action: string, parameters: readonly JsonRecord[] = []) => ({
    parameters,
    responses: { 200: { description: "OK", content: { "application/json": { schema } } } },
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": gvk(resource),
  });
  const writing = (action: string, type = "*/*") => ({
    ...operation(action, [...WRITE_PARAMETERS, ...(action === "patch" ? [FORCE] : [])]),
    requestBody: { content: { [type]: { schema } } },
  });
  return {
    [all]: { get: operation("list"), post: writing("post") },
    [`${all}/{name}`]: {
      get: operation("get"),
      put: writing("put"),
      patch: writing("patch", "application/apply-patch+yaml"),
      delete: operation("delete"),
    },
  };
}

/** The older document, only with what is needed to know that it is there. */
export const openApiV2 = () => ({ swagger: "2.0", info: TITLE, paths: {}, definitions: {} });
