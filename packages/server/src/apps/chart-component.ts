import { repositoryProblem } from "@binnacle/charts";
import {
  type ComponentSpec,
  isAtOrBelow,
  isSecretPath,
  type LikelySecret,
  likelySecrets,
  MAX_SECRETS,
  secretPathsOfChart,
  type ValidationItem,
  valueAt,
} from "@binnacle/contract";
import { resolveValues, withoutPaths, withReferences } from "../addons/addon-values.ts";
import type { ResolvedComponent } from "./addon-component.ts";

/** The context of a chart component. */
export interface ChartContext {
  readonly app: string;
  /** Hosts that charts may be fetched from even if their address is private. */
  readonly chartHosts: readonly string[];
  /** The keys of the secrets in the request, and of those that the component already has. */
  readonly given: readonly string[];
  readonly held: readonly string[];
  /** The paths of the values that were secret before a change. */
  readonly before?: readonly string[];
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
  const likely = likelyIn(component.chart_spec);
  const chart_spec = withSealedPaths(component.chart_spec, likely, around.held);
  const { repo, values = {} } = chart_spec;
  const secret_values = secretPathsOfChart(chart_spec);
  if (secret_values.length > MAX_SECRETS) return { component, inline: {}, problems: [tooMany(secret_values.length)] };
  const secretName = secretNameOf(around.app, component.name);
  const held = around.held.filter((key) => secret_values.includes(key));
  const rules = { default_values: {}, secret_values, check: () => [] };
  const settled = resolveValues(values, rules, { name: component.name, secretName, held });
  const problems = [
    ...addressProblems(repo, around.chartHosts),
    ...overlaps(chart_spec.secret_values ?? []),
    ...bothWays(chart_spec),
    ...lostValues(chart_spec, around),
    ...unsealable(values, likely),
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

/** Said before any work for each of them: a request of a megabyte may have a hundred thousand. */
const tooMany = (count: number): ValidationItem =>
  wrong(
    ["chart_spec", "values"],
    `${count} values are listed as secrets or look like secrets, and a component has at most ${MAX_SECRETS} secrets: list those that are not secrets in plain_values`,
  );

type ChartSpec = NonNullable<ComponentSpec["chart_spec"]>;

const likelyIn = ({ values = {}, plain_values }: ChartSpec): LikelySecret[] =>
  likelySecrets(values, isSecretPath, plain_values);

/** More help nobody, and a megabyte may have a hundred thousand. */
const MOST_UNSEALABLE = 100;

/** What looks like a secret and cannot be sealed is refused, because everybody who reads the app would see it. */
const unsealable = (values: Readonly<Record<string, unknown>>, likely: readonly LikelySecret[]): ValidationItem[] =>
  likely
    .filter(({ canBeSealed }) => !canBeSealed)
    .slice(0, MOST_UNSEALABLE)
    .map(({ steps, path }) => {
      const remedy =
        typeof valueAt(values, steps) === "number" ? "write it in quotes" : "refer to a Secret of your own";
      return wrong(
        ["values", ...steps],
        `It looks like a secret and cannot be sealed like this: ${remedy}, or list ${path} in plain_values`,
      );
    });

/**
 * Lists the values that look like secrets, so that nobody has to think of it for their password not to be shown to every viewer. A path
 * that was sealed stays so while its secret is stored, because the stored values no longer have it.
 */
function withSealedPaths(chart: ChartSpec, likely: readonly LikelySecret[], held: readonly string[]): ChartSpec {
  const { sealed_values = [], values = {}, secret_values = [], plain_values = [], ...rest } = chart;
  const stored = sealed_values.filter((path) => held.includes(path) && !isAtOrBelow(path, plain_values));
  const found = likely.filter(({ canBeSealed }) => canBeSealed).map(({ path }) => path);
  const sealed = [...new Set([...found, ...stored])].filter((path) => !secret_values.includes(path));
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

/** A stored secret whose path is no longer secret would be missing in the release, and it cannot be shown as a value. */
const lostValues = (chart: ChartSpec, { before = [], held }: ChartContext): ValidationItem[] =>
  before
    .filter((path) => held.includes(path) && !secretPathsOfChart(chart).includes(path))
    .map((path) => path.split("."))
    .filter((steps) => valueAt(chart.values, steps) === undefined)
    .map((steps) =>
      wrong(["values", ...steps], "A stored secret does not become readable: give the value, or null in secrets"),
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
