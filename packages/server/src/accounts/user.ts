import type { BindingRole, User as WireUser } from "@binnacle/contract";
import type { Caller } from "../access/caller.ts";
import { codedConflict, conflict, type Fault, forbidden, invalid, invalidValue } from "../fault.ts";

export interface User {
  readonly id: string;
  readonly name: string;
  readonly username: string;
  readonly email: string;
  /** A superuser has set or confirmed the address. */
  readonly email_verified: boolean;
  /** The organizations whose administrators have set the address. */
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

/** Returns the user that a request is about: the caller, unless a superuser names another user. */
export function subjectOf(caller: Pick<Caller, "id" | "isSuperuser">, userId: string | undefined): string {
  const id = userId?.toLowerCase() ?? caller.id;
  if (id !== caller.id && !caller.isSuperuser) throw forbidden("Only superusers may name another user.");
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

/** Addresses that differ only in case reach the same person, so they are equal. */
export const normaliseEmail = (email: string) => email.toLowerCase();

type EmailTrust = Pick<User, "email_verified" | "email_vouched_by">;

/** The trust in an address that was set by a superuser or by an administrator of these organizations. */
export const emailSetBy = (setter: { isSuperuser: boolean }, administered: readonly string[]): EmailTrust => ({
  email_verified: setter.isSuperuser,
  email_vouched_by: setter.isSuperuser ? [] : administered,
});

/** Users may set any address for themselves. An untrusted address must not identify a person. */
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

/**
 * A new password or address requires the current password, so that an open session is not enough to take over the
 * account.
 */
/** The same item as the schema's, which requires it together with a new password. */
export const currentPasswordMissing = () =>
  invalid([{ loc: CURRENT_PASSWORD, msg: "Field required with email", type: "missing" }]);
export const currentPasswordWrong = () => invalidValue(CURRENT_PASSWORD, "The current password is wrong");

/** A superuser must not lock themselves out, because only another superuser can enable them again. */
export function disablingProblem(user: User, callerId: string): Fault | null {
  return user.id === callerId ? conflict("You cannot disable yourself; another superuser has to do it.") : null;
}

/** Everything that the user administers must keep an administrator. */
export function deletionProblem(
  user: User,
  facts: { enabledSuperusers: readonly string[]; soleAdminOf: readonly string[] },
): Fault | null {
  if (user.is_superuser && facts.enabledSuperusers.every((id) => id === user.id))
    return conflict("The last superuser cannot be deleted.");
  if (facts.soleAdminOf.length === 0) return null;
  return conflict(`The user is the only administrator of ${facts.soleAdminOf.join(", ")}; appoint another one first.`);
}
