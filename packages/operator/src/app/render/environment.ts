import { createHash } from "node:crypto";
import { canonicalJson, type DesiredComponent } from "@binnacle/contract";
import type { KubeObject } from "../../kube/kube-client.ts";
import { fieldsOf, objectOf, present, someOf, type WorkloadContext } from "./component-context.ts";
import { contentsOf } from "./files.ts";
import type { Publishers } from "./publishers.ts";
import type { Export, SecretExport } from "./rendering.ts";

/** The variables of a component, each by its name. */
export interface Environment {
  readonly plain: Readonly<Record<string, string>>;
  readonly secret: Readonly<Record<string, SecretExport>>;
  /** Exports, as `db.url`, that are not known yet. */
  readonly missing: readonly string[];
}

type Taken = { readonly component: string; readonly key: string };
type Asked = { readonly value: string } | Taken;

/** `my-db` and `user.name` become `MY_DB_USER_NAME`. */
export function variableName(...parts: readonly string[]): string {
  const name = parts.map((part) => part.toUpperCase().replace(/[^A-Z0-9]/g, "_")).join("_");
  return /^[0-9]/.test(name) ? `_${name}` : name;
}

/** Without a key, all exports of the component are meant; `env` is then what their names begin with. */
function takenByRefs(refs: NonNullable<DesiredComponent["export_refs"]>, publisherOf: Publishers): [string, Taken][] {
  const wholes = refs.flatMap(({ component, key, env }): [string, Taken][] =>
    key === undefined
      ? (publisherOf(component)?.keys ?? []).map((each) => [
          env === undefined ? variableName(component, each) : `${env}_${variableName(each)}`,
          { component, key: each },
        ])
      : [],
  );
  const singles = refs.flatMap(({ component, key, env }): [string, Taken][] =>
    key === undefined ? [] : [[env ?? variableName(component, key), { component, key }]],
  );
  return [...wholes, ...singles];
}

/**
 * Variables of `env` win over the component's secrets, these over export_refs, and export_refs with a key over those
 * without.
 */
export function environmentOf(
  { export_refs = [], workload_spec }: Pick<DesiredComponent, "export_refs" | "workload_spec">,
  secretKeys: ReadonlySet<string>,
  publisherOf: Publishers,
): Environment {
  const asked = new Map<string, Asked>([
    ...takenByRefs(export_refs, publisherOf).filter(([name]) => !secretKeys.has(name)),
    ...(workload_spec?.env ?? []).map(({ name, value, export_ref }): [string, Asked] => [
      name,
      export_ref ?? { value: value ?? "" },
    ]),
  ]);
  const found = [...asked].sort(byName).map(([name, one]) => ({ name, one, export: exportOf(one, publisherOf) }));
  return {
    plain: Object.fromEntries(
      found.flatMap(({ name, export: it }) => (it && "value" in it ? [[name, it.value] as const] : [])),
    ),
    secret: Object.fromEntries(
      found.flatMap(({ name, export: it }) => (it && "secret" in it ? [[name, it] as const] : [])),
    ),
    missing: [...new Set(found.flatMap(({ one, export: it }) => (it || "value" in one ? [] : [textOf(one)])))].sort(),
  };
}

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]) => (one < other ? -1 : 1);
const textOf = ({ component, key }: Taken) => `${component}.${key}`;

function exportOf(asked: Asked, publisherOf: Publishers): Export | null {
  if ("value" in asked) return asked;
  const exports = publisherOf(asked.component)?.exports ?? {};
  return Object.hasOwn(exports, asked.key) ? (exports[asked.key] ?? null) : null;
}

const base64 = (text: string) => Buffer.from(text, "utf8").toString("base64");

type SecretContext = Pick<WorkloadContext, "namespace" | "labels" | "names" | "secrets" | "composed">;

/** The component's secrets, and apart from them, because pods of the component get all of those, what it exports of them. */
export const secretObjects = (context: SecretContext): KubeObject[] => [
  ...secretObject(context, context.names.secrets, context.secrets),
  ...secretObject(context, context.names.composed, context.composed),
];

/** As `data`, not `stringData`: what is applied must read back the same. */
function secretObject(context: SecretContext, name: string, values: Readonly<Record<string, string>>): KubeObject[] {
  const data = Object.entries(values).map(([key, value]) => [key, base64(value)] as const);
  if (data.length === 0) return [];
  return [objectOf(context, "v1", "Secret", name, { type: "Opaque", data: Object.fromEntries(data.sort()) })];
}

export function configurationObjects(context: WorkloadContext): KubeObject[] {
  const data = fieldsOf(context.environment.plain);
  return [
    ...(data ? [objectOf(context, "v1", "ConfigMap", context.names.env, { data })] : []),
    ...secretObjects(context),
  ];
}

const NO_VARIABLES: Environment = { plain: {}, secret: {}, missing: [] };

/** Kubernetes replaces `$(NAME)` in values that are in the pod itself, and `$$` by `$`. */
const asWritten = (value: string): string => value.replaceAll("$", "$$$$");

/**
 * Of what comes from several sources under one name, the later one counts, and `env` before all. Variables that a container has
 * for itself are in the pod, those of the component in its ConfigMap.
 */
export function environmentFields({ names, environment, secrets }: WorkloadContext, own = NO_VARIABLES) {
  const taken = new Set([...Object.keys(own.plain), ...Object.keys(own.secret)]);
  const shared = Object.entries(environment.secret).filter(([name]) => !taken.has(name));
  return present({
    envFrom: someOf([
      ...(fieldsOf(secrets) ? [{ secretRef: { name: names.secrets } }] : []),
      ...(fieldsOf(environment.plain) ? [{ configMapRef: { name: names.env } }] : []),
    ]),
    env: someOf([
      ...Object.entries(own.plain).map(([name, value]) => present({ name, value: asWritten(value) || undefined })),
      ...[...Object.entries(own.secret), ...shared].map(([name, { secret }]) => ({
        name,
        valueFrom: { secretKeyRef: secret },
      })),
    ]),
  });
}

/**
 * Pods read their variables and files when they start, so they are replaced when this changes; undefined where they read none.
 * The names of Jobs depend on it: what a component does not have must not change it.
 */
export function configurationChecksum({ environment, ownEnvironments, secrets, spec }: WorkloadContext) {
  const { plain, secret } = environment;
  const files = fieldsOf(contentsOf(spec));
  // Values are in the pod itself; of secrets only their names are.
  const own = fieldsOf(
    Object.fromEntries(
      [...ownEnvironments].flatMap(([name, one]) => (fieldsOf(one.secret) ? [[name, one.secret]] : [])),
    ),
  );
  if (!files && !own && ![plain, secret, secrets].some(fieldsOf)) return undefined;
  return createHash("sha256")
    .update(canonicalJson(present({ plain, secret, secrets, files, own })))
    .digest("hex");
}
