import Type, { type Static, type TSchema } from "typebox";
import { ComponentInput } from "../app/component.ts";
import { DnsLabel, strict } from "../fields.ts";
import { given, holds, type Rule, where, withoutRules } from "../rules.ts";
import { GENERATORS, PARAMETER_TYPES, TEMPLATE_SCOPES } from "../states.ts";

/** A stack template: components with placeholders, and the parameters that fill them. */

const Scalar = Type.Union([
  Type.String({ maxLength: 32_768, examples: ["nginx:1.29"] }),
  Type.Number(),
  Type.Boolean(),
]);

const Int = Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER });
const ofType = (types: readonly string[], value: TSchema): Rule =>
  where(holds("type", types), "Options and a default are of the parameter's type", {
    fields: { default: value, options: { type: "array", items: value } },
  });

/** The rules that a schema can express. The pattern and the room between the bounds are checked in code. */
export const parameterRules: readonly Rule[] = [
  where(holds("type", ["select"]), "A select has options", { requires: ["options"] }),
  where(holds("type", ["secret"]), "A secret has no default", { refuses: ["default"] }),
  where(given("generator"), "A generator makes text, and knows no pattern, options or default", {
    fields: { type: { enum: ["string", "secret"] } },
    refuses: ["pattern", "options", "default"],
  }),
  ofType(["string", "secret"], { type: "string" }),
  ofType(["integer"], Int),
  ofType(["number"], { type: "number" }),
  ofType(["boolean"], { type: "boolean" }),
];

export const TemplateParameter = Type.Object(
  {
    name: Type.String({ maxLength: 63, pattern: "^[A-Za-z_][A-Za-z0-9_]*$", examples: ["image"] }),
    type: Type.Enum(PARAMETER_TYPES),
    description: Type.Optional(Type.String({ maxLength: 500, examples: ["What is run."] })),
    required: Type.Optional(Type.Boolean({ default: false })),
    default: Type.Optional(Scalar),
    options: Type.Optional(Type.Array(Scalar, { minItems: 1, maxItems: 100, description: "What a `select` offers." })),
    pattern: Type.Optional(
      Type.String({ maxLength: 500, description: "For text, in the syntax of RE2.", examples: ["^[a-z]+$"] }),
    ),
    min: Type.Optional(Type.Number({ description: "The least number, or the shortest length of text." })),
    max: Type.Optional(Type.Number({ description: "The greatest number, or the longest length of text." })),
    generator: Type.Optional(Type.Enum(GENERATORS, { description: "Makes the value where none is given." })),
  },
  {
    ...strict,
    title: "TemplateParameter",
    allOf: parameterRules,
    examples: [{ name: "image", type: "string", required: true }],
  },
);
export type TemplateParameter = Static<typeof TemplateParameter>;

/** Text with a placeholder in it. The pattern matches a text in one way only, so matching does not backtrack. */
const Placeholder = Type.String({
  maxLength: 32_768,
  pattern: "^([^$]|\\$\\$+[^$]|\\$[^{$])*\\$\\{[^}]*\\}",
});

interface Shape extends TSchema {
  readonly title?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly patternProperties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
}

/**
 * Returns the same schema, in which text with a placeholder may replace every scalar. Defaults are removed because they
 * belong to the filled component.
 */
export function withPlaceholders(schema: TSchema): TSchema {
  const { title, default: _default, ...shape } = schema as Shape;
  const named = title ? { title: `Template${title}` } : {};
  if (shape.properties) return { ...shape, ...named, properties: eachWith(shape.properties) };
  if (shape.patternProperties) return { ...shape, patternProperties: eachWith(shape.patternProperties) };
  if (shape.items) return { ...shape, items: withPlaceholders(shape.items) };
  return Type.Union([shape, Placeholder]);
}

const eachWith = (shapes: Readonly<Record<string, Shape>>) =>
  Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, withPlaceholders(shape)]));

/** A component before its placeholders are filled. Rules between its fields apply to the filled component only. */
export type TemplateComponent = { readonly [field: string]: unknown };
export const TemplateComponent = Type.Unsafe<TemplateComponent>({
  ...withPlaceholders(withoutRules(ComponentInput)),
  title: "TemplateComponent",
});

export const StackTemplateFile = Type.Object(
  {
    name: DnsLabel("web-app"),
    namespace: DnsLabel("registry"),
    version: Type.String({ maxLength: 50, pattern: "^[0-9]+\\.[0-9]+\\.[0-9]+$", examples: ["1.0.0"] }),
    scope: Type.Enum(TEMPLATE_SCOPES),
    description: Type.String({ minLength: 1, maxLength: 2000, examples: ["A web app behind an address."] }),
    icon: Type.String({ maxLength: 100, pattern: "^[a-z0-9-]+$", examples: ["globe"] }),
    tags: Type.Array(DnsLabel("web"), { maxItems: 20, uniqueItems: true }),
    parameters: Type.Array(TemplateParameter, { maxItems: 100 }),
    components: Type.Array(TemplateComponent, { minItems: 1, maxItems: 100 }),
  },
  strict,
);
export type StackTemplateFile = Static<typeof StackTemplateFile>;
