import type { AppBody, ChartRef, ComponentSpec, DesiredComponent } from "@binnacle/contract";
import { definitionGone } from "../addons/addon.ts";
import { overlay } from "../addons/addon-values.ts";
import { withSecrets } from "../addons/desired-addon.ts";
import type { FindDefinition } from "./addon-component.ts";
import { type App, effectiveComponents, specOf } from "./app.ts";

/** By component, then by key. */
export type OpenSecrets = ReadonlyMap<string, ReadonlyMap<string, string>>;

const NONE: ReadonlyMap<string, string> = new Map();

/** What a cluster is told of an app; its secrets are already opened. Throws where a definition has left the catalog. */
export function appBody(app: App, find: FindDefinition, secrets: OpenSecrets): AppBody {
  const spec = specOf(app);
  const parts = effectiveComponents(spec).map((component) =>
    partOf(component, find, secrets.get(component.name) ?? NONE),
  );
  return {
    spec: {
      project_id: app.project_id,
      namespace: app.namespace,
      name: app.name,
      paused: spec.paused,
      take_over: app.forced_generation === app.generation,
      components: parts.map(({ component }) => component),
    },
    secret: {
      secrets: Object.fromEntries([...secrets].map(([component, keys]) => [component, Object.fromEntries(keys)])),
      values: Object.fromEntries(
        parts.flatMap(({ component, values }) => (values ? [[component.name, values] as const] : [])),
      ),
    },
  };
}

interface Part {
  readonly component: DesiredComponent;
  /** What Helm is given, where it installs something. */
  readonly values?: Record<string, unknown>;
}

function partOf(
  { addon_spec, chart_spec, ...rest }: ComponentSpec,
  find: FindDefinition,
  secrets: ReadonlyMap<string, string>,
): Part {
  const component = { ...rest, type: rest.type ?? "workload" };
  if (chart_spec) {
    const { values = {}, secret_values = [], ...chart } = chart_spec;
    return {
      component: { ...component, release: { chart: givenParts(chart), export_schema: {} } },
      values: withSecrets(values, ofPaths(secrets, secret_values)),
    };
  }
  if (addon_spec?.definition_id !== undefined) {
    const definition = find(addon_spec.definition_id);
    if (!definition) throw definitionGone();
    const { chart, default_values, export_schema, secret_values } = definition;
    const { values = {}, chart_version: version = chart.version } = addon_spec;
    return {
      component: { ...component, release: { chart: { repo: chart.repo, name: chart.name, version }, export_schema } },
      values: withSecrets(overlay(default_values, values), ofPaths(secrets, secret_values)),
    };
  }
  return {
    component: addon_spec?.instance === undefined ? component : { ...component, addon_instance: addon_spec.instance },
  };
}

/** Of a component's secrets, those that are values of its chart. */
const ofPaths = (secrets: ReadonlyMap<string, string>, paths: readonly string[]): ReadonlyMap<string, string> =>
  new Map([...secrets].filter(([key]) => paths.includes(key)));

const givenParts = ({ repo, name, version }: ChartRef): ChartRef => ({
  repo,
  name,
  ...(version === undefined ? {} : { version }),
});
