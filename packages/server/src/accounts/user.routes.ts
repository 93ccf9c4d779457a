import { createUser, deleteUser, getMe, getUser, listUsers, setUserTier, updateUser } from "@binnacle/contract";
import type { Clock } from "../clock.ts";
import { totalRows } from "../database/row-count.store.ts";
import type { Queries } from "../database/transaction.ts";
import { forbidden, notFound, unauthenticated } from "../fault.ts";
import { signedIn, superuser } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { newId } from "../id.ts";
import { findTier } from "../tiers/tier.store.ts";
import { DEFAULT_TIER } from "../tiers/tier.ts";
import type { Passwords } from "./password.adapter.ts";
import { endSessionsOf } from "./session.store.ts";
import {
  administersAnyOrg,
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
  deletionProblem,
  normaliseEmail,
  passwordChangeProblem,
  refuseOthersRecord,
  type User,
  wireUser,
} from "./user.ts";

const resourceOf = (user: User) => ({ type: "user", id: user.id, name: user.username });

export function userRoutes(db: Queries, passwords: Passwords, clock: Clock): Route[] {
  return [
    route(getMe, signedIn, async ({ caller }) => {
      const [user, organizations, bindings] = await Promise.all([
        findUser(db, caller.id),
        orgsOfUser(db, caller.id),
        bindingsOfUser(db, caller.id),
      ]);
      if (!user) throw unauthenticated();
      const role_bindings = bindings.map(({ id, created_at, ...binding }) => ({
        ...binding,
        binding_id: id,
        created_at: created_at.toISOString(),
      }));
      return { ...wireUser(user), organizations, role_bindings };
    }),

    route(listUsers, signedIn, async ({ caller, query }) => {
      if (caller.isSuperuser) {
        const [users, total] = await Promise.all([listAllUsers(db, pageOf(query)), totalRows(db, "users")]);
        return envelope(users.map(wireUser), total, query);
      }
      const { users, total } = await listAcquaintances(db, caller.id, pageOf(query));
      return envelope(users.map(wireUser), total, query);
    }),

    route(createUser, signedIn, async ({ caller, body: { password, ...fields }, change }) => {
      if (!caller.isSuperuser && !(await administersAnyOrg(db, caller.id))) {
        throw forbidden("Users are created by superusers and by administrators of an organization.");
      }
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

    route(updateUser, signedIn, async ({ caller, params, body, change }) => {
      const refusal = refuseOthersRecord(caller.id, params.id);
      if (refusal) throw refusal;
      const { password, current_password, ...fields } = body;
      const user = await findUser(db, caller.id);
      if (!user) throw unauthenticated();
      const isCurrent = password !== undefined && (await passwords.matches(current_password ?? "", user.password_hash));
      const problem = passwordChangeProblem(body, isCurrent);
      if (problem) throw problem;
      const password_hash = password === undefined ? null : await passwords.hash(password);
      return change(async ({ db: tx, record }) => {
        const email = fields.email === undefined ? {} : { email: normaliseEmail(fields.email) };
        const secret = password_hash === null ? {} : { password_hash };
        const changed = await updateUserRow(tx, caller.id, { ...fields, ...email, ...secret, updated_at: clock() });
        if (password_hash !== null) await endSessionsOf(tx, caller.id, clock());
        const changes = { ...fields, ...email, ...(password_hash === null ? {} : { password: "changed" }) };
        record({ action: "user.update", resource: resourceOf(changed), orgId: null, changes });
        return wireUser(changed);
      });
    }),

    route(deleteUser, signedIn, async ({ caller, params, change }) => {
      const refusal = refuseOthersRecord(caller.id, params.id);
      if (refusal) throw refusal;
      return change(async ({ db: tx, record }) => {
        const facts = await deletionFacts(tx, caller.id);
        const user = await lockUser(tx, caller.id);
        if (!user) throw unauthenticated();
        const problem = deletionProblem(user, facts);
        if (problem) throw problem;
        await deleteUserRow(tx, user.id);
        record({ action: "user.delete", resource: resourceOf(user), orgId: null });
        return null;
      });
    }),

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
