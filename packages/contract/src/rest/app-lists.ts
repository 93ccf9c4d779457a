import Type, { type Static } from "typebox";
import { AddonSpec, ChartSpec, ComponentSpec, WorkloadSpec } from "../app/component.ts";
import { EnvName, ExportRef, ImageReference, SecretKey } from "../app/pod-fields.ts";
import { DnsLabel, Page, pageFields, pick, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import { App, ListedDrift, readyReplicas, shownReplicas } from "./apps.ts";

/** The form of a list, without texts of any length: values of variables, commands, values of charts, contents of files. */
const { workload_spec: _w, addon_spec: _a, chart_spec: _c, exports: _e, ...listedShared } = ComponentSpec.properties;
const ListedContainers = Type.Optional(
  Type.Array(Type.Object({ name: DnsLabel("migrate"), image: ImageReference }), {
    examples: [[{ name: "migrate", image: "busybox:1.37" }]],
  }),
);
const ListedFile = Type.Object(
  {
    path: Type.String({ examples: ["/etc/app/config.yaml"] }),
    size_bytes: Type.Optional(Type.Integer({ description: "Of its content in UTF-8.", examples: [16] })),
    digest: Type.Optional(
      Type.String({
        description: "`sha256:` and the hexadecimal SHA-256 of its content.",
        examples: ["sha256:8a0b3a4b6f1c0d2ecf5ef5dbb0c7f6d2c5f8c0a3c9c1f8be2a3b0e5a9d7c6b41"],
      }),
    ),
    secret: Type.Optional({ ...SecretKey, description: "The key of the secret that it holds instead." }),
  },
  { title: "ListedFile" },
);
const ListedComponent = Type.Object(
  {
    ...listedShared,
    workload_spec: Type.Optional(
      Type.Object(
        {
          ...shownReplicas,
          ...pick(
            WorkloadSpec.properties,
            ...(["kind", "image", "ports", "resources", "volumes", "ingress", "autoscale", "schedule"] as const),
          ),
          env: Type.Optional(
            Type.Array(Type.Object({ name: EnvName, export_ref: ExportRef }), {
              description: "Only the variables that take an export.",
            }),
          ),
          files: Type.Optional(Type.Array(ListedFile)),
          init_containers: ListedContainers,
          sidecars: ListedContainers,
        },
        { examples: [{ image: "nginx:1.29", replicas: 2 }] },
      ),
    ),
    addon_spec: Type.Optional(
      Type.Object(pick(AddonSpec.properties, "instance", "definition_id", "chart_version"), {
        examples: [{ instance: "db" }],
      }),
    ),
    chart_spec: Type.Optional(Type.Object(pick(ChartSpec.properties, "repo", "name", "version"))),
    ready_replicas: readyReplicas,
  },
  { title: "ListedComponent", description: "Of files the size and the digest; the app itself has everything." },
);

const { warnings: _warnings, ...listedFields } = App.properties;
export const AppListItem = Type.Object(
  { ...listedFields, components: Type.Array(ListedComponent), drift: ListedDrift },
  { title: "AppListItem" },
);
export type AppListItem = Static<typeof AppListItem>;

export const LISTED_WITHOUT_CONTENTS =
  "An item has no contents of files, values of variables and charts, and commands, no keys of secrets and no fields of its drift: read the app for these.";

export const listApps = operation({
  id: "listApps",
  method: "GET",
  path: "/apps",
  tag: "Apps",
  summary: "List the apps you can see, newest first",
  description: LISTED_WITHOUT_CONTENTS,
  credentials: "user",
  query: Type.Object({ ...pageFields(), project_id: Type.Optional(Uuid("Only the apps of this project.")) }),
  success: [200, Page(AppListItem)],
});
