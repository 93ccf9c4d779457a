import Type from "typebox";
import { Nullable, Timestamp, Uuid } from "../fields.ts";
import { BINDING_ROLES } from "../roles.ts";

/** A role granted to a user on one cluster or on one project. */
export const RoleBinding = Type.Object(
  {
    binding_id: Uuid(),
    user_id: Uuid(),
    role: Type.Enum(BINDING_ROLES),
    cluster_id: Nullable(Uuid()),
    project_id: Nullable(Uuid()),
    created_at: Timestamp(),
  },
  { title: "RoleBinding" },
);
