import Type, { type Static } from "typebox";
import { ShownReason } from "../app/reasons.ts";
import {
  DnsLabel,
  freshnessFields,
  Nullable,
  Page,
  pageFields,
  SearchText,
  severalOf,
  Timestamp,
  Uuid,
} from "../fields.ts";
import { operation } from "../operation.ts";
import { APP_PHASES, DEPLOYMENT_OPERATIONS, DEPLOYMENT_STATUSES, DRIFT_STATES } from "../states.ts";

export const APP_SORTS = ["name", "-name", "phase", "project", "cluster", "deployed_at", "-deployed_at"] as const;
export type AppSort = (typeof APP_SORTS)[number];

const LastDeployment = Type.Object({
  id: Uuid(),
  revision: Type.Integer({ examples: [3] }),
  operation: Type.Enum(DEPLOYMENT_OPERATIONS),
  status: Type.Enum(DEPLOYMENT_STATUSES),
  created_at: Timestamp(),
  created_by: Nullable(
    Type.String({
      description: "The name of the user, or the recorded email address where there is no such user any more.",
      examples: ["Ada Lovelace"],
    }),
  ),
});

export const AppSummary = Type.Object(
  {
    id: Uuid(),
    name: DnsLabel("storefront"),
    namespace: DnsLabel("shop"),
    project_id: Uuid(),
    project_name: Type.String({ examples: ["shop"] }),
    cluster_id: Uuid(),
    cluster_name: Type.String({ examples: ["production"] }),
    org_id: Uuid(),
    phase: Type.Enum(APP_PHASES),
    phase_since: Timestamp("When the phase began."),
    phase_reason: Nullable(ShownReason),
    phase_message: Nullable(Type.String({ examples: ["All replicas are ready."] })),
    paused: Type.Boolean({ examples: [false] }),
    suspended: Type.Boolean({
      description: "The app itself says since when, and whether it is in effect.",
      examples: [false],
    }),
    drift_state: Type.Enum(DRIFT_STATES),
    generation: Type.Integer({ examples: [3] }),
    observed_generation: Nullable(Type.Integer({ examples: [3] })),
    ...freshnessFields(),
    images: Type.Array(Type.String({ examples: ["nginx:1.29"] }), {
      description: "Of all containers of its workloads, each once.",
    }),
    ready: Type.Integer({ description: "Replicas that are ready, of all components.", examples: [2] }),
    desired: Type.Integer({ description: "Replicas that all components are to have.", examples: [2] }),
    last_deployment: Nullable(LastDeployment),
    updated_at: Timestamp(),
  },
  { title: "AppSummary" },
);
export type AppSummary = Static<typeof AppSummary>;

export const listAppSummaries = operation({
  id: "listAppSummaries",
  method: "GET",
  path: "/app-summaries",
  tag: "Apps",
  summary: "List the apps you can see, each with what an overview shows of it",
  description:
    "The filters are combined; a place that you cannot see has no apps. `phase` may be repeated. `sort=phase` has the worst phases first: failed, invalid, degraded, pending, deploying, deleting, paused, running.",
  credentials: "user",
  query: Type.Object({
    ...pageFields(),
    org_id: Type.Optional(Uuid("Only those of this organization.", "OrgFilter")),
    project_id: Type.Optional(Uuid("Only those of this project.")),
    cluster_id: Type.Optional(Uuid("Only those on this cluster.", "ClusterFilter")),
    phase: Type.Optional(severalOf(APP_PHASES, "Only those in one of these phases.")),
    drift: Type.Optional(Type.Enum(DRIFT_STATES, { description: "Only those in this drift state." })),
    search: Type.Optional(SearchText("Only those with this text in their name, namespace or an image.")),
    sort: Type.Enum(APP_SORTS, { default: "name", description: "`-` is descending." }),
  }),
  success: [200, Page(AppSummary)],
});
