import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { awsProvider } from "../../packages/server/src/cloud/aws.adapter.ts";
import { queries, textAt } from "../../packages/server/src/cloud/aws-query.adapter.ts";
import { type Cloud, startCloud } from "./cloud.ts";

const access = { region: "eu-west-1", accessKeyId: "AKIAEXAMPLE", secretAccessKey: "secret" };
const signal = AbortSignal.timeout(600_000);
let cloud: Cloud;

beforeAll(async () => {
  cloud = await startCloud(mkdtempSync(join(tmpdir(), "moto-")));
});
afterAll(() => cloud.stop());

test("[PN83] a check tells who the credential is, what it may do as far as that is known, and what is left of quotas", async () => {
  const checked = await awsProvider({ endpoint: cloud.endpoint }).check(access, signal);
  expect(checked.identity).toMatch(/^arn:aws:/);
  const allowed = Object.fromEntries(checked.permissions.map((one) => [one.action, one.allowed]));
  expect(allowed).toMatchObject({ "ec2:CreateInternetGateway": true, "ec2:DescribeVpcs": true, "iam:PassRole": null });
  const networks = checked.quotas.find(({ name }) => name === "VPCs per Region");
  expect(networks).toMatchObject({ limit: 5 });
});

test("[PN83] [PN79] a check tells which actions are denied, and refuses a credential that nobody knows", async () => {
  const query = queries(access, { endpoint: cloud.endpoint, deadlineMs: 60_000, backOffMs: 50 }, signal);
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
  const user = { ...access, accessKeyId: key("AccessKeyId"), secretAccessKey: key("SecretAccessKey") };
  const checked = await aws.check(user, signal);
  expect(checked.identity).toMatch(/user\/ci$/);
  const allowed = Object.fromEntries(checked.permissions.map((one) => [one.action, one.allowed]));
  expect(allowed).toMatchObject({ "ec2:DescribeVpcs": true, "ec2:CreateInternetGateway": false });

  const denied = aws.existing(user, "0192f0c1-2d3e-7f45-8a6b-9c0d1e2f3a4b", signal);
  await expect(denied).rejects.toMatchObject({ failure: { code: "permission_denied" } });
  const unknown = aws.check({ ...access, accessKeyId: "AKIANOBODY" }, signal);
  await expect(unknown).rejects.toMatchObject({ name: "CloudRefusal", failure: { code: "bad_credentials" } });
});
