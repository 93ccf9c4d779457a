import Type, { type Static, type TSchema } from "typebox";
import { ComponentStatus } from "../app/component-status.ts";
import { Nullable, Timestamp } from "../fields.ts";
import { type DesiredKind, DRIFT_STATES } from "../states.ts";
import { Message, ReportedReason } from "./text.ts";

/** What an operator sees of a resource, by kind. */

/** A host that a cluster serves, or a wildcard. Those of apps have a stricter form. */
const HOST_NAME = "^(\\*\\.)?[a-z0-9_-]+(\\.[a-z0-9_-]+)*$";
export const isHostName = (text: string): boolean => text.length <= 253 && new RegExp(HOST_NAME).test(text);

/** Nothing of it is left on the cluster. The only report that ends a removal. */
const Gone = Type.Object({ state: Type.Literal("gone") });

export const ProjectReport = Type.Object({
  state: Type.Enum(["ready", "apply_failed", "namespace_conflict", "cleaning", "cleanup_blocked"]),
  message: Nullable(Message),
  /** Hosts that its charts, and their pods, serve on the cluster. Left out where there are none. */
  hosts: Type.Optional(Type.Array(Type.String({ maxLength: 253, pattern: HOST_NAME }), { maxItems: 1_000 })),
  /** The operator touches nothing in it. Left out where it does, and by one that does not know of it. */
  suspended: Type.Optional(Type.Boolean()),
});
export type ProjectReport = Static<typeof ProjectReport>;

export const RegistrySecretsReport = Type.Object({
  state: Type.Enum(["ready", "apply_failed"]),
  message: Nullable(Message),
});
export type RegistrySecretsReport = Static<typeof RegistrySecretsReport>;

export const DriftField = Type.Object({
  object: Type.Object({ kind: Type.String({ maxLength: 100 }), name: Type.String({ maxLength: 253 }) }),
  /** RFC 6901, into the object. */
  pointer: Type.String({ maxLength: 1_024 }),
  /** As JSON allows; of a Secret neither is shown. */
  desired: Type.Optional(Type.Unknown()),
  observed: Type.Optional(Type.Unknown()),
  /** The field manager that holds the field, where that is the trouble. */
  manager: Type.Optional(Type.String({ maxLength: 200 })),
});
export type DriftField = Static<typeof DriftField>;

/** A field that was changed on the cluster and set back. */
export const DriftRepair = Type.Object(
  {
    object: DriftField.properties.object,
    pointer: DriftField.properties.pointer,
    manager: DriftField.properties.manager,
    detected_at: Timestamp(),
    repaired_at: Timestamp(),
    times: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: "How often it was set back; the times are those of the last one.",
      examples: [1],
    }),
  },
  { title: "DriftRepair" },
);
export type DriftRepair = Static<typeof DriftRepair>;

/** So many repairs of an app are remembered, the newest. */
export const MOST_REPAIRS = 20;

export const DriftReport = Type.Object({
  state: Type.Enum(DRIFT_STATES),
  summary: Nullable(Message),
  fields: Type.Array(DriftField, { maxItems: 100 }),
  detected_at: Nullable(Timestamp()),
  /** Left out by an operator that does not remember them. */
  repaired: Type.Optional(Type.Array(DriftRepair, { maxItems: MOST_REPAIRS })),
});
export type DriftReport = Static<typeof DriftReport>;

/** The drift of an app whose objects have not been compared. */
export const UNKNOWN_DRIFT: DriftReport = { state: "unknown", summary: null, fields: [], detected_at: null };

export const AppReport = Type.Object({
  phase: Type.Enum(["deploying", "running", "degraded", "failed", "invalid", "paused", "deleting"]),
  /** When the phase began. Left out by an operator that does not know. */
  phase_since: Type.Optional(Timestamp()),
  reason: Nullable(ReportedReason),
  message: Nullable(Message),
  components: Type.Array(
    Type.Object({ name: Type.String({ maxLength: 63 }), ready_replicas: Type.Integer({ minimum: 0 }) }),
    { maxItems: 100 },
  ),
  /** Left out by an operator that does not report them. */
  components_status: Type.Optional(Type.Array(ComponentStatus, { maxItems: 100 })),
  drift: DriftReport,
  /** The operator does not touch it. Left out where it does, and by one that does not know of it. */
  suspended: Type.Optional(Type.Boolean()),
});
export type AppReport = Static<typeof AppReport>;

export const AddonReport = Type.Object({
  phase: Type.Enum(["installing", "ready", "upgrading", "degraded", "failed", "deleting"]),
  phase_since: Type.Optional(Timestamp()),
  reason: Nullable(ReportedReason),
  message: Nullable(Message),
  /** Null for a secret one: its value stays in the cluster. */
  exports: Type.Record(Type.String(), Nullable(Type.String({ maxLength: 4_096 }))),
  /** Left out by an operator that does not compare the objects of releases. */
  drift: Type.Optional(DriftReport),
  /** One for each workload of its release. */
  components_status: Type.Optional(Type.Array(ComponentStatus, { maxItems: 100 })),
});
export type AddonReport = Static<typeof AddonReport>;

export const Report = {
  project: Type.Union([ProjectReport, Gone]),
  app: Type.Union([AppReport, Gone]),
  addon_instance: Type.Union([AddonReport, Gone]),
  registry_secrets: Type.Union([RegistrySecretsReport, Gone]),
} as const satisfies Record<DesiredKind, TSchema>;
export type Gone = Static<typeof Gone>;
export type Reports = { readonly [K in DesiredKind]: Static<(typeof Report)[K]> };
