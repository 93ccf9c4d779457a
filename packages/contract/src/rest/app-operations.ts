import Type, { type Static } from "typebox";
import { DnsLabel, Nullable, strict, Timestamp, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import { Page, pageFields } from "../page.ts";
import { exactlyOneOf } from "../rules.ts";
import { DEPLOYMENT_OPERATIONS, DEPLOYMENT_STATUSES } from "../states.ts";
import { App, appConflict, appParams, appQuery, shownComponent } from "./apps.ts";

const params = Type.Object(appParams);
const query = Type.Object(appQuery);

/** What is the same for everything that is done to an app as a whole. */
const acting = {
  method: "POST",
  tag: "Apps",
  credentials: "user",
  params,
  query,
  success: [200, App],
  versioned: true,
  failures: [403, 404],
  failureBodies: appConflict,
} as const;

const EXAMPLE = { name: "web", type: "workload", workload_spec: { image: "nginx:1.29", replicas: 2 } };

export const Deployment = Type.Object(
  {
    deployment_id: Uuid(),
    revision: Type.Integer({ description: "From 1, without gaps." }),
    operation: Type.Enum(DEPLOYMENT_OPERATIONS),
    status: Type.Enum(DEPLOYMENT_STATUSES),
    message: Nullable(Type.String({ examples: ["The app was not running in time."] })),
    created_by: Nullable(Type.String({ description: "Their email.", examples: ["ada@example.com"] })),
    created_at: Timestamp(),
    updated_at: Timestamp(),
    finished_at: Nullable(Timestamp()),
    spec: Type.Object({
      components: Type.Array(Type.Object(shownComponent, { title: "DeployedComponent", examples: [EXAMPLE] }), {
        description: "Without secrets, which are no part of a revision.",
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
  credentials: "user",
  params,
  query: Type.Object({ ...appQuery, ...pageFields() }),
  success: [200, Page(Deployment)],
  failures: [404],
});

export const rollbackApp = operation({
  ...acting,
  id: "rollbackApp",
  path: "/apps/{namespace}/{name}/rollback",
  summary: "Restore the specification of an earlier deployment, as a new revision",
  description: "Exactly one of the two fields. Secrets keep their present values.",
  body: Type.Object(
    {
      deployment_id: Type.Optional(Uuid()),
      revision: Type.Optional(
        Type.Integer({ minimum: -1, maximum: 2_147_483_647, description: "-1 is the one before the current." }),
      ),
    },
    { ...strict, allOf: [exactlyOneOf("deployment_id", "revision")], examples: [{ revision: -1 }] },
  ),
});

export const rollbackToDeployment = operation({
  ...acting,
  id: "rollbackToDeployment",
  path: "/apps/{namespace}/{name}/deployments/{deployment_id}/rollback",
  summary: "Restore the specification of this deployment, as a new revision",
  params: Type.Object({ ...appParams, deployment_id: Uuid() }),
});

export const attachAddon = operation({
  ...acting,
  id: "attachAddon",
  path: "/apps/{namespace}/{name}/attach-addon",
  summary: "Inject the name of an addon instance of the project as an export_ref",
  description:
    "Into the named component, or into every workload. No addon component is added: without one of that name, the " +
    "cluster reports the app as `invalid`.",
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
