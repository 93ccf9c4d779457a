import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CONTRACT } from "../../packages/contract/src/rest/version.ts";
import { describedRoutes } from "../../packages/server/src/described-routes.ts";
import { openApiDocument } from "../../packages/server/src/http/openapi.ts";
import {
  DOCUMENT_FILE,
  digestOf,
  objectionTo,
  presentDocument,
  presentRecord,
  recordedContract,
  textOf,
} from "../../scripts/contract.ts";

type Json = Record<string, unknown>;
interface Operation extends Json {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly responses: Json;
  readonly security: readonly Json[];
}

const document = presentDocument();
const paths = Object.entries(document["paths"] as Record<string, Record<string, Operation>>);
const operations = paths.flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);
const components = document["components"] as Record<string, Json>;

/** Every value in the document under this key, however deep. */
function under(key: string, value: unknown = document): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [...(name === key ? [inner] : []), ...under(key, inner)]);
}

describe("the committed description of the API", () => {
  test("[OA1] is the one that the routes give; `npm run openapi` writes it anew", () => {
    expect(readFileSync(DOCUMENT_FILE, "utf8") === textOf(document), "openapi.json is stale: `npm run openapi`").toBe(
      true,
    );
  });

  test("[OA2] has not changed without its contract number being raised", () => {
    const present = presentRecord(document);
    expect(objectionTo(present, recordedContract())).toBeNull();
    expect(recordedContract(), "docs/spec/contract.json is stale: `npm run openapi`").toEqual(present);
  });

  test("[OA8] is the same whenever it is written, and its digest whatever order the routes have", () => {
    expect(textOf(presentDocument())).toBe(textOf(document));
    const reversed = openApiDocument(describedRoutes().reverse(), { serverUrl: "/api/v1" });
    const tagsAsBefore = { ...reversed, tags: document["tags"] };
    expect(digestOf(tagsAsBefore)).toBe(digestOf(document));
  });
});

describe("a changed contract", () => {
  const before = { contract: 3, digest: "a" };

  test.each([
    ["nothing was promised yet", { contract: 1, digest: "x" }, null],
    ["nothing has changed", { contract: 3, digest: "a" }, before],
    ["the number was raised", { contract: 4, digest: "b" }, before],
    ["only the number was raised", { contract: 4, digest: "a" }, before],
  ])("[OA2] may be recorded when %s", (_, present, recorded) => {
    expect(objectionTo(present, recorded)).toBeNull();
  });

  test("[OA2] may not be recorded under the same number", () => {
    expect(objectionTo({ contract: 3, digest: "b" }, before)).toMatch(/Raise it/);
  });

  test("[OA12] never has a lower number", () => {
    expect(objectionTo({ contract: 2, digest: "a" }, before)).toMatch(/only ever goes up/);
  });

  test("[OA2] is told by what clients see, not by the version that says so", () => {
    const renumbered = { ...document, info: { ...(document["info"] as Json), version: "99" } };
    const reworded = { ...document, info: { ...(document["info"] as Json), title: "Other" } };
    expect(digestOf(renumbered)).toBe(digestOf(document));
    expect(digestOf(reworded)).not.toBe(digestOf(document));
  });
});

describe("the document", () => {
  test("[OA7] is OpenAPI 3.1 with a base of /api/v1 and the contract as its version", () => {
    expect(document).toMatchObject({
      openapi: "3.1.0",
      info: { title: "Binnacle", version: String(CONTRACT) },
      servers: [{ url: "/api/v1" }],
    });
  });

  test("[OA3] gives every operation an id of its own", () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(ids.filter((id, index) => !/^[a-z][A-Za-z]+$/.test(id) || ids.indexOf(id) !== index)).toEqual([]);
    expect(ids).toHaveLength(describedRoutes().length);
  });

  test("[OA7] declares every tag and every security scheme that it uses, and no other", () => {
    const declared = (document["tags"] as { name: string }[]).map(({ name }) => name);
    expect(new Set(operations.flatMap(({ operation }) => operation.tags))).toEqual(new Set(declared));
    const schemes = operations.flatMap(({ operation }) => operation.security.flatMap((option) => Object.keys(option)));
    expect(new Set(schemes)).toEqual(new Set(Object.keys(components["securitySchemes"] ?? {})));
  });

  test.each(operations)(
    "[OA7] $method $path has exactly the parameters of its path, and each once",
    ({ path, operation }) => {
      const inPath = operation.parameters.filter((parameter) => parameter.in === "path");
      expect(inPath.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
      expect(inPath.every(({ required }) => required)).toBe(true);
      const names = operation.parameters.map(({ name, in: place }) => `${place} ${name}`);
      expect(new Set(names).size).toBe(names.length);
      expect(path).toMatch(/^(\/[\w{}-]+)+$/);
    },
  );

  test("[OA7] refers only to what is there, and keeps nothing that nobody refers to", () => {
    const referred = new Set(under("$ref") as string[]);
    const present = ["schemas", "responses", "headers"].flatMap((kind) =>
      Object.keys(components[kind] ?? {}).map((name) => `#/components/${kind}/${name}`),
    );
    expect(new Set(present)).toEqual(referred);
  });

  test("[CV20] names every field in snake_case", () => {
    const names = under("properties").flatMap((fields) => Object.keys(fields as Json));
    expect(names.filter((name) => !/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name))).toEqual([]);
  });

  test("[CV21] says that every field called …_at is a time", () => {
    const fields = under("properties").flatMap((properties) => Object.entries(properties as Record<string, Json>));
    const times = fields.filter(([name]) => name.endsWith("_at"));
    expect(times.length).toBeGreaterThan(0);
    expect(times.filter(([, schema]) => !JSON.stringify(schema).includes('"format":"date-time"'))).toEqual([]);
  });

  test("[CV8] has no object in a request body that lets unknown fields pass without saying so", () => {
    const objects = under("requestBody").flatMap(objectsIn);
    expect(objects.length).toBeGreaterThan(0);
    expect(objects.filter((object) => object["additionalProperties"] === undefined)).toEqual([]);
  });
});

/** Every object with named fields in a schema, also behind references. Conditions are rules between fields of one that is listed. */
function objectsIn(schema: unknown): Json[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { $ref, properties, if: _if, then: _then, ...rest } = schema as Json;
  if (typeof $ref === "string") return objectsIn(components["schemas"]?.[$ref.split("/").at(-1) ?? ""]);
  const inner = Object.values({ ...rest, properties }).flatMap(objectsIn);
  return properties === undefined ? inner : [schema as Json, ...inner];
}
