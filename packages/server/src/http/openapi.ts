import { acceptedScopes, CONTRACT, exampleOf, type Operation, SCOPES } from "@binnacle/contract";
import type { TSchema } from "typebox";
import type { Requirement } from "../access/role.ts";
import { describeFailure, ETAG, failuresOf, HEADERS, REQUEST_ID } from "./openapi-failures.ts";
import { describeParameters } from "./openapi-parameters.ts";
import type { Route } from "./route.ts";

const DESCRIPTION = `The control plane with which a company runs applications on many Kubernetes clusters.

What holds for every request, and no schema can say:

- Text is well-formed Unicode without NUL characters, in values and in keys.
- A query parameter that the operation does not have is a 422 of type \`extra_forbidden\`, as an unknown field of a body is.
- Names for people hold no tags (U+E0000 to U+E007F) and no variation selectors.
- Numbers in a path or a query are written in decimal digits.
- JSON nests at most 64 deep and has no key \`__proto__\`, nor \`prototype\` in \`constructor\`.
- An unknown path is a 404, another method of a known one a 405.
- A request that its operation's schemas accept is a 422 only for what depends on stored data, and for the few rules that
  JSON Schema has no words for; the operation says which.`;

/** Writes the OpenAPI document from the schemas that validate and serialize. */
export function openApiDocument(routes: readonly Route[], options: { serverUrl: string }): Json {
  const components = new Components();
  const paths: Record<string, Json> = {};
  const operations = routes.map(({ operation }) => operation);
  const parameters = describeParameters(operations, components);
  for (const { operation, guard } of routes) {
    const described = describe(operation, guard.requirement, parameters.get(operation.id) ?? [], components);
    paths[operation.path] = { ...paths[operation.path], [operation.method.toLowerCase()]: described };
  }
  const tags = [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name }));
  return {
    openapi: "3.1.0",
    info: {
      title: "Binnacle",
      version: String(CONTRACT),
      description: DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: options.serverUrl }],
    tags,
    paths,
    components: {
      ...components.toJSON(),
      headers: HEADERS,
      securitySchemes: {
        user: {
          type: "oauth2",
          description: "The access token of a login, as `Authorization: Bearer …`. `POST /refresh` renews it.",
          flows: { password: { tokenUrl: `${options.serverUrl}/login`, scopes: {} } },
        },
        cli_token: {
          type: "http",
          scheme: "bearer",
          description: `A CLI token, \`bnc_…\`, with one of the scopes that the operation names. Scopes: ${SCOPES.join(", ")}. A token that is bound to an organization or a project gets a 404 for everything outside of it.`,
        },
      },
    },
  };
}

function describe(
  operation: Operation,
  requirement: Requirement,
  parameters: readonly Json[],
  components: Components,
): Json {
  const { body, bodyType = "application/json", otherSuccess } = operation;
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: [operation.description, whoMayCall(requirement)].filter(Boolean).join("\n\n"),
    security: securityOf(operation),
    "x-access": requirement,
    parameters,
    ...(body
      ? { requestBody: { required: !operation.bodyIsOptional, content: components.content(bodyType, body) } }
      : {}),
    responses: {
      [operation.success[0]]: successOf(operation, components),
      ...(otherSuccess
        ? { [otherSuccess[0]]: components.answer({ description: "Done", headers: REQUEST_ID }, otherSuccess[1]) }
        : {}),
      ...Object.fromEntries(failuresOf(operation).map((code) => [code, describeFailure(operation, code, components)])),
    },
  };
}

function successOf(operation: Operation, components: Components): Json {
  const { success, successType = "application/json", streamed } = operation;
  const schema = success[1];
  const hasETag = operation.versioned === true && schema !== null;
  const described = { description: "Done", headers: { ...REQUEST_ID, ...(hasETag ? ETAG : {}) } };
  if (!schema) return components.response("Done", described);
  if (!streamed) return components.answer(described, schema, successType, hasETag ? "WithETag" : "");
  return {
    ...described,
    content: { ...components.content(successType, schema), ...components.content("text/event-stream", streamed) },
  };
}

function securityOf(operation: Operation): Json[] {
  if (operation.credentials === "none") return [];
  const scopes = acceptedScopes(operation);
  if (scopes === "any") return [{ cli_token: [] }];
  return [{ user: [] }, ...(scopes.length > 0 ? [{ cli_token: [...scopes] }] : [])];
}

const ROLE_ON_PLACE = {
  member: "Members of the organization.",
  viewer: "Viewers of it, and whoever may do more.",
  editor: "Editors of it, and whoever may do more.",
  admin: "Administrators of it or of the organization.",
  org_admin: "Administrators of the organization.",
};

export function whoMayCall(requirement: Requirement): string {
  switch (requirement.needs) {
    case "nothing":
      return "Anyone.";
    case "signed_in":
      return "Any signed-in user.";
    case "superuser":
      return "Superusers.";
    case "own_record":
      return "The user whose record it is.";
    case "any_org_admin":
      return "Superusers and administrators of any organization.";
    case "concealed_org_admin":
      return "Administrators of the organization.";
    case "cluster_role":
    case "project_role":
      return ROLE_ON_PLACE[requirement.role];
    case "org_role":
      return requirement.role === "admin" ? "Administrators of the organization." : "Members of the organization.";
  }
}

export type Json = Record<string, unknown>;

/** The keywords of a JSON Schema that contain schemas. Everything else is data. */
const SCHEMA_MAPS = new Set(["properties", "patternProperties", "$defs"]);
const SCHEMA_LISTS = new Set(["anyOf", "allOf", "oneOf", "prefixItems"]);
const SCHEMAS = new Set([
  "items",
  "additionalProperties",
  "propertyNames",
  "contains",
  "contentSchema",
  "not",
  "if",
  "then",
  "else",
]);

/** Collects the shared parts of the document while operations are described. */
export class Components {
  readonly #schemas = new Map<string, Json>();
  readonly #responses = new Map<string, Json>();
  readonly #parameters = new Map<string, Json>();
  /** The same schemas are part of many operations. */
  readonly #described = new WeakMap<TSchema, Json>();

  /** A schema with a title becomes a component and is referred to by it. */
  schema(schema: TSchema): Json {
    const described = this.#described.get(schema) ?? this.#describe(schema);
    this.#described.set(schema, described);
    return described;
  }

  #describe(schema: TSchema): Json {
    const { title, ...rest } = schema as Json;
    const described = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, this.#inner(key, value)]));
    if (typeof title !== "string") return described;
    return refer("schemas", this.#schemas, title, described);
  }

  parameter(name: string, parameter: Json): Json {
    return refer("parameters", this.#parameters, name, parameter);
  }

  response(name: string, response: Json): Json {
    return refer("responses", this.#responses, name, response);
  }

  /** An answer whose schema has a title is written once, as the schema is. */
  answer(described: Json, schema: TSchema, type = "application/json", suffix = ""): Json {
    const { title } = schema as { title?: string };
    const answer = { ...described, content: this.content(type, schema) };
    return title ? this.response(`${title}${suffix}`, answer) : answer;
  }

  content(type: string, schema: TSchema, example: unknown = exampleOf(schema)): Json {
    return { [type]: { schema: this.schema(schema), example } };
  }

  /** Components are sorted by name, so that the order of registration has no effect. */
  toJSON(): Json {
    return {
      schemas: byName(this.#schemas),
      responses: byName(this.#responses),
      parameters: byName(this.#parameters),
    };
  }

  #inner(key: string, value: unknown): unknown {
    const asSchema = (inner: unknown) => (typeof inner === "object" ? this.schema(inner as TSchema) : inner);
    if (SCHEMAS.has(key)) return asSchema(value);
    if (SCHEMA_LISTS.has(key)) return (value as unknown[]).map(asSchema);
    if (!SCHEMA_MAPS.has(key)) return value;
    return Object.fromEntries(Object.entries(value as Json).map(([name, inner]) => [name, asSchema(inner)]));
  }
}

function refer(kind: string, known: Map<string, Json>, name: string, described: Json): Json {
  const earlier = known.get(name);
  if (earlier && JSON.stringify(earlier) !== JSON.stringify(described))
    throw new Error(`Two ${kind} are called ${name}. Give one of them another title.`);
  known.set(name, described);
  return { $ref: `#/components/${kind}/${name}` };
}

const byName = (parts: Map<string, Json>): Json => Object.fromEntries([...parts].sort(([a], [b]) => (a < b ? -1 : 1)));
