import { BINDING_ROLES, TEMPLATE_SCOPES, type TemplateScope } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import { type Candidate, chooseOrg, chooseTemplate, judgeTemplate, type TemplateStanding } from "./template.ts";

const standing = (facts: Partial<TemplateStanding> = {}): TemplateStanding => ({
  isSuperuser: false,
  orgRole: null,
  projectRoles: [],
  worksOnCluster: false,
  ...facts,
});
const PEOPLE = {
  stranger: standing(),
  member: standing({ orgRole: "member" }),
  neighbour: standing({ orgRole: "member", worksOnCluster: true }),
  viewer: standing({ orgRole: "member", worksOnCluster: true, projectRoles: ["viewer"] }),
  editor: standing({ orgRole: "member", worksOnCluster: true, projectRoles: ["viewer", "editor"] }),
  admin: standing({ orgRole: "admin" }),
  superuser: standing({ isSuperuser: true }),
};

describe("the verdict on who writes a template", () => {
  const [ok, no, hidden] = ["allowed", "forbidden", "hidden"];
  test.each<[TemplateScope, (string | undefined)[]]>([
    ["project", [hidden, hidden, hidden, no, ok, ok, ok]],
    ["cluster", [hidden, hidden, no, no, no, ok, ok]],
    ["organization", [hidden, no, no, no, no, ok, ok]],
    ["global", [no, no, no, no, no, no, ok]],
  ])("[TP5] of scope %s is %j", (scope, expected) => {
    expect(Object.values(PEOPLE).map((person) => judgeTemplate(scope, "write", person))).toEqual(expected);
  });

  test.each(TEMPLATE_SCOPES)("[TP4] of scope %s never lets anyone write what they do not see", (scope) => {
    for (const person of Object.values(PEOPLE)) {
      const [read, write] = [judgeTemplate(scope, "read", person), judgeTemplate(scope, "write", person)];
      expect(write === "hidden").toBe(read === "hidden");
    }
  });

  test.each(BINDING_ROLES)("[TP5] goes by the strongest role: a viewer who is also %s", (role) => {
    const verdict = judgeTemplate("project", "write", standing({ projectRoles: ["viewer", role] }));
    expect(verdict).toBe(role === "viewer" ? "forbidden" : "allowed");
  });
});

describe("the organization of a new template", () => {
  test.each([
    [{ ofProjects: ["a"], memberships: ["a", "b"] }, "a"],
    [{ ofProjects: [], memberships: ["b"] }, "b"],
    [{ ofProjects: ["a"], memberships: [] }, "a"],
  ])("[TP3] of %j is %s", (choices, org) => {
    expect(chooseOrg(choices)).toBe(org);
  });

  test.each([
    { ofProjects: [], memberships: [] },
    { ofProjects: [], memberships: ["a", "b"] },
    { ofProjects: ["a", "b"], memberships: ["a"] },
  ])("[TP3] of %j must be said", (choices) => {
    expect(() => chooseOrg(choices)).toThrow("The request is not valid.");
  });
});

describe("the template of an address", () => {
  const candidate = (org_id: string, isMember: boolean) =>
    ({ template: { org_id, namespace: "shop", name: "web" }, isMember }) as Candidate;
  const chosen = (candidates: Candidate[], isSuperuser = false) => chooseTemplate(candidates, isSuperuser).org_id;

  test("[TP8] is the only one, or the only one of one's own", () => {
    expect(chosen([candidate("a", false)])).toBe("a");
    expect(chosen([candidate("a", false), candidate("b", true), candidate("c", false)])).toBe("b");
  });

  test("[TP8] is ambiguous among one's own, among strangers' and, for a superuser, among all", () => {
    expect(() => chosen([candidate("a", true), candidate("b", true)])).toThrow(/Several organizations/);
    expect(() => chosen([candidate("a", false), candidate("b", false)])).toThrow(/Several organizations/);
    expect(() => chosen([candidate("a", true), candidate("b", false)], true)).toThrow(/Several organizations/);
  });

  test("[TP4] that nobody may see is not there", () => {
    expect(() => chosen([])).toThrow("Stack template not found.");
  });
});
