import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { awsProvider } from "./aws.adapter.ts";

const access = { region: "eu-west-1", accessKeyId: "AKIAEXAMPLE", secretAccessKey: "secret-of-the-key" };
const { signal } = new AbortController();

/** An address where nobody listens any more. */
async function closedEndpoint(): Promise<string> {
  const server = await standIn(() => null);
  server.stop();
  return server.endpoint;
}

test("[PN81] an endpoint that refuses connections is told as such, after few attempts", async () => {
  const check = awsProvider({ endpoint: await closedEndpoint(), backOffMs: 1 }).check(access, signal);
  await expect(check).rejects.toMatchObject({
    failure: { code: "unreachable", message: expect.stringContaining("ECONNREFUSED") },
  });
});

/** A server in the place of AWS, and what it was asked. */
async function standIn(answer: (body: string) => { status: number; body: string } | null) {
  const requests: { authorization: string | undefined; url: string | undefined; body: string }[] = [];
  const server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const body = chunks.join("");
      requests.push({ authorization: request.headers.authorization, url: request.url, body });
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
    const aws = awsProvider({ endpoint: silent.endpoint, deadlineMs: 50, backOffMs: 1 });
    await expect(aws.check(access, signal)).rejects.toMatchObject({ failure: { code: "unreachable" } });
    expect(silent.requests).toHaveLength(3);
  } finally {
    silent.stop();
  }
});

test.each([
  ["an error of the server", 503, error("ServiceUnavailable"), 3],
  ["too many calls", 400, error("Throttling"), 3],
  ["a wrong key", 403, error("InvalidClientTokenId"), 1],
  ["a missing permission", 403, error("AccessDenied"), 1],
])("[PN81] only what may pass is tried again: %s", async (_name, status, body, attempts) => {
  const server = await standIn(() => ({ status, body }));
  try {
    const aws = awsProvider({ endpoint: server.endpoint, backOffMs: 1 });
    await expect(aws.check(access, signal)).rejects.toMatchObject({ name: "CloudRefusal" });
    expect(server.requests).toHaveLength(attempts);
  } finally {
    server.stop();
  }
});

test("[PN76] what AWS does not let go is named with its id and the reason, when nothing goes any more", async () => {
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

test("[PN76] an error that does not pass ends a removal at once", async () => {
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

test("[PN81] a request is signed for its service and region, and has no secret in it", async () => {
  const server = await standIn(() => ({ status: 403, body: error("InvalidClientTokenId") }));
  try {
    await awsProvider({ endpoint: server.endpoint })
      .check(access, signal)
      .catch(() => null);
    const [request] = server.requests;
    expect(request?.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE\/\d{8}\/eu-west-1\/sts\/aws4_request, /,
    );
    expect(JSON.stringify(request)).not.toContain(access.secretAccessKey);
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
