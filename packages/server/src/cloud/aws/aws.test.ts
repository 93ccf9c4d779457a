import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { addressOfTag, addressTag } from "../address.ts";
import { KUBERNETES } from "../kubernetes-release.ts";
import { awsProvider } from "./aws.adapter.ts";
import {
  endpointOf,
  environment,
  isRegion,
  NEEDED_ACTIONS,
  newestOf,
  removalOrder,
  simulatedContext,
  simulatedPrincipal,
  simulations,
} from "./aws.ts";
import { estimate } from "./aws-estimate.ts";
import { inventory } from "./aws-inventory.adapter.ts";
import type { Query } from "./aws-query.adapter.ts";

const access = { region: "eu-west-1", access_key_id: "AKIAEXAMPLE", secret_access_key: "secret" };

test.each([
  ['aws_instance.agent["agent-1"]', "aws_instance.agent/agent-1"],
  [
    'aws_vpc_security_group_ingress_rule.api["203.0.113.0/24"]',
    "aws_vpc_security_group_ingress_rule.api/203.0.113.0/24",
  ],
  ['aws_vpc_security_group_ingress_rule.api["2001:db8::/32"]', "aws_vpc_security_group_ingress_rule.api/2001:db8::/32"],
  ["aws_vpc.cluster", "aws_vpc.cluster"],
])("[PN73] the resource address %s is written as the tag %s, and read back from it", (address, tag) => {
  expect(addressTag(address)).toBe(tag);
  expect(addressOfTag(tag)).toBe(address);
});

test("[PN73] every address with a key is found again from its tag", () => {
  const key = fc.stringMatching(/^[A-Za-z0-9.:_+=@/-]{1,60}$/);
  const name = fc.stringMatching(/^[a-z_][a-z0-9_-]{0,20}$/);
  fc.assert(
    fc.property(name, name, key, (type, resource, index) => {
      const address = `${type}.${resource}["${index}"]`;
      expect(addressOfTag(addressTag(address))).toBe(address);
      expect(addressTag(address)).toMatch(/^[A-Za-z0-9.:_+=@/-]+$/);
    }),
  );
});

test.each(["", "aws_vpc", 'aws_vpc.x/"]}', "aws_vpc.x/$" + "{file(1)}", "aws_vpc.x/a\nb", "a b.c", null, undefined])(
  "[PN73] a tag that is not the address of a resource is read as none: %j",
  (tag) => {
    expect(addressOfTag(tag)).toBeNull();
  },
);

test("[PN85] OpenTofu gets the credential by its environment, and nothing of the machine it runs on", () => {
  expect(environment(access, undefined)).toEqual({
    AWS_ACCESS_KEY_ID: "AKIAEXAMPLE",
    AWS_SECRET_ACCESS_KEY: "secret",
    AWS_REGION: "eu-west-1",
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    AWS_EC2_METADATA_DISABLED: "true",
  });
  expect(environment(access, "http://127.0.0.1:5000")["AWS_ENDPOINT_URL"]).toBe("http://127.0.0.1:5000");
});

test("[PN169] OpenTofu assumes the role itself, with the organization as the external id and no key but that of the credential", () => {
  const role_arn = "arn:aws:iam::123456789012:role/binnacle";
  const assuming = { ...access, role_arn, organization_id: "0192f0c1-2d3e-7f45-8a6b-9c0d1e2f3a4b" };
  expect(environment(assuming, undefined)).toEqual({
    ...environment(access, undefined),
    TF_VAR_role_arn: role_arn,
    TF_VAR_external_id: assuming.organization_id,
  });
  // AWS refuses an empty external id, so a role is never assumed without one.
  expect(environment({ ...access, role_arn }, undefined)["TF_VAR_external_id"]).toBe("");
});

test("[PN85] exactly the variables of the OpenTofu module get a value", () => {
  const provider = awsProvider();
  const text = readFileSync(`${provider.module}/variables.tf`, "utf8");
  const declared = [...text.matchAll(/^variable "(\w+)"/gm)]
    .map(([, name]) => name)
    .filter((name) => !["network_range", "role_arn", "external_id"].includes(name ?? ""));
  const given = provider.variables({
    id: "0192f0c1-2d3e-7f45-8a6b-9c0d1e2f3a4b",
    jobId: "0192f0c1-2d3e-7f45-8a6b-9c0d1e2f3a4c",
    name: "prod",
    region: "eu-west-1",
    instanceType: "t3.large",
    diskSizeGb: 50,
    agentCount: 2,
    sshPublicKey: "ssh-ed25519 AAAA",
    nodeTokens: { "agent-1": "token" },
    reportTokens: { "agent-1": "report" },
    publicUrl: "https://binnacle.example",
    adminRanges: ["203.0.113.0/24"],
    kubernetes: KUBERNETES,
    snapshotBucket: "snapshots",
    restoredSnapshot: null,
    permissionsBoundary: "arn:aws:iam::123456789012:policy/binnacle-boundary",
    egress: null,
  });
  expect(Object.keys(given).sort()).toEqual(declared.sort());
  expect(given).toMatchObject({ agent_count: 2, node_tokens: { "agent-1": "token" } });
  expect(given).toMatchObject({ snapshot_bucket: "snapshots", restored_snapshot: "", k3s_version: KUBERNETES.version });
  expect(given).toMatchObject({ permissions_boundary: "arn:aws:iam::123456789012:policy/binnacle-boundary" });
});

test("[PN155] the newest snapshot of a cluster is found, and nothing else that is in its folder or beside it", () => {
  const id = "0192f0c1-2d3e-7f45-8a6b-9c0d1e2f3a4b";
  const objects = [
    { key: `${id}/etcd-snapshot-control-plane-1.zip`, at: "2026-11-19T08:00:00.000Z" },
    { key: `${id}/etcd-snapshot-control-plane-2.zip`, at: "2026-11-19T09:00:00.000Z" },
    { key: `${id}/.metadata/etcd-snapshot-control-plane-2.zip`, at: "2026-11-19T09:00:01.000Z" },
    { key: `${id}/--data-dir=x`, at: "2026-11-19T10:00:00.000Z" },
    { key: "another/etcd-snapshot-control-plane-3.zip", at: "2026-11-19T11:00:00.000Z" },
  ];
  expect(newestOf(id, objects)).toEqual({
    name: "etcd-snapshot-control-plane-2.zip",
    takenAt: "2026-11-19T09:00:00.000Z",
  });
  expect(newestOf(id, [])).toBeNull();
});

test.each([
  ["ec2", "eu-west-1", "https://ec2.eu-west-1.amazonaws.com", "eu-west-1"],
  ["elasticloadbalancingv2", "eu-west-1", "https://elasticloadbalancing.eu-west-1.amazonaws.com", "eu-west-1"],
  ["iam", "eu-west-1", "https://iam.amazonaws.com", "us-east-1"],
  ["sts", "cn-north-1", "https://sts.cn-north-1.amazonaws.com.cn", "cn-north-1"],
  ["iam", "cn-northwest-1", "https://iam.cn-north-1.amazonaws.com.cn", "cn-north-1"],
  ["iam", "us-gov-east-1", "https://iam.us-gov.amazonaws.com", "us-gov-west-1"],
] as const)("[PN82] the service %s of %s is reached at %s", (service, region, url, signed) => {
  expect(endpointOf(service, region)).toEqual({ url, region: signed });
});

test.each(["", "evil.example/", "eu-west-1.evil.example", "eu-west-1@evil", "EU-WEST-1", "eu-west-1\n", "../x"])(
  "[PN82] the text %j is not a region, and never becomes part of an address",
  (region) => {
    expect(isRegion(region)).toBe(false);
  },
);

test("[PN82] a credential whose region is not valid is never sent", async () => {
  const check = awsProvider().check({ ...access, region: "evil.example/" }, AbortSignal.timeout(60_000));
  await expect(check).rejects.toMatchObject({ name: "CloudRefusal", failure: { code: "not_offered" } });
});

test.each([
  ["arn:aws:iam::123456789012:user/ci", "arn:aws:iam::123456789012:user/ci"],
  ["arn:aws:sts::123456789012:assumed-role/deploy/session", "arn:aws:iam::123456789012:role/deploy"],
  ["arn:aws-cn:sts::123456789012:assumed-role/deploy/x", "arn:aws-cn:iam::123456789012:role/deploy"],
  ["arn:aws:iam::123456789012:root", null],
])("[PN83] the permissions of %s are simulated as those of %s", (arn, principal) => {
  expect(simulatedPrincipal(arn)).toBe(principal);
});

test("[PN83] actions on roles are simulated on a role of a cluster, which is all that the documented policy allows", () => {
  const asked = simulations("arn:aws:iam::123456789012:user/ci", "eu-west-1");
  expect(asked.flatMap(({ actions }) => actions).sort()).toEqual([...NEEDED_ACTIONS].sort());
  const resourceOf = (action: string) => asked.find(({ actions }) => actions.includes(action))?.resource;
  expect(resourceOf("ec2:RunInstances")).toBe("*");
  expect(resourceOf("iam:PassRole")).toBe("arn:aws:iam::123456789012:role/binnacle-check-control-plane");
  expect(resourceOf("iam:CreateInstanceProfile")).toMatch(/^arn:aws:iam::123456789012:instance-profile\/binnacle-/);
  expect(resourceOf("elasticloadbalancing:DeleteLoadBalancer")).toMatch(
    /^arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer\/a0{31}$/,
  );
});

test("[PN167] permissions are simulated with the tag of a cluster, and with the boundary of the credential", () => {
  expect(simulatedContext(access)).toEqual({
    "iam:PassedToService": "ec2.amazonaws.com",
    "aws:RequestedRegion": "eu-west-1",
    "aws:RequestTag/binnacle:cluster": "check",
    "aws:ResourceTag/binnacle:cluster": "check",
  });
  const boundary = "arn:aws:iam::123456789012:policy/binnacle-boundary";
  expect(simulatedContext({ ...access, permissions_boundary: boundary })).toMatchObject({
    "iam:PermissionsBoundary": boundary,
  });
});

test("[PN76] resources that depend on others are removed before them", () => {
  const types = [
    "aws_vpc",
    "aws_iam_role",
    "aws_subnet",
    "aws_instance",
    "aws_security_group",
    "volume",
    "aws_internet_gateway",
  ];
  expect(removalOrder(types.map((type) => ({ type }))).map(({ type }) => type)).toEqual([
    "aws_instance",
    "volume",
    "aws_security_group",
    "aws_subnet",
    "aws_internet_gateway",
    "aws_vpc",
    "aws_iam_role",
  ]);
});

test("[PN84] a cluster costs its machines, their disks and their addresses, by a dated table", () => {
  const answer = estimate({ region: "us-east-1", instanceType: "t3.large", diskSizeGb: 50, agentCount: 2 });
  expect(answer).toMatchObject({
    monthly: 205.16,
    currency: "USD",
    prices_of: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
  });
  expect(answer.items).toEqual([
    { name: "t3.large", count: 3, monthly: 182.21 },
    { name: "gp3 disk of 50 GB", count: 3, monthly: 12 },
    { name: "public IPv4 address", count: 3, monthly: 10.95 },
  ]);
  expect(answer.note).toContain("An estimate by list prices");
});

test.each([
  ["us-east-1", "x9.large", "no price of x9.large in us-east-1"],
  ["us-east-1", "t3.16xlarge", "no price of t3.16xlarge"],
  ["us-east-1", "m5.nano", "no price of m5.nano"],
  ["us-east-1", "constructor.large", "no price of constructor.large"],
  ["us-east-1", "t3.toString", "no price of t3.toString"],
  ["mars-1", "t3.large", "no prices of the region mars-1"],
  ["__proto__", "t3.large", "no prices of the region __proto__"],
])("[PN84] the estimate says that it does not know the price of %s %s", (region, instanceType, words) => {
  const answer = estimate({ region, instanceType, diskSizeGb: 50, agentCount: 0 });
  expect(answer.monthly).toBeNull();
  expect(answer.items[0]?.monthly).toBeNull();
  expect(answer.note).toContain(words);
});

test("[PN86] the documented policy allows exactly the actions that are used", () => {
  const page = readFileSync(new URL("../../../../../docs/operations/provisioning.md", import.meta.url), "utf8");
  const policy = JSON.parse(/```json\n(\{\n {2}"Version": "2012-10-17"[\s\S]*?)\n```/.exec(page)?.[1] ?? "{}");
  const optional = [
    "s3:ListBucket",
    "iam:DetachRolePolicy",
    "iam:SimulatePrincipalPolicy",
    "servicequotas:GetServiceQuota",
  ];
  const allowed: Set<string> = new Set(policy.Statement.flatMap(({ Action }: { Action: string[] }) => Action));
  expect([...allowed].filter((action) => !optional.includes(action)).sort()).toEqual([...NEEDED_ACTIONS].sort());
});

test("[PN77] disks that Kubernetes has made say so with their claim, and the disk that a machine has left does not", async () => {
  const tags = (entries: object) => ({ item: Object.entries(entries).map(([key, value]) => ({ key, value })) });
  const claim = {
    "kubernetes.io/created-for/pvc/namespace": "shop",
    "kubernetes.io/created-for/pvc/name": "data",
  };
  const volume = (volumeId: string, entries: object) => ({ volumeId, status: "available", tagSet: tags(entries) });
  const ours = { "binnacle:cluster": "c" };
  const query: Query = async (_service, action, parameters) => {
    if (action !== "DescribeVolumes") return {};
    return parameters["Filter.1.Name"] === "tag:binnacle:cluster"
      ? { volumeSet: { item: [volume("vol-root", ours), volume("vol-both", { ...ours, CSIVolumeName: "pvc-1" })] } }
      : { volumeSet: { item: [volume("vol-1", { "kubernetes.io/cluster/c": "owned", ...claim })] } };
  };
  const found = (await inventory(query, "c")).filter(({ type }) => type === "volume");
  expect(found).toEqual([
    { type: "volume", id: "vol-root", address: null },
    { type: "volume", id: "vol-both", address: null, data: { claim: null } },
    { type: "volume", id: "vol-1", address: null, data: { claim: "shop/data" } },
  ]);
});
