import { AddonDefinitionFile, BundleManifest, placeholdersIn, StackTemplateFile, valueAt } from "@binnacle/contract";
import type { ValidateFunction } from "ajv/dist/2020.js";
import { patternsHere } from "../templates/pattern.ts";
import { templateProblems } from "../templates/template-problems.ts";
import { compileValuesSchema, type Kind, type Problem } from "./catalog-file.ts";
import { multilinePlaces } from "./one-line.ts";

type Definition = AddonDefinitionFile;
type Declaration = Definition["export_schema"][string];

export const ADDONS: Kind<typeof AddonDefinitionFile> = {
  schema: AddonDefinitionFile,
  nameOf: ({ name }) => name,
  problems: (definition) => [
    ...versionProblems(definition),
    ...valueProblems(definition),
    ...secretProblems(definition),
    ...Object.entries(definition.export_schema).flatMap(([key, declaration]) =>
      exportProblems(definition, key, declaration),
    ),
  ],
};

function versionProblems({ chart }: Definition): Problem[] {
  if (chart.versions.includes(chart.version)) return [];
  return [{ path: ["chart", "version"], message: "is not among the versions" }];
}

function valueProblems({ values_schema, default_values }: Definition): Problem[] {
  const check = compiled(values_schema);
  if (typeof check === "string") return [{ path: ["values_schema"], message: `is not a JSON Schema: ${check}` }];
  const misfits = check(default_values) ? [] : (check.errors ?? []);
  return [
    ...misfits.map(({ instancePath, message }) => ({
      path: ["default_values", ...instancePath.split("/").slice(1)],
      message: message ?? "is not valid",
    })),
    ...multilinePlaces(values_schema).map((place) => ({
      path: ["values_schema", ...place],
      message: "takes text with line breaks; give it a pattern from ^ to $ in which none can be",
    })),
  ];
}

function compiled(schema: Definition["values_schema"]): ValidateFunction | string {
  try {
    return compileValuesSchema(schema);
  } catch (error) {
    return (error as Error).message;
  }
}

/** A secret must be a settable string without a default, which would be a public password. */
function secretProblems({ values_schema, default_values, secret_values }: Definition): Problem[] {
  return secret_values.flatMap((dotted, index) => {
    const steps = dotted.split(".");
    const problem = (message: string) => [{ path: ["secret_values", index], message }];
    if (valueAt(default_values, steps) !== undefined) return problem("has a default, which would not be secret");
    return valueAt(schemaAt(values_schema, steps), ["type"]) === "string"
      ? []
      : problem("leads to no text in values_schema");
  });
}

/** Finds the schema of the value at the path, through `properties` and local `$ref`s. */
function schemaAt(root: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>((schema, step) => resolved(root, valueAt(schema, ["properties", step])), root);
}

/** Follows one reference only, so that a circular schema ends. */
function resolved(root: unknown, schema: unknown): unknown {
  const reference = valueAt(schema, ["$ref"]);
  return typeof reference === "string" ? valueAt(root, reference.split("/").slice(1)) : schema;
}

function exportProblems(definition: Definition, key: string, declaration: Declaration): Problem[] {
  const declared = new Map(Object.entries(definition.export_schema));
  const fault = (reference: string): string | null => {
    const [root, ...steps] = reference.split(".");
    const name = steps.join(".");
    if (root === "exports") {
      const other = declared.get(name);
      if (!other) return `names the export ${name}, which there is not`;
      if (isMadeOfExports(other)) return `names the export ${name}, which is made of exports itself`;
      return other.secret && !declaration.secret ? UNDECLARED : null;
    }
    if (root !== "values") return null;
    if (definition.secret_values.includes(name)) return declaration.secret ? null : UNDECLARED;
    return valueAt(definition.default_values, steps) === undefined
      ? `names the value ${name}, which has no default`
      : null;
  };
  return referencesOf(declaration)
    .map(fault)
    .filter((message) => message !== null)
    .map((message) => ({ path: ["export_schema", key, "from"], message }));
}

const UNDECLARED = "holds a secret and is not declared secret";

const referencesOf = ({ from }: Declaration): string[] =>
  [...placeholdersIn(from)].map((placeholder) => placeholder.replace(/\|uri$/, ""));

const isMadeOfExports = (declaration: Declaration) =>
  referencesOf(declaration).some((reference) => reference.startsWith("exports."));

export const BUNDLES: Kind<typeof BundleManifest> = {
  schema: BundleManifest,
  nameOf: ({ bundle }) => bundle,
  problems: (manifest) => [...duplicateProblems(manifest), ...groupProblems(manifest)],
};

/** Components are identified by key alone, so a key must be unique. */
function duplicateProblems({ core, profiles }: BundleManifest): Problem[] {
  const seen = new Map(Object.keys(core).map((key) => [key, "the core"]));
  return Object.entries(profiles).flatMap(([name, { components }]) =>
    Object.keys(components).flatMap((key) => {
      const elsewhere = seen.get(key);
      seen.set(key, `the profile ${name}`);
      return elsewhere ? [{ path: ["profiles", name, "components", key], message: `is also in ${elsewhere}` }] : [];
    }),
  );
}

/** The groups that installers read. A schema of groups with free names cannot require some of them in strict mode. */
const GROUPS = [
  ["limits", "timeouts"],
  ["limits", "resources"],
  ["upgrade", "tools"],
  ["backup", "defaults"],
] as const;

const groupProblems = (manifest: BundleManifest): Problem[] =>
  GROUPS.filter(([part, group]) => typeof manifest[part][group] !== "object").map(([part, group]) => ({
    path: [part],
    message: `has no group ${group}`,
  }));

export const TEMPLATES: Kind<typeof StackTemplateFile> = {
  schema: StackTemplateFile,
  nameOf: ({ name }) => name,
  problems: (template) => templateProblems(template, patternsHere),
};
