import { type ComponentSpec, canonicalJson, type DeploymentDiff, secretPathsOfChart } from "@binnacle/contract";
import { withoutPaths } from "../addons/addon-values.ts";
import type { AppSpec, Deployment } from "./app.ts";
import { componentOf } from "./app-secrets.ts";

type Change = DeploymentDiff["changes"][number];

/**
 * Compares the specifications of two deployments of an app. `changedSecrets` are the secrets that were changed between
 * them, each as `component/key`; a specification has none. A chart value that either of the two calls secret is reported
 * as changed and never shown: it may have been an ordinary value before.
 */
export function diffDeployments(
  against: Pick<Deployment, "id" | "revision" | "spec">,
  deployment: Pick<Deployment, "id" | "revision" | "spec">,
  changedSecrets: readonly string[],
): DeploymentDiff {
  const hidden = hiddenPaths(against.spec, deployment.spec);
  const files = secretFiles(against.spec, deployment.spec);
  const [before, after] = [against, deployment].map(({ spec }) => comparable(withoutContents(spec, files), hidden));
  const compared = diffValues("", before, after);
  const uncovered = [...hidden].flatMap(([component, paths]) =>
    [...paths]
      .filter((path) => isShownIn(against.spec, component, path) || isShownIn(deployment.spec, component, path))
      .map((path) => `${component}/${path}`),
  );
  const secrets = [...new Set([...changedSecrets, ...uncovered])].sort().map(secretChange);
  return {
    deployment_id: deployment.id,
    revision: deployment.revision,
    against: { deployment_id: against.id, revision: against.revision },
    changes: [...compared, ...secrets],
  };
}

/** The paths of chart values that either specification calls secret, by component. */
function hiddenPaths(...specs: readonly AppSpec[]): Map<string, Set<string>> {
  const hidden = new Map<string, Set<string>>();
  for (const { name, chart_spec } of specs.flatMap(({ components }) => components)) {
    const paths = hidden.get(name) ?? new Set<string>();
    for (const path of secretPathsOfChart(chart_spec)) paths.add(path);
    hidden.set(name, paths);
  }
  return hidden;
}

/** The files that either specification takes from a secret, as `component:path`. In the other they may be plain. */
const secretFiles = (...specs: readonly AppSpec[]): ReadonlySet<string> =>
  new Set(
    specs.flatMap(({ components }) =>
      components.flatMap(({ name, workload_spec }) =>
        (workload_spec?.files ?? []).flatMap(({ path, secret }) => (secret === undefined ? [] : [`${name}:${path}`])),
      ),
    ),
  );

function withoutContents(spec: AppSpec, secret: ReadonlySet<string>): AppSpec {
  if (secret.size === 0) return spec;
  const components = spec.components.map((component) => {
    const { name, workload_spec } = component;
    if (!workload_spec?.files) return component;
    const files = workload_spec.files.map((file) => {
      const { content: _, ...shown } = file;
      return secret.has(`${name}:${file.path}`) ? shown : file;
    });
    return { ...component, workload_spec: { ...workload_spec, files } };
  });
  return { ...spec, components };
}

function isShownIn({ components }: AppSpec, name: string, path: string): boolean {
  const values = components.find((component) => component.name === name)?.chart_spec?.values;
  return values !== undefined && canonicalJson(withoutPaths(values, [path])) !== canonicalJson(values);
}

/** A paused app keeps its declared replica counts, so a pause is one change. */
const comparable = ({ components, paused }: AppSpec, hidden: ReadonlyMap<string, ReadonlySet<string>>) => ({
  components: components.map((component) => withoutHidden(component, [...(hidden.get(component.name) ?? [])])),
  paused,
});

function withoutHidden(component: ComponentSpec, paths: readonly string[]): ComponentSpec {
  const { chart_spec } = component;
  if (!chart_spec?.values || paths.length === 0) return component;
  return { ...component, chart_spec: { ...chart_spec, values: withoutPaths(chart_spec.values, paths) } };
}

function secretChange(path: string): Change {
  const component = componentOf(path);
  const key = path.slice(component.length + 1);
  const parts = ["components", component, "secrets", ...(key === "" ? [] : [key])];
  return { path: parts.map((part) => `/${escaped(part)}`).join(""), change: "changed" };
}

/** Fields of objects, and members of lists that have names, are compared one by one. Other lists are single values. */
function diffValues(path: string, before: unknown, after: unknown): Change[] {
  if (before === undefined) return after === undefined ? [] : [{ path, change: "added", after }];
  if (after === undefined) return [{ path, change: "removed", before }];
  const [old, now] = [membersOf(before), membersOf(after)];
  if (old && now) {
    const names = [...new Set([...old.keys(), ...now.keys()])].sort();
    return names.flatMap((name) => diffValues(`${path}/${escaped(name)}`, old.get(name), now.get(name)));
  }
  return canonicalJson(before) === canonicalJson(after) ? [] : [{ path, change: "changed", before, after }];
}

function membersOf(value: unknown): Map<string, unknown> | null {
  if (Array.isArray(value)) return namedMembers(value);
  return isObject(value) ? new Map(Object.entries(value)) : null;
}

/** Null where a member has no name of its own; files are known by their paths. An empty list has no member without one. */
function namedMembers(list: readonly unknown[]): Map<string, unknown> | null {
  const members = new Map(list.filter(isObject).map((member) => [member["name"] ?? member["path"], member]));
  const isNamed = members.size === list.length && [...members.keys()].every((name) => typeof name === "string");
  return isNamed ? (members as Map<string, unknown>) : null;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** As RFC 6901 has it. */
const escaped = (part: string) => part.replaceAll("~", "~0").replaceAll("/", "~1");
