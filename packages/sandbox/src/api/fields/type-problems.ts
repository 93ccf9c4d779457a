import { fieldSchema, type ScalarType, type Schema } from "../schema/schema.ts";
import { placeText, stepOfElement, UnidentifiedElement } from "./field-set.ts";
import { isRecord } from "./typed-value.ts";

/** Violations of the schema, worded as server-side apply does. */
export function typeProblems(schema: Schema, value: unknown, path = ""): string[] {
  const say = (what: string) => [`${path}: ${what}`];
  if (value === null || value === undefined || schema.is === "any") return [];
  if (schema.is === "scalar") {
    const problem = scalarProblem(schema.type, value);
    return problem ? say(problem) : [];
  }
  if (schema.is === "list") {
    if (!Array.isArray(value)) return say(`expected list, got ${shown(value)}`);
    return listProblems(schema, value, path);
  }
  if (!isRecord(value)) return say(`expected map, got ${shown(value)}`);
  return Object.entries(value).flatMap(([name, inner]) => {
    const below = fieldSchema(schema, name);
    return below ? typeProblems(below, inner, `${path}.${name}`) : [`${path}.${name}: field not declared in schema`];
  });
}

function listProblems(schema: Extract<Schema, { is: "list" }>, list: readonly unknown[], path: string): string[] {
  const seen = new Set<string>();
  return list.flatMap((element, at) => {
    if (schema.relation === "atomic") return typeProblems(schema.items, element, `${path}[${at}]`);
    try {
      const step = stepOfElement(schema, element);
      const place = placeText([step]);
      const repeated = seen.has(step) ? [`${path}: duplicate entries for key ${place}`] : [];
      seen.add(step);
      return [...repeated, ...typeProblems(schema.items, element, `${path}${place}`)];
    } catch (error) {
      if (error instanceof UnidentifiedElement) return [`${path}: element ${at}: ${error.message}`];
      throw error;
    }
  });
}

const NUMERIC: readonly ScalarType[] = ["integer", "int64", "number"];

function scalarProblem(type: ScalarType, value: unknown): string | null {
  if (NUMERIC.includes(type))
    return typeof value === "number" ? null : `expected numeric (int or float), got ${goType(value)}`;
  if (type === "boolean") return typeof value === "boolean" ? null : `expected boolean, got ${shown(value)}`;
  if (type === "Quantity" || type === "IntOrString")
    return typeof value === "object" ? `expected any scalar, got ${shown(value)}` : null;
  return typeof value === "string" ? null : `expected string, got ${shown(value)}`;
}

const goType = (value: unknown) =>
  typeof value === "object" ? "map[string]interface {}" : typeof value === "boolean" ? "bool" : typeof value;
const shown = (value: unknown) => `&value.valueUnstructured{Value:${JSON.stringify(value)}}`;
