import Type, { type Static } from "typebox";
import { DnsLabel, Nullable, Timestamp, Uuid } from "../fields.ts";
import { DeletedObject, ObservedVolume } from "../link/observed.ts";
import { operation } from "../operation.ts";
import { VOLUME_FATES } from "../states.ts";
import { appParams, appQuery } from "./apps.ts";

const Named = Type.Object({ id: Uuid(), name: DnsLabel("storefront") });

const { kept_by: _, ...volumeFields } = ObservedVolume.properties;
const VolumeOutlook = Type.Object(
  {
    ...volumeFields,
    fate: Type.Enum(VOLUME_FATES, {
      description:
        "`deleted`: claim and data go. `released`: the claim goes, the storage class keeps the volume with the data. " +
        "`kept`: the claim stays. `unknown`: the cluster has not said.",
    }),
    recovery: Type.String({
      description: "How to get the data back.",
      examples: ["Add a component with this name and volume again."],
    }),
  },
  { title: "VolumeOutlook" },
);
export type VolumeOutlook = Static<typeof VolumeOutlook>;

export const DeletionPreview = Type.Object(
  {
    target: Type.Object({
      type: Type.Enum(["app", "component", "addon_attachment", "addon_instance", "project"]),
      id: Nullable(Uuid("Of the app, the addon instance or the project.")),
      name: Type.String({ examples: ["storefront"] }),
    }),
    apps: Type.Array(Named, { description: "That go with a project." }),
    addon_instances: Type.Array(Named, { description: "That go." }),
    components: Type.Array(DnsLabel("web"), {
      description: "That go, or lose the exports of an addon that is detached.",
    }),
    objects: Type.Array(DeletedObject, {
      description: "In the cluster, that go. Those of a whole project are its namespace with everything in it.",
    }),
    volumes: Type.Array(VolumeOutlook),
    volumes_known: Type.Boolean({
      description:
        "Whether the cluster has answered. If not, `objects` is empty, and `volumes` has those that components of the " +
        "type workload declare, with an unknown fate; there may be more.",
    }),
    message: Nullable(
      Type.String({
        description: "What else there is to know, as why the cluster has not answered.",
        examples: ["No operator of the cluster is connected. Try again in a moment."],
      }),
    ),
    truncated: Type.Boolean({ description: "Whether there is more than the answer may hold." }),
    observed_at: Nullable(Timestamp("When the cluster was read.")),
  },
  { title: "DeletionPreview" },
);
export type DeletionPreview = Static<typeof DeletionPreview>;

const previewing = { method: "GET", credentials: "user", success: [200, DeletionPreview], failures: [404] } as const;
const description =
  "Changes nothing. If the cluster cannot be asked, the answer has what is on record and says so. " +
  "Whoever may delete may read it.";

export const previewAppDeletion = operation({
  ...previewing,
  id: "previewAppDeletion",
  path: "/apps/{namespace}/{name}/deletion-preview",
  tag: "Apps",
  summary: "Read what would go with an app, with one of its components, or with an attached addon; project editor",
  description,
  params: Type.Object(appParams),
  query: Type.Object({
    ...appQuery,
    component: Type.Optional(
      Type.String({ maxLength: 253, description: "Only this component is removed.", examples: ["web"] }),
    ),
    addon_instance_id: Type.Optional(Uuid("Only this addon instance is detached; not together with `component`.")),
  }),
});

export const previewAddonInstanceDeletion = operation({
  ...previewing,
  id: "previewAddonInstanceDeletion",
  path: "/addon-instances/{id}/deletion-preview",
  tag: "Addons",
  summary: "Read what would go with an addon instance; project editor",
  description,
  params: Type.Object({ id: Uuid() }),
});

export const previewProjectDeletion = operation({
  ...previewing,
  id: "previewProjectDeletion",
  path: "/projects/{id}/deletion-preview",
  tag: "Projects",
  summary: "Read what would go with a project; org admin",
  description,
  params: Type.Object({ id: Uuid() }),
});
