import {
  type ChartInspection,
  isSecretPath,
  type PromotedParameter,
  type TemplateComponent,
  type TemplateParameter,
  type ValidationItem,
} from "@binnacle/contract";
import { invalid } from "../fault.ts";

interface Wrapped {
  readonly components: readonly TemplateComponent[];
  readonly parameters: readonly TemplateParameter[];
}

/**
 * Creates a template with one chart component whose values are set by parameters. Values that the schema or the type of
 * their parameter marks as secret become secret values. Throws the 422.
 */
export function wrapChart(repo: string, chart: ChartInspection, promoted: readonly PromotedParameter[]): Wrapped {
  const items: ValidationItem[] = [];
  const values: Record<string, unknown> = {};
  const parameters = promoted.map(({ path, ...parameter }, index): TemplateParameter => {
    const steps = path.split(".");
    const current = leafAt(chart.defaults, steps);
    const isSecret = chart.secret_values.includes(path);
    const problem =
      current === undefined
        ? "The chart has no such value"
        : (problemOf(current, values, steps) ?? secretProblem(isSecret || parameter.type === "secret", path));
    if (problem) items.push({ loc: ["body", "parameters", index, "path"], msg: problem, type: "value_error" });
    else place(values, steps, `\${${parameter.name}}`);
    if (isSecret && parameter.type !== undefined && parameter.type !== "secret") {
      const msg = "The chart's schema calls this value secret, so that the type must be secret";
      items.push({ loc: ["body", "parameters", index, "type"], msg, type: "value_error" });
    }
    return declared(isSecret ? { ...parameter, type: "secret" } : parameter, current);
  });
  if (items.length > 0) throw invalid(items);
  const { name, version } = chart.chart_metadata;
  const secrets = promoted.filter((_, index) => parameters[index]?.type === "secret").map(({ path }) => path);
  const secret_values = [...new Set([...chart.secret_values, ...secrets])];
  const chart_spec = {
    repo,
    name,
    version,
    ...(promoted.length > 0 ? { values } : {}),
    ...(secret_values.length > 0 ? { secret_values } : {}),
  };
  return { components: [{ name: componentName(name), type: "chart", chart_spec }], parameters };
}

/** Returns undefined where the path does not exist. */
function leafAt(values: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>((inner, step) => {
    const isMap = typeof inner === "object" && inner !== null && !Array.isArray(inner);
    return isMap && Object.hasOwn(inner, step) ? (inner as Record<string, unknown>)[step] : undefined;
  }, values);
}

function problemOf(current: unknown, values: Record<string, unknown>, steps: readonly string[]): string | null {
  if (typeof current === "object" && current !== null) return "The chart has more than one value there";
  return leafAt(values, steps) === undefined ? null : "Another parameter stands for this value";
}

const secretProblem = (isSecret: boolean, path: string): string | null =>
  isSecret && !isSecretPath(path) ? "The way to a secret is made of letters, digits, underscores and hyphens" : null;

function place(values: Record<string, unknown>, steps: readonly string[], placeholder: string): void {
  const [step = "", ...rest] = steps;
  if (rest.length === 0) {
    values[step] = placeholder;
    return;
  }
  const inner = Object.hasOwn(values, step) ? values[step] : {};
  values[step] = inner;
  place(inner as Record<string, unknown>, rest, placeholder);
}

/** Completes a parameter from the current value of the chart. */
function declared(parameter: Omit<PromotedParameter, "path">, current: unknown): TemplateParameter {
  const { type = typeOf(current), ...rest } = parameter;
  const isScalar = typeof current === "string" || typeof current === "number" || typeof current === "boolean";
  const takesDefault = isScalar && type !== "secret" && !rest.required && !rest.generator && rest.default === undefined;
  const fits = takesDefault && (type === typeOf(current) || type === "select" || type === "number");
  return { type, ...rest, ...(fits ? { default: current } : {}) };
}

function typeOf(value: unknown): TemplateParameter["type"] {
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "boolean" ? "boolean" : "string";
}

const LONGEST_COMPONENT = 40;

/** Converts the name of a chart to a valid Kubernetes name. */
function componentName(chart: string): string {
  const label = chart
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, LONGEST_COMPONENT);
  return label.replace(/^-+|-+$/g, "") || "chart";
}
