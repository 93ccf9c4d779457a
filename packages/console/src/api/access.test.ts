import { ACCESS, type OperationName, type Requirement } from "@binnacle/client";
import { describe, expect, test } from "vitest";
import { type Access, allows, type Place, permits } from "./access.ts";

const place: Place = { orgId: "org", clusterId: "cluster", projectId: "project" };
const nobody: Access = { is_superuser: false, orgs: [], clusters: [], projects: [], more_roles: 0 };
const inOrg = (role: "member" | "admin"): Access => ({
  ...nobody,
  orgs: [{ id: "org", name: "Org", slug: "org", role }],
});
const member = inOrg("member");
const onCluster = (role: "viewer" | "editor" | "admin"): Access => ({
  ...member,
  clusters: [{ id: "cluster", org_id: "org", role }],
});
const onProject = (role: "viewer" | "editor" | "admin"): Access => ({
  ...member,
  projects: [{ id: "project", cluster_id: "cluster", org_id: "org", role }],
});

const PEOPLE = {
  nobody,
  member,
  "org admin": inOrg("admin"),
  "cluster viewer": onCluster("viewer"),
  "cluster editor": onCluster("editor"),
  "cluster admin": onCluster("admin"),
  "project viewer": onProject("viewer"),
  "project editor": onProject("editor"),
  "project admin": onProject("admin"),
  superuser: { ...nobody, is_superuser: true },
} as const;
type Person = keyof typeof PEOPLE;

const everybody = Object.keys(PEOPLE) as Person[];
const but = (...without: Person[]) => everybody.filter((person) => !without.includes(person));
const clusterEditors: Person[] = ["org admin", "cluster editor", "cluster admin", "superuser"];

/** Written by hand: who is offered what a requirement guards. */
const EXPECTED: readonly (readonly [Requirement, readonly Person[]])[] = [
  [{ needs: "nothing" }, everybody],
  [{ needs: "signed_in" }, everybody],
  [{ needs: "own_record" }, everybody],
  [{ needs: "superuser" }, ["superuser"]],
  [{ needs: "any_org_admin" }, ["org admin", "superuser"]],
  [{ needs: "org_role", role: "member", hidden: false }, but("nobody")],
  [{ needs: "org_role", role: "admin", hidden: true }, ["org admin", "superuser"]],
  [{ needs: "concealed_org_admin" }, ["org admin", "superuser"]],
  [{ needs: "cluster_role", role: "member" }, but("nobody")],
  [{ needs: "cluster_role", role: "viewer" }, [...clusterEditors, "cluster viewer"]],
  [{ needs: "cluster_role", role: "editor" }, clusterEditors],
  [{ needs: "cluster_role", role: "admin" }, ["org admin", "cluster admin", "superuser"]],
  [{ needs: "cluster_role", role: "org_admin" }, ["org admin", "superuser"]],
  [{ needs: "project_role", role: "viewer" }, but("nobody", "member")],
  [{ needs: "project_role", role: "editor" }, [...clusterEditors, "project editor", "project admin"]],
  [{ needs: "project_role", role: "admin" }, ["org admin", "cluster admin", "project admin", "superuser"]],
  [{ needs: "project_role", role: "org_admin" }, ["org admin", "superuser"]],
];

describe.each(EXPECTED)("[WC1] what needs %o", (requirement, offered) => {
  test.each(everybody)("an operation is offered to a %s exactly when the table says so", (person) => {
    expect(allows(requirement, PEOPLE[person], place)).toBe(offered.includes(person));
  });
});

test("[WC1] every operation of the API has a requirement that the console knows", () => {
  const known = EXPECTED.map(([requirement]) => requirement.needs);
  const operations = Object.keys(ACCESS) as OperationName[];
  expect(operations.filter((operation) => !known.includes(ACCESS[operation].needs))).toEqual([]);
});

test("[WC2] a role in one organization, cluster or project gives no rights in another", () => {
  const elsewhere: Place = { orgId: "other", clusterId: "other", projectId: "other" };
  expect(permits("deleteApp", onProject("admin"), elsewhere)).toBe(false);
  expect(permits("updateCluster", onCluster("admin"), elsewhere)).toBe(false);
  expect(permits("addMember", inOrg("admin"), elsewhere)).toBe(false);
  expect(permits("updateCluster", onProject("admin"), place)).toBe(false);
});

test("[WC1] whoever has more roles than the server names is offered what a role may allow", () => {
  const member = { ...inOrg("member"), more_roles: 1 };
  expect(permits("deleteApp", member, place)).toBe(true);
  expect(permits("addMember", member, place)).toBe(false);
});
