import Type, { type Static, type TSchema } from "typebox";
import { ComponentSpec, HookTimeout, WorkloadSpec } from "../app/component.ts";
import { ExportKey } from "../app/pod-fields.ts";
import { ExportDeclaration } from "../catalog/addon-definition.ts";
import { Uuid } from "../fields.ts";
import { DesiredPolicy } from "../project-policy.ts";
import { withoutRules } from "../rules.ts";
import { COMPONENT_TYPES, type DesiredKind } from "../states.ts";

/**
 * What a cluster is told to hold, by kind. Each has two parts: `spec`, which the operator stores as a custom resource, and
 * `secret`, which it stores as a Secret beside it.
 */

const Namespace = Type.String({ minLength: 1, maxLength: 63 });
const Name = Type.String({ minLength: 1, maxLength: 63 });
const Values = Type.Record(Type.String(), Type.Unknown());

export const ProjectBody = Type.Object({
  spec: Type.Object({
    org_id: Uuid(),
    name: Name,
    namespace: Namespace,
    /** Absent from an older control plane; `DEFAULT_POLICY` holds then. */
    policy: Type.Optional(DesiredPolicy),
    /** Nothing in the namespace is touched. Left out where neither it nor its cluster is suspended, as by an older control plane. */
    suspended: Type.Optional(Type.Boolean()),
  }),
  secret: Type.Object({}),
});
export type ProjectBody = Static<typeof ProjectBody>;

const ChartRef = Type.Object({
  repo: Type.String(),
  name: Type.String(),
  version: Type.Optional(Type.String()),
});
export type ChartRef = Static<typeof ChartRef>;

/** Empty for a chart that is of no definition. */
const ExportSchema = Type.Record(ExportKey, ExportDeclaration);

const { replicas: _, ...workloadFields } = withoutRules(WorkloadSpec).properties;
const {
  addon_spec: _a,
  chart_spec: _c,
  workload_spec: _w,
  ...componentFields
} = withoutRules(ComponentSpec).properties;

/** A component as it is to run: replicas are 0 while the app is paused, and a chart stands for every kind of release. */
export const DesiredComponent = Type.Object({
  ...componentFields,
  type: Type.Enum(COMPONENT_TYPES),
  workload_spec: Type.Optional(
    Type.Object({ ...workloadFields, replicas: Type.Optional(Type.Integer({ minimum: 0 })) }),
  ),
  /** A standalone addon instance of the namespace that the component stands for. */
  addon_instance: Type.Optional(Name),
  /** What Helm installs for the component; its values are secret. */
  release: Type.Optional(
    Type.Object({
      chart: ChartRef,
      export_schema: ExportSchema,
      hook_timeout_seconds: Type.Optional(HookTimeout),
    }),
  ),
});
export type DesiredComponent = Static<typeof DesiredComponent>;

export const AppBody = Type.Object({
  spec: Type.Object({
    project_id: Uuid(),
    namespace: Namespace,
    name: Name,
    paused: Type.Boolean(),
    /** Nothing of it is applied, corrected or pruned. Left out where it is not suspended, as by an older control plane. */
    suspended: Type.Optional(Type.Boolean()),
    /** Takes over fields that another manager owns, with this generation. */
    take_over: Type.Boolean(),
    components: Type.Array(DesiredComponent),
  }),
  secret: Type.Object({
    /** By component, then by key. */
    secrets: Type.Record(Type.String(), Type.Record(Type.String(), Type.String())),
    /** Of releases, by component. */
    values: Type.Record(Type.String(), Values),
  }),
});
export type AppBody = Static<typeof AppBody>;

export const AddonBody = Type.Object({
  spec: Type.Object({
    project_id: Uuid(),
    namespace: Namespace,
    name: Name,
    chart: ChartRef,
    export_schema: ExportSchema,
  }),
  secret: Type.Object({ values: Values }),
});
export type AddonBody = Static<typeof AddonBody>;

export const RegistrySecretsBody = Type.Object({
  spec: Type.Object({
    project_id: Uuid(),
    namespace: Namespace,
    /** Names of the Secrets to be, which workloads of the namespace pull with. */
    names: Type.Array(Type.String()),
  }),
  secret: Type.Object({
    registries: Type.Array(
      Type.Object({ name: Type.String(), server: Type.String(), username: Type.String(), password: Type.String() }),
    ),
  }),
});
export type RegistrySecretsBody = Static<typeof RegistrySecretsBody>;

export const DESIRED_BODIES = {
  project: ProjectBody,
  app: AppBody,
  addon_instance: AddonBody,
  registry_secrets: RegistrySecretsBody,
} as const satisfies Record<DesiredKind, TSchema>;
export type DesiredBodies = { readonly [K in DesiredKind]: Static<(typeof DESIRED_BODIES)[K]> };
