import { type AddonDefinitionFile, type ReleaseFacts, valueAt } from "../packages/contract/src/index.ts";
import { resolveExports } from "../packages/operator/src/helm/exports.ts";
import { contentOf } from "../packages/operator/src/helm/manifest.ts";
import { objectsIn } from "../packages/operator/src/helm/manifest-reader.ts";

/** Compares the objects that a chart renders with what the definition of its addon says about them. */

type Definition = Pick<
  AddonDefinitionFile,
  "chart" | "default_values" | "values_schema" | "secret_values" | "export_schema"
>;
type Values = Record<string, unknown>;

export interface Release {
  readonly name: string;
  readonly namespace: string;
}

/** `fullname` differs between a release whose name contains the chart's and one whose name does not. */
export const releasesOf = ({ chart }: Pick<Definition, "chart">): Release[] => [
  { name: "keeper", namespace: "shop" },
  { name: `my-${chart.name}`, namespace: "shop" },
];

const sampleOf = (index: number) => `Sample-secret-${index}-of-the-check`;

/** The default values with a text for every secret that people may set. */
export function valuesOf({ default_values, secret_values }: Definition): Values {
  const values = structuredClone(default_values) as Values;
  for (const [index, path] of secret_values.entries()) {
    const steps = path.split(".");
    const last = steps.pop() ?? "";
    let inner = values;
    for (const step of steps) {
      const next = (inner[step] ?? {}) as Values;
      inner[step] = next;
      inner = next;
    }
    inner[last] = sampleOf(index);
  }
  return values;
}

/** The problems of one version of the chart: `manifest` is what `helm template` has printed for the release. */
export function findings(definition: Definition, release: Release, manifest: string): string[] {
  const { objects } = contentOf(manifest, [], release.namespace);
  const ofKind = (kind: string) => objects.filter((object) => object.kind === kind);
  const secrets = new Map(ofKind("Secret").map(({ name, manifest: secret }) => [name, contentsOf(secret)]));
  const services = new Map(ofKind("Service").map(({ name, manifest: service }) => [name, portsOf(service)]));
  const facts: ReleaseFacts = {
    release: release.name,
    namespace: release.namespace,
    chart: definition.chart.name,
    values: valuesOf(definition),
    exports: {},
  };
  const { plain, secret, missing } = resolveExports(definition.export_schema, facts, {
    secrets,
    services: new Set(services.keys()),
  });
  const has = `it has ${named("Services", services.keys())} and ${named("Secrets", secrets.keys())}`;
  return [
    ...missing.map((what) => `exports need ${what}; ${has}`),
    ...unservedPorts({ ...plain, ...secret }, release, services),
    ...unusedSecrets(definition, manifest, secrets),
  ];
}

const named = (what: string, names: Iterable<string>) => `the ${what} ${[...names].join(", ") || "(none)"}`;

type Fields = Readonly<Record<string, unknown>>;

function contentsOf({ data, stringData }: Fields): Record<string, string> {
  const decoded = Object.entries((data ?? {}) as Record<string, string>).map(
    ([key, value]) => [key, Buffer.from(String(value), "base64").toString("utf8")] as const,
  );
  return { ...Object.fromEntries(decoded), ...((stringData ?? {}) as Record<string, string>) };
}

const portsOf = ({ spec }: Fields): number[] =>
  ((spec as { ports?: { port: number }[] } | undefined)?.ports ?? []).map(({ port }) => port);

/** Every address of a Service in an export, and `port` beside `host`, leads to a port that the Service has. */
function unservedPorts(
  exports: Readonly<Record<string, string>>,
  { namespace }: Release,
  services: ReadonlyMap<string, readonly number[]>,
): string[] {
  const suffix = `.${namespace}.svc`;
  const texts = Object.entries(exports);
  const { host, port } = exports;
  if (host?.endsWith(suffix) && port !== undefined) texts.push(["port", `${host}:${port}`]);
  const address = new RegExp(`([a-z0-9-]+)\\.${namespace}\\.svc:(\\d+)`, "g");
  return texts.flatMap(([key, text]) =>
    [...text.matchAll(address)].flatMap(([, service = "", number = ""]) =>
      services.get(service)?.includes(Number(number))
        ? []
        : [
            `export ${key} leads to port ${number} of the Service ${service}, which has ${services.get(service)?.join(", ") || "none"}`,
          ],
    ),
  );
}

/** A secret that is found nowhere is a value that the chart does not know under this path. */
function unusedSecrets(
  { secret_values }: Definition,
  manifest: string,
  secrets: ReadonlyMap<string, Readonly<Record<string, string>>>,
): string[] {
  const texts = [manifest, ...[...secrets.values()].flatMap((content) => Object.values(content))];
  return secret_values
    .filter((_, index) => !texts.some((text) => text.includes(sampleOf(index))))
    .map((path) => `the chart makes nothing of the value ${path}`);
}

/**
 * Values that are set by default or that people may set, and that the chart does not have: it would ignore them. Where the
 * chart's own value is empty or no object, it takes anything below.
 */
export function unknownValues({ default_values, values_schema }: Definition, chartValues: string): string[] {
  const [known = {}] = objectsIn(chartValues);
  const unknown = new Set([...pathsUnknown(default_values, known), ...pathsUnknown(settable(values_schema), known)]);
  return [...unknown].map((path) => `the chart has no value ${path}`);
}

const isMap = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;

function pathsUnknown(wanted: unknown, known: unknown, path = ""): string[] {
  // Charts give a container its resources as they are.
  if (!isMap(wanted) || !isMap(known) || path.endsWith("resources.")) return [];
  return Object.entries(wanted).flatMap(([key, inner]) =>
    Object.hasOwn(known, key) ? pathsUnknown(inner, known[key], `${path}${key}.`) : [`${path}${key}`],
  );
}

/** The properties that a schema describes, as an object of the same shape. Follows references to `$defs`, which are not circular here. */
function settable(schema: unknown, root: unknown = schema): unknown {
  const { $ref, properties } = (schema ?? {}) as { $ref?: string; properties?: Fields };
  if (typeof $ref === "string") return settable(valueAt(root, $ref.split("/").slice(1)), root);
  return Object.fromEntries(Object.entries(properties ?? {}).map(([key, inner]) => [key, settable(inner, root)]));
}
