import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { awsProvider } from "../../packages/server/src/cloud/aws/aws.adapter.ts";
import { queries, textAt } from "../../packages/server/src/cloud/aws/aws-query.adapter.ts";
import { type Cloud, queryOptions, startCloud } from "./cloud.ts";
import { Workspace, wantedCluster } from "./workspace.ts";

const access = { region: "eu-west-1", access_key_id: "AKIAEXAMPLE", secret_access_key: "secret" };
const signal = AbortSignal.timeout(600_000);
let cloud: Cloud;

beforeAll(async () => {
  cloud = await startCloud(mkdtempSync(join(tmpdir(), "moto-")));
});
afterAll(() => cloud.stop());

test("[PN83] a check tells who the credential is, its permissions as far as they are known, and what is left of quotas", async () => {
  const checked = await awsProvider({ endpoint: cloud.endpoint }).check(access, signal);
  expect(checked.identity).toMatch(/^arn:aws:/);
  const allowed = Object.fromEntries(checked.permissions.map((one) => [one.action, one.allowed]));
  expect(allowed).toMatchObject({ "ec2:CreateInternetGateway": true, "ec2:DescribeVpcs": true, "iam:PassRole": null });
  const networks = checked.quotas.find(({ name }) => name === "VPCs per Region");
  expect(networks).toMatchObject({ limit: 5 });
});

test("[PN168] [PN169] a check and a plan act as the role of the credential", async () => {
  const query = queries(access, queryOptions(cloud.endpoint), signal);
  const trust = { Effect: "Allow", Action: "sts:AssumeRole", Principal: { AWS: "*" } };
  await query("iam", "CreateRole", {
    RoleName: "binnacle",
    AssumeRolePolicyDocument: JSON.stringify({ Version: "2012-10-17", Statement: [trust] }),
  });
  const assuming = {
    ...access,
    role_arn: "arn:aws:iam::123456789012:role/binnacle",
    organization_id: "0192f0c1-2d3e-7f45-8a6b-9c0d1e2f3a4b",
  };
  const aws = awsProvider({ endpoint: cloud.endpoint });
  expect((await aws.check(assuming, signal)).identity).toMatch(/:assumed-role\/binnacle\/binnacle$/);
  await cloud.startRecording();
  const module = new Workspace(aws, assuming);
  try {
    await module.init();
    expect(await module.tofu("validate", "-no-color")).toContain("The configuration is valid");
    await module.plan(wantedCluster());
  } finally {
    module.remove();
  }
  const assumed = (await cloud.recordedCalls()).find(({ action }) => action === "sts:AssumeRole");
  expect(assumed?.parameters.get("ExternalId")).toBe(assuming.organization_id);
});

test("[PN83] [PN79] a check tells which actions are denied, and refuses an unknown credential", async () => {
  const query = queries(access, queryOptions(cloud.endpoint), signal);
  await query("iam", "CreateUser", { UserName: "ci" });
  const keys = await query("iam", "CreateAccessKey", { UserName: "ci" });
  const key = (name: string) => textAt(keys, "CreateAccessKeyResult", "AccessKey", name) ?? "";
  const statement = { Effect: "Allow", Action: ["sts:*", "ec2:DescribeVpcs"], Resource: "*" };
  await query("iam", "PutUserPolicy", {
    UserName: "ci",
    PolicyName: "some",
    PolicyDocument: JSON.stringify({ Version: "2012-10-17", Statement: [statement] }),
  });
  await cloud.requireAuthorization();
  const aws = awsProvider({ endpoint: cloud.endpoint });
  const user = { ...access, access_key_id: key("AccessKeyId"), secret_access_key: key("SecretAccessKey") };
  const checked = await aws.check(user, signal);
  expect(checked.identity).toMatch(/user\/ci$/);
  const allowed = Object.fromEntries(checked.permissions.map((one) => [one.action, one.allowed]));
  expect(allowed).toMatchObject({ "ec2:DescribeVpcs": true, "ec2:CreateInternetGateway": false });

  const denied = aws.existing(user, "0192f0c1-2d3e-7f45-8a6b-9c0d1e2f3a4b", signal);
  await expect(denied).rejects.toMatchObject({ failure: { code: "permission_denied" } });
  const unknown = aws.check({ ...access, access_key_id: "AKIANOBODY" }, signal);
  await expect(unknown).rejects.toMatchObject({ name: "CloudRefusal", failure: { code: "bad_credentials" } });
});
