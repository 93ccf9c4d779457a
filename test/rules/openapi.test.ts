import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ACCESS, type Requirement } from "../../packages/client/src/index.ts";
import { CONTRACT } from "../../packages/contract/src/rest/version.ts";
import type { Requirement as CheckedRequirement } from "../../packages/server/src/access/role.ts";
import { openApiDocument } from "../../packages/server/src/http/openapi.ts";
import { describedRoutes } from "../../packages/server/src/routes.ts";
import {
  type ContractRecord,
  DOCUMENT_FILE,
  digestOf,
  objectionTo,
  presentDocument,
  presentRecord,
  recordedContract,
  releasedContract,
  textOf,
} from "../../scripts/contract.ts";

type Json = Record<string, unknown>;
interface Parameter extends Json {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
}
interface Operation extends Json {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly responses: Json;
  readonly security: readonly Json[];
}

const document = presentDocument();
const components = document["components"] as Record<string, Json>;
const paths = Object.entries(document["paths"] as Record<string, Record<string, Operation>>);
const operations = paths.flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, raw]) => {
    const parameters = raw.parameters.map((it) => (it["$ref"] ? (shared(it) as Parameter) : it));
    return { path, method, operation: { ...raw, parameters } as Operation };
  }),
);

/** The component that a reference leads to. */
function shared({ $ref }: Json): unknown {
  const [kind = "", name = ""] = String($ref).split("/").slice(-2);
  return components[kind]?.[name];
}

/** Every value in the document under this key, however deep. */
function under(key: string, value: unknown = document): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [...(name === key ? [inner] : []), ...under(key, inner)]);
}

describe("the committed description of the API", () => {
  test("[OA1] the committed openapi.json is the one that the routes give; `npm run openapi` writes it anew", () => {
    expect(readFileSync(DOCUMENT_FILE, "utf8") === textOf(document), "openapi.json is stale: `npm run openapi`").toBe(
      true,
    );
  });

  test("[OA2] the description of the API has not changed without its contract number being raised", () => {
    const present = presentRecord(document);
    expect(objectionTo(present, recordedContract())).toBeNull();
    expect(recordedContract(), "docs/spec/contract.json is stale: `npm run openapi`").toEqual(present);
  });

  test("[OA54] the contract number is above that of the newest release where the API differs", ({ annotate }) => {
    const released = releasedContract();
    if (typeof released === "string") return void annotate(released);
    expect(objectionTo(presentRecord(document), released)).toBeNull();
  });

  test("[OA54] the description of the API is compared with the document at the newest tag, if there is one", () => {
    const folder = mkdtempSync(join(tmpdir(), "binnacle-release-"));
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], {
        cwd: folder,
        stdio: "ignore",
      });
    expect(releasedContract(folder)).toMatch(/^There is no git, or no tag/);
    git("init");
    writeFileSync(join(folder, "openapi.json"), textOf({ ...document, info: { title: "Binnacle", version: "7" } }));
    git("add", ".");
    git("commit", "--no-gpg-sign", "-m", "release");
    expect(releasedContract(folder)).toMatch(/^There is no git, or no tag/);
    git("tag", "v1.0.0");
    const released = releasedContract(folder) as ContractRecord;
    expect(released.contract).toBe(7);
    expect(objectionTo({ contract: 7, digest: "changed" }, released)).toMatch(/Raise it/);
    expect(objectionTo({ contract: 8, digest: "changed" }, released)).toBeNull();
    rmSync(folder, { recursive: true });
  });

  test("[OA8] openapi.json is the same whenever it is written, and its digest is independent of the order of routes", () => {
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
  ])("[OA2] a changed contract may be recorded when %s", (_, present, recorded) => {
    expect(objectionTo(present, recorded)).toBeNull();
  });

  test("[OA2] a changed contract may not be recorded under the same number", () => {
    expect(objectionTo({ contract: 3, digest: "b" }, before)).toMatch(/Raise it/);
  });

  test("[OA12] a changed contract never has a lower number", () => {
    expect(objectionTo({ contract: 2, digest: "a" }, before)).toMatch(/only ever goes up/);
  });

  test("[OA2] the digest depends on what clients see, and not on the contract number", () => {
    const renumbered = { ...document, info: { ...(document["info"] as Json), version: "99" } };
    const reworded = { ...document, info: { ...(document["info"] as Json), title: "Other" } };
    expect(digestOf(renumbered)).toBe(digestOf(document));
    expect(digestOf(reworded)).not.toBe(digestOf(document));
  });
});

describe("the document", () => {
  test("[OA7] openapi.json is OpenAPI 3.1 with a base of /api/v1 and the contract as its version", () => {
    expect(document).toMatchObject({
      openapi: "3.1.0",
      info: { title: "Binnacle", version: String(CONTRACT) },
      servers: [{ url: "/api/v1" }],
    });
  });

  test("[OA3] openapi.json gives every operation an id of its own", () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(ids.filter((id, index) => !/^[a-z][A-Za-z]+$/.test(id) || ids.indexOf(id) !== index)).toEqual([]);
    expect(ids).toHaveLength(describedRoutes().length);
  });

  test("[OA22] openapi.json says of every operation what its route requires, and the client's table repeats it", () => {
    const required = describedRoutes().map(({ operation: { id }, guard }) => [id, guard.requirement] as const);
    const stated = operations.map(({ operation }) => [operation.operationId, operation["x-access"]] as const);
    expect(Object.fromEntries(stated)).toEqual(Object.fromEntries(required));
    // The type checker compares the client's form of a requirement with the server's, in both directions.
    const ofClient: Readonly<Record<string, CheckedRequirement>> = ACCESS;
    const ofServer: Readonly<Record<string, Requirement>> = Object.fromEntries(required);
    expect(ofClient).toEqual(ofServer);
  });

  test("[OA7] openapi.json declares every tag and every security scheme that it uses, and no other", () => {
    const declared = (document["tags"] as { name: string }[]).map(({ name }) => name);
    expect(new Set(operations.flatMap(({ operation }) => operation.tags))).toEqual(new Set(declared));
    const schemes = operations.flatMap(({ operation }) => operation.security.flatMap((option) => Object.keys(option)));
    expect(new Set(schemes)).toEqual(new Set(Object.keys(components["securitySchemes"] ?? {})));
  });

  test.each(operations)(
    "[OA7] $method $path has exactly the parameters of its path, and each of them once",
    ({ path, operation }) => {
      const inPath = operation.parameters.filter((parameter) => parameter.in === "path");
      expect(inPath.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
      expect(inPath.every(({ required }) => required)).toBe(true);
      const names = operation.parameters.map(({ name, in: place }) => `${place} ${name}`);
      expect(new Set(names).size).toBe(names.length);
      expect(path).toMatch(/^(\/[\w{}-]+)+$/);
    },
  );

  test("[OA7] openapi.json has no dangling reference, and no component that nothing refers to", () => {
    const referred = new Set(under("$ref") as string[]);
    const present = ["schemas", "responses", "parameters", "headers"].flatMap((kind) =>
      Object.keys(components[kind] ?? {}).map((name) => `#/components/${kind}/${name}`),
    );
    expect(new Set(present)).toEqual(referred);
  });

  test("[OA315] every shape of more than 1,500 characters is written once", () => {
    const texts = under("properties").map((fields) => JSON.stringify(fields));
    const long = texts.filter((text) => text.length > 1500);
    expect(long.length).toBeGreaterThan(10);
    expect(long.filter((text, index) => long.indexOf(text) !== index)).toEqual([]);
  });

  test("[OA316] every parameter that several operations have is written once", () => {
    const raw = paths.flatMap(([, methods]) => Object.values(methods).flatMap((it): readonly Json[] => it.parameters));
    const inline = raw.filter((it) => !("$ref" in it)).map((it) => JSON.stringify(it));
    expect(inline.length).toBeGreaterThan(20);
    expect(inline.filter((text, index) => inline.indexOf(text) !== index)).toEqual([]);
    expect(raw.length - inline.length).toBeGreaterThan(300);
  });

  test("[OA317] openapi.json is smaller than 1.25 MB", () => {
    expect(Buffer.byteLength(textOf(document))).toBeLessThan(1_250_000);
  });

  test("[CV20] openapi.json names every field in snake_case", () => {
    const names = under("properties").flatMap((fields) => Object.keys(fields as Json));
    expect(names.filter((name) => !/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name))).toEqual([]);
  });

  test("[CV21] openapi.json says that every field called …_at is a time", () => {
    const fields = under("properties").flatMap((properties) => Object.entries(properties as Record<string, Json>));
    const times = fields.filter(([name]) => name.endsWith("_at"));
    expect(times.length).toBeGreaterThan(0);
    expect(times.filter(([, schema]) => !JSON.stringify(schema).includes('"format":"date-time"'))).toEqual([]);
  });

  test("[OA14] openapi.json has only patterns that mean the same in JavaScript, RE2 and Python", () => {
    const keys = under("patternProperties").flatMap((fields) => Object.keys(fields as Json));
    const patterns = [...new Set([...under("pattern"), ...keys])].filter((it) => typeof it === "string");
    expect(patterns.length).toBeGreaterThan(10);
    for (const pattern of patterns) {
      // Some clients compile without the flag `u`, and then read characters beyond U+FFFF as two.
      expect(() => [new RegExp(pattern), new RegExp(pattern, "u")], pattern).not.toThrow();
      expect(pattern.isWellFormed() && !/[\u{10000}-\u{10ffff}]/u.test(pattern), pattern).toBe(true);
    }
    expect(patterns.filter((pattern) => unportable(pattern))).toEqual([]);
  });

  test("[OA15] openapi.json limits every text, list and map of a request", () => {
    const queries = operations.flatMap(({ operation }) =>
      (operation.parameters as readonly { in: string; schema?: Json }[]).filter(
        (it) => it.in === "query" || it.in === "path",
      ),
    );
    const bodies = under("requestBody").flatMap((body) => under("schema", body));
    const schemas = [...queries.map((it) => it.schema), ...bodies].flatMap(schemasIn);
    expect(schemas.length).toBeGreaterThan(100);
    expect(schemas.filter(isBoundless)).toEqual([]);
  });

  test("[CV8] openapi.json has no object in a request body that lets unknown fields pass without saying so", () => {
    const bodies = under("requestBody").flatMap((body) => under("schema", body));
    const objects = bodies.flatMap(schemasIn).filter((schema) => "properties" in schema);
    expect(objects.length).toBeGreaterThan(0);
    expect(objects.filter((object) => object["additionalProperties"] === undefined)).toEqual([]);
  });
});

/** Classes and anchors whose meaning differs, look-around, `\\u`, and a dot that is not in brackets. */
function unportable(pattern: string): boolean {
  const outside = pattern.replace(/\[(\\.|[^\]\\])*\]/g, "x").replace(/\\[.$*+?()[\]{}|/\\^-]/g, "x");
  return /\\[pPuUdDwWsSbBkKzZA]/.test(pattern) || /\(\?|\.|\\/.test(outside);
}

/** Every schema in a schema, also behind references; not what rules say of fields that are described beside them. */
function schemasIn(value: unknown): Json[] {
  if (typeof value !== "object" || value === null) return [];
  const schema = value as Json;
  const { properties = {}, patternProperties = {}, anyOf = [], oneOf = [], items, additionalProperties } = schema;
  if (schema["$ref"]) return schemasIn(shared(schema));
  const named = [...Object.values(properties as Json), ...Object.values(patternProperties as Json)];
  const inner = [...named, ...(anyOf as unknown[]), ...(oneOf as unknown[]), items, additionalProperties];
  return [schema, ...inner.flatMap(schemasIn)];
}

const OF_FIXED_LENGTH = ["uuid", "date-time"];

function isBoundless(schema: Json): boolean {
  const { type, format, additionalProperties, patternProperties, discriminator } = schema;
  if ("enum" in schema || "const" in schema || discriminator) return false;
  if (type === "string") return !("maxLength" in schema) && !OF_FIXED_LENGTH.includes(String(format));
  if (type === "array") return !("maxItems" in schema);
  const isMap = patternProperties !== undefined || (type === "object" && additionalProperties !== false);
  return isMap && !("maxProperties" in schema);
}
