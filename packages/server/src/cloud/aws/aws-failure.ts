import type { ProvisioningErrorCode } from "@binnacle/contract";
import type { Diagnostic, ProvisioningFailure } from "../provider.ts";

/** An error of AWS: its code, its words, and the action that failed, such as `ec2:CreateVpc`, where it is known. */
export interface AwsErrorFacts {
  readonly code: string;
  readonly message: string;
  readonly action: string | null;
}

const BAD_CREDENTIALS = new Set([
  "AuthFailure",
  "ExpiredToken",
  "ExpiredTokenException",
  "IncompleteSignature",
  "InvalidAccessKeyId",
  "InvalidClientTokenId",
  "InvalidSignatureException",
  "MissingAuthenticationToken",
  "MissingAuthenticationTokenException",
  "NotAuthorized",
  "RequestExpired",
  "SignatureDoesNotMatch",
  "UnrecognizedClientException",
]);
const DENIED = new Set(["AccessDenied", "AccessDeniedException", "UnauthorizedOperation"]);
const NOT_OFFERED = new Set(["InvalidInstanceType", "Unsupported", "UnsupportedInstanceType"]);
const NO_CAPACITY = new Set([
  "InsufficientCapacity",
  "InsufficientHostCapacity",
  "InsufficientInstanceCapacity",
  "InsufficientVolumeCapacity",
]);
const THROTTLED: ReadonlySet<string> = new Set([
  "BandwidthLimitExceeded",
  "EC2ThrottledException",
  "PriorRequestNotComplete",
  "RequestLimitExceeded",
  "RequestThrottled",
  "RequestThrottledException",
  "SlowDown",
  "ThrottledException",
  "Throttling",
  "ThrottlingException",
  "TooManyRequests",
  "TooManyRequestsException",
]);
/** Whether AWS asks to call less often, which passes by itself. */
export const isThrottled = (code: string): boolean => THROTTLED.has(code.replace(/^(Client|Server)\./, ""));
const NOT_ENABLED = new Set(["Blocked", "OptInRequired", "PendingVerification"]);

/** The names of quotas in the Service Quotas console, by the error that says they are used up. */
const QUOTAS: Readonly<Record<string, string>> = {
  AddressLimitExceeded: "EC2-VPC Elastic IPs",
  InstanceLimitExceeded: "Running On-Demand instances",
  InternetGatewayLimitExceeded: "Internet gateways per Region",
  NetworkInterfaceLimitExceeded: "Network interfaces per Region",
  RulesPerSecurityGroupLimitExceeded: "Inbound or outbound rules per security group",
  SecurityGroupLimitExceeded: "VPC security groups per Region",
  SubnetLimitExceeded: "Subnets per VPC",
  VcpuLimitExceeded: "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances",
  VolumeLimitExceeded: "Storage for General Purpose SSD (gp3) volumes",
  VpcLimitExceeded: "VPCs per Region",
};

/** Sorted by how much a cause explains: a wrong key makes everything else fail as well. */
const BY_WEIGHT: readonly ProvisioningErrorCode[] = [
  "bad_credentials",
  "permission_denied",
  "quota_exceeded",
  "not_offered",
  "no_capacity",
  "throttled",
  "unreachable",
  "timed_out",
  "failed",
];

export function failureOfError(error: AwsErrorFacts): ProvisioningFailure {
  // Some answers name the side at fault before the code.
  const code = error.code.replace(/^(Client|Server)\./, "");
  if (BAD_CREDENTIALS.has(code)) {
    return {
      code: "bad_credentials",
      message:
        `AWS refused the credential (${code}). Check the access key and its secret, that the key is active, and that the ` +
        "region is enabled for the account.",
    };
  }
  if (DENIED.has(code)) return denied(error);
  const quota = quotaOf(code, error.message);
  if (quota !== null) {
    return {
      code: "quota_exceeded",
      message: `The account has used up its quota "${quota}" in the region (${code}). Ask AWS for a higher one, or free some.`,
    };
  }
  if (NOT_OFFERED.has(code) || (code === "InvalidParameterValue" && /instance ?type/i.test(error.message))) {
    return {
      code: "not_offered",
      message: `The instance type is not offered in the region or its zones (${code}). Choose another type or region.`,
    };
  }
  if (NO_CAPACITY.has(code)) {
    return {
      code: "no_capacity",
      message: `AWS has no free machines of the type in the zone (${code}). Retry later, or choose another type or region.`,
    };
  }
  if (isThrottled(code)) return throttled(code);
  if (NOT_ENABLED.has(code)) {
    return {
      code: "failed",
      message: `AWS has not enabled the account for this yet (${code}). Its owner has to finish the sign-up or ask AWS Support.`,
    };
  }
  return { code: "failed", message: `AWS refused ${error.action ?? "a call"} (${code}): ${shortened(error.message)}` };
}

const throttled = (reason: string): ProvisioningFailure => ({
  code: "throttled",
  message: `AWS answers fewer calls of the account for now (${reason}).`,
});

function denied({ code, message, action }: AwsErrorFacts): ProvisioningFailure {
  const named = /perform:? ([a-z0-9-]+:\w+)/.exec(message)?.[1] ?? action;
  const policy = /service control policy/.test(message)
    ? " A service control policy of the organization forbids it."
    : "";
  return {
    code: "permission_denied",
    message: named
      ? `The credential may not do ${named} (${code}).${policy} Allow the action in the policy of its user.`
      : `The credential lacks a permission (${code}).${policy} Compare its policy with the documented one.`,
  };
}

function quotaOf(code: string, message: string): string | null {
  if (isThrottled(code)) return null;
  const inMessage = /quota for (\w+)/.exec(message)?.[1];
  if (inMessage) return inMessage;
  return QUOTAS[code] ?? (code.endsWith("LimitExceeded") ? code.replace(/LimitExceeded$/, "") || "unnamed" : null);
}

const API_ERROR = /api error ([\w.]+): ([^\n]*)/;
const OPERATION = /operation error ([\w ]+): (\w+),/;
/** The prefix of a service's actions, where it is not its name in small letters. */
const ACTION_PREFIXES: Readonly<Record<string, string>> = {
  "elastic load balancing": "elasticloadbalancing",
  "elastic load balancing v2": "elasticloadbalancing",
};
const UNREACHABLE =
  /dial tcp|no such host|connection refused|connection reset|network is unreachable|i\/o timeout|TLS handshake timeout|request send failed|x509:/;
const TIMED_OUT = /timeout while waiting|context deadline exceeded|timed out/;
const NOT_OFFERED_TEXT =
  /is not offered in|invalid AWS Region|no matching EC2 Instance Type|query returned no results/i;
/** The plugin gives up by itself when it was throttled too often, and then has no code of AWS. */
const THROTTLED_TEXT = /failed to get rate limit token|retry quota exceeded|rate exceeded/i;
const NO_CREDENTIALS = /no valid credential sources found|failed to refresh cached credentials/i;

function failureOfDiagnostic({ summary, detail }: Diagnostic): ProvisioningFailure {
  const text = `${summary}\n${detail}`;
  const [, code, message] = API_ERROR.exec(text) ?? [];
  if (code !== undefined) {
    const [, service, operation] = OPERATION.exec(text) ?? [];
    return failureOfError({ code, message: message ?? "", action: actionOf(service, operation) });
  }
  if (THROTTLED_TEXT.test(text)) return throttled("Rate exceeded");
  if (NO_CREDENTIALS.test(text)) {
    return { code: "bad_credentials", message: "OpenTofu found no credential that AWS accepts. Check the access key." };
  }
  if (NOT_OFFERED_TEXT.test(text)) {
    return { code: "not_offered", message: `${shortened(detail || summary)} Choose another type or region.` };
  }
  if (UNREACHABLE.test(text)) return unreachable(shortened(text.match(UNREACHABLE)?.[0] ?? ""));
  if (TIMED_OUT.test(text)) {
    return {
      code: "timed_out",
      message: `AWS did not finish in time: ${shortened(summary)}. Retry the job: it goes on from what exists.`,
    };
  }
  return { code: "failed", message: `OpenTofu failed: ${shortened(detail ? `${summary}: ${detail}` : summary)}` };
}

const actionOf = (service: string | undefined, operation: string | undefined) => {
  if (service === undefined || operation === undefined) return null;
  const name = service.toLowerCase();
  return `${ACTION_PREFIXES[name] ?? name}:${operation}`;
};

export const unreachable = (reason: string): ProvisioningFailure => ({
  code: "unreachable",
  message: `AWS could not be reached (${reason}). Check the region of the credential, and that the worker may reach the internet.`,
});

/** Explains why OpenTofu failed, by the error that explains most. */
export function failureOfDiagnostics(diagnostics: readonly Diagnostic[]): ProvisioningFailure {
  const failures = diagnostics.map(failureOfDiagnostic);
  const weightiest = BY_WEIGHT.flatMap((code) => failures.filter((failure) => failure.code === code));
  return (
    weightiest[0] ?? {
      code: "failed",
      message: "OpenTofu failed and did not say why. The log of the job has its output.",
    }
  );
}

const LONGEST = 400;
const shortened = (text: string) => {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
};
