import Type, { type Static, type TSchema } from "typebox";
import { ComponentInput } from "../component.ts";
import { DnsLabel, strict } from "../fields.ts";
import { GENERATORS, PARAMETER_TYPES, TEMPLATE_SCOPES } from "../states.ts";

/** A stack template: components with placeholders, and the parameters that fill them. */

const Scalar = Type.Union([
  Type.String({ maxLength: 32_768, examples: ["nginx:1.29"] }),
  Type.Number(),
  Type.Boolean(),
]);

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
  { ...strict, title: "TemplateParameter", examples: [{ name: "image", type: "string", required: true }] },
);
export type TemplateParameter = Static<typeof TemplateParameter>;

/** Text with a placeholder in it. There is one way to the first that `$${` does not write literally. */
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
 * The same schema, in which text with a placeholder may stand for every single value. Defaults and the title go: a
 * default belongs to the filled component, and the title to the schema as it was.
 */
export function withPlaceholders(schema: TSchema): TSchema {
  const { title: _title, default: _default, ...shape } = schema as Shape;
  if (shape.properties) return { ...shape, properties: eachWith(shape.properties) };
  if (shape.patternProperties) return { ...shape, patternProperties: eachWith(shape.patternProperties) };
  if (shape.items) return { ...shape, items: withPlaceholders(shape.items) };
  return Type.Union([shape, Placeholder]);
}

const eachWith = (shapes: Readonly<Record<string, Shape>>) =>
  Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, withPlaceholders(shape)]));

/** A component before its placeholders are filled. */
export type TemplateComponent = { readonly [field: string]: unknown };
export const TemplateComponent = Type.Unsafe<TemplateComponent>(withPlaceholders(ComponentInput));

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
