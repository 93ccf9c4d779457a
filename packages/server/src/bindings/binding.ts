import { conflict, invalidValue, notFound } from "../fault.ts";

/** Where a role is granted: a cluster, which counts for its projects too, or a project. */
export interface Place {
  readonly kind: "cluster" | "project";
  readonly id: string;
  readonly orgId: string;
}

export const alreadyGranted = ({ kind }: Place) =>
  conflict(`The user already has a role on this ${kind}; replace it with PUT.`);

/** A role would give a stranger the key to one room of a house they may not enter. */
export const notAMember = () => invalidValue(["body", "user_id"], "The user is not a member of the organization");

/** It was deleted while the request was on its way. */
export const placeGone = ({ kind }: Place) => notFound(kind === "cluster" ? "Cluster" : "Project");
