import type { AddonDefinitionFile, ValidationItem, ValidationType } from "@binnacle/contract";
import type { ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import { compileValuesSchema } from "../catalog/values-schema.ts";
import { stepsAlong } from "../http/json-pointer.ts";
import type { Values } from "./addon-values.ts";

type Schema = AddonDefinitionFile["values_schema"];

/** Compiled once for each schema of the catalog. */
const compiled = new WeakMap<Schema, ValidateFunction>();

function validatorOf(schema: Schema): ValidateFunction {
  const known = compiled.get(schema);
  if (known) return known;
  const made = compileValuesSchema(schema);
  compiled.set(schema, made);
  return made;
}

/** Everything that the definition's schema has against the values. What they hold is never repeated in the words. */
export function valueProblems(schema: Schema, values: Values): ValidationItem[] {
  const validate = validatorOf(schema);
  if (validate(values)) return [];
  return (validate.errors ?? []).map((error) => itemOf(stepsAlong(error.instancePath, values), error));
}

const TYPES: Readonly<Record<string, ValidationType>> = {
  string: "string_type",
  integer: "int_type",
  number: "float_type",
  boolean: "bool_type",
  array: "list_type",
  object: "dict_type",
};

const KEYWORDS: Readonly<Record<string, ValidationType>> = {
  minimum: "greater_than_equal",
  exclusiveMinimum: "greater_than",
  maximum: "less_than_equal",
  exclusiveMaximum: "less_than",
  minLength: "string_too_short",
  maxLength: "string_too_long",
  pattern: "string_pattern_mismatch",
  minItems: "too_short",
  minProperties: "too_short",
  maxItems: "too_long",
  maxProperties: "too_long",
};

function itemOf(
  loc: ValidationItem["loc"],
  { keyword, params, message = "is not valid" }: ErrorObject,
): ValidationItem {
  switch (keyword) {
    case "required":
      return { loc: [...loc, params["missingProperty"]], msg: "Field required", type: "missing" };
    case "additionalProperties":
      return {
        loc: [...loc, params["additionalProperty"]],
        msg: "Extra inputs are not permitted",
        type: "extra_forbidden",
      };
    case "enum":
      return { loc, msg: `Input should be one of ${JSON.stringify(params["allowedValues"])}`, type: "enum" };
    case "const":
      return { loc, msg: `Input should be ${JSON.stringify(params["allowedValue"])}`, type: "enum" };
    default: {
      const type = keyword === "type" ? TYPES[String(params["type"])] : KEYWORDS[keyword];
      return { loc, msg: `Input ${message.replace(/^must/, "should")}`, type: type ?? "value_error" };
    }
  }
}
