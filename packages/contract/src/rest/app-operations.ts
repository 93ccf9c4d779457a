import Type, { type Static } from "typebox";
import { LONGEST_SUMMARY } from "../app/change-sentence.ts";
import { codedConflictBody } from "../errors.ts";
import { FieldChange, MOST_FIELD_CHANGES } from "../field-change.ts";
import { DnsLabel, Nullable, Page, pageFields, strict, Timestamp, Uuid } from "../fields.ts";
import { Metrics, RangeQuery } from "../metrics.ts";
import { operation } from "../operation.ts";
import { exactlyOneOf } from "../rules.ts";
import { DEPLOYMENT_OPERATIONS, DEPLOYMENT_STATUSES } from "../states.ts";
import { AllowDowngrade } from "./addons.ts";
import { App, appParams, appQuery, shownComponent } from "./apps.ts";
import { DeploymentCommit } from "./gitops.ts";
import { SuspensionInput } from "./suspensions.ts";

const params = Type.Object(appParams);
const query = Type.Object(appQuery);

/** The fields that all operations on an app share. */
const acting = {
  method: "POST",
  tag: "Apps",
  credentials: "user",
  params,
  query,
  success: [200, App],
  versioned: true,
  failures: [403, 404],
  failureBodies: codedConflictBody,
} as const;

const EXAMPLE = { name: "web", type: "workload", workload_spec: { image: "nginx:1.29", replicas: 2 } };

export const DeploymentListItem = Type.Object(
  {
    deployment_id: Uuid(),
    revision: Type.Integer({ description: "From 1, without gaps." }),
    operation: Type.Enum(DEPLOYMENT_OPERATIONS),
    status: Type.Enum(DEPLOYMENT_STATUSES),
    message: Nullable(Type.String({ examples: ["The app was not running in time."] })),
    summary: Nullable(
      Type.String({
        maxLength: LONGEST_SUMMARY,
        description: "What it has changed, in one line; null for deployments of earlier versions of Binnacle.",
        examples: ["web: image 1.5.0 → 1.5.1; api: 3 → 4 replicas; 2 secrets changed"],
      }),
    ),
    changes: Nullable(
      Type.Array(FieldChange, {
        maxItems: MOST_FIELD_CHANGES,
        description:
          "The fields that it has changed, the first of them where there are many; `…/diff` has all. Null as `summary` is.",
      }),
    ),
    created_by: Nullable(Type.String({ description: "Their email.", examples: ["ada@example.com"] })),
    created_at: Timestamp(),
    updated_at: Timestamp(),
    finished_at: Nullable(Timestamp()),
    commit: {
      ...Nullable(DeploymentCommit),
      description: "In the Git repository of the cluster; null where it has not been written there.",
    },
  },
  { title: "DeploymentListItem" },
);
export type DeploymentListItem = Static<typeof DeploymentListItem>;

export const Deployment = Type.Object(
  {
    ...DeploymentListItem.properties,
    spec: Type.Object({
      components: Type.Array(Type.Object(shownComponent, { title: "DeployedComponent", examples: [EXAMPLE] }), {
        description: "Without secrets, which are not part of a revision.",
      }),
      paused: Type.Boolean({ examples: [false] }),
    }),
  },
  { title: "Deployment" },
);
export type Deployment = Static<typeof Deployment>;

export const scaleApp = operation({
  ...acting,
  id: "scaleApp",
  path: "/apps/{namespace}/{name}/scale",
  summary: "Set how many replicas a component runs",
  description: "Of a component that scales by itself, the least number is moved.",
  body: Type.Object(
    {
      component_name: DnsLabel("web"),
      replicas: Type.Integer({ exclusiveMinimum: 0, maximum: 10_000, examples: [3] }),
    },
    strict,
  ),
});

export const pauseApp = operation({
  ...acting,
  id: "pauseApp",
  path: "/apps/{namespace}/{name}/pause",
  summary: "Set all workloads to 0 replicas and remember their counts",
  description: "A second pause changes nothing.",
});

export const resumeApp = operation({
  ...acting,
  id: "resumeApp",
  path: "/apps/{namespace}/{name}/resume",
  summary: "Restore the counts of before the pause",
});

export const suspendApp = operation({
  ...acting,
  id: "suspendApp",
  path: "/apps/{namespace}/{name}/suspend",
  summary: "Keep the operator from touching an app, whoever deploys meanwhile",
  description:
    "Changes are still accepted and stored, and reach the cluster when the suspension ends. Until then nothing is applied, corrected, " +
    "pruned or installed with Helm; phase and drift are still reported. What runs stays as it is, unlike with a pause. The app cannot be " +
    "deleted meanwhile. `suspended.state` says whether the operator has confirmed it. A second one changes nothing.",
  body: SuspensionInput,
  bodyIsOptional: true,
});

export const unsuspendApp = operation({
  ...acting,
  id: "unsuspendApp",
  path: "/apps/{namespace}/{name}/unsuspend",
  summary: "End the suspension of an app and apply what was stored meanwhile",
  description: "It changes nothing where the app is not suspended.",
});

export const redeployApp = operation({
  ...acting,
  id: "redeployApp",
  path: "/apps/{namespace}/{name}/redeploy",
  summary: "Refresh and apply again what is recorded",
  description: "`force` takes over fields that another manager owns; it is the way out of the drift `blocked_sync`.",
  body: Type.Object({ force: Type.Optional(Type.Boolean({ default: false })) }, strict),
  bodyIsOptional: true,
});

export const listDeployments = operation({
  id: "listDeployments",
  method: "GET",
  path: "/apps/{namespace}/{name}/deployments",
  tag: "Apps",
  summary: "List what was done to an app, newest first",
  description: "An item has no specification: read the deployment for it.",
  credentials: "user",
  params,
  query: Type.Object({ ...appQuery, ...pageFields() }),
  success: [200, Page(DeploymentListItem)],
  failures: [404],
});

const deploymentParams = Type.Object({ ...appParams, deployment_id: Uuid() });

export const getDeployment = operation({
  id: "getDeployment",
  method: "GET",
  path: "/apps/{namespace}/{name}/deployments/{deployment_id}",
  tag: "Apps",
  summary: "Read a deployment: how it has ended, and why",
  credentials: "user",
  params: deploymentParams,
  query,
  success: [200, Deployment],
  failures: [404],
});

const DeploymentDiff = Type.Object(
  {
    deployment_id: Uuid(),
    revision: Type.Integer({ examples: [2] }),
    against: Type.Object({ deployment_id: Uuid(), revision: Type.Integer({ examples: [1] }) }),
    changes: Type.Array(
      Type.Object(
        {
          path: Type.String({
            description:
              "A JSON pointer into the specification. Components, variables and whatever else has a name are addressed by it.",
            examples: ["/components/web/workload_spec/image"],
          }),
          change: Type.Enum(["added", "removed", "changed"]),
          before: Type.Optional(Type.Unknown({ examples: ["nginx:1.29"] })),
          after: Type.Optional(Type.Unknown({ examples: ["nginx:1.30"] })),
        },
        { title: "DeploymentChange", description: "A secret has neither `before` nor `after`." },
      ),
    ),
  },
  { title: "DeploymentDiff" },
);
export type DeploymentDiff = Static<typeof DeploymentDiff>;

export const diffDeployments = operation({
  id: "diffDeployments",
  method: "GET",
  path: "/apps/{namespace}/{name}/deployments/{deployment_id}/diff",
  tag: "Apps",
  summary: "Compare the specifications of two deployments of an app, field by field",
  description:
    "`before` is the value in the deployment `against`, `after` the one in `deployment_id`. Of secrets it only says which have changed.",
  credentials: "user",
  params: deploymentParams,
  query: Type.Object({ ...appQuery, against: Uuid("The deployment of the same app to compare with.") }),
  success: [200, DeploymentDiff],
  failures: [404],
});

export const rollbackApp = operation({
  ...acting,
  id: "rollbackApp",
  path: "/apps/{namespace}/{name}/rollback",
  summary: "Restore the specification of an earlier deployment, as a new revision",
  description:
    "Exactly one of the two fields. Secrets keep their present values. A specification that is older than a rule that it " +
    "breaks, and could not run, is a 422.",
  body: Type.Object(
    {
      deployment_id: Type.Optional(Uuid()),
      revision: Type.Optional(
        Type.Integer({ minimum: -1, maximum: 2_147_483_647, description: "-1 is the one before the current." }),
      ),
      allow_downgrade: Type.Optional(AllowDowngrade),
    },
    { ...strict, allOf: [exactlyOneOf("deployment_id", "revision")], examples: [{ revision: -1 }] },
  ),
});

export const rollbackToDeployment = operation({
  ...acting,
  id: "rollbackToDeployment",
  path: "/apps/{namespace}/{name}/deployments/{deployment_id}/rollback",
  summary: "Restore the specification of this deployment, as a new revision",
  params: deploymentParams,
  body: Type.Object({ allow_downgrade: Type.Optional(AllowDowngrade) }, strict),
  bodyIsOptional: true,
});

export const attachAddon = operation({
  ...acting,
  id: "attachAddon",
  path: "/apps/{namespace}/{name}/attach-addon",
  summary: "Inject the name of an addon instance of the project as an export_ref",
  description:
    "Into the named component, or into every workload. No addon component is added: without one of that name, the answer has a " +
    "warning `UnknownComponent`, and the cluster reports the app as `invalid`. A PATCH of the app can add the component and the " +
    "export_refs in one change.",
  body: Type.Object(
    { addon_instance_id: Uuid(), component_name: Type.Optional(DnsLabel("web")) },
    { ...strict, examples: [{ addon_instance_id: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11" }] },
  ),
});

export const detachAddon = operation({
  ...acting,
  id: "detachAddon",
  method: "DELETE",
  path: "/apps/{namespace}/{name}/attach-addon/{addon_instance_id}",
  summary: "Take the injected export_ref out of every component",
  params: Type.Object({ ...appParams, addon_instance_id: Uuid() }),
  success: [204, null],
});

export const streamOptions = {
  tail_lines: Type.Integer({ minimum: 0, maximum: 10_000, default: 200, description: "Of each container, at first." }),
  since_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 31_536_000, description: "No older lines." })),
  follow: Type.Boolean({ default: true, description: "Stay and send new lines; else end after those there are." }),
  previous: Type.Boolean({
    default: false,
    description: "The log of each container's run before the current one, as after a crash; nothing is followed then.",
  }),
};

export const LogLine = Type.Object(
  {
    component: Type.String({ examples: ["web"] }),
    pod: Type.String({ examples: ["storefront-web-7d9c5b6f4-x2x5p"] }),
    container: Type.String({ examples: ["web"] }),
    time: Timestamp(),
    line: Type.String({ examples: ["listening on :8080"] }),
  },
  { title: "LogLine" },
);
export type LogLine = Static<typeof LogLine>;

/** The handler writes the stream itself, so it returns nothing. */
const LogStream = Type.Unsafe<null>(
  Type.String({
    description:
      "Server-sent events: `event: log` with a `LogLine` as its data, `event: dropped` with `{count}` where the reader " +
      "was too slow, and `event: end`. It ends when the access token expires, its session ends or you lose the project. " +
      "A user may have 20 log streams open on a server, not counting those with `follow=false`; one more is a 429.",
    examples: [
      'event: log\ndata: {"component":"web","pod":"storefront-web-0","container":"web","time":"2026-01-31T09:30:00.000Z","line":"ready"}\n\n',
    ],
  }),
);

export const streaming = {
  method: "GET",
  tag: "Apps",
  credentials: "user",
  success: [200, LogStream],
  successType: "text/event-stream",
  failures: [404, 429, 502, 504],
} as const;

export const streamAppLogs = operation({
  ...streaming,
  id: "streamAppLogs",
  path: "/apps/{namespace}/{name}/logs",
  summary: "Follow the logs of an app",
  description: "An app of several workloads needs `component`. Without an operator that is connected: 503.",
  params,
  query: Type.Object({
    ...appQuery,
    component: Type.Optional(Type.String({ maxLength: 253, examples: ["web"] })),
    ...streamOptions,
  }),
});

export const streamComponentLogs = operation({
  ...streaming,
  id: "streamComponentLogs",
  path: "/apps/{namespace}/{name}/components/{component}/logs/stream",
  summary: "Follow the logs of one component",
  params: Type.Object({ ...appParams, component: Type.String({ maxLength: 253, examples: ["web"] }) }),
  query: Type.Object({ ...appQuery, ...streamOptions }),
});

export const getAppMetrics = operation({
  id: "getAppMetrics",
  method: "GET",
  path: "/apps/{namespace}/{name}/metrics",
  tag: "Apps",
  summary: "Read series of the app, its components and the cluster's capacity",
  credentials: "user",
  params,
  query: Type.Object({ ...appQuery, ...RangeQuery.properties }),
  success: [200, Metrics],
  failures: [404, 502, 504],
});
