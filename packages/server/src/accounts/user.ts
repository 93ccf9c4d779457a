import type { BindingRole, User as WireUser } from "@binnacle/contract";
import { conflict, type Fault, invalidValue } from "../fault.ts";

export interface User {
  readonly id: string;
  readonly name: string;
  readonly username: string;
  readonly email: string;
  readonly profile_image_url: string | null;
  readonly is_superuser: boolean;
  readonly tier_name: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export function wireUser(user: User): WireUser {
  return {
    id: user.id,
    name: user.name,
    username: user.username,
    email: user.email,
    profile_image_url: user.profile_image_url,
    is_superuser: user.is_superuser,
    tier: user.tier_name,
    created_at: user.created_at.toISOString(),
    updated_at: user.updated_at.toISOString(),
  };
}

export interface Binding {
  readonly id: string;
  readonly user_id: string;
  readonly role: BindingRole;
  readonly cluster_id: string | null;
  readonly project_id: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export function wireBinding({ id, created_at, updated_at, ...binding }: Binding) {
  return { binding_id: id, ...binding, created_at: created_at.toISOString(), updated_at: updated_at.toISOString() };
}

const CURRENT_PASSWORD = ["body", "current_password"];

/** Addresses that differ in case alone reach the same person, so they are one address. */
export const normaliseEmail = (email: string) => email.toLowerCase();

export const emailTaken = () => conflict("A user with this email already exists.");
export const usernameTaken = () => conflict("A user with this username already exists.");

/** A new password needs the current one, so that a session left open is not enough to take an account over. */
export const currentPasswordMissing = () => invalidValue(CURRENT_PASSWORD, "The current password is required");
export const currentPasswordWrong = () => invalidValue(CURRENT_PASSWORD, "The current password is wrong");

/** Somebody must be left to administer what the user administers. */
export function deletionProblem(
  user: User,
  facts: { superusers: number; soleAdminOf: readonly string[] },
): Fault | null {
  if (user.is_superuser && facts.superusers === 1) return conflict("The last superuser cannot be deleted.");
  if (facts.soleAdminOf.length === 0) return null;
  return conflict(`The user is the only administrator of ${facts.soleAdminOf.join(", ")}; appoint another one first.`);
}
