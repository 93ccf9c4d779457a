import Type, { type Static } from "typebox";
import { Nullable, Page, PageQuery, ReadName, strict, Timestamp, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";

const tag = "Clusters";
const params = Type.Object({ org_id: Uuid(), id: Uuid() });
const orgParams = Type.Object({ org_id: Uuid() });

export const OPERATOR_SKEWS = ["supported", "outdated", "unsupported"] as const;
export type OperatorSkew = (typeof OPERATOR_SKEWS)[number];

export const CLUSTER_UPGRADE_PHASES = [
  "pending",
  "running",
  "succeeded",
  "returned",
  "failed",
  "skipped",
  "cancelled",
] as const;
export type ClusterUpgradePhase = (typeof CLUSTER_UPGRADE_PHASES)[number];

export const OPERATOR_UPGRADE_STATUSES = ["running", "succeeded", "failed", "cancelled"] as const;
export type OperatorUpgradeStatus = (typeof OPERATOR_UPGRADE_STATUSES)[number];

/** Of very many clusters an answer lists the first; the counts are of all. */
export const MAX_LISTED_UPGRADES = 1_000;
export const MAX_UPGRADE_BATCH = 50;
export const DEFAULT_UPGRADE_BATCH = 5;

const phaseFields = {
  phase: Type.Enum(CLUSTER_UPGRADE_PHASES, {
    description:
      "`returned`: the new image did not become ready in time, and the former one runs again. `failed`: it is not known to run. " +
      "`skipped`: it could not be upgraded from here. `cancelled`: it was not begun.",
  }),
  from_version: Nullable(Type.String({ examples: ["0.1.0"] })),
  to_version: Type.String({ examples: ["0.2.0"] }),
  reason: Nullable(Type.String({ examples: ["The image cannot be pulled: not found."] })),
  started_at: Nullable(Timestamp()),
  finished_at: Nullable(Timestamp()),
};

/** The newest upgrade, as a cluster shows it. */
export const ClusterOperatorUpgrade = Type.Object(
  { upgrade_id: Uuid(), ...phaseFields },
  { title: "ClusterOperatorUpgrade" },
);
export type ClusterOperatorUpgrade = Static<typeof ClusterOperatorUpgrade>;

const fields = {
  id: Uuid(),
  org_id: Uuid(),
  status: Type.Enum(OPERATOR_UPGRADE_STATUSES, {
    description:
      "`failed`: at least one cluster did not get the new operator. `running` until the last of them has ended.",
  }),
  to_version: Type.String({ description: "The version of the control plane that started it.", examples: ["0.2.0"] }),
  batch_size: Type.Integer({ examples: [DEFAULT_UPGRADE_BATCH] }),
  stop_on_failure: Type.Boolean({ examples: [true] }),
  cancel_requested_at: Nullable(Timestamp()),
  counts: Type.Object(
    Object.fromEntries(
      CLUSTER_UPGRADE_PHASES.map((phase) => [phase, Type.Integer({ minimum: 0, examples: [0] })]),
    ) as Record<ClusterUpgradePhase, ReturnType<typeof Type.Integer>>,
    { title: "OperatorUpgradeCounts", description: "How many clusters are in each phase." },
  ),
  created_by: Nullable(Uuid()),
  created_at: Timestamp(),
  finished_at: Nullable(Timestamp()),
};

const OperatorUpgradeSummary = Type.Object(fields, { title: "OperatorUpgradeSummary" });
export type OperatorUpgradeSummary = Static<typeof OperatorUpgradeSummary>;

const OperatorUpgrade = Type.Object(
  {
    ...fields,
    clusters: Type.Array(
      Type.Object(
        { cluster_id: Uuid(), cluster_name: ReadName("production"), ...phaseFields },
        { title: "UpgradedCluster" },
      ),
      { description: `In the order in which they are upgraded, at most ${MAX_LISTED_UPGRADES}.` },
    ),
  },
  { title: "OperatorUpgrade" },
);
export type OperatorUpgrade = Static<typeof OperatorUpgrade>;

const OperatorUpgradePreview = Type.Object(
  {
    to_version: Type.String({ description: "The version of the control plane.", examples: ["0.2.0"] }),
    cluster_count: Type.Integer({ minimum: 0, description: "How many would be upgraded.", examples: [3] }),
    from_versions: Type.Array(
      Type.Object({
        version: Type.String({ examples: ["0.1.0"] }),
        cluster_count: Type.Integer({ minimum: 1, examples: [3] }),
      }),
      { description: "The versions that those clusters have now, the most frequent first." },
    ),
    skipped_count: Type.Integer({
      minimum: 0,
      description: "How many have an older operator that cannot be upgraded from here at the moment.",
      examples: [0],
    }),
  },
  { title: "OperatorUpgradePreview" },
);
export type OperatorUpgradePreview = Static<typeof OperatorUpgradePreview>;

export const previewOperatorUpgrade = operation({
  id: "previewOperatorUpgrade",
  method: "GET",
  path: "/orgs/{org_id}/operator-upgrade-preview",
  tag,
  summary: "Read what an upgrade of all operators would upgrade now; org admin",
  description: "Changes nothing. An upgrade that is started later judges each cluster again.",
  credentials: "user",
  params: orgParams,
  success: [200, OperatorUpgradePreview],
  failures: [403, 404],
});

export const startOperatorUpgrade = operation({
  id: "startOperatorUpgrade",
  method: "POST",
  path: "/orgs/{org_id}/operator-upgrades",
  tag,
  summary: "Upgrade the operators of clusters to the version of the control plane; org admin",
  description:
    "Of the named clusters, or of all whose operator has another version. Each operator gives its own Deployment the new image and goes back to " +
    "the former one if that does not become ready within five minutes. As many at a time as `batch_size` says; after a failure no " +
    "more are begun, unless `stop_on_failure` is false. Clusters that cannot be upgraded from here are `skipped`, with the reason. 409 where " +
    "none can, or where one is being upgraded already.",
  credentials: "user",
  params: orgParams,
  body: Type.Object(
    {
      cluster_ids: Type.Optional(
        Type.Array(Uuid(), {
          minItems: 1,
          maxItems: 100,
          uniqueItems: true,
          description: "All, where it is left out.",
        }),
      ),
      batch_size: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: MAX_UPGRADE_BATCH,
          default: DEFAULT_UPGRADE_BATCH,
          description: "How many at a time.",
        }),
      ),
      stop_on_failure: Type.Optional(Type.Boolean({ default: true, description: "Begin no more after a failure." })),
    },
    { ...strict, examples: [{ batch_size: DEFAULT_UPGRADE_BATCH, stop_on_failure: true }] },
  ),
  bodyIsOptional: true,
  success: [201, OperatorUpgrade],
  failures: [403, 404, 409],
});

export const listOperatorUpgrades = operation({
  id: "listOperatorUpgrades",
  method: "GET",
  path: "/orgs/{org_id}/operator-upgrades",
  tag,
  summary: "List the upgrades of operators, newest first; org admin",
  credentials: "user",
  params: orgParams,
  query: PageQuery,
  success: [200, Page(OperatorUpgradeSummary)],
  failures: [403, 404],
});

export const getOperatorUpgrade = operation({
  id: "getOperatorUpgrade",
  method: "GET",
  path: "/orgs/{org_id}/operator-upgrades/{id}",
  tag,
  summary: "Read an upgrade of operators, with its clusters; org admin",
  credentials: "user",
  params,
  success: [200, OperatorUpgrade],
  failures: [403, 404],
});

export const cancelOperatorUpgrade = operation({
  id: "cancelOperatorUpgrade",
  method: "POST",
  path: "/orgs/{org_id}/operator-upgrades/{id}/cancel",
  tag,
  summary: "Begin no more clusters of an upgrade of operators; org admin",
  description: "Those that are being upgraded go on to their end. An upgrade that has ended stays as it is.",
  credentials: "user",
  params,
  success: [200, OperatorUpgrade],
  failures: [403, 404],
});
