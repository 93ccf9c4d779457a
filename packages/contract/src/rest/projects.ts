import Type, { type Static } from "typebox";
import { ExportKey } from "../app/pod-fields.ts";
import { LIFECYCLE_REASONS } from "../app/reasons.ts";
import { conflictBody } from "../errors.ts";
import {
  Continued,
  CursorQuery,
  DnsLabel,
  freshnessFields,
  Nullable,
  Page,
  PageQuery,
  pageFields,
  SearchText,
  severalOf,
  strict,
  Timestamp,
  Uuid,
} from "../fields.ts";
import { operation } from "../operation.ts";
import { IsolationField, OwnPodSecurity } from "../project-policy.ts";
import { except } from "../rules.ts";
import { PROJECT_LIFECYCLES } from "../states.ts";
import { AppListItem, LISTED_WITHOUT_CONTENTS } from "./app-lists.ts";
import { Suspension, SuspensionInput } from "./suspensions.ts";

const tag = "Projects";
const params = Type.Object({ id: Uuid() });
const shared = { tag, credentials: "user" } as const;

export const Project = Type.Object(
  {
    id: Uuid(),
    name: DnsLabel("shop"),
    namespace: { ...DnsLabel("shop"), description: "The Kubernetes namespace; the project's name." },
    cluster_id: Uuid(),
    org_id: Uuid(),
    lifecycle: Type.Enum(PROJECT_LIFECYCLES, {
      description:
        "`pending` until the cluster confirms the project, `ready` from then on, `degraded` for the reason beside it, `cleanup_pending` until the cluster confirms that it is gone, `cleanup_degraded` with the reason `cluster_abandoned` where the cluster was abandoned and nobody confirms it.",
    }),
    lifecycle_reason: Nullable(Type.Enum(LIFECYCLE_REASONS)),
    lifecycle_message: Nullable(Type.String({ examples: ["The cluster has not confirmed the project."] })),
    pod_security: OwnPodSecurity,
    isolation: IsolationField,
    suspended: {
      ...Nullable(Suspension),
      description: "Nothing in it is touched by the operator: by a suspension of the project, or else of its cluster.",
    },
    ...freshnessFields(),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { title: "Project" },
);
export type Project = Static<typeof Project>;

export const createProject = operation({
  ...shared,
  id: "createProject",
  method: "POST",
  path: "/projects",
  summary: "Create a project on a cluster",
  description:
    "Its name is its namespace on the cluster; both are fixed. A namespace that is there already and not Binnacle's is never taken over. A project is not a boundary of capacity: there is no quota, and nothing caps what runs in the namespace. A `pod_security` weaker than the cluster's and a name among the cluster's `ingress_namespaces` need an org admin, `isolation` `none` an admin of the cluster.",
  body: Type.Object(
    {
      name: {
        ...DnsLabel("shop"),
        description: "Unique on the cluster. `default`, `binnacle-system` and `kube-…` are refused.",
        allOf: [
          except("The name is reserved for Kubernetes or for Binnacle itself", {
            pattern: "^(default|binnacle-system|kube-[a-z0-9-]*)$",
          }),
        ],
      },
      cluster_id: Uuid(),
      pod_security: Type.Optional(OwnPodSecurity),
      isolation: Type.Optional(IsolationField),
    },
    strict,
  ),
  success: [201, Project],
  failures: [403, 404, 409],
});

export const listProjects = operation({
  ...shared,
  id: "listProjects",
  method: "GET",
  path: "/projects",
  summary: "List the projects you can see",
  description: "The filters are combined. `lifecycle` may be repeated.",
  query: Type.Object({
    ...pageFields(),
    org_id: Type.Optional(Uuid("Only those of this organization.", "OrgFilter")),
    cluster_id: Type.Optional(Uuid("Only those on this cluster.", "ClusterFilter")),
    lifecycle: Type.Optional(severalOf(PROJECT_LIFECYCLES, "Only those in one of these states.")),
    search: Type.Optional(SearchText("Only those with this text in their name.")),
  }),
  success: [200, Page(Project)],
});

export const getProject = operation({
  ...shared,
  id: "getProject",
  method: "GET",
  path: "/projects/{id}",
  summary: "Read a project",
  params,
  success: [200, Project],
  failures: [404],
});

export const deleteProject = operation({
  ...shared,
  id: "deleteProject",
  method: "DELETE",
  path: "/projects/{id}",
  summary: "Delete a project with its apps and addon instances; org admin",
  description:
    "The record stays as `cleanup_pending` until the cluster confirms that the namespace is gone; its stack templates of scope `project` and the hosts of its apps go with it. What becomes of persistent volumes is for the cluster's storage class to say; `GET …/deletion-preview` shows it. 409 while it, its cluster or an app in it is suspended.",
  params,
  success: [202, Project],
  failures: [403, 404, 409],
  failureBodies: conflictBody,
});

const suspending = { ...shared, method: "POST", params, success: [200, Project], failures: [403, 404, 409] } as const;

export const suspendProject = operation({
  ...suspending,
  id: "suspendProject",
  path: "/projects/{id}/suspend",
  summary: "Keep the operator from touching anything in a project; admin of the project",
  description:
    "Changes are still accepted and stored, and reach the cluster when the suspension ends. Until then nothing in the project is applied, " +
    "corrected, pruned or installed with Helm, and nothing in it can be deleted. Phases and drift are still reported, and what runs stays as it " +
    "is. `suspended.state` says whether the operator has confirmed it. A second one changes nothing.",
  body: SuspensionInput,
  bodyIsOptional: true,
});

export const unsuspendProject = operation({
  ...suspending,
  id: "unsuspendProject",
  path: "/projects/{id}/unsuspend",
  summary: "End the suspension of a project and apply what was stored meanwhile; admin of the project",
  description:
    "Apps that were suspended by themselves stay so, and so does everything in it while its cluster is suspended. It changes nothing where the " +
    "project is not suspended.",
});

export const listProjectApps = operation({
  ...shared,
  id: "listProjectApps",
  method: "GET",
  path: "/projects/{id}/apps",
  summary: "List the apps of a project, newest first",
  description: LISTED_WITHOUT_CONTENTS,
  params,
  query: PageQuery,
  success: [200, Page(AppListItem)],
  failures: [404],
});

const AvailableExport = Type.Object(
  {
    addon_instance_id: Uuid(),
    addon_instance_name: DnsLabel("db"),
    key: ExportKey,
    description: Nullable(Type.String({ examples: ["Where clients connect."] })),
    secret: Type.Boolean({ description: "Whether reads show that it is there and not what it is." }),
    published: Type.Boolean({ description: "Whether the cluster has reported a value for it." }),
  },
  { title: "AvailableExport" },
);
export type AvailableExport = Static<typeof AvailableExport>;

export const listAvailableExports = operation({
  ...shared,
  id: "listAvailableExports",
  method: "GET",
  path: "/projects/{id}/available-exports",
  summary: "List the export keys of the project's standalone addon instances",
  description: "Not what the components of apps export, and not who uses what.",
  params,
  query: CursorQuery,
  success: [200, Continued(AvailableExport)],
  failures: [404],
});

/** The kinds of owners of the secrets that a project sees. */
export const SECRET_ORIGINS = ["cluster", "project", "app", "addon"] as const;

const VisibleSecret = Type.Object(
  {
    kind: Type.Enum(["registry", "component", "addon"]),
    inherited_from: Type.Enum(SECRET_ORIGINS),
    source: Type.Object(
      { id: Uuid(), name: Type.String({ examples: ["shop"] }) },
      { description: "The cluster, project, app or addon instance that it belongs to." },
    ),
    name: Type.String({
      description: "Of the registry secret, the app's component or the addon instance.",
      examples: ["web"],
    }),
    keys: Type.Array(Type.String({ examples: ["API_KEY"] })),
    updated_at: Timestamp(),
  },
  { title: "VisibleSecret" },
);
export type VisibleSecret = Static<typeof VisibleSecret>;

export const getSecretsOverview = operation({
  ...shared,
  id: "getSecretsOverview",
  method: "GET",
  path: "/projects/{id}/secrets-overview",
  summary: "List the secrets that a project sees and where each is inherited from; keys, never values",
  params,
  query: CursorQuery,
  success: [200, Continued(VisibleSecret)],
  failures: [404],
});
