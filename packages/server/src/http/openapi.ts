import { CONTRACT, exampleOf, Failure, type Operation, SCOPES, ValidationFailure } from "@binnacle/contract";
import Type, { type TSchema } from "typebox";
import type { Requirement } from "../access/role.ts";
import type { Route } from "./route.ts";

type Json = Record<string, unknown>;

const FAILURES: Record<number, string> = {
  400: "The request cannot be served now; the answer says why",
  401: "The credential is missing or no longer counts",
  403: "The caller may see this but not do it, or a CLI token lacks the scope",
  404: "Not there, or not for this caller to see",
  409: "In conflict with what there is",
  410: "Gone for good",
  412: "The resource has changed since it was read",
  413: "The request body is too large",
  415: "The media type of the request body is not supported",
  422: "Invalid fields, all of them",
  429: "Too many requests; `Retry-After` says when to come again",
  502: "The cluster answered with a failure",
  503: "Not available for now",
  504: "No answer in time",
};

const UnexpectedFailure = Type.Object(
  { detail: Type.Literal("Internal Server Error"), request_id: Type.String({ format: "uuid" }) },
  { title: "UnexpectedFailure", description: "A fault of ours; the request id finds it in the logs." },
);

/** The description of the API, written from the very schemas that validate and serialize. */
export function openApiDocument(routes: readonly Route[], options: { serverUrl: string }): Json {
  const components = new Map<string, Json>();
  const paths: Record<string, Json> = {};
  for (const { operation, guard } of routes) {
    const path = paths[operation.path] ?? {};
    path[operation.method.toLowerCase()] = describe(operation, guard.requirement, components);
    paths[operation.path] = path;
  }
  const tags = [...new Set(routes.map(({ operation }) => operation.tag))].map((name) => ({ name }));
  return {
    openapi: "3.1.0",
    info: {
      title: "Binnacle",
      version: String(CONTRACT),
      description: "The control plane with which a company runs applications on many Kubernetes clusters.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: options.serverUrl }],
    tags,
    paths,
    components: {
      schemas: Object.fromEntries([...components].sort(([a], [b]) => a.localeCompare(b))),
      securitySchemes: {
        user: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "The access token of a login." },
        cli_token: {
          type: "http",
          scheme: "bearer",
          description: `A CLI token, \`bnc_…\`, with one of the scopes that the operation names. Scopes: ${SCOPES.join(", ")}.`,
        },
      },
    },
  };
}

function describe(operation: Operation, requirement: Requirement, components: Map<string, Json>): Json {
  const { body, bodyType = "application/json", success } = operation;
  const [status, schema] = success;
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: [operation.description, whoMayCall(requirement)].filter(Boolean).join("\n\n"),
    security: securityOf(operation),
    parameters: [
      ...parametersIn("path", operation.params, components),
      ...parametersIn("query", operation.query, components),
      ...parametersIn("cookie", operation.cookies, components),
      ...(isCreation(operation) ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(body ? { requestBody: { required: true, content: content(bodyType, body, components) } } : {}),
    responses: {
      [status]: {
        description: "Done",
        headers: { "X-Request-Id": REQUEST_ID },
        ...(schema ? { content: content("application/json", schema, components) } : {}),
      },
      ...Object.fromEntries(failuresOf(operation).map((code) => [code, failure(operation, code, components)])),
    },
  };
}

const REQUEST_ID = { description: "Names the request in the logs.", schema: { type: "string", format: "uuid" } };

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "The same key with the same body within 24 hours gets the first answer again; with another body, a 409.",
  schema: { type: "string", minLength: 1, maxLength: 200 },
  example: "5f0c2a4e",
};

const isCreation = ({ method, success, credentials }: Operation) =>
  method === "POST" && success[0] === 201 && credentials !== "none";

function securityOf({ credentials }: Operation): Json[] {
  if (credentials === "none") return [];
  if (credentials === "user") return [{ user: [] }];
  return [{ user: [] }, { cli_token: [...credentials] }];
}

export function whoMayCall(requirement: Requirement): string {
  switch (requirement.needs) {
    case "nothing":
      return "Anyone.";
    case "signed_in":
      return "Any signed-in user.";
    case "superuser":
      return "Superusers.";
    case "org_role":
      return requirement.role === "admin" ? "Administrators of the organization." : "Members of the organization.";
  }
}

/** Every failure that this operation can answer with, whoever calls it and whatever is wrong. */
export function failuresOf(operation: Operation): number[] {
  const takesInput = operation.params || operation.query || operation.body || isCreation(operation);
  const common = [
    ...(operation.credentials === "none" ? [] : [401, 403]),
    ...(takesInput ? [422] : []),
    ...(operation.body ? [413, 415] : []),
    ...(isCreation(operation) ? [409] : []),
    500,
    503,
  ];
  const own = [...(operation.failures ?? []), ...Object.keys(operation.failureBodies ?? {}).map(Number)];
  return [...new Set([...common, ...own])].sort((a, b) => a - b);
}

function failure(operation: Operation, code: number, components: Map<string, Json>): Json {
  const common = code === 422 ? ValidationFailure : code === 500 ? UnexpectedFailure : Failure;
  const schema = operation.failureBodies?.[code] ?? common;
  return {
    description: FAILURES[code] ?? "A fault of ours",
    content: content("application/json", schema, components),
  };
}

function content(type: string, schema: TSchema, components: Map<string, Json>): Json {
  return { [type]: { schema: referable(schema, components), example: exampleOf(schema) } };
}

function parametersIn(
  place: "path" | "query" | "cookie",
  schema: TSchema | undefined,
  components: Map<string, Json>,
): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, TSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, field]) => ({
    name,
    in: place,
    required: required.includes(name) && !("default" in field),
    schema: referable(field, components),
    example: exampleOf(field),
  }));
}

/** A schema with a title becomes a component and is referred to by it. */
function referable(schema: TSchema, components: Map<string, Json>): Json {
  const { title, ...rest } = schema as Json & { title?: string };
  const inner = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, nested(value, components)]));
  if (title === undefined) return inner;
  const known = components.get(title);
  if (known && JSON.stringify(known) !== JSON.stringify(inner)) throw new Error(`Two schemas are called ${title}.`);
  components.set(title, inner);
  return { $ref: `#/components/schemas/${title}` };
}

function nested(value: unknown, components: Map<string, Json>): unknown {
  if (Array.isArray(value)) return value.map((item) => nested(item, components));
  if (typeof value !== "object" || value === null) return value;
  return referable(value as TSchema, components);
}
