import { expect, test } from "vitest";
import { failureOfDiagnostics, failureOfError } from "./aws-failure.ts";

const diagnostic = (detail: string, summary = "creating EC2 VPC") => ({ summary, detail, address: "aws_vpc.cluster" });
const apiError = (operation: string, error: string, service = "EC2") =>
  diagnostic(
    `operation error ${service}: ${operation}, https response error StatusCode: 400, RequestID: 1b2c, api error ${error}`,
  );

const EXPLAINED = [
  [
    apiError("DescribeVpcs", "AuthFailure: AWS was not able to validate the provided access credentials"),
    "bad_credentials",
    "AuthFailure",
  ],
  [
    apiError("GetCallerIdentity", "InvalidClientTokenId: The security token is invalid.", "STS"),
    "bad_credentials",
    "access key",
  ],
  [apiError("GetCallerIdentity", "SignatureDoesNotMatch: The request signature…", "STS"), "bad_credentials", "secret"],
  [
    apiError(
      "AssumeRole",
      "AccessDenied: User: arn:aws:iam::1:user/ci is not authorized to perform: sts:AssumeRole",
      "STS",
    ),
    "permission_denied",
    "sts:AssumeRole",
  ],
  [diagnostic("no EC2 IMDS role found", "No valid credential sources found"), "bad_credentials", "access key"],
  [
    apiError("CreateVpc", "VpcLimitExceeded: The maximum number of VPCs has been reached."),
    "quota_exceeded",
    '"VPCs per Region"',
  ],
  [
    apiError("RunInstances", "VcpuLimitExceeded: You have requested more vCPU capacity than your current limit of 32."),
    "quota_exceeded",
    '"Running On-Demand Standard',
  ],
  [
    apiError("CreateRole", "LimitExceeded: Cannot exceed quota for RolesPerAccount: 1000", "IAM"),
    "quota_exceeded",
    '"RolesPerAccount"',
  ],
  [apiError("RunInstances", "FleetLimitExceeded: too many"), "quota_exceeded", '"Fleet"'],
  [
    apiError("RunInstances", "Unsupported: Your requested instance type (p5.48xlarge) is not supported in your zone."),
    "not_offered",
    "Choose another type or region",
  ],
  [
    apiError("DescribeInstanceTypes", "InvalidInstanceType: The following types do not exist: [x9.large]"),
    "not_offered",
    "type",
  ],
  [
    apiError("RunInstances", "InvalidParameterValue: Invalid value 'x9' for InstanceType."),
    "not_offered",
    "InvalidParameterValue",
  ],
  [
    diagnostic("The instance type x9.large is not offered in two zones of eu-west-1.", "Resource precondition failed"),
    "not_offered",
    "x9.large is not offered in two zones of eu-west-1",
  ],
  [diagnostic("", "invalid AWS Region: mars-1"), "not_offered", "mars-1"],
  [
    apiError("RunInstances", "InsufficientInstanceCapacity: We currently do not have sufficient t3.large capacity"),
    "no_capacity",
    "no free machines",
  ],
  [apiError("RunInstances", "Server.InsufficientInstanceCapacity: no"), "no_capacity", "Retry later"],
  [diagnostic("dial tcp: lookup ec2.mars-1.amazonaws.com: no such host"), "unreachable", "could not be reached"],
  [diagnostic("request send failed, Post: connect: connection refused"), "unreachable", "could not be reached"],
  [
    diagnostic("timeout while waiting for state to become 'running' (last state: 'pending')"),
    "timed_out",
    "Retry the job",
  ],
  ...[
    "RequestLimitExceeded: Request limit exceeded.",
    "Throttling: Rate exceeded",
    "ThrottlingException: Rate exceeded",
    "SlowDown: Please reduce your request rate.",
    "TooManyRequestsException: Too many",
    "Client.RequestLimitExceeded: Request limit exceeded.",
  ].map((words) => [apiError("RunInstances", words), "throttled", "fewer calls"] as const),
  [
    diagnostic(
      "reading EC2 VPC",
      "operation error EC2: DescribeVpcs, failed to get rate limit token, retry quota exceeded",
    ),
    "throttled",
    "fewer calls",
  ],
  [
    apiError("RunInstances", "OptInRequired: You are not subscribed to this service."),
    "failed",
    "not enabled the account",
  ],
  [
    apiError("CreateVpc", "InvalidVpcRange: The range is bad."),
    "failed",
    "ec2:CreateVpc (InvalidVpcRange): The range is bad.",
  ],
  [
    diagnostic("Unsupported argument", "Error in configuration"),
    "failed",
    "Error in configuration: Unsupported argument",
  ],
] as const;

test.each(EXPLAINED)("[PN78] an error of OpenTofu is explained by the code of AWS: %#", (error, code, words) => {
  const failure = failureOfDiagnostics([error]);
  expect(failure.code).toBe(code);
  expect(failure.message).toContain(words);
});

const DENIED = [
  [
    apiError(
      "CreateVpc",
      "UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:iam::1:user/ci is not " +
        "authorized to perform: ec2:CreateVpc on resource: arn:aws:ec2:eu-west-1:1:vpc/* because no policy allows it. " +
        "Encoded authorization failure message: 9pEw",
    ),
    "ec2:CreateVpc",
  ],
  [
    apiError("CreateSubnet", "UnauthorizedOperation: You are not authorized to perform this operation."),
    "ec2:CreateSubnet",
  ],
  [
    apiError(
      "CreateRole",
      "AccessDenied: User: arn:aws:iam::1:user/ci is not authorized to perform: iam:CreateRole on x",
      "IAM",
    ),
    "iam:CreateRole",
  ],
  [
    apiError("DescribeLoadBalancers", "AccessDenied: no", "Elastic Load Balancing v2"),
    "elasticloadbalancing:DescribeLoadBalancers",
  ],
] as const;

test.each(DENIED)("[PN79] a missing permission is named by its action: %#", (error, action) => {
  const failure = failureOfDiagnostics([error]);
  expect(failure.code).toBe("permission_denied");
  expect(failure.message).toContain(`may not do ${action} `);
  expect(failure.message).not.toContain("9pEw");
});

test("[PN79] a service control policy is named, because no policy of the user can help", () => {
  const message = "is not authorized to perform: ec2:RunInstances with an explicit deny in a service control policy";
  const failure = failureOfError({ code: "UnauthorizedOperation", message, action: null });
  expect(failure.message).toContain("service control policy of the organization forbids it");
});

test("[PN78] of several errors the one that explains most is reported, wherever in the output it is", () => {
  const errors = [
    diagnostic("", "Resource failed"),
    apiError("RunInstances", "VcpuLimitExceeded: too many"),
    apiError("DescribeVpcs", "AuthFailure: no"),
  ];
  expect(failureOfDiagnostics(errors).code).toBe("bad_credentials");
  expect(failureOfDiagnostics(errors.toReversed()).code).toBe("bad_credentials");
  expect(failureOfDiagnostics([]).code).toBe("failed");
  // What does not pass by itself is not tried again because of what does.
  const throttled = apiError("DescribeVpcs", "Throttling: Rate exceeded");
  expect(failureOfDiagnostics([throttled, apiError("RunInstances", "VcpuLimitExceeded: too many")]).code).toBe(
    "quota_exceeded",
  );
  expect(failureOfDiagnostics([diagnostic("", "Resource failed"), throttled]).code).toBe("throttled");
});

test("[PN78] the message of a failure stays readable, however much a provider prints", () => {
  const { message } = failureOfDiagnostics([diagnostic("x\n".repeat(10_000))]);
  expect(message.length).toBeLessThan(600);
  expect(message).not.toContain("\n");
});
