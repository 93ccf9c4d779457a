import Type, { type Static } from "typebox";
import { Nullable, Timestamp } from "../fields.ts";
import { RECLAIM_POLICIES, RESOURCE_STATUSES, VOLUME_FATES } from "../states.ts";
import { LONGEST_MESSAGE } from "./text.ts";

/** Answers of an operator that are read in the cluster at the moment of the request. Nothing of them is stored. */

/** So that an answer fits into one frame. Whatever is left out is announced by `truncated`. */
export const OBSERVED_LIMITS = { objects: 500, events: 200, volumes: 200, bytes: 1024 * 1024 } as const;

const Name = (example: string) => Type.String({ maxLength: 253, examples: [example] });
const Kind = Type.String({ maxLength: 100, examples: ["Deployment"] });
const Component = Type.String({ maxLength: 63, examples: ["web"] });
const Count = (description: string, example: number) =>
  Nullable(Type.Integer({ minimum: 0, maximum: 2_147_483_647, description, examples: [example] }));

/** What an answer shows of an object in the cluster, in whatever tree it stands. */
export const objectFields = {
  api_version: Nullable(Type.String({ maxLength: 253, examples: ["apps/v1"] })),
  kind: Kind,
  name: Name("storefront-web"),
  namespace: Nullable(Name("shop")),
  status: Type.Enum(RESOURCE_STATUSES, {
    description: "`missing`: it should be there and is not. `unknown`: its kind does not tell, or it cannot be read.",
  }),
  reason: Nullable(Type.String({ maxLength: 100, examples: ["CrashLoopBackOff"] })),
  message: Nullable(
    Type.String({ maxLength: LONGEST_MESSAGE, examples: ["Deployment storefront-web has 1 of 2 replicas updated."] }),
  ),
  desired: Count("Replicas that a workload is to have.", 2),
  ready: Count("Replicas of a workload that are ready.", 2),
  restarts: Count("Restarts of the containers of a pod.", 0),
  node: Nullable(Name("node-1")),
  created_at: Nullable(Timestamp()),
};

export const ObservedObject = Type.Object({
  id: Type.String({ maxLength: 500 }),
  /** Null right below the component. */
  parent_id: Nullable(Type.String({ maxLength: 500 })),
  component: Component,
  ...objectFields,
});
export type ObservedObject = Static<typeof ObservedObject>;

export const ObservedEvent = Type.Object(
  {
    type: Type.String({ maxLength: 100, description: "`Normal` or `Warning`.", examples: ["Warning"] }),
    reason: Type.String({ maxLength: 128, examples: ["BackOff"] }),
    message: Type.String({ maxLength: LONGEST_MESSAGE, examples: ["Back-off restarting failed container web."] }),
    count: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: "How often it was seen.", examples: [3] }),
    first_seen_at: Nullable(Timestamp()),
    last_seen_at: Nullable(Timestamp()),
    object: Type.Object({ kind: Kind, name: Name("storefront-web-7d4b9c6f5-x2k8p"), component: Component }),
  },
  { title: "AppEvent" },
);
export type ObservedEvent = Static<typeof ObservedEvent>;

/** The fate of a volume when whatever uses it is deleted. */
export const ObservedVolume = Type.Object({
  claim: Name("storefront-db-data"),
  component: Nullable(Component),
  size: Nullable(Type.String({ maxLength: 50, examples: ["10Gi"] })),
  storage_class: Nullable(Name("standard")),
  volume: Nullable(Name("pvc-7b1c6d2e")),
  reclaim_policy: Nullable(Type.Enum(RECLAIM_POLICIES)),
  fate: Type.Enum(VOLUME_FATES),
  /** Who keeps the claim: the app for as long as it exists, the StatefulSet of a release, or the chart by its annotation. */
  kept_by: Nullable(Type.Enum(["app", "release", "chart"])),
});
export type ObservedVolume = Static<typeof ObservedVolume>;

export const DeletedObject = Type.Object(
  { component: Nullable(Component), kind: Kind, name: Name("storefront-web"), namespace: Nullable(Name("shop")) },
  { title: "DeletedObject" },
);
export type DeletedObject = Static<typeof DeletedObject>;

const cut = { truncated: Type.Boolean(), observed_at: Timestamp() };

export const ObservedAnswers = {
  resources: Type.Object({
    objects: Type.Array(ObservedObject, { maxItems: OBSERVED_LIMITS.objects }),
    ...cut,
  }),
  events: Type.Object({ events: Type.Array(ObservedEvent, { maxItems: OBSERVED_LIMITS.events }), ...cut }),
  deletion: Type.Object({
    objects: Type.Array(DeletedObject, { maxItems: OBSERVED_LIMITS.objects }),
    volumes: Type.Array(ObservedVolume, { maxItems: OBSERVED_LIMITS.volumes }),
    ...cut,
  }),
} as const;
export type ObservedAnswers = { readonly [N in keyof typeof ObservedAnswers]: Static<(typeof ObservedAnswers)[N]> };

const appPlace = { namespace: Type.String(), app: Type.String() };

/** Requests for them. An operator lists in its hello which it can answer; no other is sent. */
export const ObservationRequests = {
  resources: Type.Object({ name: Type.Literal("resources"), ...appPlace }),
  events: Type.Object({ name: Type.Literal("events"), ...appPlace }),
  /** Of an app or some of its components, of an addon instance, or else of the whole namespace. */
  deletion: Type.Object({
    name: Type.Literal("deletion"),
    namespace: Type.String(),
    app: Nullable(Type.String()),
    /** Null for the whole app. */
    components: Nullable(Type.Array(Type.String(), { maxItems: 100 })),
    addon_instance: Nullable(Type.String()),
  }),
} as const;
export type ObservationName = keyof typeof ObservationRequests;
export const OBSERVATIONS = Object.keys(ObservationRequests) as readonly ObservationName[];
export type ObservationRequest = {
  [N in ObservationName]: Static<(typeof ObservationRequests)[N]>;
}[ObservationName];
