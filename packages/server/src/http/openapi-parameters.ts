import { exampleOf, honoursIfMatch, isCreation, type Operation } from "@binnacle/contract";
import type { TSchema } from "typebox";
import type { Components, Json } from "./openapi.ts";

interface Parameter {
  /** What it is called where it is shared: the title of its schema, else its own name. */
  readonly title: string;
  readonly described: Json;
}

/** Describes the parameters of every operation, by its id. One that several operations have is written once. */
export function describeParameters(operations: readonly Operation[], components: Components): Map<string, Json[]> {
  const found = operations.map((operation) => [operation.id, parametersOf(operation, components)] as const);
  const uses = Map.groupBy(
    found.flatMap(([, parameters]) => parameters),
    textOf,
  );
  const isShared = (parameter: Parameter) => (uses.get(textOf(parameter))?.length ?? 0) > 1;
  const place = (it: Parameter) => (isShared(it) ? components.parameter(it.title, it.described) : it.described);
  return new Map(found.map(([id, parameters]) => [id, parameters.map(place)]));
}

const textOf = ({ described }: Parameter) => JSON.stringify(described);

function parametersOf(operation: Operation, components: Components): Parameter[] {
  return [
    ...parametersIn("path", operation.params, components),
    ...parametersIn("query", operation.query, components),
    ...parametersIn("cookie", operation.cookies, components),
    ...(isCreation(operation) ? [IDEMPOTENCY_KEY] : []),
    ...(honoursIfMatch(operation) ? [IF_MATCH] : []),
  ];
}

const IDEMPOTENCY_KEY: Parameter = {
  title: "IdempotencyKey",
  described: {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description:
      "The same key with the same body within 24 hours gets the first answer again; with another body, a 409.",
    schema: { type: "string", minLength: 1, maxLength: 200, pattern: "^[!-~]+$" },
    example: "5f0c2a4e",
  },
};

const IF_MATCH: Parameter = {
  title: "IfMatch",
  described: {
    name: "If-Match",
    in: "header",
    required: false,
    description: "The `ETag` of a read: where the resource has changed since, nothing is done and the answer is a 412.",
    schema: { type: "string" },
    example: '"01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11.3"',
  },
};

function parametersIn(
  place: "path" | "query" | "cookie",
  schema: TSchema | undefined,
  components: Components,
): Parameter[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, TSchema & { readonly title?: string }>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { title = pascalCase(name), ...field }]) => ({
    title,
    described: {
      name,
      in: place,
      required: required.includes(name) && !("default" in field),
      schema: components.schema(field),
      example: exampleOf(field),
    },
  }));
}

const pascalCase = (name: string) => name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
