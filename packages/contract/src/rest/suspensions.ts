import Type, { type Static } from "typebox";
import { DisplayLine, Nullable, strict, Timestamp } from "../fields.ts";
import { SUSPENSION_STATES } from "../states.ts";

const Reason = DisplayLine(
  "Incident 42: the database is being restored.",
  500,
  "Why, for whoever finds it suspended. No place for secrets: viewers read it.",
);

export const SuspensionInput = Type.Object({ reason: Type.Optional(Reason) }, strict);

/** Whatever is suspended with its surroundings says so: an app in a suspended project is. */
const SUSPENSION_SCOPES = ["app", "project", "cluster"] as const;

export const Suspension = Type.Object(
  {
    scope: Type.Enum(SUSPENSION_SCOPES, {
      description:
        "What has been suspended, and is to be unsuspended: it, or the project or the cluster that it is in.",
    }),
    by: Nullable(Type.String({ description: "The email of who has suspended it.", examples: ["ada@example.com"] })),
    at: Timestamp(),
    reason: Nullable(Type.String({ examples: ["Incident 42: the database is being restored."] })),
    state: Type.Enum(SUSPENSION_STATES, {
      description:
        "`in_effect`: the operator has confirmed that it does not touch it. `pending`: it has not reported on it yet. `not_in_effect`: " +
        "it goes on reconciling, because it is too old to know of suspensions, or could not store this one; upgrade the operator.",
    }),
  },
  { title: "Suspension" },
);
export type Suspension = Static<typeof Suspension>;
