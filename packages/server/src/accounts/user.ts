import type { BindingRole, User as WireUser } from "@binnacle/contract";
import type { Caller } from "../access/caller.ts";
import { codedConflict, conflict, type Fault, forbidden, invalidValue } from "../fault.ts";

export interface User {
  readonly id: string;
  readonly name: string;
  readonly username: string;
  readonly email: string;
  /** Whether a superuser has set or confirmed the address. */
  readonly email_verified: boolean;
  /** The organizations one of whose administrators has set the address. */
  readonly email_vouched_by: readonly string[];
  readonly profile_image_url: string | null;
  readonly is_superuser: boolean;
  readonly disabled: boolean;
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
    email_verified: user.email_verified,
    is_superuser: user.is_superuser,
    disabled: user.disabled,
    tier: user.tier_name,
    created_at: user.created_at.toISOString(),
    updated_at: user.updated_at.toISOString(),
  };
}

export const userResource = (user: User) => ({ type: "user", id: user.id, name: user.username });

/** Whose things a request is about: the caller's own, unless a superuser names somebody else. */
export function subjectOf(caller: Pick<Caller, "id" | "isSuperuser">, userId: string | undefined): string {
  const id = userId?.toLowerCase() ?? caller.id;
  if (id !== caller.id && !caller.isSuperuser) throw forbidden();
  return id;
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

type EmailTrust = Pick<User, "email_verified" | "email_vouched_by">;

/** How far an address is believed that was set by a superuser, or by an administrator of these organizations. */
export const emailSetBy = (setter: { isSuperuser: boolean }, administered: readonly string[]): EmailTrust => ({
  email_verified: setter.isSuperuser,
  email_vouched_by: setter.isSuperuser ? [] : administered,
});

/** Anybody may claim any address for themselves; whoever looks a person up by it would take the one for the other. */
export const isEmailTrusted = (user: EmailTrust, orgId: string): boolean =>
  user.email_verified || user.email_vouched_by.includes(orgId);

export const emailUnverified = () =>
  codedConflict(
    "email_unverified",
    "The email address was set by its user or by another organization, so it does not prove whose it is. Add the user by `username` instead, or have a superuser confirm the address.",
  );
export const emailChanged = () => conflict("The user has another email address by now; nothing was confirmed.");

export const emailTaken = () => conflict("A user with this email already exists.");
export const usernameTaken = () => conflict("A user with this username already exists.");

/** A new password or address needs the current password: a session left open is not enough to take an account over. */
export const currentPasswordMissing = () => invalidValue(CURRENT_PASSWORD, "The current password is required");
export const currentPasswordWrong = () => invalidValue(CURRENT_PASSWORD, "The current password is wrong");

/** Nobody can let a superuser in again but another one. */
export function disablingProblem(user: User, callerId: string): Fault | null {
  return user.id === callerId ? conflict("You cannot disable yourself; another superuser has to do it.") : null;
}

/** Somebody must be left to administer what the user administers. */
export function deletionProblem(
  user: User,
  facts: { enabledSuperusers: readonly string[]; soleAdminOf: readonly string[] },
): Fault | null {
  if (user.is_superuser && facts.enabledSuperusers.every((id) => id === user.id))
    return conflict("The last superuser cannot be deleted.");
  if (facts.soleAdminOf.length === 0) return null;
  return conflict(`The user is the only administrator of ${facts.soleAdminOf.join(", ")}; appoint another one first.`);
}
