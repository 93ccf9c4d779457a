import { operation } from "@binnacle/contract";
import type { ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import Type, { type TSchema } from "typebox";
import { describe, expect, test } from "vitest";
import { describedRoutes } from "../routes.ts";
import { anyone } from "./guard.ts";
import { Components, type Json, openApiDocument } from "./openapi.ts";
import { route } from "./route.ts";

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: Json;
  readonly example: unknown;
}
interface Content {
  readonly schema: Json;
  readonly example: unknown;
}
type Contents = Readonly<Record<string, Content>>;
interface Response {
  readonly description: string;
  readonly headers: Json;
  readonly content?: Contents;
}
interface Described {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly Json[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Contents };
  readonly responses: Readonly<Record<string, Response>>;
}

const routes = describedRoutes();
const document = openApiDocument(routes, { serverUrl: "/api/v1" });
const described = new Map(
  Object.values(document["paths"] as Record<string, Record<string, Described>>)
    .flatMap((path) => Object.values(path))
    .map((it) => [it.operationId, { ...it, parameters: it.parameters.map(resolveOne) }]),
);
const operations = routes.map((it) => [it.operation.id, it.operation] as const);

// Optimizing the code takes most of the time of compiling it, and it runs once.
const ajv = addFormats
  .default(new Ajv2020({ strict: false, allErrors: true, code: { optimize: false } }))
  .addSchema(document, "document");

function find(id: string): Described {
  const found = described.get(id);
  if (!found) throw new Error(`${id} is not described.`);
  return found;
}

/** Resolves every `$ref`. */
function resolved(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(resolved);
  if (typeof value !== "object" || value === null) return value;
  const { $ref } = value as { $ref?: unknown };
  if (typeof $ref === "string") return resolved(steps($ref).reduce((at, step) => at[step] as Json, document));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolved(inner)]));
}
/** Resolves the reference that stands in the place of a part, and none within the part. */
function resolveOne<T extends object>(part: T): T {
  const { $ref } = part as { $ref?: string };
  return $ref === undefined ? part : (steps($ref).reduce((at, step) => at[step] as Json, document) as unknown as T);
}
function steps(ref: string) {
  return ref.replace("#/", "").split("/");
}

/** The same schema without titles, which are only names. */
function untitled(schema: TSchema): unknown {
  return JSON.parse(
    JSON.stringify(schema, (key, value) => (key === "title" && typeof value === "string" ? undefined : value)),
  );
}

/** By their schemas, most of which several operations share. */
const validators = new Map<string, ValidateFunction>();

/** Every reference is made to lead into the document that was given to Ajv. */
function problemsWith({ schema, example }: { schema: Json; example: unknown }): unknown {
  const anchored = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
  const validate = validators.get(anchored) ?? ajv.compile(JSON.parse(anchored));
  validators.set(anchored, validate);
  return validate(example) ? null : { example, errors: validate.errors };
}

/** Written by hand from the specification of the API, not read from the contract: one operation of every kind. */
const EXPECTED = [
  ["login", "Sessions", "none", [200, 400, 401, 403, 413, 415, 421, 422, 500, 503]],
  ["logout", "Sessions", "user", [200, 400, 401, 403, 413, 415, 421, 422, 500, 503]],
  ["startDeviceLogin", "CLI tokens", "none", [200, 400, 413, 415, 421, 422, 429, 500, 503]],
  ["getMe", "Users", ["read"], [200, 400, 401, 403, 421, 422, 500, 503]],
  ["getVersion", "Control plane", ["bundles:read"], [200, 400, 401, 403, 421, 422, 500, 503]],
  [
    "listOrgs",
    "Organizations",
    ["clusters:read", "clusters:register", "read"],
    [200, 400, 401, 403, 421, 422, 429, 500, 503],
  ],
  ["createOrg", "Organizations", ["write"], [201, 400, 401, 403, 409, 413, 415, 421, 422, 500, 503]],
  ["getOrg", "Organizations", ["read"], [200, 400, 401, 403, 404, 421, 422, 500, 503]],
  ["createTask", "Tasks", ["write"], [201, 400, 401, 403, 404, 409, 413, 415, 421, 422, 429, 500, 503]],
  ["streamEvents", "Events", ["read"], [200, 400, 401, 403, 421, 422, 429, 500, 503]],
  [
    "getInstallCommand",
    "Clusters",
    ["clusters:read", "clusters:register", "read"],
    [400, 401, 403, 410, 421, 422, 500, 503],
  ],
  [
    "getClusterMetrics",
    "Clusters",
    ["clusters:read", "clusters:register", "read"],
    [200, 400, 401, 403, 404, 421, 422, 500, 502, 503, 504],
  ],
  ["reportInstallEvent", "Clusters", ["install:report"], [201, 400, 401, 403, 404, 409, 413, 415, 421, 422, 500, 503]],
  [
    "deleteAddonInstance",
    "Addons",
    ["write"],
    [204, 400, 401, 403, 404, 409, 412, 413, 415, 421, 422, 500, 502, 503, 504],
  ],
  ["updateApp", "Apps", ["write"], [200, 400, 401, 403, 404, 409, 412, 413, 415, 421, 422, 500, 503]],
  [
    "createStackTemplateFromYaml",
    "Stack templates",
    ["write"],
    [200, 201, 400, 401, 403, 404, 409, 413, 415, 421, 422, 429, 500, 503],
  ],
] as const;

test.each(EXPECTED)("[OA3] %s has the tag %s and accepts the credentials %j", (id, tag, credentials) => {
  const scopes = typeof credentials === "string" ? [] : [{ cli_token: credentials }];
  expect(find(id)).toMatchObject({ tags: [tag], security: credentials === "none" ? [] : [{ user: [] }, ...scopes] });
});

test.each(EXPECTED)(
  "[OA4] %s lists its success and every failure, also of HTTP itself",
  (id, _tag, _credentials, statuses) => {
    const expected = [...statuses, 408, 431].sort((a, b) => a - b);
    expect(Object.keys(find(id).responses).map(Number)).toEqual(expected);
  },
);

describe.each(operations)("%s", (id, given) => {
  const it = find(id);
  const responses = resolved(it.responses) as Described["responses"];

  test("[OA3] the operation has a summary and a description", () => {
    expect(it.summary).toMatch(/^[A-Z].{5,}[^.]$/);
    expect(it.description).toMatch(/\.$/);
  });

  test("[OA4] the operation describes each answer and gives it the request's id", () => {
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(["400", "408", "431", "500", "503"]));
    for (const response of Object.values(responses)) {
      expect(response.description).toMatch(/^[A-Z]/);
      expect(Object.keys(response.headers)).toContain("X-Request-Id");
    }
  });

  test("[OA5] the operation has a valid example for each body, answer and parameter", () => {
    const contents = [it.requestBody, ...Object.values(responses)].flatMap((part) =>
      Object.values(part?.content ?? {}),
    );
    for (const example of [...contents, ...it.parameters]) {
      expect(Object.keys(example)).toContain("example");
      expect(problemsWith(example)).toBeNull();
    }
  });

  test("[OA6] the operation is described by the schemas that it validates and serializes with", () => {
    const schemaIn = (contents: Contents | undefined) => resolved(Object.values(contents ?? {})[0]?.schema ?? null);
    const [status, answer] = given.success;
    expect(schemaIn(responses[status]?.content)).toEqual(answer && untitled(answer));
    expect(schemaIn(it.requestBody?.content)).toEqual(given.body ? untitled(given.body) : null);
    for (const place of ["path", "query", "cookie"] as const) {
      const schema = given[place === "path" ? "params" : place === "query" ? "query" : "cookies"];
      const fields = (schema as { properties?: Record<string, TSchema> } | undefined)?.properties ?? {};
      const parameters = it.parameters.filter((parameter) => parameter.in === place);
      expect(Object.fromEntries(parameters.map(({ name, schema }) => [name, resolved(schema)]))).toEqual(
        Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, untitled(field)])),
      );
    }
  });
});

describe("the parts that operations share", () => {
  const thing = (size: TSchema) => Type.Object({ size }, { title: "Thing" });

  test("[OA11] a schema with a title is written once and referred to", () => {
    const components = new Components();
    expect(components.schema(Type.Array(thing(Type.Integer())))).toEqual({
      type: "array",
      items: { $ref: "#/components/schemas/Thing" },
    });
    expect(Object.keys(components.toJSON()["schemas"] as Json)).toEqual(["Thing"]);
  });

  test("[OA11] two different schemas under one title are refused", () => {
    const components = new Components();
    components.schema(thing(Type.Integer()));
    components.schema(thing(Type.Integer()));
    expect(() => components.schema(thing(Type.String()))).toThrow("Two schemas are called Thing.");
  });

  describe("parameters", () => {
    const reading = (id: string, field: TSchema) => {
      const query = Type.Object({ org_id: Type.Optional(field) });
      const path = `/${id}`;
      const it = operation({
        id,
        method: "GET",
        path,
        tag: "T",
        summary: "Read",
        credentials: "none",
        query,
        success: [204, null],
      });
      return route(it, anyone, async () => null);
    };
    const parametersOf = (...fields: TSchema[]) => {
      const given = fields.map((field, index) => reading(`read${index}`, field));
      const { paths, components } = openApiDocument(given, { serverUrl: "/" }) as {
        paths: Record<string, { get: { parameters: Json[] } }>;
        components: { parameters: Record<string, Json> };
      };
      return { shared: components.parameters, used: Object.values(paths).flatMap(({ get }) => get.parameters) };
    };
    const [one, other] = [Type.String({ description: "One." }), Type.String({ description: "Other." })];

    test("[OA316] a parameter of two operations is written once, and that of one operation stays there", () => {
      const { shared, used } = parametersOf(one, other, one);
      const described = (description: string) => ({
        name: "org_id",
        in: "query",
        schema: { type: "string", description },
      });
      expect(shared).toEqual({ OrgId: expect.objectContaining(described("One.")) });
      const ref = { $ref: "#/components/parameters/OrgId" };
      expect(used).toEqual([ref, expect.objectContaining(described("Other.")), ref]);
    });

    test("[OA316] two shared parameters of one name are told apart by a title, or refused", () => {
      const filter = Type.String({ title: "OrgFilter", description: "Other." });
      expect(Object.keys(parametersOf(one, filter, one, filter).shared)).toEqual(["OrgFilter", "OrgId"]);
      expect(() => parametersOf(one, other, one, other)).toThrow("Two parameters are called OrgId. Give one");
    });
  });

  test("[OA11] a field or an example that is called title is not the title of a schema", () => {
    const schema = Type.Object({ title: Type.String() }, { examples: [{ title: "Hello" }], default: { title: "Hi" } });
    expect(new Components().schema(schema)).toEqual(JSON.parse(JSON.stringify(schema)));
  });

  test("[OA4] a failure without a description is refused", () => {
    const teapot = operation({
      id: "brew",
      method: "GET",
      path: "/brew",
      tag: "Tea",
      summary: "Brew",
      credentials: "none",
      success: [204, null],
      failures: [418],
    });
    const brew = route(teapot, anyone, async () => null);
    expect(() => openApiDocument([brew], { serverUrl: "/" })).toThrow("brew fails with 418");
  });
});
