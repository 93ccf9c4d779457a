import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { describedRoutes } from "../../packages/server/src/routes.ts";
import { BEYOND_SCHEMA, type BeyondSchema, beyondSchemaTable, isAbout } from "./beyond-schema.ts";
import { readDocument } from "./document.ts";
import { type Answer, judge } from "./judge.ts";
import type { Request } from "./requests.ts";

const json = (schema: object) => ({ content: { "application/json": { schema } } });
const Failure = { type: "object", properties: { detail: { type: "string" } }, required: ["detail"] };
const described = (operationId: string, responses: object, security: object[] = [{ user: [] }]) => ({
  operationId,
  parameters: [],
  security,
  responses,
});
const Thing = { type: "object", properties: { id: { type: "string", format: "uuid" } }, required: ["id"] };

const document = readDocument({
  openapi: "3.1.0",
  paths: {
    "/things": {
      get: described("readThing", {
        200: json(Thing),
        401: json(Failure),
        422: json({}),
        431: json(Failure),
        500: json({}),
        503: json(Failure),
      }),
      delete: described("removeThing", { 204: {}, 503: json(Failure), 504: json(Failure) }),
    },
  },
});
const [readThing, removeThing] = document.operations;
const ID = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";
const BEYOND: readonly BeyondSchema[] = [{ operations: ["readThing"], at: ["body.name"], why: "Names are taken." }];

const asked = (facts: Partial<Request> = {}): Request => ({
  index: 0,
  operation: readThing as Request["operation"],
  kind: "valid",
  actor: { name: "owner", userId: ID, headers: {}, isRefused: false },
  target: "/things",
  headers: {},
  body: null,
  hasRefusedBody: false,
  ...facts,
});
const answered = (status: number, body: unknown, headers: object = {}): Answer => ({
  status,
  headers: { "content-type": "application/json; charset=utf-8", "x-request-id": ID, ...headers },
  text: body === undefined ? "" : JSON.stringify(body),
  elapsedMs: 1,
});
const found = (answer: Answer, facts?: Partial<Request>) => judge(document, BEYOND, asked(facts), answer);
const refusal = (...loc: string[]) => ({ detail: [{ loc, msg: "No", type: "value_error" }] });

describe("an answer as it is described", () => {
  test.each<[string, Answer, Partial<Request>]>([
    ["a success", answered(200, { id: ID }), {}],
    ["a 401", answered(401, { detail: "No." }, { "www-authenticate": "Bearer" }), {}],
    ["a 422 for a rule that no schema says", answered(422, refusal("body", "name")), {}],
    ["a 422 for what is not valid", answered(422, refusal("body", "size")), { kind: "near" }],
    ["a 504 of a cluster", answered(504, { detail: "No." }), { operation: removeThing as Request["operation"] }],
    ["broken HTTP", answered(431, { detail: "Too large." }), {}],
  ])("[OA17] the fuzzer reports nothing for %s", (_, answer, facts) => {
    expect(found(answer, facts)).toEqual([]);
  });
});

describe("what is reported", () => {
  test.each<[string, Answer, Partial<Request>, string]>([
    ["a fault of ours", answered(500, {}), {}, "a 500"],
    ["a 503 that no cluster causes", answered(503, { detail: "No." }), {}, "a 503 without a cluster to blame"],
    ["a status that is not described", answered(409, { detail: "No." }), {}, "an undocumented 409"],
    ["a body of another form", answered(200, { id: "1" }), {}, "a 200 that its schema refuses"],
    ["a body of another type", answered(200, {}, { "content-type": "text/html" }), {}, "a 200 of type text/html"],
    [
      "a body where there is none",
      answered(204, {}),
      { operation: removeThing as Request["operation"] },
      "a 204 with a body",
    ],
    ["no request id", answered(200, { id: ID }, { "x-request-id": undefined }), {}, "no X-Request-Id"],
    ["a limit in a header", answered(200, { id: ID }, { "x-ratelimit-limit": "1" }), {}, "an X-RateLimit header"],
    ["a 401 without its challenge", answered(401, { detail: "No." }), {}, "a 401 without its challenge"],
    [
      "a refused valid request",
      answered(422, refusal("body", "size")),
      {},
      "a 422 for a valid request: body.size value_error",
    ],
    ["a body taken against the document", answered(200, { id: ID }), { hasRefusedBody: true }, "a success for a body"],
    [
      "a success for nobody",
      answered(200, { id: ID }),
      { actor: { name: "nobody", userId: null, headers: {}, isRefused: true } },
      "a success without a credential",
    ],
  ])("[OA17] the fuzzer reports %s", (_, answer, facts, finding) => {
    expect(found(answer, facts)).toEqual([expect.stringContaining(finding)]);
  });
});

describe("rules that no schema says", () => {
  test.each<[string, (string | number)[], boolean]>([
    ["body.components.*.name", ["body", "components", 0, "name"], true],
    ["body.components.*.name", ["body", "components", 0], false],
    ["body.components.*.name", ["body", "components", 0, "name", "x"], false],
    ["body.values.**", ["body", "values"], true],
    ["body.values.**", ["body", "values", "a", 1], true],
    ["body.values.**", ["body", "notes"], false],
  ])("[OA17] the path %s is about the location %j: %s", (at, loc, expected) => {
    expect(isAbout({ operations: [], at: [at], why: "" }, loc)).toBe(expected);
  });

  test("[OA17] the rules beyond the schemas are documented as the fuzzer uses them", () => {
    const shown = readFileSync(new URL("../../docs/spec/openapi.md", import.meta.url), "utf8");
    expect(shown).toContain(beyondSchemaTable());
  });

  test("[OA17] the rules beyond the schemas name operations that exist", () => {
    const ids = describedRoutes().map(({ operation }) => operation.id);
    expect(BEYOND_SCHEMA.flatMap(({ operations }) => operations).filter((id) => !ids.includes(id))).toEqual([]);
  });
});
