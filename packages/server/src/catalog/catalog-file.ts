import { withoutRules } from "@binnacle/contract";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Static, TSchema } from "typebox";
import { Check } from "typebox/value";
import { v5 } from "uuid";
import { type Document, isNode, LineCounter, parseDocument, visit } from "yaml";
import { boundWork } from "../http/bounded-ajv.ts";
import { compileRe2 } from "../templates/pattern.ts";

/** A problem of an entry, and the path to it. */
export interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** One kind of catalog file: its schema, the name of an entry, and the checks that a schema cannot express. */
export interface Kind<S extends TSchema> {
  readonly schema: S;
  readonly nameOf: (entry: Static<S>) => string;
  readonly problems: (entry: Static<S>) => readonly Problem[];
}

type Reading<T> =
  | { readonly entry: T; readonly problems: readonly [] }
  | { readonly entry: null; readonly problems: readonly string[] };

/** Code that validates a few files once is not worth the third of a second in which Ajv would optimize it. */
const optimize = false;
const ajv = new Ajv2020({ allErrors: true, strict: true, code: { optimize } });
addFormats.default(ajv, ["uuid"]);

/** Reads `<folder>/<name>.yaml`. Every problem names the file, the line and the path. */
export function fileReader<S extends TSchema>(kind: Kind<S>): (file: string, text: string) => Reading<Static<S>> {
  // Rules between fields are checked by the kind, with messages for a file.
  const schema = withoutRules(kind.schema);
  return (file, text) => {
    const lines = new LineCounter();
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
    const at = (offset: number, sentence: string) => `${file}:${lines.linePos(offset).line}: ${sentence}`;
    const refused = (problems: readonly string[]) => ({ entry: null, problems });

    if (document.errors.length > 0) return refused(document.errors.map(({ pos, message }) => at(pos[0], message)));
    const alias = firstAlias(document);
    if (alias !== null) return refused([at(alias, "aliases are not supported")]);

    const place = ({ path, message }: Problem) => {
      const node = document.getIn(path, true);
      return at(isNode(node) ? (node.range?.[0] ?? 0) : 0, `${path.join(".") || "the file"} ${message}`);
    };
    const entry: unknown = document.toJS();
    // Ajv says what is wrong. It compiles a schema first, which a start without problems does not wait for.
    if (!Check(schema, entry)) return refused(formProblems(errorsOf(schema, entry)).map(place));
    const problems = [...nameProblems(file, kind.nameOf(entry)), ...kind.problems(entry)];
    return problems.length > 0 ? refused(problems.map(place)) : { entry, problems: [] };
  };
}

/** The same schema is compiled once. */
function errorsOf(schema: object, entry: unknown): readonly ErrorObject[] {
  const isWellFormed = ajv.compile(schema);
  if (isWellFormed(entry)) throw new Error("TypeBox refuses an entry of the catalog that Ajv accepts.");
  return isWellFormed.errors ?? [];
}

/** An alias can expand a small file without bound, and a catalog needs none. */
function firstAlias(document: Document): number | null {
  let offset: number | null = null;
  visit(document, {
    Alias(_key, alias) {
      offset = alias.range?.[0] ?? 0;
      return visit.BREAK;
    },
  });
  return offset;
}

/** The file is named after the entry, so names are unique. */
function nameProblems(file: string, name: string): Problem[] {
  return file.endsWith(`/${name}.yaml`)
    ? []
    : [{ path: [], message: `is called ${name}, so its name is ${name}.yaml` }];
}

/** Reports only that no alternative matches, because the reasons for each of them are long. */
function formProblems(errors: readonly ErrorObject[]): Problem[] {
  const unions = errors.filter(({ keyword }) => keyword === "anyOf").map(({ schemaPath }) => `${schemaPath}/`);
  return errors
    .filter(({ schemaPath }) => !unions.some((union) => schemaPath.startsWith(union)))
    .map(({ instancePath, keyword, params, message = "is not valid" }) => {
      const path = stepsOf(instancePath);
      if (keyword === "additionalProperties")
        return { path: [...path, params["additionalProperty"]], message: "is not known" };
      return { path, message: keyword === "anyOf" ? "has none of the forms that it may have" : message };
    });
}

const stepsOf = (pointer: string) =>
  pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));

/** The namespace of addon ids. A change of it would change every id and detach existing instances and templates. */
const ADDONS = "6f1b1a52-9a3e-5c0e-8f0b-2d6c1b7e4a90";

/** The id of an addon is derived from its name, so it is the same in every installation. */
export const definitionId = (name: string): string => v5(name, ADDONS);

/**
 * Compiles the schema of an addon's values with an Ajv of its own, because Ajv caches schemas by `$id`. The values come
 * from users: patterns are matched by RE2, and validation stops after a hundred problems.
 */
export function compileValuesSchema(schema: object): ValidateFunction {
  // This Ajv has compiled the meta-schema already, which takes longer than all the rest.
  void ajv.validateSchema(schema, true);
  const own = new Ajv2020({
    allErrors: true,
    strict: true,
    strictTypes: false,
    strictRequired: false,
    validateSchema: false,
    code: { regExp: re2, optimize },
  });
  return boundWork(own).compile(schema);
}

/** Ajv requires `code` for standalone modules, which are not generated here. */
const re2 = Object.assign((pattern: string) => compileRe2(pattern), { code: "compileRe2" });
