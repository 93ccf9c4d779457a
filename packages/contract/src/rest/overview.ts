import Type, { type Static } from "typebox";
import { Continued, CursorQuery, Nullable, Timestamp, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import { ADDON_PHASES, APP_PHASES, CLUSTER_STATUSES, PROJECT_LIFECYCLES } from "../states.ts";

const tag = "Overview";
const count = (description?: string) =>
  Type.Integer({ minimum: 0, examples: [1], ...(description ? { description } : {}) });

/** A count for each of the states, those that nothing is in included. */
const countsBy = <T extends string>(states: readonly T[]) =>
  Type.Unsafe<Record<T, number>>(Type.Object(Object.fromEntries(states.map((state) => [state, count()]))));

export const ATTENTION_KINDS = [
  "app",
  "cluster",
  "project",
  "addon_instance",
  "provisioning_job",
  "cli_token",
] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];

export const ATTENTION_REASONS = [
  "failed",
  "rollout_failed",
  "held_up",
  "invalid",
  "degraded",
  "blocked_sync",
  "drifted",
  "disconnected",
  "install_failed",
  "error",
  "cleanup_degraded",
  "namespace_conflict",
  "provisioning_failed",
  "expires_soon",
] as const;
export type AttentionReason = (typeof ATTENTION_REASONS)[number];

/** What resolves the trouble of an app or an addon instance, where one step does. */
export const ATTENTION_ACTIONS = ["roll_back", "edit", "retry", "see_pods"] as const;
export type AttentionAction = (typeof ATTENTION_ACTIONS)[number];

export const MOST_ATTENTION_ITEMS = 50;
/** So many objects with the same cause are named in one item, beside the first. */
export const MOST_OTHERS_NAMED = 9;

const AttentionItem = Type.Object(
  {
    kind: Type.Enum(ATTENTION_KINDS),
    id: Uuid(),
    name: Type.String({ description: "That of its cluster for a provisioning job.", examples: ["storefront"] }),
    namespace: Nullable(Type.String({ examples: ["shop"] })),
    project_id: Nullable(Uuid()),
    cluster_id: Nullable(Uuid()),
    severity: Type.Enum(["failed", "warning"]),
    reason: Type.Enum(ATTENTION_REASONS, {
      description:
        "`held_up`: a rollout whose pods cannot start or get ready, for 30 seconds or more. `rollout_failed`: the newest change of an " +
        "app has failed, and an earlier version may be running.",
    }),
    cause: Nullable(
      Type.String({ description: "One word for programs, as the cluster reports it.", examples: ["ImagePullBackOff"] }),
    ),
    action: Nullable(Type.Enum(ATTENTION_ACTIONS, { description: "What resolves it, where one step does." })),
    others: count(
      "How many more objects of the kind have the same reason, cause and action, on the same cluster where they are on one; of images, " +
        "charts and settings the same one is at fault.",
    ),
    others_named: Type.Array(
      Type.Object({
        id: Uuid(),
        name: Type.String({ examples: ["storefront"] }),
        namespace: Nullable(Type.String({ examples: ["shop"] })),
        project_id: Nullable(Uuid()),
      }),
      { maxItems: MOST_OTHERS_NAMED },
    ),
    message: Nullable(Type.String({ examples: ["Deployment storefront-web has 1 of 2 replicas."] })),
    since: Nullable(Timestamp()),
  },
  { title: "AttentionItem" },
);
export type AttentionItem = Static<typeof AttentionItem>;

const OrgOverview = Type.Object(
  {
    clusters: Type.Object({ total: count(), by_status: countsBy(CLUSTER_STATUSES), stale: count() }),
    projects: Type.Object({ total: count(), by_lifecycle: countsBy(PROJECT_LIFECYCLES) }),
    apps: Type.Object({
      total: count(),
      by_phase: countsBy(APP_PHASES),
      drifted: count(),
      blocked: count("Those whose drift state is `blocked_sync`."),
      held_up: count("Those of the deploying ones whose rollout is held up."),
      stale: count(),
    }),
    addon_instances: Type.Object({ total: count(), by_phase: countsBy(ADDON_PHASES) }),
    attention: Type.Object({
      total: count("All objects that need attention, also those that are not named."),
      items: Type.Array(AttentionItem, {
        maxItems: MOST_ATTENTION_ITEMS,
        description: "Failures before warnings, and the oldest first. Objects with the same cause are one item.",
      }),
    }),
  },
  { title: "OrgOverview" },
);
export type OrgOverview = Static<typeof OrgOverview>;

export const getOrgOverview = operation({
  id: "getOrgOverview",
  method: "GET",
  path: "/orgs/{id}/overview",
  tag,
  summary: "Count what you can see of an organization, and list what needs attention",
  description: `At most ${MOST_ATTENTION_ITEMS} items. What runs on a cluster without a connection is not listed one by one: its cluster is, unless it has never been connected. Of CLI tokens only your own are listed, and none to a CLI token.`,
  credentials: "user",
  params: Type.Object({ id: Uuid() }),
  success: [200, OrgOverview],
  readsMuch: true,
  failures: [403, 404],
});

const FleetCluster = Type.Object(
  {
    id: Uuid(),
    name: Type.String({ examples: ["production"] }),
    status: Type.Enum(CLUSTER_STATUSES),
    stale: Type.Boolean({ examples: [false] }),
    apps: count("The apps on it that you can see."),
    failing: count("Those of them that are `failed`, `invalid` or `degraded`."),
    held_up: count("Those of them whose rollout is held up."),
  },
  { title: "FleetCluster" },
);
export type FleetCluster = Static<typeof FleetCluster>;

/** The largest customers have 5,000. So many fit into the bytes of a list with the longest names. */
export const MOST_FLEET_CLUSTERS = 10_000;

export const getFleet = operation({
  id: "getFleet",
  method: "GET",
  path: "/orgs/{org_id}/fleet",
  tag,
  summary: "Read all clusters of an organization at once, by name, with the little that a map shows",
  description: `An answer has ${MOST_FLEET_CLUSTERS.toLocaleString("en")} at most.`,
  credentials: "user",
  params: Type.Object({ org_id: Uuid() }),
  query: CursorQuery,
  success: [200, Continued(FleetCluster)],
  failures: [403, 404],
});
