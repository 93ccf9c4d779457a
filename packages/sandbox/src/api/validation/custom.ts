import { type FieldProblem, invalidValue, notSupported, required } from "../fault.ts";
import { isRecord, isSame, type JsonRecord } from "../fields/typed-value.ts";
import { at } from "./metadata.ts";

/** Violations of a custom resource definition's schema. */
export function schemaProblems(schema: JsonRecord, value: unknown, field: string): FieldProblem[] {
  if (value === null) return schema["nullable"] === true ? [] : [wrongType(field, schema["type"], value)];
  if (!isOfType(schema, value)) return [wrongType(field, schema["type"], value)];
  return [
    ...enumProblems(schema, value, field),
    ...textProblems(schema, value, field),
    ...numberProblems(schema, value, field),
    ...listProblems(schema, value, field),
    ...recordProblems(schema, value, field),
    ...ruleProblems(schema, value, field),
  ];
}

const EQUALITY = /^self((?:\.\w+)+) == self((?:\.\w+)+)$/;

/** Of the CEL rules only those are evaluated that require two fields to be equal. */
function ruleProblems(
  { "x-kubernetes-validations": rules }: JsonRecord,
  value: unknown,
  field: string,
): FieldProblem[] {
  return (Array.isArray(rules) ? rules.filter(isRecord) : []).flatMap(({ rule, message }) => {
    const [, left, right] = EQUALITY.exec(String(rule)) ?? [];
    if (left === undefined || right === undefined) return [];
    const read = (path: string) => at(value, ...path.slice(1).split("."));
    if (isSame(read(left), read(right))) return [];
    const why = typeof message === "string" ? message : `failed rule: ${String(rule)}`;
    return [
      { reason: "FieldValueInvalid", field: field === "" ? "<nil>" : field, message: `Invalid value: ${why}` } as const,
    ];
  });
}

function isOfType(schema: JsonRecord, value: unknown): boolean {
  if (schema["x-kubernetes-int-or-string"] === true) return typeof value === "string" || Number.isInteger(value);
  switch (schema["type"]) {
    case "object":
      return isRecord(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "number":
      return typeof value === "number";
    case "string":
    case "boolean":
      return typeof value === schema["type"];
    default:
      return true;
  }
}

function wrongType(field: string, type: unknown, value: unknown): FieldProblem {
  const shown =
    value === null
      ? "null"
      : Array.isArray(value)
        ? "array"
        : isRecord(value)
          ? "object"
          : typeof value === "number"
            ? Number.isInteger(value)
              ? "integer"
              : "number"
            : typeof value;
  const message = `Invalid value: ${JSON.stringify(shown)}: ${field} in body must be of type ${String(type)}: ${JSON.stringify(shown)}`;
  return { reason: "FieldValueTypeInvalid", field, message };
}

function enumProblems({ enum: values }: JsonRecord, value: unknown, field: string): FieldProblem[] {
  if (!Array.isArray(values) || values.some((one) => isSame(one, value))) return [];
  return [notSupported(field, value, values.map(String))];
}

function textProblems({ pattern, minLength, maxLength }: JsonRecord, value: unknown, field: string): FieldProblem[] {
  if (typeof value !== "string") return [];
  const problems: FieldProblem[] = [];
  if (typeof maxLength === "number" && value.length > maxLength) {
    problems.push({ reason: "FieldValueTooLong", field, message: `Too long: may not be more than ${maxLength} bytes` });
  }
  if (typeof minLength === "number" && value.length < minLength) {
    problems.push(invalidValue(field, value, `${field} in body should be at least ${minLength} chars long`));
  }
  if (typeof pattern === "string" && !new RegExp(pattern).test(value)) {
    problems.push(invalidValue(field, value, `${field} in body should match '${pattern}'`));
  }
  return problems;
}

function numberProblems({ minimum, maximum }: JsonRecord, value: unknown, field: string): FieldProblem[] {
  if (typeof value !== "number") return [];
  return [
    ...(typeof minimum === "number" && value < minimum
      ? [invalidValue(field, value, `${field} in body should be greater than or equal to ${minimum}`)]
      : []),
    ...(typeof maximum === "number" && value > maximum
      ? [invalidValue(field, value, `${field} in body should be less than or equal to ${maximum}`)]
      : []),
  ];
}

function listProblems({ items, minItems, maxItems }: JsonRecord, value: unknown, field: string): FieldProblem[] {
  if (!Array.isArray(value)) return [];
  return [
    ...(typeof minItems === "number" && value.length < minItems
      ? [invalidValue(field, value.length, `${field} in body should have at least ${minItems} items`)]
      : []),
    ...(typeof maxItems === "number" && value.length > maxItems
      ? [
          {
            reason: "FieldValueInvalid",
            field,
            message: `Too many: ${value.length}: must have at most ${maxItems} items`,
          } as const,
        ]
      : []),
    ...(isRecord(items) ? value.flatMap((element, index) => schemaProblems(items, element, `${field}[${index}]`)) : []),
  ];
}

function recordProblems(schema: JsonRecord, value: unknown, field: string): FieldProblem[] {
  if (!isRecord(value)) return [];
  const { required: names, properties, additionalProperties } = schema;
  const join = (name: string) => (field === "" ? name : `${field}.${name}`);
  const missing = Array.isArray(names) ? names.filter((name) => value[name] === undefined) : [];
  return [
    ...missing.map((name) => required(join(name))),
    ...Object.entries(value).flatMap(([name, inner]) => {
      if (field === "" && ["apiVersion", "kind", "metadata"].includes(name)) return [];
      const declared = isRecord(properties) ? properties[name] : undefined;
      const given = declared ?? additionalProperties;
      return isRecord(given) ? schemaProblems(given, inner, join(name)) : [];
    }),
  ];
}
