import { repositoryProblem } from "@binnacle/charts";
import {
  type ComponentSpec,
  isSecretPath,
  likelySecretPaths,
  secretPathsOfChart,
  type ValidationItem,
} from "@binnacle/contract";
import { referredPaths, resolveValues, withoutPaths, withReferences } from "../addons/addon-values.ts";
import type { ResolvedComponent } from "./addon-component.ts";

/** The context of a chart component. */
export interface ChartContext {
  readonly app: string;
  /** Hosts that charts may be fetched from even if their address is private. */
  readonly chartHosts: readonly string[];
  /** The keys of the secrets in the request, and of those that the component already has. */
  readonly given: readonly string[];
  readonly held: readonly string[];
}

/** The name of the Secret of a component in the cluster. */
const secretNameOf = (app: string, component: string) => `${app}-${component}-secrets`;

/**
 * Validates a chart component and splits the secrets off its values, because the values are shown to everybody who
 * reads the app and are stored in each of its revisions. A reference in the values stands for the stored secret.
 */
export function resolveChartComponent<C extends ComponentSpec>(
  component: C,
  around: ChartContext,
): ResolvedComponent<C> {
  if (!component.chart_spec) return { component, inline: {}, problems: [] };
  const chart_spec = withSealedPaths(component.chart_spec, around.held);
  const { repo, values = {} } = chart_spec;
  const secret_values = secretPathsOfChart(chart_spec);
  const secretName = secretNameOf(around.app, component.name);
  const held = around.held.filter((key) => secret_values.includes(key));
  const rules = { default_values: {}, secret_values, check: () => [] };
  const settled = resolveValues(values, rules, { name: component.name, secretName, held });
  const problems = [
    ...addressProblems(repo, around.chartHosts),
    ...overlaps(chart_spec.secret_values ?? []),
    ...bothWays(chart_spec),
    ...strayReferences(values, around.held, secret_values, secretName),
    ...("problems" in settled
      ? settled.problems.map(({ loc, ...item }) => ({ ...item, loc: ["values", ...loc] }))
      : []),
    ...("given" in settled ? twiceGiven([...settled.given.keys()], around.given) : []),
  ].map((item) => ({ ...item, loc: ["chart_spec", ...item.loc] }));
  if (problems.length > 0 || "problems" in settled) return { component, inline: {}, problems };
  const open = { ...chart_spec, values: withoutPaths(values, secret_values) };
  return {
    component: { ...component, chart_spec: chart_spec.values ? open : chart_spec },
    inline: Object.fromEntries(settled.given),
    problems: [],
  };
}

type ChartSpec = NonNullable<ComponentSpec["chart_spec"]>;

/**
 * Lists the values that look like secrets, so that nobody has to think of it for their password not to be shown to every viewer. A path
 * that was sealed stays so while its secret is stored, because the stored values no longer have it.
 */
function withSealedPaths(chart: ChartSpec, held: readonly string[]): ChartSpec {
  const { sealed_values = [], values = {}, secret_values = [], plain_values = [], ...rest } = chart;
  const likely = [...likelySecretPaths(values, isSecretPath), ...sealed_values.filter((path) => held.includes(path))];
  const sealed = [...new Set(likely)].filter((path) => !secret_values.includes(path) && !plain_values.includes(path));
  return {
    ...rest,
    ...(chart.values ? { values } : {}),
    ...(chart.secret_values ? { secret_values } : {}),
    ...(chart.plain_values ? { plain_values } : {}),
    ...(sealed.length > 0 ? { sealed_values: sealed.sort() } : {}),
  };
}

const bothWays = ({ secret_values = [], plain_values = [] }: ChartSpec): ValidationItem[] =>
  plain_values.flatMap((path, index) =>
    secret_values.includes(path) ? [wrong(["plain_values", index], "The path is listed in secret_values too")] : [],
  );

/** The list of sealed paths is the server's, so a change of it in a patch is undone. */
export function keepSealedPaths<C extends ComponentSpec>(before: ComponentSpec, after: C): C {
  if (!after.chart_spec) return after;
  const { sealed_values: _given, ...chart } = after.chart_spec;
  const sealed_values = before.chart_spec?.sealed_values;
  return { ...after, chart_spec: sealed_values ? { ...chart, sealed_values } : chart };
}

function addressProblems(repo: string, chartHosts: readonly string[]): ValidationItem[] {
  const problem = repositoryProblem(repo, chartHosts);
  return problem === null ? [] : [wrong(["repo"], problem)];
}

/** One secret path must not be within another. */
const overlaps = (paths: readonly string[]): ValidationItem[] =>
  paths.flatMap((path, index) =>
    paths.some((other) => other.startsWith(`${path}.`))
      ? [wrong(["secret_values", index], "Another path leads through this one")]
      : [],
  );

/** A reference at a path that is no longer secret would be sent as the value itself. */
const strayReferences = (
  values: Readonly<Record<string, unknown>>,
  held: readonly string[],
  secretValues: readonly string[],
  secretName: string,
): ValidationItem[] =>
  referredPaths(values, held, secretName)
    .filter((path) => !secretValues.includes(path))
    .map((path) =>
      wrong(
        ["values", ...path.split(".")],
        "A reference is taken only where the value is secret; give the value itself",
      ),
    );

const twiceGiven = (paths: readonly string[], given: readonly string[]): ValidationItem[] =>
  paths
    .filter((path) => given.includes(path))
    .map((path) => wrong(["values", ...path.split(".")], "It is given among the secrets too"));

const wrong = (loc: ValidationItem["loc"], msg: string): ValidationItem => ({ loc, msg, type: "value_error" });

/** Shows a chart component with a reference to the Secret at each secret path. */
export function shownChart<C extends ComponentSpec>(app: string, component: C, held: readonly string[]): C {
  const { chart_spec } = component;
  const paths = secretPathsOfChart(chart_spec).filter((path) => held.includes(path));
  if (!chart_spec || paths.length === 0) return component;
  const values = withReferences(chart_spec.values ?? {}, paths, secretNameOf(app, component.name));
  return { ...component, chart_spec: { ...chart_spec, values } };
}
