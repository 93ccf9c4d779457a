import { addMember, changeMember, listMembers, removeMember } from "@binnacle/contract";
import { findUser, findUserByEmail, findUserByUsername } from "../accounts/user.store.ts";
import { emailUnverified, isEmailTrusted, normaliseEmail, type User } from "../accounts/user.ts";
import { totalRows } from "../database/row-count.store.ts";
import type { Tx } from "../database/transaction.ts";
import { notFound } from "../fault.ts";
import { at } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import type { Ports } from "../ports.ts";
import {
  adminsOf,
  deleteMember,
  findMember,
  insertMember,
  listMemberRows,
  lockOrg,
  updateMemberRole,
} from "./org.store.ts";
import { lastAdminProblem, type Member, wireMember } from "./org.ts";
import { orgPlace } from "./org-place.store.ts";

const resourceOf = (member: Member) => ({ type: "member", id: member.user_id, name: member.email });

async function knownMember(tx: Tx, orgId: string, userId: string): Promise<Member> {
  const member = await findMember(tx, orgId, userId);
  if (!member) throw notFound("Member");
  return member;
}

interface Named {
  readonly user_id?: string;
  readonly email?: string;
  readonly username?: string;
}

async function userToAdd(tx: Tx, { user_id, email, username }: Named, orgId: string): Promise<User> {
  let user: User | undefined;
  if (user_id !== undefined) user = await findUser(tx, user_id);
  else if (username !== undefined) user = await findUserByUsername(tx, username);
  else user = await findUserByEmail(tx, normaliseEmail(email ?? ""));
  if (!user) throw notFound("User");
  if (email !== undefined && !isEmailTrusted(user, orgId)) throw emailUnverified();
  return user;
}

export function memberRoutes({ db, clock }: Ports<"db" | "clock">): Route[] {
  return [
    route(listMembers, at(orgPlace, "member"), async ({ org, query }) => {
      const [members, total] = await Promise.all([
        listMemberRows(db, org.id, pageOf(query)),
        totalRows(db, "memberships", org.id),
      ]);
      return envelope(members.map(wireMember), total, query);
    }),

    route(addMember, at(orgPlace, "admin"), async ({ org, body, change }) =>
      change(async (unit) => {
        const { db: tx, record } = unit;
        await lockOrg(tx, org.id);
        const user = await userToAdd(tx, body, org.id);
        await insertMember(unit, { orgId: org.id, userId: user.id, role: body.role, now: clock() });
        const member = await knownMember(tx, org.id, user.id);
        record({ action: "member.add", resource: resourceOf(member), orgId: org.id, changes: { role: body.role } });
        return wireMember(member);
      }),
    ),

    route(changeMember, at(orgPlace, "admin"), async ({ org, params, body, change }) =>
      change(async (unit) => {
        const { db: tx, record } = unit;
        await lockOrg(tx, org.id);
        // Uses the stored id, because the one in the path may be in upper case.
        const before = await knownMember(tx, org.id, params.user_id);
        const { user_id } = before;
        const problem = lastAdminProblem(await adminsOf(tx, org.id), user_id, body.role);
        if (problem) throw problem;
        await updateMemberRole(unit, org.id, user_id, body.role, clock());
        const member = await knownMember(tx, org.id, user_id);
        record({
          action: "member.change_role",
          resource: resourceOf(member),
          orgId: org.id,
          changes: { role: body.role },
          before,
        });
        return wireMember(member);
      }),
    ),

    route(removeMember, at(orgPlace, "admin"), async ({ org, params, change }) =>
      change(async (unit) => {
        const { db: tx, record } = unit;
        await lockOrg(tx, org.id);
        const member = await knownMember(tx, org.id, params.user_id);
        const problem = lastAdminProblem(await adminsOf(tx, org.id), member.user_id, null);
        if (problem) throw problem;
        await deleteMember(unit, org.id, member.user_id);
        record({ action: "member.remove", resource: resourceOf(member), orgId: org.id });
        return null;
      }),
    ),
  ];
}
