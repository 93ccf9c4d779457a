import {
  createUser,
  deleteUser,
  getMe,
  getMyAccess,
  getUser,
  listUsers,
  setUserDisabled,
  setUserTier,
  updateUser,
  verifyUserEmail,
} from "@binnacle/contract";
import type { AccessUnit } from "../access/access-change.ts";
import { ADMINISTERS_AN_ORG } from "../access/caller.store.ts";
import type { Caller } from "../access/caller.ts";
import { roleNeeded } from "../access/role.ts";
import { inEachOrg } from "../audit/audit.ts";
import { forbidden, notFound, unauthenticated } from "../fault.ts";
import { callerWith, type Guard, listOf, ownRecord, type SignedIn, signedIn, superuser } from "../http/guard.ts";
import { envelope } from "../http/pagination.ts";
import { type Call, type Route, route } from "../http/route.ts";
import { newId } from "../id.adapter.ts";
import type { Ports } from "../ports.ts";
import { findTier } from "../tiers/tier.store.ts";
import { DEFAULT_TIER } from "../tiers/tier.ts";
import { deleteCliTokensOf } from "./cli-token.store.ts";
import { denyApprovedDevices } from "./device-login.store.ts";
import { bySession, bySource, clearAttempts, tallyKeys } from "./login-tally.store.ts";
import { ME, OWN_ACCESS } from "./own-record.store.ts";
import { endSessionsOf, lockCaller } from "./session.store.ts";
import {
  deleteUserRow,
  deletionFacts,
  findUser,
  findVisibleUser,
  insertUser,
  lockEnabledSuperusers,
  lockUser,
  orgIdsAdministeredBy,
  recordInOrgsOf,
  type UserWithHash,
  updateUserRow,
  userList,
} from "./user.store.ts";
import {
  currentPasswordMissing,
  currentPasswordWrong,
  deletionProblem,
  disablingProblem,
  emailChanged,
  emailSetBy,
  normaliseEmail,
  type User,
  userResource,
  wireBinding,
  wireUser,
} from "./user.ts";

/** Superusers and administrators of any organization may create users. */
const userCreator: Guard<SignedIn> = {
  requirement: { needs: "any_org_admin" },
  async authorize(request, input) {
    const { caller, administersAnOrg } = await callerWith(ADMINISTERS_AN_ORG).authorize(request, input);
    if (!caller.isSuperuser && !administersAnOrg) throw forbidden(roleNeeded({ needs: "any_org_admin" }));
    return { caller };
  },
};

/**
 * Ends all sessions and approvals, and the CLI tokens unless they are kept. Returns the number of deleted CLI tokens.
 */
async function endAccess(unit: AccessUnit, userId: string, keepsTokens: boolean, now: Date): Promise<number> {
  await endSessionsOf(unit, userId, now);
  await denyApprovedDevices(unit.db, userId);
  return keepsTokens ? 0 : deleteCliTokensOf(unit.db, userId);
}

/** What the CLI token of a request may do; null for a session. */
function presentedToken({ scopes, boundary, tokenExpiresAt }: Caller) {
  if (scopes === null || tokenExpiresAt === null) return null;
  const place = { org_id: null, project_id: null, ...boundary };
  return { scopes: [...scopes], ...place, expires_at: tokenExpiresAt.toISOString() };
}

export function userRoutes({ db, passwords, clock }: Ports<"db" | "passwords" | "clock">): Route[] {
  return [
    route(getMe, callerWith(ME), async ({ caller, user, organizations, bindings, more_roles }) => ({
      ...wireUser(user),
      organizations: [...organizations],
      role_bindings: bindings.map(wireBinding),
      more_roles,
      token: presentedToken(caller),
    })),

    route(getMyAccess, callerWith(OWN_ACCESS), async ({ caller, orgs, clusters, projects, more_roles }) => ({
      is_superuser: caller.isSuperuser,
      orgs,
      clusters,
      projects,
      more_roles,
    })),

    route(listUsers, listOf(userList), async ({ rows, total, query }) => envelope(rows.map(wireUser), total, query)),

    route(createUser, userCreator, async ({ caller, body: { password, ...fields }, change }) => {
      const password_hash = await passwords.hash(password);
      return change(async ({ db: tx, record }) => {
        const now = clock();
        const user: User = {
          id: newId(),
          name: fields.name,
          username: fields.username,
          email: normaliseEmail(fields.email),
          ...emailSetBy(caller, await orgIdsAdministeredBy(tx, caller.id)),
          profile_image_url: fields.profile_image_url ?? null,
          is_superuser: false,
          disabled: false,
          tier_name: DEFAULT_TIER,
          created_at: now,
          updated_at: now,
        };
        await insertUser(tx, { ...user, password_hash });
        const entry = { action: "user.create", resource: userResource(user), changes: { email: user.email } };
        for (const each of inEachOrg(entry, user.email_vouched_by)) record(each);
        return wireUser(user);
      });
    }),

    route(getUser, signedIn, async ({ caller, params }) => {
      const user = await findVisibleUser(db, caller, params.id);
      if (!user) throw notFound("User");
      return wireUser(user);
    }),
  ];
}

export function userUpdateRoutes({
  db,
  passwords,
  isPasswordRight,
  clock,
}: Ports<"db" | "passwords" | "isPasswordRight" | "clock">): Route[] {
  /**
   * Verifies the password before the transaction, because hashing is slow. The proof is valid while this hash is the
   * stored one.
   */
  async function provenHash(
    user: UserWithHash,
    password: string | undefined,
    sources: readonly string[],
    { reply, change }: Pick<Call, "reply" | "change">,
  ): Promise<string> {
    if (password === undefined) throw currentPasswordMissing();
    const account = user.username;
    const refusal = "user.refuse_update";
    if (!(await isPasswordRight({ user, account, password, sources, refusal, reply, change })))
      throw currentPasswordWrong();
    return user.password_hash;
  }

  return [
    route(
      updateUser,
      ownRecord(({ params }) => params.id),
      async ({ caller, body, sourceAddress, reply, change }) => {
        const { password, current_password, keep_tokens, ...fields } = body;
        const email = fields.email === undefined ? undefined : normaliseEmail(fields.email);
        const sources = [bySource(sourceAddress), bySession(caller.credentialId)];

        const user = await findUser(db, caller.id);
        if (!user) throw unauthenticated();
        const isGuarded = password !== undefined || (email !== undefined && email !== user.email);
        const proven = isGuarded ? await provenHash(user, current_password, sources, { reply, change }) : null;
        const passwordHash = password === undefined ? undefined : await passwords.hash(password);

        return change(async (unit) => {
          const { db: tx } = unit;
          const now = clock();
          const current = await lockCaller(tx, caller, now);
          // Of two concurrent changes, the second has proved a password that is no longer current.
          if (proven !== null && proven !== current.password_hash) throw currentPasswordWrong();
          const isMoving = email !== undefined && email !== current.email;
          if (isMoving && proven === null) throw currentPasswordMissing();
          if (proven !== null) {
            const names = [current.username, current.email];
            await clearAttempts(tx, tallyKeys(sources, names), names, now);
          }
          const changes = { ...fields, ...(email === undefined ? {} : { email }) };
          const changed = await updateUserRow(tx, current.id, {
            ...changes,
            ...(isMoving ? emailSetBy(caller, []) : {}),
            ...(passwordHash === undefined ? {} : { password_hash: passwordHash }),
            updated_at: now,
          });
          const renewed =
            passwordHash === undefined
              ? {}
              : {
                  password: "changed",
                  revoked_cli_tokens: await endAccess(unit, current.id, keep_tokens === true, now),
                };
          await recordInOrgsOf(current.id, unit, {
            action: "user.update",
            resource: userResource(changed),
            changes: { ...changes, ...renewed },
            before: current,
          });
          return wireUser(changed);
        });
      },
    ),
  ];
}

export function userAdministrationRoutes({ clock }: Ports<"clock">): Route[] {
  return [
    route(
      deleteUser,
      ownRecord(({ params }) => params.id),
      async ({ caller, change }) =>
        change(async (unit) => {
          const { db: tx } = unit;
          const facts = await deletionFacts(tx, caller.id);
          const user = await lockUser(tx, caller.id);
          if (!user) throw unauthenticated();
          const problem = deletionProblem(user, facts);
          if (problem) throw problem;
          // The entries are written before the memberships are deleted, so that the administrators of each organization
          // can read them.
          await recordInOrgsOf(user.id, unit, { action: "user.delete", resource: userResource(user) });
          await deleteUserRow(unit, user.id);
          return null;
        }),
    ),

    route(setUserTier, superuser, async ({ params, body, change }) =>
      change(async (unit) => {
        const { db: tx } = unit;
        if (!(await findTier(tx, body.tier))) throw notFound("Tier");
        const before = await lockUser(tx, params.id);
        if (!before) throw notFound("User");
        const changed = await updateUserRow(tx, params.id, { tier_name: body.tier, updated_at: clock() });
        const resource = userResource(changed);
        await recordInOrgsOf(changed.id, unit, {
          action: "user.set_tier",
          resource,
          changes: { tier: body.tier },
          before: { tier: before.tier_name },
        });
        return wireUser(changed);
      }),
    ),

    route(setUserDisabled, superuser, async ({ caller, params, body: { disabled }, change }) =>
      change(async (unit) => {
        const { db: tx } = unit;
        const now = clock();
        const superusers = await lockEnabledSuperusers(tx);
        if (!superusers.includes(caller.id)) throw unauthenticated();
        const user = await lockUser(tx, params.id);
        if (!user) throw notFound("User");
        const problem = disabled ? disablingProblem(user, caller.id) : null;
        if (problem) throw problem;
        const changed = await updateUserRow(tx, user.id, { disabled, updated_at: now });
        const revoked = disabled ? { revoked_cli_tokens: await endAccess(unit, user.id, false, now) } : {};
        await recordInOrgsOf(user.id, unit, {
          action: disabled ? "user.disable" : "user.enable",
          resource: userResource(user),
          changes: { disabled, ...revoked },
        });
        return wireUser(changed);
      }),
    ),

    route(verifyUserEmail, superuser, async ({ params, body, change }) =>
      change(async (unit) => {
        const { db: tx } = unit;
        const user = await lockUser(tx, params.id);
        if (!user) throw notFound("User");
        const { email } = user;
        if (body.email !== undefined && normaliseEmail(body.email) !== email) throw emailChanged();
        await updateUserRow(tx, user.id, { email_verified: true, updated_at: clock() });
        await recordInOrgsOf(user.id, unit, {
          action: "user.verify_email",
          resource: userResource(user),
          changes: { email },
        });
        return null;
      }),
    ),
  ];
}
