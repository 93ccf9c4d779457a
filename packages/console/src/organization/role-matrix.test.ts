import type { MatrixMember } from "@binnacle/client";
import { expect, test } from "vitest";
import { type BindingRole, cellOf, type MatrixPlace, membersWith, placesOf } from "./role-matrix.ts";

const member = (facts: Partial<MatrixMember> = {}): MatrixMember => ({
  user_id: "u",
  name: "Ada",
  email: "ada@example.com",
  role: "member",
  clusters: [],
  projects: [],
  more_roles: 0,
  ...facts,
});
const onCluster = (role: BindingRole) => ({ clusters: [{ id: "c", name: "eu", role }] });
const onProject = (role: BindingRole) => ({ projects: [{ id: "p", name: "shop", cluster_id: "c", role }] });
const CLUSTER: MatrixPlace = { kind: "cluster", id: "c", name: "eu", clusterId: "c" };
const PROJECT: MatrixPlace = { kind: "project", id: "p", name: "shop", clusterId: "c" };

test.each<[string, Partial<MatrixMember>, MatrixPlace, BindingRole | null, string]>([
  ["a member without a role", {}, PROJECT, null, ""],
  ["an administrator", { role: "admin" }, PROJECT, "admin", "Administrator of the organization"],
  [
    "an administrator with a weaker role",
    { role: "admin", ...onProject("viewer") },
    PROJECT,
    "admin",
    "Administrator of the organization",
  ],
  ["a role on the project", onProject("editor"), PROJECT, "editor", "Role on the project"],
  ["a role on the project, seen from its cluster", onProject("admin"), CLUSTER, null, ""],
  ["a role on the cluster", onCluster("viewer"), CLUSTER, "viewer", "Role on the cluster"],
  ["a role on the cluster, in its project", onCluster("editor"), PROJECT, "editor", "Role on the cluster eu"],
  [
    "a stronger role on the project",
    { ...onCluster("viewer"), ...onProject("admin") },
    PROJECT,
    "admin",
    "Role on the project",
  ],
  [
    "a role of the same strength on both",
    { ...onCluster("editor"), ...onProject("editor") },
    PROJECT,
    "editor",
    "Role on the project",
  ],
  [
    "a weaker role on the project",
    { ...onCluster("admin"), ...onProject("viewer") },
    PROJECT,
    "admin",
    "Role on the cluster eu; the role viewer on the project is weaker",
  ],
])("[WC88] the matrix of roles shows role and reason of %s", (_, facts, place, role, why) => {
  const cell = cellOf(member(facts), place);
  expect([cell?.role ?? null, cell?.why ?? ""]).toEqual([role, why]);
});

test("[WC88] the matrix of roles has the clusters and projects with roles, each project behind its cluster", () => {
  const members = [
    member({ projects: [{ id: "q", name: "api", cluster_id: "d", role: "viewer" }], ...onCluster("viewer") }),
    member(onProject("editor")),
  ];
  const places = placesOf(members, new Map([["d", "asia"]]));
  expect(places.map(({ kind, name }) => `${kind} ${name}`)).toEqual(["project api", "cluster eu", "project shop"]);
});

test("[WC339] a role that the answer may not name is shown as not known, and never as none", () => {
  const many = member({ ...onProject("editor"), more_roles: 7 });
  expect(cellOf(many, PROJECT)?.role).toBe("editor");
  expect(cellOf(many, CLUSTER)).toMatchObject({ role: "?", why: "7 more roles of the member are not shown" });
  expect(cellOf(member(), CLUSTER)).toBeNull();
});

test("[WC88] the matrix of roles finds members by name or address", () => {
  const members = [member(), member({ name: "Bob", email: "bob@example.com" })];
  expect(membersWith(members, " BOB@ ").map(({ name }) => name)).toEqual(["Bob"]);
  expect(membersWith(members, "")).toHaveLength(2);
});
