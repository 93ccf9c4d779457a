import { createUser, deleteUser, getMe, getUser, listUsers, setUserTier, updateUser } from "@binnacle/contract";
import type { Clock } from "../clock.ts";
import { totalRows } from "../database/row-count.store.ts";
import type { Queries } from "../database/transaction.ts";
import { notFound, unauthenticated } from "../fault.ts";
import { ownRecord, signedIn, superuser, userMaker } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { newId } from "../id.ts";
import { findTier } from "../tiers/tier.store.ts";
import { DEFAULT_TIER } from "../tiers/tier.ts";
import type { Passwords } from "./password.adapter.ts";
import { endSessionsOf } from "./session.store.ts";
import {
  bindingsOfUser,
  deleteUserRow,
  deletionFacts,
  findAcquaintance,
  findUser,
  insertUser,
  listAcquaintances,
  listAllUsers,
  lockUser,
  orgsOfUser,
  updateUserRow,
} from "./user.store.ts";
import {
  currentPasswordMissing,
  currentPasswordWrong,
  deletionProblem,
  normaliseEmail,
  type User,
  wireBinding,
  wireUser,
} from "./user.ts";

const resourceOf = (user: User) => ({ type: "user", id: user.id, name: user.username });

export function userRoutes(db: Queries, passwords: Passwords, clock: Clock): Route[] {
  /** The slow work, done before the transaction; it holds only while the hash that was checked is the stored one. */
  async function renew(userId: string, password: string, currentPassword: string | undefined) {
    if (currentPassword === undefined) throw currentPasswordMissing();
    const user = await findUser(db, userId);
    if (!user || !(await passwords.matches(currentPassword, user.password_hash))) throw currentPasswordWrong();
    return { replaces: user.password_hash, passwordHash: await passwords.hash(password) };
  }

  return [
    route(getMe, signedIn, async ({ caller }) => {
      const [user, organizations, bindings] = await Promise.all([
        findUser(db, caller.id),
        orgsOfUser(db, caller.id),
        bindingsOfUser(db, caller.id),
      ]);
      if (!user) throw unauthenticated();
      return { ...wireUser(user), organizations, role_bindings: bindings.map(wireBinding) };
    }),

    route(listUsers, signedIn, async ({ caller, query }) => {
      if (caller.isSuperuser) {
        const [users, total] = await Promise.all([listAllUsers(db, pageOf(query)), totalRows(db, "users")]);
        return envelope(users.map(wireUser), total, query);
      }
      const { users, total } = await listAcquaintances(db, caller.id, pageOf(query));
      return envelope(users.map(wireUser), total, query);
    }),

    route(createUser, userMaker, async ({ body: { password, ...fields }, change }) => {
      const password_hash = await passwords.hash(password);
      return change(async ({ db: tx, record }) => {
        const now = clock();
        const user: User = {
          id: newId(),
          name: fields.name,
          username: fields.username,
          email: normaliseEmail(fields.email),
          profile_image_url: fields.profile_image_url ?? null,
          is_superuser: false,
          tier_name: DEFAULT_TIER,
          created_at: now,
          updated_at: now,
        };
        await insertUser(tx, { ...user, password_hash });
        record({ action: "user.create", resource: resourceOf(user), orgId: null, changes: { email: user.email } });
        return wireUser(user);
      });
    }),

    route(getUser, signedIn, async ({ caller, params }) => {
      const user = caller.isSuperuser
        ? await findUser(db, params.id)
        : await findAcquaintance(db, caller.id, params.id);
      if (!user) throw notFound("User");
      return wireUser(user);
    }),

    route(
      updateUser,
      ownRecord(({ params }) => params.id),
      async ({ caller, body, change }) => {
        const { password, current_password, ...fields } = body;
        const renewal = password === undefined ? null : await renew(caller.id, password, current_password);
        return change(async ({ db: tx, record }) => {
          const user = await lockUser(tx, caller.id);
          if (!user) throw unauthenticated();
          // Of two changes made at once the second has been checked against a password that is no longer current.
          if (renewal && renewal.replaces !== user.password_hash) throw currentPasswordWrong();
          const now = clock();
          const changes = { ...fields, ...(fields.email === undefined ? {} : { email: normaliseEmail(fields.email) }) };
          const secret = renewal && { password_hash: renewal.passwordHash };
          const changed = await updateUserRow(tx, user.id, { ...changes, ...secret, updated_at: now });
          if (renewal) await endSessionsOf(tx, user.id, now);
          record({
            action: "user.update",
            resource: resourceOf(changed),
            orgId: null,
            changes: renewal ? { ...changes, password: "changed" } : changes,
          });
          return wireUser(changed);
        });
      },
    ),

    route(
      deleteUser,
      ownRecord(({ params }) => params.id),
      async ({ caller, change }) =>
        change(async ({ db: tx, record }) => {
          const facts = await deletionFacts(tx, caller.id);
          const user = await lockUser(tx, caller.id);
          if (!user) throw unauthenticated();
          const problem = deletionProblem(user, facts);
          if (problem) throw problem;
          // Each organization's administrators read of it that a member is gone.
          const orgs = await orgsOfUser(tx, user.id);
          await deleteUserRow(tx, user.id);
          for (const orgId of orgs.length > 0 ? orgs.map(({ id }) => id) : [null]) {
            record({ action: "user.delete", resource: resourceOf(user), orgId });
          }
          return null;
        }),
    ),

    route(setUserTier, superuser, async ({ params, body, change }) =>
      change(async ({ db: tx, record }) => {
        if (!(await findTier(tx, body.tier))) throw notFound("Tier");
        if (!(await lockUser(tx, params.id))) throw notFound("User");
        const changed = await updateUserRow(tx, params.id, { tier_name: body.tier, updated_at: clock() });
        record({ action: "user.set_tier", resource: resourceOf(changed), orgId: null, changes: { tier: body.tier } });
        return wireUser(changed);
      }),
    ),
  ];
}
