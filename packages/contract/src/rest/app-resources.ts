import Type, { type Static } from "typebox";
import { Nullable, Timestamp } from "../fields.ts";
import { OBSERVED_LIMITS, ObservedEvent, objectFields } from "../link/observed.ts";
import { operation } from "../operation.ts";
import { appParams, appQuery } from "./apps.ts";

const observed = {
  truncated: Type.Boolean({ description: "Whether there is more than the answer may hold." }),
  observed_at: Timestamp("When the operator has read them."),
};

export const ResourceNode = Type.Object(
  {
    id: Type.String({ description: "Unique in the answer.", examples: ["0193a6b2-5b1e-7c52-9d3f-2f6d1c0a7e11"] }),
    parent_id: Nullable(Type.String({ description: "Null for the app alone.", examples: ["component/web"] })),
    component: Nullable(Type.String({ examples: ["web"] })),
    ...objectFields,
    kind: Type.String({
      description: "`App`, `Component`, or that of a Kubernetes object.",
      examples: ["Deployment"],
    }),
  },
  { title: "ResourceNode" },
);
export type ResourceNode = Static<typeof ResourceNode>;

export const AppResources = Type.Object(
  {
    nodes: Type.Array(ResourceNode, { description: "Each comes after its parent." }),
    ...observed,
  },
  { title: "AppResources" },
);
export type AppResources = Static<typeof AppResources>;

export const AppEvents = Type.Object(
  { events: Type.Array(ObservedEvent, { description: "The latest first." }), ...observed },
  { title: "AppEvents" },
);
export type AppEvents = Static<typeof AppEvents>;

const reading = {
  method: "GET",
  tag: "Apps",
  credentials: "user",
  params: Type.Object(appParams),
  query: Type.Object(appQuery),
  failures: [404, 502, 504],
} as const;

export const getAppResources = operation({
  ...reading,
  id: "getAppResources",
  path: "/apps/{namespace}/{name}/resources",
  summary: "Read the objects of an app in the cluster, as a tree",
  description:
    "App, components, their objects, ReplicaSets and pods, read in the cluster at this moment; of Secrets and ConfigMaps the " +
    `names alone. At most ${OBSERVED_LIMITS.objects} objects. Without an operator that is connected: 503. An operator that ` +
    "is too old for this: 502.",
  success: [200, AppResources],
});

export const listAppEvents = operation({
  ...reading,
  id: "listAppEvents",
  path: "/apps/{namespace}/{name}/events",
  summary: "Read what Kubernetes says about the objects of an app",
  description:
    `The last ${OBSERVED_LIMITS.events} events about objects of the app that exist, read in the cluster at this moment. ` +
    "Kubernetes keeps events for about an hour. Without an operator that is connected: 503. An operator that is too old " +
    "for this: 502.",
  success: [200, AppEvents],
});
