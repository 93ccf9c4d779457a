import type { TemplateScope } from "@binnacle/contract";
import { BINDING_ROLES } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import type { Standing } from "../access/role.ts";
import {
  type Candidate,
  chooseCluster,
  chooseOrg,
  chooseProject,
  chooseTemplate,
  refuseUnlessWriter,
} from "./template.ts";

const standing = (facts: Partial<Standing> = {}): Standing => ({
  isSuperuser: false,
  orgRole: null,
  bindingRole: null,
  ...facts,
});
const PEOPLE = {
  stranger: standing(),
  member: standing({ orgRole: "member" }),
  viewer: standing({ orgRole: "member", bindingRole: "viewer" }),
  editor: standing({ orgRole: "member", bindingRole: "editor" }),
  admin: standing({ orgRole: "admin" }),
  superuser: standing({ isSuperuser: true }),
};
const mayWrite = (scope: TemplateScope, person: Standing): boolean => {
  try {
    refuseUnlessWriter(scope, person);
    return true;
  } catch {
    return false;
  }
};

describe("the verdict on who writes a template", () => {
  test.each<[TemplateScope, (keyof typeof PEOPLE)[]]>([
    ["project", ["editor", "admin", "superuser"]],
    ["cluster", ["admin", "superuser"]],
    ["organization", ["admin", "superuser"]],
    ["global", ["superuser"]],
  ])("[TP5] a template of scope %s is written by %j", (scope, expected) => {
    const writers = Object.entries(PEOPLE).filter(([, person]) => mayWrite(scope, person));
    expect(writers.map(([who]) => who)).toEqual(expected);
  });

  test.each(BINDING_ROLES)(
    "[TP5] who may write a template of scope project depends on the role on the project: %s",
    (bindingRole) => {
      expect(mayWrite("project", standing({ bindingRole }))).toBe(bindingRole !== "viewer");
    },
  );
});

const choice = (id: string, org_id: string) => ({ id, org_id, cluster_id: `cluster of ${id}`, standing: standing() });

describe("the organization of a new template", () => {
  const ofProjects = (...orgs: string[]) => orgs.map((org, index) => choice(`p${index}`, org));

  test.each([
    [["a"], ["a", "b"], "a"],
    [["a", "a"], ["b"], "a"],
    [[], ["b"], "b"],
    [["a"], [], "a"],
  ])(
    "[TP3] the organization of a new template is, with projects in %j and memberships in %j, %s",
    (projects, memberships, org) => {
      expect(chooseOrg(ofProjects(...projects), memberships)).toBe(org);
    },
  );

  test.each([
    [[], []],
    [[], ["a", "b"]],
    [["a", "b"], ["a"]],
  ])(
    "[TP3] a new template must name its organization with projects in %j and memberships in %j",
    (projects, memberships) => {
      expect(() => chooseOrg(ofProjects(...projects), memberships)).toThrow("The request is not valid.");
    },
  );
});

describe("the project and the cluster of a new template", () => {
  const shop = { namespace: "shop" };
  const [one, other] = [choice("one", "a"), choice("other", "a")];

  test("[TP44] the project and the cluster of a new template are the only ones with its namespace", () => {
    expect(chooseProject([one], shop)).toBe(one);
    expect(chooseCluster([one], shop)).toBe("cluster of one");
  });

  test.each([
    ["No project", []],
    ["More than one project", [one, other]],
  ])("[TP44] a new template must name its project or cluster where there is %s", (count, choices) => {
    const faultOf = (choose: () => unknown) => {
      try {
        choose();
      } catch (fault) {
        return fault;
      }
    };
    const saying = (field: string) => ({
      kind: "invalid",
      detail: [{ loc: ["body", field], msg: `${count} that you can see has the namespace shop: give the ${field}` }],
    });
    expect(faultOf(() => chooseProject(choices, shop))).toMatchObject(saying("project_id"));
    expect(faultOf(() => chooseCluster(choices, shop))).toMatchObject(saying("cluster_id"));
  });

  test("[TP44] a project that a new template names and the caller does not see is not found", () => {
    expect(() => chooseProject([], { ...shop, project_id: "one" })).toThrow(/no project with this project_id/);
  });
});

describe("the template of an address", () => {
  const candidate = (org_id: string, isMember: boolean, isSuperuser = false) =>
    ({
      template: { org_id, namespace: "shop", name: "web" },
      standing: standing({ orgRole: isMember ? "member" : null, isSuperuser }),
    }) as Candidate;
  const chosen = (candidates: Candidate[]) => chooseTemplate(candidates).template.org_id;

  test("[TP8] an address means the only template that has it, or the only one of the caller's organizations", () => {
    expect(chosen([candidate("a", false)])).toBe("a");
    expect(chosen([candidate("a", false), candidate("b", true), candidate("c", false)])).toBe("b");
  });

  test("[TP8] an address is ambiguous among one's own organizations, among others' and, for a superuser, among all", () => {
    expect(() => chosen([candidate("a", true), candidate("b", true)])).toThrow(/Several organizations/);
    expect(() => chosen([candidate("a", false), candidate("b", false)])).toThrow(/Several organizations/);
    const seen = [candidate("a", true, true), candidate("b", false, true)];
    expect(() => chosen(seen)).toThrow(/Several organizations/);
  });

  test("[TP4] an address without a template that the caller may see is not found", () => {
    expect(() => chosen([])).toThrow("Stack template not found.");
  });
});
