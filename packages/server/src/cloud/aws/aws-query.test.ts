import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { awsProvider } from "./aws.adapter.ts";

const access = { region: "eu-west-1", access_key_id: "AKIAEXAMPLE", secret_access_key: "secret-of-the-key" };
const { signal } = new AbortController();

/** An address where nobody listens any more. */
async function closedEndpoint(): Promise<string> {
  const server = await standIn(() => null);
  server.stop();
  return server.endpoint;
}

test("[PN81] an endpoint that refuses connections is reported as such, after few attempts", async () => {
  const check = awsProvider({ endpoint: await closedEndpoint(), backOffMs: 1 }).check(access, signal);
  await expect(check).rejects.toMatchObject({
    failure: { code: "unreachable", message: expect.stringContaining("ECONNREFUSED") },
  });
});

/** A server in the place of AWS, and what it was asked. */
async function standIn(answer: (body: string) => { status: number; body: string } | null) {
  const requests: { authorization: string | undefined; token: unknown; url: string | undefined; body: string }[] = [];
  const server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const body = chunks.join("");
      const { authorization, "x-amz-security-token": token } = request.headers;
      requests.push({ authorization, token, url: request.url, body });
      const given = answer(body);
      if (given) response.writeHead(given.status, { "content-type": "text/xml" }).end(given.body);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const error = (code: string) =>
  `<ErrorResponse><Error><Code>${code}</Code><Message>no</Message></Error></ErrorResponse>`;

test("[PN81] an endpoint that never answers is given up at the deadline of each attempt", async () => {
  const silent = await standIn(() => null);
  try {
    const aws = awsProvider({ endpoint: silent.endpoint, deadlineMs: 500, backOffMs: 1 });
    await expect(aws.check(access, signal)).rejects.toMatchObject({ failure: { code: "unreachable" } });
    expect(silent.requests).toHaveLength(3);
  } finally {
    silent.stop();
  }
});

test("[PN172] a call that is throttled is reported as that, and the next one of the account waits", async () => {
  const server = await standIn(() => {
    const code = server.requests.length <= 6 ? "RequestLimitExceeded" : "InvalidClientTokenId";
    return { status: 400, body: error(code) };
  });
  try {
    const begunMs = performance.now();
    const aws = awsProvider({ endpoint: server.endpoint, backOffMs: 1, random: () => 0 });
    await expect(aws.check(access, signal)).rejects.toMatchObject({ failure: { code: "throttled" } });
    await expect(aws.check(access, signal)).rejects.toMatchObject({ failure: { code: "bad_credentials" } });
    expect(server.requests).toHaveLength(7);
    // 50 ms after the first call, then twice as long after each.
    expect(performance.now() - begunMs).toBeGreaterThan(1_500);
  } finally {
    server.stop();
  }
});

test.each([
  ["an error of the server", 503, error("ServiceUnavailable"), 3],
  ["too many calls", 400, error("Throttling"), 6],
  ["too many calls without a code", 429, "", 6],
  ["a bucket that is asked too often", 503, error("SlowDown"), 6],
  ["a wrong key", 403, error("InvalidClientTokenId"), 1],
  ["a missing permission", 403, error("AccessDenied"), 1],
])("[PN81] only errors that may pass are tried again: %s", async (_name, status, body, attempts) => {
  const server = await standIn(() => ({ status, body }));
  try {
    const aws = awsProvider({ endpoint: server.endpoint, backOffMs: 1 });
    await expect(aws.check(access, signal)).rejects.toMatchObject({ name: "CloudRefusal" });
    expect(server.requests).toHaveLength(attempts);
  } finally {
    server.stop();
  }
});

test("[PN76] resources that AWS refuses to delete are named with id and reason, when no other can be deleted any more", async () => {
  const body = "<Response><Errors><Error><Code>DependencyViolation</Code></Error></Errors></Response>";
  const server = await standIn(() => ({ status: 400, body }));
  try {
    const aws = awsProvider({ endpoint: server.endpoint, backOffMs: 1, pollMs: 1, patienceMs: 3 });
    const removal = aws.remove(access, [{ type: "aws_vpc", id: "vpc-0123", address: "aws_vpc.cluster" }], signal);
    await expect(removal).rejects.toMatchObject({
      failure: { code: "leftovers", message: expect.stringContaining("aws_vpc vpc-0123 (DependencyViolation)") },
    });
    expect(server.requests.map(({ body }) => new URLSearchParams(body).get("Action"))).toEqual(
      Array(4).fill("DeleteVpc"),
    );
  } finally {
    server.stop();
  }
});

test("[PN76] an error that does not pass ends the removal of resources at once", async () => {
  const server = await standIn(() => ({ status: 403, body: error("AccessDenied") }));
  try {
    const aws = awsProvider({ endpoint: server.endpoint, backOffMs: 1, pollMs: 1 });
    const removal = aws.remove(access, [{ type: "aws_subnet", id: "subnet-1", address: null }], signal);
    await expect(removal).rejects.toMatchObject({
      failure: { code: "permission_denied", message: expect.stringContaining("ec2:DeleteSubnet") },
    });
    expect(server.requests).toHaveLength(1);
  } finally {
    server.stop();
  }
});

test("[PN81] a request to AWS is signed for its service and region, and does not contain the secret", async () => {
  const server = await standIn(() => ({ status: 403, body: error("InvalidClientTokenId") }));
  try {
    await awsProvider({ endpoint: server.endpoint })
      .check(access, signal)
      .catch(() => null);
    const [request] = server.requests;
    expect(request?.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE\/\d{8}\/eu-west-1\/sts\/aws4_request, /,
    );
    expect(JSON.stringify(request)).not.toContain(access.secret_access_key);
  } finally {
    server.stop();
  }
});

const IDENTITY = `<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::1:user/ci</Arn></GetCallerIdentityResult></GetCallerIdentityResponse>`;
const decision = (action: string, decided: string) =>
  `<member><EvalActionName>${action}</EvalActionName><EvalDecision>${decided}</EvalDecision></member>`;
const machine = (type: string, cores: number) =>
  `<item><instanceType>${type}</instanceType><cpuOptions><coreCount>${cores}</coreCount><threadsPerCore>2</threadsPerCore></cpuOptions></item>`;

/** An account of which IAM and Service Quotas tell everything. */
function account(body: string): { status: number; body: string } {
  if (body.startsWith("{")) return { status: 200, body: JSON.stringify({ Quota: { Value: 32 } }) };
  const answers: Record<string, string> = {
    GetCallerIdentity: IDENTITY,
    SimulatePrincipalPolicy: `<SimulatePrincipalPolicyResponse><SimulatePrincipalPolicyResult><EvaluationResults>${[
      decision("ec2:CreateVpc", "allowed"),
      decision("ec2:RunInstances", "implicitDeny"),
      decision("iam:PassRole", "explicitDeny"),
    ].join("")}</EvaluationResults></SimulatePrincipalPolicyResult></SimulatePrincipalPolicyResponse>`,
    DescribeInstances: `<DescribeInstancesResponse><reservationSet><item><instancesSet>${[
      machine("t3.large", 1),
      machine("m5.xlarge", 2),
      machine("p5.48xlarge", 96),
    ].join("")}</instancesSet></item></reservationSet></DescribeInstancesResponse>`,
    DescribeVpcs: "<DescribeVpcsResponse><vpcSet><item><vpcId>vpc-1</vpcId></item></vpcSet></DescribeVpcsResponse>",
  };
  const answer = answers[new URLSearchParams(body).get("Action") ?? ""];
  return answer ? { status: 200, body: answer } : { status: 400, body: error("InvalidAction") };
}

const ROLE = "arn:aws:iam::123456789012:role/path/binnacle";
const withRole = { ...access, role_arn: ROLE, organization_id: "0192f0c1-2d3e-7f45-8a6b-9c0d1e2f3a4b" };
/** The account, which gives sessions of a role that end at a time. */
const sessionsUntil =
  (endsAt: string, others = account) =>
  (body: string) =>
    new URLSearchParams(body).get("Action") === "AssumeRole"
      ? {
          status: 200,
          body: `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIASESSION</AccessKeyId><SecretAccessKey>secret-of-the-session</SecretAccessKey><SessionToken>token-of-the-session</SessionToken><Expiration>${endsAt}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
        }
      : others(body);

test("[PN168] with a role every call has its session, for which the key asks once with the id of the organization", async () => {
  const nothing = () => ({ status: 200, body: "<Answer><requestId>1</requestId><None><a>1</a></None></Answer>" });
  const server = await standIn(sessionsUntil("2999-01-01T00:00:00Z", nothing));
  try {
    await awsProvider({ endpoint: server.endpoint }).existing(withRole, "c", signal);
    const [assumed, ...calls] = server.requests;
    expect(Object.fromEntries(new URLSearchParams(assumed?.body))).toMatchObject({
      Action: "AssumeRole",
      RoleArn: ROLE,
      ExternalId: withRole.organization_id,
    });
    expect(assumed?.authorization).toContain("Credential=AKIAEXAMPLE/");
    expect(calls.length).toBeGreaterThan(5);
    for (const { authorization, token, body } of calls) {
      expect(authorization, body).toContain("Credential=ASIASESSION/");
      expect(token, body).toBe("token-of-the-session");
    }
    expect(JSON.stringify(server.requests)).not.toContain("secret-of-the");
  } finally {
    server.stop();
  }
});

test("[PN168] a session that ends soon is renewed before the next call", async () => {
  const server = await standIn(sessionsUntil("2020-01-01T00:00:00Z"));
  try {
    await awsProvider({ endpoint: server.endpoint })
      .remove(withRole, [{ type: "aws_vpc", id: "vpc-1", address: null }], signal)
      .catch(() => null);
    const actions = server.requests.map(({ body }) => new URLSearchParams(body).get("Action"));
    expect(actions).toEqual(["AssumeRole", "AssumeRole", "DeleteVpc"]);
  } finally {
    server.stop();
  }
});

test("[PN168] a check simulates the permissions of the role itself, whose path no session tells", async () => {
  const server = await standIn(sessionsUntil("2999-01-01T00:00:00Z"));
  try {
    await awsProvider({ endpoint: server.endpoint }).check(withRole, signal);
    const simulations = server.requests.filter(({ body }) => body.includes("Action=Simulate"));
    expect(new Set(simulations.map(({ body }) => new URLSearchParams(body).get("PolicySourceArn")))).toEqual(
      new Set([ROLE]),
    );
  } finally {
    server.stop();
  }
});

test("[PN168] a role that may not be assumed is a missing permission by its name, and nothing is asked without it", async () => {
  const server = await standIn(() => ({ status: 403, body: error("AccessDenied") }));
  try {
    await expect(awsProvider({ endpoint: server.endpoint }).check(withRole, signal)).rejects.toMatchObject({
      failure: { code: "permission_denied", message: expect.stringContaining("sts:AssumeRole") },
    });
    expect(server.requests.map(({ body }) => new URLSearchParams(body).get("Action"))).toEqual(["AssumeRole"]);
  } finally {
    server.stop();
  }
});

test("[PN83] a check tells what IAM decides, what it does not know, and the quota that standard machines share", async () => {
  const server = await standIn(account);
  try {
    const checked = await awsProvider({ endpoint: server.endpoint }).check(access, signal);
    expect(checked.identity).toBe("arn:aws:iam::1:user/ci");
    const allowed = Object.fromEntries(checked.permissions.map((one) => [one.action, one.allowed]));
    expect(allowed).toMatchObject({
      "ec2:CreateVpc": true,
      "ec2:RunInstances": false,
      "iam:PassRole": false,
      "ec2:CreateSubnet": null,
    });
    const simulation = server.requests.map(({ body }) => body).find((body) => body.includes("Action=Simulate"));
    expect(Object.fromEntries(new URLSearchParams(simulation))).toMatchObject({
      PolicySourceArn: "arn:aws:iam::1:user/ci",
      "ContextEntries.member.1.ContextKeyValues.member.1": "ec2.amazonaws.com",
      "ContextEntries.member.2.ContextKeyValues.member.1": "eu-west-1",
    });
    expect(checked.quotas).toEqual([
      { name: expect.stringContaining("On-Demand Standard"), limit: 32, used: 6 },
      { name: "VPCs per Region", limit: 32, used: 1 },
    ]);
  } finally {
    server.stop();
  }
});

test("[PN83] quotas that may not be read are left out, and the check does not fail", async () => {
  const server = await standIn((body) => (body.startsWith("{") ? { status: 400, body: "{}" } : account(body)));
  try {
    const checked = await awsProvider({ endpoint: server.endpoint, backOffMs: 1 }).check(access, signal);
    expect(checked.quotas).toEqual([]);
  } finally {
    server.stop();
  }
});

const listing = (objects: readonly [string, string][], next?: string) =>
  `<ListBucketResult>${objects.map(([key, at]) => `<Contents><Key>${key}</Key><LastModified>${at}</LastModified></Contents>`).join("")}${
    next ? `<NextContinuationToken>${next}</NextContinuationToken>` : ""
  }</ListBucketResult>`;

test("[PN155] all pages of a bucket are read for the newest snapshot, signed for S3", async () => {
  const pages = [
    listing([["c/etcd-snapshot-control-plane-1.zip", "2026-11-19T08:00:00.000Z"]], "more"),
    listing([
      ["c/etcd-snapshot-control-plane-3.zip", "2026-11-19T10:00:00.000Z"],
      ["c/etcd-snapshot-control-plane-2.zip", "2026-11-19T09:00:00.000Z"],
    ]),
  ];
  const server = await standIn(() => ({ status: 200, body: pages.shift() ?? "" }));
  try {
    const aws = awsProvider({ endpoint: server.endpoint, backOffMs: 1 });
    expect(await aws.newestSnapshot(access, "c", "snapshots", signal)).toEqual({
      name: "etcd-snapshot-control-plane-3.zip",
      takenAt: "2026-11-19T10:00:00.000Z",
    });
    expect(server.requests.map(({ url }) => url)).toEqual([
      "/snapshots?list-type=2&prefix=c%2F",
      "/snapshots?list-type=2&prefix=c%2F&continuation-token=more",
    ]);
    expect(server.requests[0]?.authorization).toContain("/eu-west-1/s3/aws4_request");
  } finally {
    server.stop();
  }
});

test("[PN155] a bucket that may not be listed is a missing permission by its name", async () => {
  const body = "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>";
  const server = await standIn(() => ({ status: 403, body }));
  try {
    const found = awsProvider({ endpoint: server.endpoint, backOffMs: 1 }).newestSnapshot(access, "c", "b", signal);
    await expect(found).rejects.toMatchObject({
      failure: { code: "permission_denied", message: expect.stringContaining("s3:ListBucket") },
    });
  } finally {
    server.stop();
  }
});
