import {
  type ComponentSpec,
  secretPathsOfChart,
  type TemplateComponent,
  type TemplateParameter,
} from "@binnacle/contract";

/** The part of an app that a template can contain. */
interface CapturedApp {
  readonly components: readonly ComponentSpec[];
  /** The path of every secret, as `component/key`. */
  readonly secret_paths: readonly string[];
}

interface Captured {
  readonly components: readonly TemplateComponent[];
  readonly parameters: readonly TemplateParameter[];
}

/**
 * Creates a template of an app. Secrets keep their keys, and their values become required parameters. Without
 * `preserveExportRefs`, references to exports become parameters too.
 */
export function captureApp({ components, secret_paths }: CapturedApp, preserveExportRefs: boolean): Captured {
  const parameters = new ParameterNames();
  return {
    components: components.map((component) => {
      const keys = secret_paths.filter((path) => path.startsWith(`${component.name}/`));
      const secrets = keys.map((path) => {
        const key = path.slice(component.name.length + 1);
        return [key, parameters.require("secret", [component.name, key], `${key} of ${component.name}.`)];
      });
      const literal = escaped(withListedSecrets(component)) as ComponentSpec;
      const open = preserveExportRefs ? literal : withoutExportRefs(literal, parameters);
      return { ...open, ...(secrets.length > 0 ? { secrets: Object.fromEntries(secrets) } : {}) };
    }),
    parameters: parameters.all,
  };
}

/** What was sealed by its name is listed, because the template has a parameter in place of the value. */
function withListedSecrets(component: ComponentSpec): ComponentSpec {
  const secret_values = secretPathsOfChart(component.chart_spec);
  if (!component.chart_spec || secret_values.length === 0) return component;
  const { sealed_values: _, ...chart } = component.chart_spec;
  return { ...component, chart_spec: { ...chart, secret_values: [...secret_values] } };
}

/** Escapes text of an app, because `${` has a meaning in a template. */
function escaped(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll("${", () => "$${");
  if (Array.isArray(value)) return value.map(escaped);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, escaped(item)]));
}

function withoutExportRefs(component: ComponentSpec, parameters: ParameterNames): TemplateComponent {
  const { export_refs = [], workload_spec, ...others } = component;
  // A reference without a key stands for all exports, so the parameter is the component or instance that has them.
  const whole = export_refs
    .filter(({ key, env }) => key === undefined && env === undefined)
    .map(({ component: from }) => ({
      component: parameters.require(
        "string",
        [component.name, from],
        `The component or addon instance whose exports ${component.name} gets; ${from} in the original.`,
      ),
    }));
  const rest = { ...others, ...(whole.length > 0 ? { export_refs: whole } : {}) };
  // Only workloads have environment variables for the values.
  if (!workload_spec) return rest;
  const asked = (name: string, from: string, key: string) => ({
    name,
    value: parameters.require("string", [component.name, name], `${name} of ${component.name}: ${key} of ${from}.`),
  });
  const open = (env: NonNullable<typeof workload_spec.env> = []) =>
    env.map((variable) =>
      variable.export_ref ? asked(variable.name, variable.export_ref.component, variable.export_ref.key) : variable,
    );
  const containers = Object.fromEntries(
    (["init_containers", "sidecars"] as const).flatMap((list) =>
      workload_spec[list]
        ? [[list, workload_spec[list].map((it) => (it.env ? { ...it, env: open(it.env) } : it))]]
        : [],
    ),
  );
  const env = [
    ...open(workload_spec.env),
    ...export_refs.flatMap(({ component: from, key, env: name }) =>
      key === undefined && name === undefined
        ? []
        : [asked(name ?? variableOf(from, key ?? ""), from, key ?? "the export")],
    ),
  ];
  return { ...rest, workload_spec: { ...workload_spec, ...containers, ...(env.length > 0 ? { env } : {}) } };
}

const variableOf = (component: string, key: string) => `${component}_${key}`.toUpperCase().replace(/[^A-Z0-9_]/g, "_");

const LONGEST_NAME = 63;

/** Collects parameters and gives each a unique name. */
class ParameterNames {
  readonly #parameters = new Map<string, TemplateParameter>();

  get all(): TemplateParameter[] {
    return [...this.#parameters.values()];
  }

  /** Adds a parameter and returns its placeholder. */
  require(type: "secret" | "string", words: readonly string[], description: string): string {
    const wanted = words
      .join("_")
      .replace(/[^A-Za-z0-9_]/g, "_")
      .replace(/^(?=[0-9])/, "_");
    let name = wanted.slice(0, LONGEST_NAME);
    for (let count = 2; this.#parameters.has(name); count++) {
      name = `${wanted.slice(0, LONGEST_NAME - 1 - String(count).length)}_${count}`;
    }
    this.#parameters.set(name, { name, type, description: description.slice(0, 500), required: true });
    return `\${${name}}`;
  }
}
