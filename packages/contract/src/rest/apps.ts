import Type, { type Static } from "typebox";
import {
  ComponentInput,
  ComponentSpec,
  componentRules,
  MAX_SECRETS,
  SecretValue,
  WorkloadSpec,
} from "../app/component.ts";
import { ShownComponentStatus } from "../app/component-status.ts";
import { renameInComponents } from "../app/export-ref-alias.ts";
import { SecretKey } from "../app/pod-fields.ts";
import { MOST_COMPONENTS } from "../app/problems.ts";
import { ShownReason, WARNING_CODES } from "../app/reasons.ts";
import { codedConflictBody, conflictBody } from "../errors.ts";
import { Description, DnsLabel, freshnessFields, Nullable, strict, Timestamp, Uuid, Whole } from "../fields.ts";
import { DriftRepair, MOST_REPAIRS } from "../link/report.ts";
import { mergePatchFields } from "../merge-patch.ts";
import { operation } from "../operation.ts";
import { APP_PHASES, DRIFT_STATES } from "../states.ts";
import { dryRun } from "./dry-run.ts";
import { Suspension } from "./suspensions.ts";

const tag = "Apps";

/** The address of an app. Apps on several clusters may share namespace and name; `project_id` selects one. */
export const appParams = {
  namespace: Type.String({ maxLength: 253, description: "The project's Kubernetes namespace.", examples: ["shop"] }),
  name: Type.String({ maxLength: 253, examples: ["storefront"] }),
};
export const appQuery = { project_id: Uuid("The project that the app belongs to.") };
const params = Type.Object(appParams);
const query = Type.Object(appQuery);

export const shownReplicas = {
  replicas: Type.Optional(Type.Integer({ minimum: 0, description: "0 while the app is paused." })),
};
export const readyReplicas = Nullable(Type.Integer({ description: "As the cluster last reported.", examples: [2] }));

/** The form of an answer, without secrets. */
export const shownComponent = {
  ...ComponentSpec.properties,
  workload_spec: Type.Optional(
    Type.Object(
      { ...WorkloadSpec.properties, ...shownReplicas },
      { title: "AppWorkloadSpec", examples: [{ image: "nginx:1.29", replicas: 2 }] },
    ),
  ),
};

const AppComponent = Type.Object(
  {
    ...shownComponent,
    secrets: Type.Array(SecretKey, { description: "The keys; values are never read back." }),
    ready_replicas: readyReplicas,
  },
  { title: "AppComponent" },
);

/** Differences between what is asked for and what is on the cluster. */
export const ListedDrift = Type.Object(
  {
    state: Type.Enum(DRIFT_STATES),
    summary: Nullable(Type.String({ examples: ["Another manager owns spec.replicas of web."] })),
    detected_at: Nullable(Timestamp()),
  },
  { title: "ListedDrift" },
);
export const Drift = Type.Object(
  {
    ...ListedDrift.properties,
    fields: Type.Array(Type.Object({}, { additionalProperties: true })),
    repaired: Type.Array(DriftRepair, {
      maxItems: MOST_REPAIRS,
      description: "What was changed on the cluster and set back, the newest first.",
    }),
  },
  { title: "Drift" },
);

const AppWarning = Type.Object(
  {
    code: Type.Enum(WARNING_CODES, { description: "The `phase_reason` that it leads to." }),
    path: Type.Array(Type.Union([Type.String(), Type.Integer()]), {
      description: "The place in the app.",
      examples: [["components", 0, "export_refs", 0, "component"]],
    }),
    message: Type.String({ examples: ["Component web has no image in workload_spec.image."] }),
    component: Type.String({ description: "The component with the problem.", examples: ["web"] }),
    missing: Nullable(
      Type.String({
        description: "Of `UnknownComponent`, the name of the component that the app does not have.",
        examples: ["db"],
      }),
    ),
  },
  { title: "AppWarning" },
);
export type AppWarning = Static<typeof AppWarning>;

export const App = Type.Object(
  {
    id: Uuid(),
    name: DnsLabel("storefront"),
    namespace: DnsLabel("shop"),
    project_id: Uuid(),
    cluster_id: Uuid(),
    org_id: Uuid(),
    description: Nullable(Description),
    components: Type.Array(AppComponent),
    paused: Type.Boolean({ examples: [false] }),
    suspended: Nullable(Suspension),
    phase: Type.Enum(APP_PHASES, { description: "`pending` until the cluster reports on this generation." }),
    phase_since: Timestamp("When the phase began."),
    phase_reason: Nullable(ShownReason),
    phase_message: Nullable(Type.String({ examples: ["All replicas are ready."] })),
    components_status: Type.Array(ShownComponentStatus, {
      description: "As the cluster last reported, in the order in which they start; empty before.",
    }),
    generation: Type.Integer({ description: "Goes up with every operation." }),
    observed_generation: Nullable(Type.Integer({ description: "The one the cluster last reported on." })),
    revision: Type.Integer({ description: "That of the newest deployment." }),
    drift: Drift,
    warnings: Type.Array(AppWarning, {
      description:
        "What the app names and does not have yet, by its specification alone. While there is any, the app does not run, and " +
        "the cluster reports the phase `invalid`.",
    }),
    ...freshnessFields(),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { title: "App" },
);
export type App = Static<typeof App>;

/** One step of a change. Its other fields are those of a component, or of a merge patch of one. */
export interface ComponentChange {
  readonly op: "add" | "remove" | "patch";
  readonly name: string;
  readonly [field: string]: unknown;
}

const { name: componentName, ...componentFields } = ComponentInput.properties;
const ComponentChange = Type.Unsafe<ComponentChange>({
  title: "ComponentChange",
  description:
    "`add` holds a whole component, `remove` only its name, `patch` a merge patch (RFC 7396) of the named one.",
  type: "object",
  discriminator: { propertyName: "op" },
  oneOf: [
    Type.Object(
      { op: Type.Literal("add"), name: componentName, ...componentFields },
      { ...strict, title: "ComponentAddition", allOf: componentRules },
    ),
    Type.Object({ op: Type.Literal("remove"), name: componentName }, { ...strict, title: "ComponentRemoval" }),
    Type.Object(
      {
        op: Type.Literal("patch"),
        name: componentName,
        ...mergePatchFields(componentFields),
        recreate: Type.Optional(
          Type.Boolean({
            description:
              "Confirms that the kind of a component with volumes changes, although the data in them is lost; without it that is a 409 `recreate_required`. It is not stored.",
          }),
        ),
        allow_downgrade: Type.Optional(
          Type.Boolean({
            description:
              "Confirms an older chart version of an addon that keeps data, which it may be unable to read; without it that is a 409 `stateful_downgrade`. It is not stored.",
          }),
        ),
      },
      { ...strict, title: "ComponentPatch" },
    ),
  ],
  required: ["op", "name"],
  examples: [{ op: "patch", name: "web", workload_spec: { image: "nginx:1.29.1" } }],
});

export const createApp = operation({
  id: "createApp",
  method: "POST",
  path: "/apps",
  tag,
  summary: "Create an app in a project",
  description:
    "The app is recorded and then dispatched; follow its `phase`. What can never run is refused, with all problems in one 422: " +
    "requests above limits, an ingress without a port, two components with one address, an addon instance that the project does " +
    "not have, a file of a secret that is not given and the like. A component without an image and an export_ref that names no " +
    "component are recorded: `warnings` has them, and the cluster reports the phase `invalid` and why. What the definition of an addon component calls secret may stand among its values; it is kept as a secret of the component, with its path as the key.",
  credentials: "user",
  rename: renameInComponents,
  query: Type.Object(dryRun),
  body: Type.Object(
    {
      name: DnsLabel("storefront"),
      project_id: Uuid(),
      description: Type.Optional(Nullable(Description)),
      components: Type.Array(ComponentInput, { minItems: 1, maxItems: MOST_COMPONENTS }),
    },
    strict,
  ),
  success: [201, App],
  versioned: true,
  failures: [404],
  failureBodies: conflictBody,
});

export const getApp = operation({
  id: "getApp",
  method: "GET",
  path: "/apps/{namespace}/{name}",
  tag,
  summary: "Read an app: its components, phase and drift",
  description: "The `ETag` names the app's specification; reports from the cluster do not change it.",
  credentials: "user",
  params,
  query,
  success: [200, App],
  versioned: true,
  failures: [404],
});

export const updateApp = operation({
  id: "updateApp",
  method: "PATCH",
  path: "/apps/{namespace}/{name}",
  tag,
  summary: "Add, remove and patch components; all or nothing",
  credentials: "user",
  params,
  query: Type.Object({ ...appQuery, ...dryRun }),
  rename: renameInComponents,
  body: Type.Object(
    {
      components: Type.Optional(Type.Array(ComponentChange, { maxItems: MOST_COMPONENTS })),
      description: Type.Optional(Nullable(Description)),
    },
    { ...strict, minProperties: 1, examples: [{ description: "What customers see." }] },
  ),
  success: [200, App],
  versioned: true,
  failures: [403, 404],
  failureBodies: codedConflictBody,
});

export const deleteApp = operation({
  id: "deleteApp",
  method: "DELETE",
  path: "/apps/{namespace}/{name}",
  tag,
  summary: "Delete an app and its components",
  description:
    "The app reads as `deleting`, and its name is taken, until the cluster has confirmed that it is gone. The volumes of its " +
    "workloads go with it: `GET …/deletion-preview` shows what becomes of the data. A suspended app is a 409 `app_suspended`.",
  credentials: "user",
  params,
  query,
  success: [204, null],
  versioned: true,
  failures: [403, 404],
  failureBodies: codedConflictBody,
});

const component = Type.String({ maxLength: 253, examples: ["web"] });
const componentParams = Type.Object({ ...appParams, component });
const path = "/apps/{namespace}/{name}/components/{component}/secrets";

const ComponentSecrets = Whole(
  Type.Object(
    {
      key: SecretKey,
      updated_at: Timestamp(),
      chart_value: Nullable(
        Type.Enum(["secret_values", "sealed_values"], {
          description:
            "The list of `chart_spec` that has the key as the path of a value; null for a secret that is not a value of a chart. " +
            "`plain_values` takes a path out of `sealed_values`.",
        }),
      ),
    },
    { title: "ComponentSecret", description: "Never its value." },
  ),
);

export const listComponentSecrets = operation({
  id: "listComponentSecrets",
  method: "GET",
  path,
  tag: "Apps",
  summary: "List the keys of a component's secrets",
  credentials: "user",
  params: componentParams,
  query,
  success: [200, ComponentSecrets],
  failures: [404],
});

export const updateComponentSecrets = operation({
  id: "updateComponentSecrets",
  method: "PATCH",
  path,
  tag: "Apps",
  summary: "Set secrets of a component; keys left out stay",
  credentials: "user",
  params: componentParams,
  query,
  body: Type.Record(SecretKey, SecretValue, {
    ...strict,
    minProperties: 1,
    maxProperties: MAX_SECRETS,
    examples: [{ API_KEY: "<SECRET>" }],
  }),
  success: [200, ComponentSecrets],
  versioned: true,
  failures: [403, 404],
  failureBodies: codedConflictBody,
});

export const deleteComponentSecret = operation({
  id: "deleteComponentSecret",
  method: "DELETE",
  path: `${path}/{key}`,
  tag: "Apps",
  summary: "Remove one secret of a component",
  credentials: "user",
  params: Type.Object({ ...appParams, component, key: Type.String({ maxLength: 253, examples: ["API_KEY"] }) }),
  query,
  success: [204, null],
  versioned: true,
  failures: [403, 404],
  failureBodies: codedConflictBody,
});
