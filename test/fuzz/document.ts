import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

export type Json = { readonly [key: string]: unknown };
export type Schema = Json;

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "cookie" | "header";
  readonly required: boolean;
  readonly schema: Schema;
}

/** One operation of an OpenAPI document, its references to parameters and answers followed. */
export interface DocumentedOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly type: string; readonly schema: Schema; readonly required: boolean } | null;
  /** By status; null is an answer without a body. */
  readonly answers: ReadonlyMap<
    number,
    { readonly type: string; readonly schema: Schema; readonly otherTypes: readonly string[] } | null
  >;
  /** If true, the operation needs no credential. */
  readonly isPublic: boolean;
}

export interface ApiDocument {
  readonly operations: readonly DocumentedOperation[];
  /** The schema that a `$ref` leads to, or the schema itself. */
  resolve(schema: Schema): Schema;
  /** Returns whether the schema accepts the value. Each schema is compiled once. */
  accepts(schema: Schema, value: unknown): boolean;
  /** Returns in a few words why the schema refuses the value, or null. */
  objection(schema: Schema, value: unknown): string | null;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

/** Reads a document as a client generator does: nothing is known about the server but what stands there. */
export function readDocument(root: Json): ApiDocument {
  const ajv = addFormats.default(new Ajv2020({ strict: false, discriminator: true })).addFormat("uuid", UUID);
  ajv.addSchema(root, "document");
  const compiled = new WeakMap<Schema, ValidateFunction>();

  const follow = (value: Json): Json => {
    const { $ref } = value;
    if (typeof $ref !== "string") return value;
    return follow(
      $ref
        .slice(2)
        .split("/")
        .reduce<Json>((at, step) => at[step] as Json, root),
    );
  };
  const validatorOf = (schema: Schema): ValidateFunction => {
    const known = compiled.get(schema);
    if (known) return known;
    const anchored = JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/'));
    const made = ajv.compile(anchored);
    compiled.set(schema, made);
    return made;
  };
  const contentOf = (part: Content) => {
    const [entry, ...others] = Object.entries(part.content ?? {});
    return entry ? { type: entry[0], schema: entry[1].schema, otherTypes: others.map(([type]) => type) } : null;
  };

  const paths = root["paths"] as Record<string, Record<string, Json>>;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]): DocumentedOperation => {
      const body = described["requestBody"] as (Content & { readonly required?: boolean }) | undefined;
      const content = body && contentOf(body);
      return {
        id: String(described["operationId"]),
        method: method.toUpperCase(),
        path,
        parameters: (described["parameters"] as readonly Json[]).map((it) => follow(it) as Json & Parameter),
        body: content ? { ...content, required: body.required === true } : null,
        answers: new Map(
          Object.entries(described["responses"] as Record<string, Json>).map(([status, answer]) => [
            Number(status),
            contentOf(follow(answer) as Content),
          ]),
        ),
        isPublic: (described["security"] as readonly unknown[]).length === 0,
      };
    }),
  );

  return {
    operations,
    resolve: follow,
    accepts: (schema, value) => validatorOf(schema)(value),
    objection(schema, value) {
      const validate = validatorOf(schema);
      if (validate(value)) return null;
      return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || "/"} ${message}`).join("; ");
    },
  };
}
