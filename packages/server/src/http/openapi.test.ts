import { operation } from "@binnacle/contract";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import Type, { type TSchema } from "typebox";
import { describe, expect, test } from "vitest";
import { describedRoutes } from "../routes.ts";
import { anyone } from "./guard.ts";
import { Components, type Json, openApiDocument } from "./openapi.ts";
import { failuresOf } from "./openapi-failures.ts";
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
    .map((it) => [it.operationId, it]),
);
const operations = routes.map((it) => [it.operation.id, it.operation] as const);

const ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: true })).addSchema(document, "document");

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
const steps = (ref: string) => ref.replace("#/", "").split("/");

/** The same schema without titles, which are only names. */
function untitled(schema: TSchema): unknown {
  return JSON.parse(
    JSON.stringify(schema, (key, value) => (key === "title" && typeof value === "string" ? undefined : value)),
  );
}

/** Every reference is made to lead into the document that was given to Ajv. */
function problemsWith({ schema, example }: { schema: Json; example: unknown }): unknown {
  const anchored = JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/'));
  const validate = ajv.compile(anchored);
  return validate(example) ? null : { example, errors: validate.errors };
}

describe.each(operations)("%s", (id, given) => {
  const it = find(id);
  const responses = resolved(it.responses) as Described["responses"];

  test("[OA3] has a summary, a tag and says who may call it", () => {
    expect(it.summary).toMatch(/^[A-Z].{5,}[^.]$/);
    expect(it.tags).toEqual([given.tag]);
    expect(it.description).toMatch(/\.$/);
    const schemes = it.security.flatMap(Object.keys);
    expect(schemes).toEqual(
      given.credentials === "none" ? [] : given.credentials === "user" ? ["user"] : ["user", "cli_token"],
    );
  });

  test("[OA4] has its answer and every way it can fail, each with the request's id", () => {
    const statuses = [given.success[0], ...(given.otherSuccess ? [given.otherSuccess[0]] : [])];
    expect(Object.keys(responses).map(Number)).toEqual([...statuses, ...failuresOf(given)].sort((a, b) => a - b));
    for (const response of Object.values(responses)) {
      expect(response.description).toBeTruthy();
      expect(Object.keys(response.headers)).toContain("X-Request-Id");
    }
  });

  test("[OA5] has an example for each body, answer and parameter, and its schema accepts it", () => {
    const contents = [it.requestBody, ...Object.values(responses)].flatMap((part) =>
      Object.values(part?.content ?? {}),
    );
    for (const example of [...contents, ...it.parameters]) {
      expect(Object.keys(example)).toContain("example");
      expect(problemsWith(example)).toBeNull();
    }
  });

  test("[OA6] is described by the schemas that it validates and serializes with", () => {
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

  test("[OA11] a field or an example that is called title is no title", () => {
    const schema = Type.Object({ title: Type.String() }, { examples: [{ title: "Hello" }], default: { title: "Hi" } });
    expect(new Components().schema(schema)).toEqual(JSON.parse(JSON.stringify(schema)));
  });

  test("[OA4] a failure that nobody has described is refused", () => {
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
