import Type, { type Static } from "typebox";
import { Nullable, Timestamp } from "../fields.ts";
import { ReportedReason } from "../link/text.ts";
import { COMPONENT_PHASES, POD_PHASES } from "../states.ts";
import { ShownReason } from "./reasons.ts";

/** At most so many pods of a component are shown, those in trouble first. */
export const MOST_PODS = 50;
/** And so many of a whole app or addon instance, so that a report stays small. */
export const MOST_PODS_TOGETHER = 200;
export const LONGEST_COMPONENT_MESSAGE = 512;

const Count = (description: string, example: number) =>
  Type.Integer({ minimum: 0, maximum: 2_147_483_647, description, examples: [example] });

export const PodStatus = Type.Object(
  {
    name: Type.String({ maxLength: 253, examples: ["storefront-web-7d4b9c6f5-x2k8p"] }),
    phase: Type.Enum(POD_PHASES, { description: "As Kubernetes names it." }),
    reason: Nullable(
      Type.String({
        ...ReportedReason,
        description: "Why it is not ready; `Terminating` while it is being deleted.",
        examples: ["CrashLoopBackOff"],
      }),
    ),
    restarts: Count("Restarts of its containers.", 0),
    node: Nullable(Type.String({ maxLength: 253, examples: ["node-1"] })),
    started_at: Nullable(Timestamp()),
  },
  { title: "PodStatus" },
);
export type PodStatus = Static<typeof PodStatus>;

const fields = {
  name: Type.String({ maxLength: 253, examples: ["web"] }),
  phase: Type.Enum(COMPONENT_PHASES, {
    description: "`waiting` for another component, `completed` where a Job is done; the others as of an app.",
  }),
  reason: Nullable(ReportedReason),
  message: Nullable(
    Type.String({ maxLength: LONGEST_COMPONENT_MESSAGE, examples: ["Deployment storefront-web has 1 of 2 replicas."] }),
  ),
  desired: Count("Replicas that it is to have.", 2),
  ready: Count("Replicas that are ready.", 2),
  updated: Count("Replicas of the present version.", 2),
  restarts: Count("Restarts of the containers of all its pods.", 0),
  image: Nullable(Type.String({ maxLength: 512, description: "Of its first container.", examples: ["nginx:1.29"] })),
};

/** A component as an operator reports it. */
export const ComponentStatus = Type.Object({
  ...fields,
  pods: Type.Array(PodStatus, { maxItems: MOST_PODS }),
});
export type ComponentStatus = Static<typeof ComponentStatus>;

/** A component as an answer shows it. */
export const ShownComponentStatus = Type.Object(
  {
    ...fields,
    reason: Nullable(ShownReason),
    pods: Type.Optional(
      Type.Array(PodStatus, {
        description: `At most ${MOST_PODS}, those in trouble first. Left out in lists.`,
      }),
    ),
  },
  { title: "ComponentStatus" },
);
export type ShownComponentStatus = Static<typeof ShownComponentStatus>;
