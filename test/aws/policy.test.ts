import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { NEEDED_ACTIONS } from "../../packages/server/src/cloud/aws/aws.ts";
import { blocksOf, readPage } from "../world/guide.ts";
import { isAllowed, type Policy } from "./policy.ts";
import { arnOf, BOUNDARY, CHANGES, CLUSTER, questionsOf, type Request } from "./requests.ts";

const [POLICY, BOUNDARY_POLICY] = blocksOf(readPage("docs/operations/provisioning.md"), "json").map(
  (text): Policy => JSON.parse(text),
) as [Policy, Policy];
const ROLE = readFileSync(new URL("../../deploy/tofu/aws-k3s/iam.tf", import.meta.url), "utf8");

const OURS = { "binnacle:cluster": CLUSTER };
const OF_OTHERS = [
  {},
  { Name: "shop" },
  { "kubernetes.io/cluster/other": "owned" },
  { "ebs.csi.aws.com/cluster": "true" },
];
const isRead = (action: string) => /:(Describe|Get|List)/.test(action);
const isGranted = (request: Request, tags: object, given: object) =>
  questionsOf(request, { ...tags }, { ...given }).every((question) => isAllowed(POLICY, question));
const named = ({ action, existing = [], created = [], untagged = [] }: Request) =>
  [action, ...existing, ...created, ...untagged].join(" ");

test("[PN164] the documented policy allows all that OpenTofu and Binnacle ask of AWS for a cluster", () => {
  const refused = CHANGES.filter((request) => !isGranted(request, OURS, OURS));
  expect(refused.map(named)).toEqual([]);
  const read = NEEDED_ACTIONS.filter(isRead).filter(
    (action) =>
      !isAllowed(POLICY, {
        action,
        resource: action.startsWith("iam:")
          ? arnOf(
              action,
              action.includes("Profile") && !action.includes("Profiles")
                ? `instance-profile/binnacle-x`
                : "role/binnacle-x",
            )
          : "*",
        context: {},
      }),
  );
  expect(read).toEqual([]);
});

test("[PN164] every action that is used has a request that is tried, and no request has another action", () => {
  const tried = new Set(CHANGES.map(({ action }) => action));
  expect(NEEDED_ACTIONS.filter((action) => !isRead(action) && !tried.has(action))).toEqual([]);
  // An organization may attach policies to the roles of its account, which must not keep them.
  expect([...tried].filter((action) => !NEEDED_ACTIONS.includes(action))).toEqual(["iam:DetachRolePolicy"]);
});

test.each(OF_OTHERS)("[PN165] the same requests for resources of others, with the tags %j, are denied", (tags) => {
  const ofTagged = CHANGES.filter(({ existing = [] }) => existing.length > 0);
  expect(ofTagged.length).toBeGreaterThan(25);
  const granted = ofTagged.filter((request) => isGranted(request, tags, OURS));
  // What a group without tags may lose is in the documentation, and in the test of exceptions.
  expect(granted.map(named)).toEqual(["ec2:DeleteSecurityGroup security-group"]);
  // AWS may compare the tags of a request for what exists, too. They help nobody.
  const pretended = ofTagged.flatMap((request) =>
    questionsOf({ ...request, created: [], untagged: [] }, tags, {}).map((question) => ({
      ...question,
      context: { ...question.context, "aws:RequestTag/binnacle:cluster": CLUSTER },
    })),
  );
  expect(pretended.filter((question) => isAllowed(POLICY, question)).map(({ action }) => action)).toEqual([
    "ec2:DeleteSecurityGroup",
  ]);
});

test("[PN165] nothing is created without the tag of a cluster", () => {
  const creating = CHANGES.filter(({ created = [], action }) => created.length > 0 && action !== "ec2:CreateTags");
  expect(creating.length).toBe(8);
  // The rules of a group have the protection of the group.
  const granted = creating.filter((request) => isGranted(request, OURS, {}));
  expect(granted.map(({ action }) => action)).toEqual([
    "ec2:AuthorizeSecurityGroupEgress",
    "ec2:AuthorizeSecurityGroupIngress",
  ]);
});

test("[PN165] what the policy allows on resources without the tag is what the page names, and no more", () => {
  const ofEc2 = CHANGES.filter(({ action }) => action.startsWith("ec2:"));
  const pairs = new Map(
    ofEc2.flatMap(({ action, existing = [], created = [], untagged = [] }) =>
      [...existing, ...created, ...untagged].map((type) => [`${action} ${type}`, { action, type }] as const),
    ),
  );
  const isFree = ({ action, type }: { action: string; type: string }, context: Record<string, string> = {}) =>
    isAllowed(POLICY, { action, resource: arnOf(action, type), context });
  const allowed = [...pairs].flatMap(([name, pair]) => (isFree(pair) ? [name] : []));
  const isRule = (name: string) => name.endsWith(" security-group-rule");
  expect(allowed.filter((name) => !isRule(name)).sort()).toEqual([
    "ec2:CreateRoute route-table",
    "ec2:DeleteNetworkInterface network-interface",
    "ec2:DeleteSecurityGroup security-group",
    "ec2:RunInstances image",
    "ec2:RunInstances network-interface",
  ]);
  const groupsOf = new Set(
    ofEc2.flatMap(({ action, existing = [] }) => (existing.includes("security-group") ? [action] : [])),
  );
  // A rule is changed only with its group.
  expect(allowed.filter(isRule).filter((name) => !groupsOf.has(name.split(" ")[0] ?? ""))).toEqual([]);

  const types = new Set([...pairs.values()].map(({ type }) => type));
  const given = (address: string) => ({
    "aws:RequestTag/binnacle:cluster": CLUSTER,
    "aws:RequestTag/binnacle:address": address,
  });
  const taggable = (context: Record<string, string>) =>
    [...types].filter((type) => isFree({ action: "ec2:CreateTags", type }, context)).sort();
  expect(taggable(given("aws_vpc.cluster"))).toEqual([]);
  expect(taggable(given("aws_default_route_table.cluster"))).toEqual(["route-table", "security-group"]);
});

test.each([
  ["a role of another name", "iam:CreateRole", "role/admin", { "iam:PermissionsBoundary": BOUNDARY }],
  ["a role without a boundary", "iam:CreateRole", `role/binnacle-${CLUSTER}-control-plane`, {}],
  [
    "a role with another boundary",
    "iam:CreateRole",
    `role/binnacle-${CLUSTER}-control-plane`,
    { "iam:PermissionsBoundary": "arn:aws:iam::aws:policy/AdministratorAccess" },
  ],
  ["a policy of a role without a boundary", "iam:PutRolePolicy", `role/binnacle-${CLUSTER}-control-plane`, {}],
  ["the end of a boundary", "iam:DeleteRolePermissionsBoundary", `role/binnacle-${CLUSTER}-control-plane`, {}],
  ["another version of the boundary", "iam:CreatePolicyVersion", "policy/binnacle-boundary", {}],
  ["a policy of the account for a role", "iam:AttachRolePolicy", `role/binnacle-${CLUSTER}-control-plane`, {}],
  [
    "a role of another name for a machine",
    "iam:PassRole",
    "role/admin",
    { "iam:PassedToService": "ec2.amazonaws.com" },
  ],
  [
    "a role for another service",
    "iam:PassRole",
    `role/binnacle-${CLUSTER}-control-plane`,
    { "iam:PassedToService": "lambda.amazonaws.com" },
  ],
  [
    "a load balancer of others",
    "elasticloadbalancing:DeleteLoadBalancer",
    "loadbalancer/app/shop/50dc6c495c0c9188",
    {},
  ],
  ["a classic load balancer of others", "elasticloadbalancing:DeleteLoadBalancer", "loadbalancer/api", {}],
])("[PN165] the policy denies %s", (_what, action, resource, context) => {
  expect(isAllowed(POLICY, { action, resource: arnOf(action, resource), context: { ...context } })).toBe(false);
});

test("[PN166] the boundary allows the actions of the role of control planes and no other", () => {
  const policy = ROLE.slice(
    ROLE.indexOf('resource "aws_iam_role_policy"'),
    ROLE.indexOf('resource "aws_iam_instance_profile"'),
  );
  const quoted = [
    ...`${ROLE.slice(0, ROLE.indexOf('resource "aws_iam_role"'))}${policy}`.matchAll(
      /"((?:ec2|elasticloadbalancing|iam|s3):[A-Z]\w+)"(?! =)/g,
    ),
  ];
  const used = new Set(quoted.map(([, action = ""]) => action));
  expect(used.size).toBeGreaterThan(60);
  const allowed = BOUNDARY_POLICY.Statement.flatMap(({ Action }) => Action);
  expect([...new Set(allowed)].sort()).toEqual([...used].sort());
  expect(allowed.filter((action) => action.includes("*"))).toEqual([]);
});

test("[PN166] both documents fit into a policy of AWS, and name the same boundary", () => {
  for (const document of [POLICY, BOUNDARY_POLICY]) expect(JSON.stringify(document).length).toBeLessThan(6144);
  expect(JSON.stringify(POLICY)).toContain(BOUNDARY);
});

test("[PN165] the simulator lets a denial win, and knows no condition that it does not compare", () => {
  const question = { action: "ec2:DeleteVolume", resource: arnOf("ec2:DeleteVolume", "volume"), context: {} };
  const all = { Sid: "All", Effect: "Allow", Action: "ec2:*", Resource: "*" } as const;
  expect(isAllowed({ Version: "2012-10-17", Statement: [all] }, question)).toBe(true);
  expect(isAllowed({ Version: "2012-10-17", Statement: [all, { ...all, Effect: "Deny" }] }, question)).toBe(false);
  const unknown = { ...all, Condition: { DateLessThan: { "aws:CurrentTime": "2026-11-19T00:00:00Z" } } };
  expect(() => isAllowed({ Version: "2012-10-17", Statement: [unknown] }, question)).toThrow("DateLessThan");
});
