import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { boundWork } from "../http/bounded-ajv.ts";
import { compileRe2 } from "../templates/pattern.ts";

/**
 * Compiles the JSON Schema of an addon's values, with an Ajv of its own, because Ajv remembers schemas by `$id`. The
 * values are a user's: patterns are tested by RE2, and validation stops after the first hundred problems.
 */
export function compileValuesSchema(schema: object): ValidateFunction {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    strictTypes: false,
    strictRequired: false,
    code: { regExp: re2 },
  });
  return boundWork(ajv).compile(schema);
}

/** `code` is what a module that Ajv writes out would call; there is none. */
const re2 = Object.assign((pattern: string) => compileRe2(pattern), { code: "compileRe2" });
