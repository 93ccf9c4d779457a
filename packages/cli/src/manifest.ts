import { renameExportRefs } from "@binnacle/client";
import { structuredPatch } from "diff";
import { stringify, visit } from "yaml";
import schema from "../binnacle.schema.json" with { type: "json" };
import { parseAll, positionsIn, yamlProblem } from "./command.ts";
import type { PositionOf } from "./failure.ts";
import { CliError, EXIT } from "./host.ts";
import type { Row } from "./output.ts";

type Fields = Readonly<Record<string, unknown>>;

/** One app of a `binnacle.yaml`. */
export interface AppDocument {
  readonly name: string;
  readonly project: string | null;
  readonly description: string | null;
  readonly components: readonly Component[];
  readonly positionOf: PositionOf;
}

export interface Component extends Fields {
  readonly name: string;
  readonly secrets?: Fields;
}

const TOP = new Set(["name", "project", "description", "components"]);

/** Reads the apps of a file. The server checks the fields; what is needed to ask it is checked here. */
export function readManifest(
  file: string,
  text: string,
  env: Readonly<Record<string, string | undefined>> | null,
): AppDocument[] {
  const documents = parseAll(text);
  const apps = documents.flatMap((document, index) => {
    const [problem] = document.errors;
    if (problem) throw yamlProblem(file, text, problem);
    if (document.contents === null) return [];
    const positionOf = positionsIn(file, text, index);
    const wrong = (path: readonly (string | number)[], message: string) =>
      new CliError(`${positionOf(path) ?? file}: ${path.length > 0 ? `${path.join(".")}: ` : ""}${message}`);
    if (env)
      substitute(
        document,
        env,
        (offset, message) => new CliError(`${file}:${text.slice(0, offset).split("\n").length}: ${message}`),
      );
    const value: unknown = document.toJS();
    if (!isFields(value)) throw wrong([], "An app is a mapping with name and components.");
    for (const key of Object.keys(value))
      if (!TOP.has(key))
        throw wrong([key], "There is no such field; name, project, description and components are known.");
    const { name, project = null, description = null, components } = value as Record<string, unknown>;
    if (typeof name !== "string" || name === "") throw wrong(["name"], "An app needs a name.");
    if (project !== null && typeof project !== "string") throw wrong(["project"], "A project is named by a text.");
    if (description !== null && typeof description !== "string")
      throw wrong(["description"], "A description is a text.");
    if (!Array.isArray(components)) throw wrong(["components"], "An app needs a list of components.");
    components.forEach((component, at) => {
      if (!isFields(component) || typeof component["name"] !== "string")
        throw wrong(["components", at], "A component is a mapping with a name.");
      renameExportRefs(component);
    });
    return [{ name, project, description, components: components as Component[], positionOf }];
  });
  if (apps.length === 0) throw new CliError(`${file} holds no app.`);
  const names = apps.map(({ name, project }) => `${project ?? ""}/${name}`);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice) throw new CliError(`${file} holds the app ${twice.replace(/^\//, "")} twice.`);
  return apps;
}

const VARIABLE = /\$(\$\{)|\$\{([A-Z_][A-Z0-9_]*)\}/g;

/**
 * Fills in `${NAME}` in scalars, after the file was parsed, so that a value cannot become other YAML. Lower-case names
 * belong to exports and templates and stay; `$${` is the text `${`.
 */
function substitute(
  document: ReturnType<typeof parseAll>[number],
  env: Readonly<Record<string, string | undefined>>,
  wrong: (offset: number, message: string) => CliError,
): void {
  visit(document, {
    Scalar(key, node) {
      if (key === "key" || typeof node.value !== "string" || !node.value.includes("${")) return;
      const isWhole = /^\$\{[A-Z_][A-Z0-9_]*\}$/.test(node.value) && node.type === "PLAIN";
      const filled = node.value.replace(VARIABLE, (_, escaped: string | undefined, name: string) => {
        if (escaped) return escaped;
        const value = env[name];
        if (value === undefined) throw wrong(node.range?.[0] ?? 0, `The variable ${name} is not set.`);
        return value;
      });
      // Without quotes it may be meant as a number, as in `replicas: ${REPLICAS}`.
      node.value =
        isWhole && /^(0|[1-9]\d{0,14})$/.test(filled)
          ? Number(filled)
          : isWhole && /^(true|false)$/.test(filled)
            ? filled === "true"
            : filled;
    },
  });
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly default?: unknown;
}

/** What the server fills in is filled in here too, so that leaving out a default is no difference. */
function withDefaults(value: unknown, shape: Shape | undefined): unknown {
  if (Array.isArray(value)) return value.map((item) => withDefaults(item, shape?.items));
  if (!isFields(value) || !shape?.properties) return value;
  const filled = Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withDefaults(item, shape.properties?.[key])]),
  );
  for (const [key, { default: preset }] of Object.entries(shape.properties)) {
    if (preset !== undefined && !(key in filled)) filled[key] = preset;
  }
  return filled;
}

const COMPONENT = (schema as unknown as Shape).properties?.["components"]?.items;

export interface Plan {
  readonly action: "create" | "update" | "none";
  readonly before: Fields;
  readonly after: Fields;
  /** The body of the request. */
  readonly body: Fields;
  /** Finds a field of the request in the file. */
  readonly positionOf: PositionOf;
}

export interface PlanOptions {
  /** Sends secrets that the app has already; without it only new ones are sent, since values cannot be compared. */
  readonly updatesSecrets: boolean;
  readonly confirmations: Fields;
}

/** What has to be done so that the app is as the file says. */
export function planOf(app: AppDocument, current: Row, { updatesSecrets, confirmations }: PlanOptions): Plan {
  const description = app.description;
  const after = app.components.map((component) => {
    const now = current?.components.find(({ name }: Row) => name === component.name);
    return { component: desired(component, now), secrets: newSecrets(component, now, updatesSecrets), now };
  });
  const shown = (rows: readonly { component: Fields; secrets: Fields }[]) => ({
    ...(description === null ? {} : { description }),
    components: rows.map(({ component, secrets }) =>
      Object.keys(secrets).length === 0
        ? component
        : { ...component, secrets: Object.fromEntries(Object.keys(secrets).map((key) => [key, "(hidden)"])) },
    ),
  });
  if (!current) {
    const components = app.components.map((component) => ({ ...component }));
    return {
      action: "create",
      before: {},
      after: shown(after.map(({ secrets }, index) => ({ component: withoutSecrets(app.components[index]), secrets }))),
      body: { name: app.name, ...(description === null ? {} : { description }), components },
      positionOf: app.positionOf,
    };
  }
  const removed = current.components.filter(({ name }: Row) => !app.components.some((it) => it.name === name));
  const changes: Fields[] = removed.map(({ name }: Row) => ({ op: "remove", name }));
  const indexes: (number | null)[] = removed.map(() => null);
  after.forEach(({ component, secrets, now }, index) => {
    const given = Object.keys(secrets).length > 0 ? { secrets } : {};
    const patch = now ? mergePatchBetween(stored(now, component), component) : null;
    if (!now) changes.push({ op: "add", ...app.components[index] });
    else if (Object.keys(patch ?? {}).length > 0 || Object.keys(given).length > 0) {
      changes.push({ op: "patch", name: component["name"], ...(patch ?? {}), ...given, ...confirmations });
    } else return;
    indexes.push(index);
  });
  const isDescribedAnew = (current.description ?? null) !== description && description !== null;
  const before = {
    ...(description === null ? {} : { description: current.description ?? null }),
    components: [
      ...after.flatMap(({ now, component }) => (now ? [stored(now, component)] : [])),
      ...removed.map((it: Row) => stored(it, {})),
    ],
  };
  return {
    action: changes.length > 0 || isDescribedAnew ? "update" : "none",
    before,
    after: shown(after),
    body: { ...(changes.length > 0 ? { components: changes } : {}), ...(isDescribedAnew ? { description } : {}) },
    positionOf: ([first, index, ...rest]) => {
      if (first !== "components" || typeof index !== "number")
        return app.positionOf(first === undefined ? [] : [first]);
      const at = indexes[index];
      return at === null || at === undefined
        ? app.positionOf([])
        : app.positionOf(["components", at, ...rest.filter((key) => key !== "patch")]);
    },
  };
}

function withoutSecrets(component: Component | undefined): Fields {
  const { secrets: _secrets, ...rest } = component ?? { name: "" };
  return rest;
}

/** A component as the file wants it, in the server's form. A count that the file leaves out is left to `scale`. */
function desired({ secrets: _secrets, ...component }: Component, now: Row): Fields {
  const workload = component["workload_spec"];
  const count = now?.workload_spec?.replicas;
  const isScaled = isFields(workload) && workload["replicas"] === undefined && typeof count === "number" && count > 0;
  const counted = isScaled ? { ...component, workload_spec: { ...workload, replicas: count } } : component;
  return withoutSecretValues(withDefaults(counted, COMPONENT) as Fields, now);
}

/** A component as the server has it, without what is not part of its specification, in the order of the file. */
function stored({ secrets, ready_replicas: _ready, ...component }: Row, like: Fields): Fields {
  return ordered(withoutSecretValues(component, { secrets }), like) as Fields;
}

/** The same value with its fields in the order of another one, so that only differences show in a diff. */
function ordered(value: unknown, like: unknown): unknown {
  if (Array.isArray(value)) return value.map((item, index) => ordered(item, Array.isArray(like) ? like[index] : null));
  if (!isFields(value) || !isFields(like)) return value;
  const order = [...Object.keys(like), ...Object.keys(value)];
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => order.indexOf(a) - order.indexOf(b))
      .map(([key, item]) => [key, ordered(item, like[key])]),
  );
}

/** Values of charts that are kept as secrets read as references; they cannot be compared. */
function withoutSecretValues(component: Fields, now: Row): Fields {
  let cleaned = component;
  for (const spec of ["addon_spec", "chart_spec"]) {
    const holder = cleaned[spec];
    if (!isFields(holder) || !isFields(holder["values"])) continue;
    const values = (now?.secrets ?? []).reduce(
      (at: Fields, path: string) => without(at, path.split(".")),
      holder["values"],
    );
    // The server lists what it has sealed by its name.
    const { sealed_values: _, ...given } = holder;
    cleaned = { ...cleaned, [spec]: { ...given, values } };
  }
  return cleaned;
}

function without(value: Fields, [key = "", ...rest]: readonly string[]): Fields {
  if (!(key in value)) return value;
  const { [key]: child, ...others } = value;
  return rest.length > 0 && isFields(child) ? { ...others, [key]: without(child, rest) } : others;
}

function newSecrets(component: Component, now: Row, all: boolean): Fields {
  const { secrets = {} } = component;
  if (all) return { ...sealedTexts(component, now), ...secrets };
  return Object.fromEntries(Object.entries(secrets).filter(([key]) => !now?.secrets?.includes(key)));
}

/** The texts of the file at those paths of a chart's values that the server keeps as secrets. */
function sealedTexts({ chart_spec }: Component, now: Row): Fields {
  const values = isFields(chart_spec) ? chart_spec["values"] : undefined;
  const textAt = (path: string) =>
    path.split(".").reduce<unknown>((inner, step) => (isFields(inner) ? inner[step] : undefined), values);
  const paths: readonly string[] = now?.secrets ?? [];
  return Object.fromEntries(
    paths.map((path) => [path, textAt(path)] as const).filter(([, text]) => typeof text === "string"),
  );
}

/** A merge patch (RFC 7396) that turns one value into the other. */
export function mergePatchBetween(before: Fields, after: Fields): Fields {
  const patch: Record<string, unknown> = {};
  for (const key of Object.keys(before)) if (!(key in after)) patch[key] = null;
  for (const [key, value] of Object.entries(after)) {
    const old = before[key];
    if (isEqual(old, value)) continue;
    patch[key] = isFields(old) && isFields(value) ? mergePatchBetween(old, value) : value;
  }
  return patch;
}

function isEqual(a: unknown, b: unknown): boolean {
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isEqual(item, b[index]));
  if (!isFields(a) || !isFields(b)) return a === b;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => isEqual(a[key], b[key]));
}

export interface DiffLine {
  readonly kind: "added" | "removed" | "same" | "gap";
  readonly text: string;
}

/** The differences of two values as lines of YAML, with a little around them. */
export function diffLines(before: Fields, after: Fields): DiffLine[] {
  const text = (value: Fields) => (Object.keys(value).length === 0 ? "" : stringify(value, { lineWidth: 0 }));
  const { hunks } = structuredPatch("", "", text(before), text(after), "", "", { context: 3 });
  return hunks.flatMap(({ lines }, index) => [
    ...(index > 0 ? [{ kind: "gap", text: "  …" } as const] : []),
    ...lines
      .filter((line) => !line.startsWith("\\"))
      .map(
        (line) =>
          ({
            kind: line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "same",
            text: `${line[0]} ${line.slice(1)}`,
          }) as const,
      ),
  ]);
}

const schemaLine = (url: string) => `# yaml-language-server: $schema=${url}/schemas/binnacle.schema.json\n`;

/** A running app as a file that deploys it again. Secrets stay where they are; their keys are named. */
export function exported(app: Row, project: string, url: string): string {
  const components = app.components.map(
    ({ secrets: _secrets, ready_replicas: _ready, ...component }: Row) => component,
  );
  const keys = app.components.flatMap(({ name, secrets }: Row) =>
    (secrets as string[]).map((key) => `#   ${name}: ${key}\n`),
  );
  const note =
    keys.length > 0 ? `# Secrets are not exported. Set them with \`binnacle apps secrets set\`:\n${keys.join("")}` : "";
  const body = { name: app.name, project, ...(app.description ? { description: app.description } : {}), components };
  return `${schemaLine(url)}${note}${stringify(body, { lineWidth: 0 })}`;
}

/** A first file, with the fields that most apps need next as comments. */
export function starter(name: string, image: string, port: number | null, project: string | null, url: string): string {
  if (!/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) {
    throw new CliError(`"${name}" is no name of an app: use lower-case letters, digits and dashes.`, EXIT.usage);
  }
  return `${schemaLine(url)}# Deploy it with: binnacle apps deploy -f binnacle.yaml
name: ${name}
${project === null ? "# project: shop # or --project" : `project: ${stringify(project).trim()}`}
components:
  - name: web
    workload_spec:
      image: ${stringify(image).trim()}
      # Left out, the count that \`binnacle apps scale\` has set stays.
      # replicas: 2
${port === null ? "      # ports:\n      #   - { name: http, port: 8080 }" : `      ports:\n        - { name: http, port: ${port} }`}
      # env:
      #   - { name: LOG_LEVEL, value: info }
      # resources:
      #   requests: { cpu: 100m, memory: 128Mi }
      # probes:
      #   readiness: { path: /, port: ${port ?? 8080} }
      # ingress: { host: shop.example.com, tls: true }
    # Values of secrets do not belong into this file: binnacle apps secrets set ${name} API_KEY
`;
}
